//! No two files of a crate import each other in a loop: whoever reads one of them can stop at what it names.
//!
//! What counts as an import is every path that starts at `crate`, `super`, `self` or a child, in a `use` or in a body. A
//! name that a file only hands on (`pub use` of a child's) is not its import, and leads to the file that
//! defines it. Tests are left out, and the insides of macros are not read.
//!
//! One arrow does not count: to what the file of an enclosing module defines and uses itself. A module and its children are
//! one thing by the language's own rules (a child sees what its parents keep private), and what all of them need
//! (`Context` of the commands) stands best in the parent. But what a parent that uses its children defines for them alone
//! is misplaced, and counts.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use syn::visit::{self, Visit};

/// The source folders of the workspace's crates.
const FOLDERS: &[&str] = &[
    "affected/src",
    "backends/command/src",
    "backends/coverage-py/src",
    "backends/dylib-plugin/src",
    "backends/exec-plugin/src",
    "backends/pytest-base/src",
    "backends/pytest-events/src",
    "backends/pytest-json/src",
    "backends/pytest-terminal/src",
    "mcp/src",
    "runner-core/conformance/src",
    "runner-core/engine/src",
    "runner-core/ops/src",
    "runner-core/process/src",
    "runner-core/src",
    "source/src",
    "src",
    "testdiff/src",
    "tests/skip/src",
];

type Names = Vec<String>;

/// A file, read.
#[derive(Default)]
struct File {
    /// `crate::engine::run` is `["engine", "run"]`.
    module: Names,
    /// What it defines, its child modules included.
    defines: BTreeSet<String>,
    children: BTreeSet<String>,
    /// Children that are compiled for tests alone.
    test_children: BTreeSet<String>,
    /// Names it imports, under which others may find them in it.
    imports: BTreeMap<String, Names>,
    /// Those of them that it hands on.
    exports: BTreeSet<String>,
    /// Paths it names, from the crate's root.
    paths: BTreeSet<Names>,
    /// What paths in its types and bodies begin with.
    words: BTreeSet<String>,
}

impl File {
    /// The paths that it names for itself.
    fn own_paths(&self) -> impl Iterator<Item = &Names> {
        let is_handed_on = |name: &String| self.exports.contains(name) && !self.words.contains(name);
        let imports = self.imports.iter().filter(move |(name, _)| !is_handed_on(name));
        imports.map(|(_, path)| path).chain(&self.paths)
    }
}

struct Reader {
    file: File,
    /// Inline modules around the place that is read.
    inline: usize,
    /// The `use` that is read is not private.
    is_export: bool,
}

impl Reader {
    /// The path from the crate's root, if it stays in the crate.
    fn absolute(&self, path: &[String]) -> Option<Names> {
        let mut module = self.file.module.clone();
        let mut left = self.inline;
        let mut rest = path;
        match path.first()?.as_str() {
            "crate" => {
                module.clear();
                rest = &path[1..];
            }
            "self" => rest = &path[1..],
            "super" => {
                while rest.first().is_some_and(|name| name == "super") {
                    rest = &rest[1..];
                    if left > 0 {
                        left -= 1;
                    } else {
                        module.pop()?;
                    }
                }
            }
            child if self.file.children.contains(child) => {}
            _ => return None,
        }
        module.extend(rest.iter().cloned());
        Some(module)
    }

    fn import(&mut self, tree: &syn::UseTree, before: &mut Names) {
        match tree {
            syn::UseTree::Path(path) => {
                before.push(path.ident.to_string());
                self.import(&path.tree, before);
                before.pop();
            }
            syn::UseTree::Group(group) => group.items.iter().for_each(|tree| self.import(tree, before)),
            syn::UseTree::Glob(_) => {
                self.file.paths.extend(self.absolute(before));
            }
            syn::UseTree::Name(name) => self.imported(&name.ident, &name.ident, before),
            syn::UseTree::Rename(name) => self.imported(&name.ident, &name.rename, before),
        }
    }

    fn imported(&mut self, name: &syn::Ident, here: &syn::Ident, before: &[String]) {
        let mut path = before.to_vec();
        if name != "self" {
            path.push(name.to_string());
        }
        if let Some(path) = self.absolute(&path) {
            if self.is_export {
                self.file.exports.insert(here.to_string());
            }
            self.file.imports.insert(here.to_string(), path);
        }
    }
}

fn is_for_tests(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg")
            && attribute
                .parse_args::<syn::Ident>()
                .is_ok_and(|what| what == "test")
    })
}

