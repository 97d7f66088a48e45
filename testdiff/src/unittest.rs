//! The assertions of unittest and numpy, as claims.

use source::python::{Expr, Keyword, Operator};

use crate::claim::{Claim, Relation, asserted, compared, near};
use crate::fold::{fold, number};

/// The claims of a call of `self.assert…` or `numpy.testing.assert_…`; none if it is no such call.
pub(crate) fn claims(callee: &Expr, args: &[Expr], keywords: &[Keyword]) -> Option<Vec<Claim>> {
    let (owner, name) = match callee {
        Expr::Attribute(owner, name) => (owner.dotted(), name.as_str()),
        Expr::Name(dotted) => {
            let (owner, name) = dotted.rsplit_once('.')?;
            (Some(owner.to_owned()), name)
        }
        _ => return None,
    };
    let owner = owner.unwrap_or_default();
    if owner == "self" || owner == "cls" {
        return of_case(name, args, keywords);
    }
    owner
        .ends_with("testing")
        .then(|| of_numpy(name, args, keywords))
        .flatten()
}

fn of_case(name: &str, args: &[Expr], keywords: &[Keyword]) -> Option<Vec<Claim>> {
    let both = |operator: Operator| match args {
        [left, right, ..] => Some(vec![compared(left.clone(), operator, right.clone())]),
        _ => None,
    };
    let first = args.first()?;
    let none = || Expr::Constant(source::python::Constant::None);
    Some(match name {
        "assertEqual"
        | "assertEquals"
        | "assertListEqual"
        | "assertDictEqual"
        | "assertTupleEqual"
        | "assertSetEqual"
        | "assertSequenceEqual"
        | "assertMultiLineEqual" => return both(Operator::Equal),
        "assertNotEqual" | "assertNotEquals" => return both(Operator::NotEqual),
        "assertIs" => return both(Operator::Is),
        "assertIsNot" => return both(Operator::IsNot),
        "assertIn" => return both(Operator::In),
        "assertNotIn" => return both(Operator::NotIn),
        "assertGreater" => return both(Operator::Greater),
        "assertGreaterEqual" => return both(Operator::GreaterOrEqual),
        "assertLess" => return both(Operator::Less),
        "assertLessEqual" => return both(Operator::LessOrEqual),
        // The second argument of assertTrue is a message, and no expectation.
        "assertTrue" => asserted(first),
        "assertFalse" => asserted(&fold(Expr::Not(Box::new(first.clone())))),
        "assertIsNone" => vec![compared(first.clone(), Operator::Is, none())],
        "assertIsNotNone" => vec![compared(first.clone(), Operator::IsNot, none())],
        "assertIsInstance" => vec![Claim::value(
            first.clone(),
            Relation::Instance,
            args.get(1)?.clone(),
        )],
        "assertRegex" => vec![Claim::value(
            first.clone(),
            Relation::Matches,
            args.get(1)?.clone(),
        )],
        "assertCountEqual" => {
            let sorted = |value: &Expr| fold(Expr::call(Expr::name("sorted"), vec![value.clone()]));
            vec![Claim::equal(sorted(first), sorted(args.get(1)?))]
        }
        "assertAlmostEqual" | "assertAlmostEquals" => {
            let delta = given(keywords, "delta").cloned();
            let places = given(keywords, "places")
                .or(args.get(2))
                .and_then(number)
                .unwrap_or(7.0);
            let absolute = delta.unwrap_or_else(|| Expr::number(&(0.5 * 10_f64.powf(-places)).to_string()));
            vec![near(first, args.get(1)?, Some(Expr::number("0")), Some(absolute))]
        }
        _ => return None,
    })
}

fn of_numpy(name: &str, args: &[Expr], keywords: &[Keyword]) -> Option<Vec<Claim>> {
    let [left, right, ..] = args else { return None };
    Some(vec![match name {
        "assert_allclose" => {
            let at = |name: &str, place: usize| given(keywords, name).or(args.get(place)).cloned();
            let relative = at("rtol", 2).unwrap_or_else(|| Expr::number("0.0000001"));
            near(left, right, Some(relative), at("atol", 3))
        }
        "assert_almost_equal" | "assert_array_almost_equal" => {
            let usual = if name == "assert_almost_equal" { 7.0 } else { 6.0 };
            let places = given(keywords, "decimal")
                .or(args.get(2))
                .and_then(number)
                .unwrap_or(usual);
            near(
                left,
                right,
                Some(Expr::number("0")),
                Some(Expr::number(&(1.5 * 10_f64.powf(-places)).to_string())),
            )
        }
        "assert_equal" | "assert_array_equal" => Claim::equal(left.clone(), right.clone()),
        _ => return None,
    }])
}

fn given<'k>(keywords: &'k [Keyword], name: &str) -> Option<&'k Expr> {
    keywords
        .iter()
        .find(|keyword| keyword.name.as_deref() == Some(name))
        .map(|keyword| &keyword.value)
}
