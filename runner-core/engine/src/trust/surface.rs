//! What a configuration would run or hand out beyond running tests: found by looking at it, shown word for word.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::config::{CommandBackend, Settings};
use crate::digest::sha256;
use crate::secrets::is_secret_name;

/// Variables by which programs are told to load or run other code than their own, besides whole families of them.
const LOADER_NAMES: [&str; 24] = [
    "BASH_ENV",
    "CARGO_BUILD_RUSTC_WRAPPER",
    "CLASSPATH",
    "DOTNET_STARTUP_HOOKS",
    "GCONV_PATH",
    "GIT_EXEC_PATH",
    "GIT_SSH",
    "GIT_SSH_COMMAND",
    "GLIBC_TUNABLES",
    "JAVA_TOOL_OPTIONS",
    "JDK_JAVA_OPTIONS",
    "NODE_OPTIONS",
    "NODE_PATH",
    "PATH",
    "PERL5LIB",
    "PERL5OPT",
    "PHPRC",
    "PHP_INI_SCAN_DIR",
    "RUBYLIB",
    "RUBYOPT",
    "RUSTC_WORKSPACE_WRAPPER",
    "RUSTC_WRAPPER",
    "SHELLOPTS",
    "_JAVA_OPTIONS",
];

/// The families: whatever begins so.
const LOADER_FAMILIES: [&str; 4] = ["DYLD_", "GIT_CONFIG", "LD_", "PYTHON"];

/// Whether a variable of this name makes programs load or run other code.
pub fn is_loader_name(name: &str) -> bool {
    LOADER_NAMES.contains(&name) || LOADER_FAMILIES.iter().any(|family| name.starts_with(family))
}

/// A part of a configuration that needs a person's consent.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// A `[backend.NAME]` table: command lines, addresses, plug-ins with the content of their files.
    Backend(String),
    /// A loader variable under `[env] set`.
    Set(String),
    /// A secret-shaped name under `[env] pass`.
    Pass(String),
    /// `python` of a suite, where detection would have chosen another one.
    Interpreter(String),
}

impl Part {
    /// In the words of the file.
    pub fn words(&self) -> String {
        match self {
            Self::Backend(name) => format!("backend `{name}`"),
            Self::Set(name) => format!("`{name}` under `env.set`"),
            Self::Pass(name) => format!("`{name}` under `env.pass`"),
            Self::Interpreter(suite) => format!("`python` of suite `{suite}`"),
        }
    }
}

/// One part with its whole content, as it is shown and as it is agreed to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Item {
    pub part: Part,
    /// Dotted keys with their values, in a fixed order; nothing in it is hidden or cut.
    pub lines: Vec<String>,
}

/// Everything in a configuration that needs consent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Surface {
    items: BTreeMap<Part, Vec<String>>,
}

impl Surface {
    /// The surface that a configuration's own words make. What needs a look at the machine is added by
    /// [`Surface::add_interpreter`].
    pub fn of(settings: &Settings) -> Self {
        let mut surface = Self::default();
        for (name, backend) in &settings.backends {
            surface
                .items
                .insert(Part::Backend(name.clone()), backend_lines(name, backend));
        }
        for (name, value) in &settings.env.set {
            if is_loader_name(name) {
                let line = format!("env.set.{name} = {}", shown(&Value::from(value.as_str())));
                surface.items.insert(Part::Set(name.clone()), vec![line]);
            }
        }
        for name in settings.env.pass.iter().filter(|name| is_secret_name(name)) {
            surface
                .items
                .insert(Part::Pass(name.clone()), vec![format!("env.pass: {name}")]);
        }
        surface
    }

    /// A suite's interpreter that detection would not have chosen; `python` as it is written.
    pub fn add_interpreter(&mut self, suite: &str, python: &str) {
        let line = format!("suite.{suite}.options.python = {}", shown(&Value::from(python)));
        self.items.insert(Part::Interpreter(suite.to_owned()), vec![line]);
    }

    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    pub fn contains(&self, part: &Part) -> bool {
        self.items.contains_key(part)
    }

    pub fn items(&self) -> Vec<Item> {
        let item = |(part, lines): (&Part, &Vec<String>)| Item {
            part: part.clone(),
            lines: lines.clone(),
        };
        self.items.iter().map(item).collect()
    }

    /// What would run or be handed out, for a person to read.
    pub fn lines(&self) -> Vec<String> {
        self.items.values().flatten().cloned().collect()
    }

    /// A name for exactly this surface.
    pub fn digest(&self) -> String {
        sha256(self.lines().join("\n").as_bytes())
    }

    /// Lines that are in this surface and not in what was agreed to (`+`), and, of parts that differ, the other way
    /// round (`-`). Parts that are gone need no consent any more.
    pub(super) fn differs_from(&self, agreed: &[Item]) -> Vec<String> {
        let mut diff = Vec::new();
        for (part, lines) in &self.items {
            let before = agreed
                .iter()
                .find(|item| item.part == *part)
                .map(|item| item.lines.as_slice());
            let before = before.unwrap_or_default();
            let gone = before.iter().filter(|line| !lines.contains(line));
            diff.extend(gone.map(|line| format!("- {line}")));
            let new = lines.iter().filter(|line| !before.contains(line));
            diff.extend(new.map(|line| format!("+ {line}")));
        }
        diff
    }
}

fn backend_lines(name: &str, backend: &CommandBackend) -> Vec<String> {
    let mut lines = vec![format!(
        "backend.{name}.kind = {}",
        shown(&Value::from(backend.kind.as_str()))
    )];
    let sorted: BTreeMap<&String, &Value> = backend.table.iter().collect();
    lines.extend(sorted.into_iter().map(|(key, value)| {
        let bare = key
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'));
        let key = if bare {
            key.clone()
        } else {
            shown(&Value::from(key.as_str()))
        };
        format!("backend.{name}.{key} = {}", shown(value))
    }));
    if let Some(file) = &backend.file {
        let path = shown(&Value::from(file.path.as_str()));
        lines.push(format!("backend.{name}: {path} sha256 = {}", file.sha256));
    }
    lines
}

/// A value as JSON with sorted keys, in visible characters only.
fn shown(value: &Value) -> String {
    match value {
        Value::Array(items) => format!("[{}]", items.iter().map(shown).collect::<Vec<_>>().join(", ")),
        Value::Object(map) => {
            let sorted: BTreeMap<&String, &Value> = map.iter().collect();
            let pairs = sorted
                .into_iter()
                .map(|(key, value)| format!("{}: {}", shown(&Value::from(key.as_str())), shown(value)));
            format!("{{{}}}", pairs.collect::<Vec<_>>().join(", "))
        }
        plain => visible(&plain.to_string()),
    }
}

/// Characters that would make a terminal show something else than what stands there are spelled out.
fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        let deceives = matches!(c,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}');
        if c.is_control() || deceives {
            out.extend(c.escape_unicode());
        } else {
            out.push(c);
        }
    }
    out
}