fn defined(item: &syn::Item) -> Option<&syn::Ident> {
    match item {
        syn::Item::Const(item) => Some(&item.ident),
        syn::Item::Enum(item) => Some(&item.ident),
        syn::Item::Fn(item) => Some(&item.sig.ident),
        syn::Item::Static(item) => Some(&item.ident),
        syn::Item::Struct(item) => Some(&item.ident),
        syn::Item::Trait(item) => Some(&item.ident),
        syn::Item::Type(item) => Some(&item.ident),
        syn::Item::Union(item) => Some(&item.ident),
        _ => None,
    }
}

fn attributes(item: &syn::Item) -> &[syn::Attribute] {
    match item {
        syn::Item::Const(item) => &item.attrs,
        syn::Item::Fn(item) => &item.attrs,
        syn::Item::Impl(item) => &item.attrs,
        syn::Item::Mod(item) => &item.attrs,
        syn::Item::Struct(item) => &item.attrs,
        syn::Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

impl<'ast> Visit<'ast> for Reader {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        if is_for_tests(attributes(item)) {
            return;
        }
        if let Some(name) = defined(item).filter(|_| self.inline == 0) {
            self.file.defines.insert(name.to_string());
        }
        visit::visit_item(self, item);
    }

    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        self.inline += 1;
        visit::visit_item_mod(self, item);
        self.inline -= 1;
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        self.is_export = !matches!(item.vis, syn::Visibility::Inherited);
        self.import(&item.tree, &mut Vec::new());
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let names: Names = path
            .segments
            .iter()
            .map(|segment| segment.ident.to_string())
            .collect();
        self.file.words.insert(names[0].clone());
        if names.len() > 1 {
            self.file.paths.extend(self.absolute(&names));
        }
        visit::visit_path(self, path);
    }
}

/// `a/b.rs` and `a/b/mod.rs` are `a::b`; `lib.rs` and `main.rs` are the root.
fn module(folder: &Path, path: &Path) -> Names {
    let inside = path.strip_prefix(folder).unwrap().with_extension("");
    let mut names: Names = inside
        .iter()
        .map(|name| name.to_string_lossy().into_owned())
        .collect();
    let is_root = names.len() == 1 && (names[0] == "lib" || names[0] == "main");
    if is_root || names.last().is_some_and(|name| name == "mod") {
        names.pop();
    }
    names
}

fn read(folder: &Path, path: &Path) -> File {
    let text = std::fs::read_to_string(path).unwrap();
    let syntax = syn::parse_file(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut file = File {
        module: module(folder, path),
        ..File::default()
    };
    for item in &syntax.items {
        if let syn::Item::Mod(item) = item {
            let is_test = is_for_tests(&item.attrs);
            let children = if is_test {
                &mut file.test_children
            } else {
                &mut file.children
            };
            children.insert(item.ident.to_string());
        }
    }
    let mut reader = Reader {
        file,
        inline: 0,
        is_export: false,
    };
    reader.visit_file(&syntax);
    reader.file
}

/// The files of a crate, tests left out, by their module.
fn files(folder: &Path) -> BTreeMap<Names, File> {
    let mut all: BTreeMap<Names, File> = walkdir::WalkDir::new(folder)
        .into_iter()
        .flatten()
        .map(walkdir::DirEntry::into_path)
        .filter(|path| path.extension().is_some_and(|end| end == "rs"))
        .map(|path| read(folder, &path))
        .map(|file| (file.module.clone(), file))
        .collect();
    let tests: Vec<Names> = all
        .values()
        .flat_map(|file| {
            let module = &file.module;
            let child = |name: &String| [module.as_slice(), std::slice::from_ref(name)].concat();
            file.test_children.iter().map(child)
        })
        .collect();
    all.retain(|module, _| !tests.iter().any(|test| module.starts_with(test)));
    all
}

/// The file that a path leads to, and the name in it.
fn target<'a>(
    files: &'a BTreeMap<Names, File>,
    path: &'a [String],
    hops: usize,
) -> Option<(&'a Names, Option<&'a str>)> {
    let (module, file) = (0..=path.len())
        .rev()
        .find_map(|length| files.get_key_value(&path[..length]))?;
    let Some(name) = path.get(module.len()) else {
        return Some((module, None));
    };
    match file.imports.get(name) {
        Some(further) if hops > 0 && !file.defines.contains(name) => target(files, further, hops - 1),
        _ => Some((module, Some(name))),
    }
}

fn arrows(files: &BTreeMap<Names, File>) -> BTreeMap<&Names, BTreeSet<&Names>> {
    let mut arrows: BTreeMap<&Names, BTreeSet<&Names>> = BTreeMap::new();
    for (module, file) in files {
        for path in file.own_paths() {
            let Some((to, name)) = target(files, path, 8) else {
                continue;
            };
            if to == module || (module.starts_with(to) && is_shared(files, to, name)) {
                continue;
            }
            arrows.entry(module).or_default().insert(to);
        }
    }
    arrows
}

