//! Checks that need to know which backends and tools there are, which the file alone does not say.

use std::collections::BTreeSet;

use serde_json::Value;

use super::ConfigError;
use super::fault::suggest;
use super::node::dotted;
use super::settings::{CoverageChoice, Settings, Suite};
use runner_core::backend::{BackendInfo, Capability, Need, OptionKind, OptionSpec};

impl Settings {
    /// An error at the place of a key of the file.
    pub fn error_at(&self, key: &str, message: impl Into<String>, hint: impl Into<String>) -> ConfigError {
        let place = self.places.get(key);
        ConfigError {
            file: self.file.clone().unwrap_or_default(),
            line: place.map(|place| place.line),
            column: place.map(|place| place.column),
            key: Some(key.to_owned()),
            message: message.into(),
            hint: Some(hint.into()),
        }
    }

    /// Whether every backend that a suite names is there (`infos`, or a table of this file) and can do what it is
    /// named for. `others`: names of backends that are there too and were not loaded, for what may have been meant.
    pub fn check_backends(&self, infos: &[BackendInfo], others: &[String]) -> Result<(), ConfigError> {
        let check = |key: &str, name: &str, capability: Capability| {
            self.check_backend(infos, others, key, name, capability)
        };
        for suite in &self.suites {
            let key = dotted("suite", &suite.name);
            for (number, name) in suite.backend.iter().enumerate() {
                let item = format!("{key}.backend[{number}]");
                let key = if self.places.contains_key(&item) {
                    item
                } else {
                    format!("{key}.backend")
                };
                check(&key, name, Capability::Run)?;
            }
            if let CoverageChoice::Named(name) = &suite.coverage {
                check(&format!("{key}.coverage"), name, Capability::Coverage)?;
            }
        }
        Ok(())
    }

    fn check_backend(
        &self,
        infos: &[BackendInfo],
        others: &[String],
        key: &str,
        name: &str,
        capability: Capability,
    ) -> Result<(), ConfigError> {
        let what = match capability {
            Capability::Coverage => "measure coverage",
            _ => "run tests",
        };
        let able = infos
            .iter()
            .filter(|info| info.can(capability))
            .map(|info| info.name.as_str());
        let own = self.backends.keys().map(String::as_str);
        let mut candidates: BTreeSet<&str> = able.chain(own).collect();
        if candidates.contains(name) {
            return Ok(());
        }
        candidates.extend(others.iter().map(String::as_str));
        let message = if infos.iter().any(|info| info.name == name) {
            format!("backend `{name}` does not {what}")
        } else {
            format!("there is no backend `{name}`")
        };
        Err(self.error_at(
            key,
            message,
            suggest(name, candidates, &format!("backends that {what}")),
        ))
    }

    /// Whether every key under a suite's `options` is one of its backends', with a value of the right kind.
    /// The options of the backends in `unknown` are not known (yet).
    pub fn check_options(&self, infos: &[BackendInfo], unknown: &[&str]) -> Result<(), ConfigError> {
        for suite in &self.suites {
            let is_unknown = |name: &String| {
                let own = self.backends.contains_key(name) && !infos.iter().any(|i| i.name == *name);
                own || unknown.contains(&name.as_str())
            };
            if suite.backend.iter().any(is_unknown) {
                continue;
            }
            let specs = allowed_options(suite, infos);
            for (name, value) in &suite.options {
                self.check_option(suite, &specs, name, value)?;
            }
        }
        Ok(())
    }

    fn check_option(
        &self,
        suite: &Suite,
        specs: &[OptionSpec],
        name: &str,
        value: &Value,
    ) -> Result<(), ConfigError> {
        let key = dotted(&format!("{}.options", dotted("suite", &suite.name)), name);
        let Some(spec) = specs.iter().find(|spec| spec.name == name) else {
            let names = specs.iter().map(|spec| spec.name.as_str());
            return Err(self.error_at(
                &key,
                format!("the backends of this suite have no option `{name}`"),
                suggest(name, names, "options of its backends"),
            ));
        };
        let (good, kind, example) = match spec.kind {
            OptionKind::Bool => (value.is_boolean(), "true or false", "true"),
            OptionKind::Integer => (value.is_i64(), "a whole number", "4"),
            OptionKind::String => (value.is_string(), "a string", "\"…\""),
            OptionKind::Strings => {
                let strings = value
                    .as_array()
                    .is_some_and(|items| items.iter().all(Value::is_string));
                (strings, "a list of strings", "[\"…\", \"…\"]")
            }
        };
        if good {
            return Ok(());
        }
        Err(self.error_at(
            &key,
            format!("must be {kind}, not {}", kind_of(value)),
            format!("write it as `{name} = {example}`: {}", spec.about),
        ))
    }

    /// Whether every name under `[mcp] tools` is a tool.
    pub fn check_tools(&self, known: &[&str]) -> Result<(), ConfigError> {
        for (number, name) in self.mcp.tools.iter().flatten().enumerate() {
            if !known.contains(&name.as_str()) {
                return Err(self.error_at(
                    &format!("mcp.tools[{number}]"),
                    format!("there is no tool `{name}`"),
                    suggest(name, known.iter().copied(), "tools"),
                ));
            }
        }
        Ok(())
    }
}

/// Options of all backends that may come to run or measure the suite; of all there are if it names none.
fn allowed_options(suite: &Suite, infos: &[BackendInfo]) -> Vec<OptionSpec> {
    let named = |info: &&BackendInfo| suite.backend.is_empty() || suite.backend.contains(&info.name);
    let tests: Vec<&BackendInfo> = infos.iter().filter(named).collect();
    let languages: BTreeSet<&str> = tests.iter().map(|info| info.language.as_str()).collect();
    let measures = |info: &&BackendInfo| match &suite.coverage {
        CoverageChoice::Named(name) => info.name == *name,
        CoverageChoice::Default => {
            info.can(Capability::Coverage) && languages.contains(info.language.as_str())
        }
        CoverageChoice::Off => false,
    };
    let mut specs: Vec<OptionSpec> = tests
        .iter()
        .copied()
        .chain(infos.iter().filter(measures))
        .flat_map(|info| info.options.iter().cloned())
        .collect();
    if tests.iter().any(|info| info.needs.contains(&Need::Python))
        && specs.iter().all(|spec| spec.name != "python")
    {
        specs.push(OptionSpec {
            name: "python".to_owned(),
            kind: OptionKind::String,
            about: "the interpreter, relative to this file's folder".to_owned(),
        });
    }
    specs
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "nothing",
        Value::Bool(_) => "true or false",
        Value::Number(number) if number.is_f64() => "a number with a fraction",
        Value::Number(_) => "a whole number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list that holds other things",
        Value::Object(_) => "a table",
    }
}
