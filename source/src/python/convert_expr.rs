//! From the parser's expressions to ours.

use ruff_python_ast as ast;
use ruff_text_size::Ranged;

use super::{Bracket, Constant, Expr, Keyword, Operator};

/// Expressions deeper than this keep their text: who walks the tree must not run out of stack, and generated files hold
/// sums of thousands of terms.
const DEEPEST: usize = 200;

/// The names that the expressions around have bound for themselves, innermost last.
#[derive(Default)]
struct Bound(Vec<String>);

pub(super) fn expr(node: &ast::Expr, source: &str) -> Expr {
    Converter {
        source,
        bound: Bound::default(),
        depth: 0,
    }
    .expr(node)
}

struct Converter<'a> {
    source: &'a str,
    bound: Bound,
    depth: usize,
}

impl Converter<'_> {
    fn expr(&mut self, node: &ast::Expr) -> Expr {
        if self.depth == DEEPEST {
            return Expr::Other(self.source[node.range()].to_owned(), Vec::new());
        }
        self.depth += 1;
        let expr = self.whole(node);
        self.depth -= 1;
        expr
    }

    fn whole(&mut self, node: &ast::Expr) -> Expr {
        match node {
            ast::Expr::Name(name) => self.bound.name(name.id.as_str()),
            ast::Expr::Attribute(node) => Expr::Attribute(self.boxed(&node.value), node.attr.to_string()),
            ast::Expr::Subscript(node) => Expr::Subscript(self.boxed(&node.value), self.boxed(&node.slice)),
            ast::Expr::Call(node) => self.call(node),
            ast::Expr::Compare(node) => self.compare(node),
            ast::Expr::UnaryOp(node) => self.unary(node),
            ast::Expr::BoolOp(node) => match node.op {
                ast::BoolOp::And => Expr::And(self.all(&node.values)),
                ast::BoolOp::Or => Expr::Or(self.all(&node.values)),
            },
            ast::Expr::BinOp(node) => Expr::Other(
                node.op.as_str().to_owned(),
                vec![self.expr(&node.left), self.expr(&node.right)],
            ),
            ast::Expr::List(node) => Expr::Row(Bracket::List, self.all(&node.elts)),
            ast::Expr::Tuple(node) => Expr::Row(Bracket::Tuple, self.all(&node.elts)),
            ast::Expr::Set(node) => Expr::Row(Bracket::Set, self.all(&node.elts)),
            ast::Expr::Dict(node) => self.dict(node),
            _ => constant(node).unwrap_or_else(|| self.other(node)),
        }
    }

    fn boxed(&mut self, node: &ast::Expr) -> Box<Expr> {
        Box::new(self.expr(node))
    }

    fn all(&mut self, nodes: &[ast::Expr]) -> Vec<Expr> {
        nodes.iter().map(|node| self.expr(node)).collect()
    }

    fn call(&mut self, node: &ast::ExprCall) -> Expr {
        let mut keywords: Vec<Keyword> = node
            .arguments
            .keywords
            .iter()
            .map(|keyword| Keyword {
                name: keyword.arg.as_ref().map(ToString::to_string),
                value: self.expr(&keyword.value),
            })
            .collect();
        keywords.sort_by(|left, right| left.name.cmp(&right.name));
        Expr::Call {
            callee: self.boxed(&node.func),
            args: self.all(&node.arguments.args),
            keywords,
        }
    }

    fn compare(&mut self, node: &ast::ExprCompare) -> Expr {
        let sides: Vec<Expr> = std::iter::once(&*node.left)
            .chain(&node.comparators)
            .map(|side| self.expr(side))
            .collect();
        let mut links: Vec<Expr> = node
            .ops
            .iter()
            .zip(sides.windows(2))
            .map(|(op, pair)| {
                Expr::Compare(
                    Box::new(pair[0].clone()),
                    operator(*op),
                    Box::new(pair[1].clone()),
                )
            })
            .collect();
        if links.len() == 1 {
            links.remove(0)
        } else {
            Expr::And(links)
        }
    }

    fn unary(&mut self, node: &ast::ExprUnaryOp) -> Expr {
        let operand = self.expr(&node.operand);
        match (node.op, operand) {
            (ast::UnaryOp::Not, operand) => Expr::Not(Box::new(operand)),
            (ast::UnaryOp::USub, Expr::Constant(Constant::Number(number))) => {
                let number = number
                    .strip_prefix('-')
                    .map_or(format!("-{number}"), str::to_owned);
                Expr::Constant(Constant::Number(number))
            }
            (op, operand) => Expr::Other(format!("unary {}", op.as_str()), vec![operand]),
        }
    }

    fn dict(&mut self, node: &ast::ExprDict) -> Expr {
        let item = |item: &ast::DictItem| {
            (
                item.key.as_ref().map(|key| self.expr(key)),
                self.expr(&item.value),
            )
        };
        let mut items: Vec<_> = node.items.iter().map(item).collect();
        // The order of keys makes no difference to ==, but what `**other` overrides does.
        if items.iter().all(|(key, _)| key.is_some()) {
            items.sort();
        }
        Expr::Dict(items)
    }

    fn other(&mut self, node: &ast::Expr) -> Expr {
        let (kind, parts) = match node {
            ast::Expr::If(node) => (
                "if",
                vec![
                    self.expr(&node.test),
                    self.expr(&node.body),
                    self.expr(&node.orelse),
                ],
            ),
            ast::Expr::Named(node) => (":=", vec![self.expr(&node.target), self.expr(&node.value)]),
            ast::Expr::Await(node) => ("await", vec![self.expr(&node.value)]),
            ast::Expr::Starred(node) => ("*", vec![self.expr(&node.value)]),
            ast::Expr::Yield(node) => ("yield", node.value.iter().map(|value| self.expr(value)).collect()),
            ast::Expr::YieldFrom(node) => ("yield from", vec![self.expr(&node.value)]),
            ast::Expr::Slice(node) => {
                let mut part = |part: &Option<Box<ast::Expr>>| {
                    part.as_ref()
                        .map_or(Expr::Constant(Constant::None), |part| self.expr(part))
                };
                (
                    "slice",
                    vec![part(&node.lower), part(&node.upper), part(&node.step)],
                )
            }
            ast::Expr::FString(node) => ("f-string", self.fstring(node)),
            ast::Expr::Lambda(node) => ("lambda", self.lambda(node)),
            ast::Expr::ListComp(node) => ("[for]", self.comprehension(&[Some(&node.elt)], &node.generators)),
            ast::Expr::SetComp(node) => ("{for}", self.comprehension(&[Some(&node.elt)], &node.generators)),
            ast::Expr::Generator(node) => ("(for)", self.comprehension(&[Some(&node.elt)], &node.generators)),
            ast::Expr::DictComp(node) => (
                "{:for}",
                self.comprehension(&[node.key.as_deref(), Some(&node.value)], &node.generators),
            ),
            // What has no meaning for a check keeps its text: a template string, a complex number.
            node => return Expr::Other(self.source[node.range()].to_owned(), Vec::new()),
        };
        Expr::Other(kind.to_owned(), parts)
    }

    fn fstring(&mut self, node: &ast::ExprFString) -> Vec<Expr> {
        let mut parts = Vec::new();
        for part in node.value.as_slice() {
            match part {
                ast::FStringPart::Literal(text) => parts.push(text_of(text.as_str())),
                ast::FStringPart::FString(part) => {
                    parts.extend(part.elements.iter().map(|element| self.element(element)));
                }
            }
        }
        parts
    }

    fn element(&mut self, element: &ast::InterpolatedStringElement) -> Expr {
        match element {
            ast::InterpolatedStringElement::Literal(text) => text_of(&text.value),
            ast::InterpolatedStringElement::Interpolation(node) => {
                let spec = node
                    .format_spec
                    .as_ref()
                    .map_or("", |spec| &self.source[spec.range()])
                    .to_owned();
                let value = self.expr(&node.expression);
                Expr::Other(
                    "{}".to_owned(),
                    vec![value, text_of(&spec), text_of(&format!("{:?}", node.conversion))],
                )
            }
        }
    }

    fn lambda(&mut self, node: &ast::ExprLambda) -> Vec<Expr> {
        let before = self.bound.0.len();
        let names = node.parameters.iter().flat_map(|parameters| parameters.iter());
        self.bound
            .0
            .extend(names.map(|parameter| parameter.name().to_string()));
        let body = self.expr(&node.body);
        self.bound.0.truncate(before);
        vec![body]
    }

    fn comprehension(
        &mut self,
        elements: &[Option<&ast::Expr>],
        generators: &[ast::Comprehension],
    ) -> Vec<Expr> {
        let before = self.bound.0.len();
        let mut parts = Vec::new();
        for generator in generators {
            parts.push(self.expr(&generator.iter));
            bind(&generator.target, &mut self.bound.0);
            parts.push(self.expr(&generator.target));
            parts.extend(generator.ifs.iter().map(|test| self.expr(test)));
        }
        parts.extend(elements.iter().flatten().map(|element| self.expr(element)));
        self.bound.0.truncate(before);
        parts
    }
}