/// Whether what a parent defines is used by itself, too.
fn is_shared(files: &BTreeMap<Names, File>, parent: &Names, name: Option<&str>) -> bool {
    name.is_none_or(|name| files[parent].words.contains(name))
}

/// Files that reach each other, in groups.
fn circles(arrows: &BTreeMap<&Names, BTreeSet<&Names>>) -> BTreeSet<BTreeSet<String>> {
    let reached = |from: &Names| {
        let mut seen: BTreeSet<&Names> = BTreeSet::new();
        let mut next: Vec<&Names> = arrows.get(from).into_iter().flatten().copied().collect();
        while let Some(module) = next.pop() {
            if seen.insert(module) {
                next.extend(arrows.get(module).into_iter().flatten());
            }
        }
        seen
    };
    let reach: BTreeMap<&Names, BTreeSet<&Names>> =
        arrows.keys().map(|from| (*from, reached(from))).collect();
    reach
        .iter()
        .filter(|(from, reached)| reached.contains(*from))
        .map(|(from, reached)| {
            let back = |to: &&&Names| reach.get(**to).is_some_and(|back| back.contains(from));
            reached
                .iter()
                .filter(back)
                .map(|module| format!("crate::{}", module.join("::")))
                .collect()
        })
        .collect()
}

fn circles_in(folder: &Path) -> BTreeSet<BTreeSet<String>> {
    let files = files(folder);
    assert!(!files.is_empty(), "{} has no sources", folder.display());
    circles(&arrows(&files))
}

#[test]
fn no_two_files_import_each_other_in_a_loop() {
    let top = Path::new(env!("CARGO_MANIFEST_DIR"));
    let found: Vec<String> = FOLDERS
        .iter()
        .flat_map(|folder| {
            let circles = circles_in(&top.join(folder)).into_iter();
            circles.map(move |circle| format!("{folder}: {circle:?}"))
        })
        .collect();
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn every_crate_is_looked_at_for_loops() {
    let manifest = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml")).unwrap();
    let (_, members) = manifest.split_once("members = [").unwrap();
    let (members, _) = members.split_once(']').unwrap();
    let members = members.split('"').skip(1).step_by(2);
    let folders: BTreeSet<String> = members
        .map(|member| format!("{member}/src"))
        .chain(["src".to_owned()])
        .collect();
    let listed = FOLDERS.iter().map(|folder| (*folder).to_owned());
    assert_eq!(listed.collect::<BTreeSet<String>>(), folders);
}

/// The circles of a crate of these files.
fn circles_of(sources: &[(&str, &str)]) -> Vec<Vec<String>> {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in sources {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let circles = circles_in(folder.path()).into_iter();
    circles.map(|circle| circle.into_iter().collect()).collect()
}

#[test]
fn a_loop_is_found_through_uses_bodies_and_what_others_hand_on() {
    let loop_of_two = [["crate::a", "crate::b"]];
    for a in [
        "use crate::b::B;",
        "use super::{b::{B}};",
        "fn f() { crate::b::g() }",
        "use crate::B;",
    ] {
        let sources = [
            ("lib.rs", "mod a; mod b; pub use b::B;"),
            ("a.rs", a),
            ("b.rs", "pub struct B; fn g(_: super::a::A) {}"),
        ];
        assert_eq!(circles_of(&sources), loop_of_two, "{a}");
    }
}

#[test]
fn a_parent_hands_on_and_is_seen_by_its_children_but_defines_nothing_for_them_alone() {
    let of = |parent: &str, child: &str| circles_of(&[("lib.rs", parent), ("a.rs", child)]);
    let none: Vec<Vec<String>> = Vec::new();
    // It hands on.
    assert_eq!(
        of("mod a; pub use a::A; pub struct P;", "pub struct A(super::P);"),
        none
    );
    // Both use what it defines.
    let shared = "mod a; struct P; fn f() -> P { a::f(); P }";
    assert_eq!(of(shared, "use super::P; pub fn f() -> P { P }"), none);
    // For the child alone.
    let alone = "mod a; struct P; fn f() { a::f(); }";
    assert_eq!(
        of(alone, "use super::P; pub fn f() -> P { P }"),
        [["crate::", "crate::a"]]
    );
    // A test of the child's may use whatever it likes.
    assert_eq!(
        of(alone, "pub fn f() {} #[cfg(test)] mod tests { use crate::P; }"),
        none
    );
}
