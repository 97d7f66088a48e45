//! The functions of a state, and which of them pytest would take for tests.

use std::collections::BTreeMap;

use source::python::{Class, Expr, Function};

use crate::module::{Module, Names};
use crate::snapshot::View;

/// A function that is a test, or could be one.
pub(crate) struct Test<'v, 'a> {
    /// `path::Class::name`, without parameters.
    pub(crate) id: String,
    pub(crate) module: &'v Module<'a>,
    /// The class it is in with those it inherits from, nearest first.
    pub(crate) lineage: Vec<(&'v Module<'a>, &'a Class)>,
    pub(crate) function: &'a Function,
    /// The module that wrote it: another one's, if it is inherited.
    pub(crate) home: &'v Module<'a>,
    /// Marks of its own, its class's and its module's, outermost last.
    pub(crate) marks: Vec<&'a Expr>,
    /// Why pytest does not take it; none if it does.
    pub(crate) uncollected: Option<String>,
    /// Whether it hides an earlier function (or class) of the same name.
    pub(crate) shadows: bool,
}

impl Test<'_, '_> {
    pub(crate) fn is_collected(&self) -> bool {
        self.uncollected.is_none()
    }

    /// The last part of its id.
    pub(crate) fn name(&self) -> &str {
        &self.function.name
    }
}

/// All functions of a state by id.
pub(crate) type Tests<'v, 'a> = BTreeMap<String, Test<'v, 'a>>;

pub(crate) fn tests<'v, 'a>(view: &'v View<'a>) -> Tests<'v, 'a> {
    let mut found = BTreeMap::new();
    for module in &view.modules {
        let uncollected = (!view.rules.is_test_file(module.path))
            .then(|| format!("{} is not a name of a file of tests", module.file_name()));
        let marks = pytestmarks(&module.names);
        Collector {
            view,
            module,
            found: &mut found,
        }
        .names(
            &module.names,
            &Place {
                id: module.path.to_owned(),
                marks,
                uncollected,
                classes: Vec::new(),
                shadows: false,
            },
        );
    }
    found
}

/// Where the functions of one scope stand.
struct Place<'v, 'a> {
    id: String,
    marks: Vec<&'a Expr>,
    uncollected: Option<String>,
    classes: Vec<(&'v Module<'a>, &'a Class)>,
    shadows: bool,
}

struct Collector<'c, 'v, 'a> {
    view: &'v View<'a>,
    module: &'v Module<'a>,
    found: &'c mut Tests<'v, 'a>,
}

impl<'v, 'a> Collector<'_, 'v, 'a> {
    fn names(&mut self, names: &Names<'a>, place: &Place<'v, 'a>) {
        for hidden in &names.hidden {
            self.add(
                hidden,
                self.module,
                place,
                Some("it stands under a condition that never holds".to_owned()),
                false,
            );
        }
        for (name, function) in &names.functions {
            self.add(function, self.module, place, None, names.shadowed.contains(name));
        }
        for (name, class) in &names.classes {
            self.class(class, place, names.shadowed.contains(name));
        }
    }

    fn add(
        &mut self,
        function: &'a Function,
        home: &'v Module<'a>,
        place: &Place<'v, 'a>,
        why: Option<String>,
        shadows: bool,
    ) {
        let named = self.view.rules.is_test_function(&function.name)
            || is_case(&place.classes) && function.name.starts_with("test");
        let uncollected = why
            .or_else(|| (!named).then(|| format!("{} is not a name of a test", function.name)))
            .or_else(|| place.uncollected.clone())
            .or_else(|| is_fixture(function).then(|| "it is a fixture".to_owned()));
        let id = format!("{}::{}", place.id, function.name);
        let test = Test {
            id: id.clone(),
            module: self.module,
            lineage: place.classes.clone(),
            function,
            home,
            marks: function
                .decorators
                .iter()
                .chain(place.marks.iter().copied())
                .collect(),
            uncollected,
            shadows: shadows || place.shadows,
        };
        self.found.insert(id, test);
    }

    fn class(&mut self, class: &'a Class, outer: &Place<'v, 'a>, shadows: bool) {
        let names = Names::of(&class.body);
        let lineage = self.view.lineage(self.module, class);
        let switched_off = |names: &Names<'_>| {
            names
                .values
                .get("__test__")
                .is_some_and(|value| **value == Expr::truth(false))
        };
        let why = if !is_case(&lineage) && !self.view.rules.is_test_class(&class.name) {
            Some(format!("{} is not a name of a class of tests", class.name))
        } else if names.functions.contains_key("__init__") {
            Some(format!("{} has an __init__", class.name))
        } else {
            switched_off(&names).then(|| format!("{} has __test__ = False", class.name))
        };
        let mut marks: Vec<&'a Expr> = class.decorators.iter().collect();
        marks.extend(pytestmarks(&names));
        marks.extend(&outer.marks);
        let place = Place {
            id: format!("{}::{}", outer.id, class.name),
            marks,
            uncollected: why.or_else(|| outer.uncollected.clone()),
            classes: lineage.clone(),
            shadows,
        };
        for (home, base) in lineage.iter().skip(1).rev() {
            let names = Names::of(&base.body);
            for function in names
                .functions
                .values()
                .filter(|function| function.name.starts_with("test"))
            {
                self.add(function, home, &place, None, false);
            }
        }
        self.names(&names, &place);
    }
}

fn is_case(lineage: &[(&Module<'_>, &Class)]) -> bool {
    let mut bases = lineage
        .iter()
        .flat_map(|(_, class)| &class.bases)
        .filter_map(Expr::dotted);
    bases.any(|base| base.ends_with("TestCase"))
}

/// `pytestmark = mark` or `[mark, …]`.
fn pytestmarks<'a>(names: &Names<'a>) -> Vec<&'a Expr> {
    match names.values.get("pytestmark") {
        Some(Expr::Row(_, marks)) => marks.iter().collect(),
        Some(mark) => vec![mark],
        None => Vec::new(),
    }
}

pub(crate) fn is_fixture(function: &Function) -> bool {
    function
        .decorators
        .iter()
        .any(|decorator| fixture_call(decorator).is_some())
}

/// The decorator's own name, if it makes a fixture.
pub(crate) fn fixture_call(decorator: &Expr) -> Option<&Expr> {
    let callee = if let Expr::Call { callee, .. } = decorator {
        callee
    } else {
        decorator
    };
    let name = callee.dotted()?;
    (name.rsplit('.').next() == Some("fixture")).then_some(decorator)
}
