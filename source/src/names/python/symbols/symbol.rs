//! A definition, and how it uses names.

/// What a definition is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Statements of the module itself that bind no name.
    Module,
    Variable,
    Function,
    Class,
    /// A function in a class.
    Method,
}

/// How a name is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Use<'a> {
    /// `a`, or `a.b.c` as written.
    Name(&'a str),
    /// `b` of `f().b`: an attribute of something without a name.
    Member(&'a str),
    /// A string that could be a name.
    Text(&'a str),
    /// A name in the annotation of a parameter or a result.
    Annotation(&'a str),
}

/// One definition, with what its text uses; of a class without its methods.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol<'a> {
    pub name: &'a str,
    pub kind: Kind,
    /// Index of the class that it stands in.
    pub class: Option<usize>,
    /// First and last line, decorators included, counted from 1.
    pub lines: (u32, u32),
    /// Sorted, each once.
    pub uses: Vec<Use<'a>>,
    /// Of a class.
    pub bases: Vec<&'a str>,
    /// Of a function, without `self` and `cls`.
    pub parameters: Vec<&'a str>,
    /// As written, without arguments.
    pub decorators: Vec<&'a str>,
    /// `autouse=True` among the arguments of a decorator.
    pub is_autouse: bool,
    /// `name="…"` among the arguments of a decorator.
    pub given_name: Option<&'a str>,
}