impl Bound {
    fn name(&self, name: &str) -> Expr {
        match self.0.iter().rposition(|bound| bound == name) {
            Some(depth) => Expr::Name(format!("%{depth}")),
            None => Expr::name(name),
        }
    }
}

/// The names that a target binds.
fn bind(target: &ast::Expr, names: &mut Vec<String>) {
    match target {
        ast::Expr::Name(name) => names.push(name.id.to_string()),
        ast::Expr::Tuple(node) => node.elts.iter().for_each(|part| bind(part, names)),
        ast::Expr::List(node) => node.elts.iter().for_each(|part| bind(part, names)),
        ast::Expr::Starred(node) => bind(&node.value, names),
        _ => {}
    }
}

fn text_of(text: &str) -> Expr {
    Expr::Constant(Constant::Text(text.to_owned()))
}

fn constant(node: &ast::Expr) -> Option<Expr> {
    Some(Expr::Constant(match node {
        ast::Expr::NoneLiteral(_) => Constant::None,
        ast::Expr::EllipsisLiteral(_) => Constant::Ellipsis,
        ast::Expr::BooleanLiteral(node) => Constant::Bool(node.value),
        ast::Expr::StringLiteral(node) => Constant::Text(node.value.to_str().to_owned()),
        ast::Expr::BytesLiteral(node) => Constant::Bytes(node.value.bytes().collect()),
        ast::Expr::NumberLiteral(node) => match &node.value {
            // In every base to the same decimal digits, where they fit.
            ast::Number::Int(int) => Constant::Number(
                int.as_u64()
                    .map_or_else(|| int.to_string(), |int| int.to_string()),
            ),
            ast::Number::Float(float) => Constant::Number(float.to_string()),
            ast::Number::Complex { .. } => return None,
        },
        _ => return None,
    }))
}

fn operator(op: ast::CmpOp) -> Operator {
    match op {
        ast::CmpOp::Eq => Operator::Equal,
        ast::CmpOp::NotEq => Operator::NotEqual,
        ast::CmpOp::Lt => Operator::Less,
        ast::CmpOp::LtE => Operator::LessOrEqual,
        ast::CmpOp::Gt => Operator::Greater,
        ast::CmpOp::GtE => Operator::GreaterOrEqual,
        ast::CmpOp::Is => Operator::Is,
        ast::CmpOp::IsNot => Operator::IsNot,
        ast::CmpOp::In => Operator::In,
        ast::CmpOp::NotIn => Operator::NotIn,
    }
}
