//! Expressions.

/// A value that is written down. Numbers that are equal in Python are equal here: `70` and `70.0`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Constant {
    None,
    Ellipsis,
    Bool(bool),
    /// In one spelling: no underscores, no `.0`.
    Number(String),
    Text(String),
    Bytes(Vec<u8>),
}

/// How a comparison is written, or turned by `not`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Operator {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Is,
    IsNot,
    In,
    NotIn,
}

impl Operator {
    /// What `not (a op b)` says.
    pub fn negated(self) -> Self {
        match self {
            Self::Equal => Self::NotEqual,
            Self::NotEqual => Self::Equal,
            Self::Less => Self::GreaterOrEqual,
            Self::LessOrEqual => Self::Greater,
            Self::Greater => Self::LessOrEqual,
            Self::GreaterOrEqual => Self::Less,
            Self::Is => Self::IsNot,
            Self::IsNot => Self::Is,
            Self::In => Self::NotIn,
            Self::NotIn => Self::In,
        }
    }

    /// The operator of the same comparison with its sides swapped; none where that cannot be said.
    pub fn mirrored(self) -> Option<Self> {
        Some(match self {
            Self::Less => Self::Greater,
            Self::LessOrEqual => Self::GreaterOrEqual,
            Self::Greater => Self::Less,
            Self::GreaterOrEqual => Self::LessOrEqual,
            Self::In | Self::NotIn => return None,
            same => same,
        })
    }

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Equal => "==",
            Self::NotEqual => "!=",
            Self::Less => "<",
            Self::LessOrEqual => "<=",
            Self::Greater => ">",
            Self::GreaterOrEqual => ">=",
            Self::Is => "is",
            Self::IsNot => "is not",
            Self::In => "in",
            Self::NotIn => "not in",
        }
    }
}

/// Which brackets hold a row of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Bracket {
    List,
    Tuple,
    Set,
}

/// `name=value` of a call; `**value` has no name.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Keyword {
    pub name: Option<String>,
    pub value: Expr,
}

/// An expression. Names that an expression binds for itself (of a comprehension, a lambda) are numbered, so that two that
/// differ in nothing else are equal.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Expr {
    Constant(Constant),
    Name(String),
    Attribute(Box<Expr>, String),
    Subscript(Box<Expr>, Box<Expr>),
    /// Keywords stand in the order of their names.
    Call {
        callee: Box<Expr>,
        args: Vec<Expr>,
        keywords: Vec<Keyword>,
    },
    /// `a < b < c` is `a < b and b < c`.
    Compare(Box<Expr>, Operator, Box<Expr>),
    Not(Box<Expr>),
    And(Vec<Expr>),
    Or(Vec<Expr>),
    Row(Bracket, Vec<Expr>),
    /// `**value` has no key.
    Dict(Vec<(Option<Expr>, Expr)>),
    /// Everything else, by the name of its kind (`+`, `lambda`, `await`, …).
    Other(String, Vec<Expr>),
}

impl Expr {
    pub fn name(name: &str) -> Self {
        Self::Name(name.to_owned())
    }

    pub fn number(value: &str) -> Self {
        Self::Constant(Constant::Number(value.to_owned()))
    }

    pub fn truth(value: bool) -> Self {
        Self::Constant(Constant::Bool(value))
    }

    pub fn call(callee: Self, args: Vec<Self>) -> Self {
        Self::Call {
            callee: Box::new(callee),
            args,
            keywords: Vec::new(),
        }
    }

    /// The parts, in the order in which they are written.
    pub fn parts(&self) -> Vec<&Self> {
        match self {
            Self::Constant(_) | Self::Name(_) => Vec::new(),
            Self::Attribute(value, _) | Self::Not(value) => vec![value],
            Self::Subscript(left, right) | Self::Compare(left, _, right) => vec![left, right],
            Self::Call {
                callee,
                args,
                keywords,
            } => {
                let keywords = keywords.iter().map(|keyword| &keyword.value);
                std::iter::once(&**callee).chain(args).chain(keywords).collect()
            }
            Self::And(parts) | Self::Or(parts) | Self::Row(_, parts) | Self::Other(_, parts) => {
                parts.iter().collect()
            }
            Self::Dict(items) => items
                .iter()
                .flat_map(|(key, value)| key.iter().chain([value]))
                .collect(),
        }
    }

    /// The same expression with each part changed by `change`.
    pub fn map(&self, change: &mut dyn FnMut(&Self) -> Self) -> Self {
        let all = |parts: &[Self], change: &mut dyn FnMut(&Self) -> Self| -> Vec<Self> {
            parts.iter().map(change).collect()
        };
        match self {
            Self::Constant(_) | Self::Name(_) => self.clone(),
            Self::Attribute(value, name) => Self::Attribute(Box::new(change(value)), name.clone()),
            Self::Not(value) => Self::Not(Box::new(change(value))),
            Self::Subscript(value, index) => {
                Self::Subscript(Box::new(change(value)), Box::new(change(index)))
            }
            Self::Compare(left, operator, right) => {
                Self::Compare(Box::new(change(left)), *operator, Box::new(change(right)))
            }
            Self::Call {
                callee,
                args,
                keywords,
            } => Self::Call {
                callee: Box::new(change(callee)),
                args: all(args, change),
                keywords: keywords
                    .iter()
                    .map(|keyword| Keyword {
                        name: keyword.name.clone(),
                        value: change(&keyword.value),
                    })
                    .collect(),
            },
            Self::And(parts) => Self::And(all(parts, change)),
            Self::Or(parts) => Self::Or(all(parts, change)),
            Self::Row(bracket, parts) => Self::Row(*bracket, all(parts, change)),
            Self::Other(kind, parts) => Self::Other(kind.clone(), all(parts, change)),
            Self::Dict(items) => {
                let item =
                    |(key, value): &(Option<Self>, Self)| (key.as_ref().map(&mut *change), change(value));
                Self::Dict(items.iter().map(item).collect())
            }
        }
    }

    /// `a.b.c` of names alone.
    pub fn dotted(&self) -> Option<String> {
        match self {
            Self::Name(name) => Some(name.clone()),
            Self::Attribute(value, name) => Some(format!("{}.{name}", value.dotted()?)),
            _ => None,
        }
    }

    /// Whether `test` holds for this expression or one in it.
    pub fn any(&self, test: &mut dyn FnMut(&Self) -> bool) -> bool {
        test(self) || self.parts().into_iter().any(|part| part.any(test))
    }

    /// How many expressions it is made of, itself included.
    pub fn size(&self) -> usize {
        1 + self.parts().into_iter().map(Self::size).sum::<usize>()
    }

    /// The text of a string.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Constant(Constant::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// The values between brackets.
    pub fn as_row(&self) -> Option<&[Self]> {
        match self {
            Self::Row(_, parts) => Some(parts),
            _ => None,
        }
    }
}
