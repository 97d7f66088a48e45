//! Answers as the host reads them: what a newer backend says beyond the host's words becomes a warning, never silence
//! and never a green row.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::{Initialized, TestEvents, WireError};
use crate::backend::{BackendInfo, Capability, Need, OptionSpec};
use crate::event::{Ending, EndingKind, ExitMeaning, TestEvent};
use crate::model::{Outcome, Phase};

/// Names of [`TestEvent`]'s variants on the wire.
const EVENTS: [&str; 13] = [
    "found",
    "counted",
    "started",
    "entered",
    "reran",
    "finished",
    "detailed",
    "collect_failed",
    "hung",
    "coverage",
    "environment",
    "printed",
    "warning",
];

/// Reads the answer to `initialize`. The second value: words that this host does not know and leaves out.
pub fn initialized(text: &str) -> Result<(Initialized, Vec<String>), WireError> {
    #[derive(Deserialize)]
    struct In {
        protocol: u32,
        #[serde(default)]
        features: Vec<String>,
        info: Info,
    }
    #[derive(Deserialize)]
    struct Info {
        name: String,
        #[serde(default)]
        framework: String,
        #[serde(default)]
        language: String,
        capabilities: Vec<Value>,
        #[serde(default)]
        needs: Vec<Value>,
        #[serde(default)]
        options: Vec<Value>,
    }
    let found: In = serde_json::from_str(text)
        .map_err(|error| WireError::shape("the answer to `initialize`", &error, text))?;
    let mut left_out = Vec::new();
    let info = BackendInfo {
        name: found.info.name,
        framework: found.info.framework,
        language: found.info.language,
        capabilities: known::<Capability>(found.info.capabilities, "capability", &mut left_out)
            .into_iter()
            .collect(),
        needs: known::<Need>(found.info.needs, "need", &mut left_out),
        options: known::<OptionSpec>(found.info.options, "option", &mut left_out),
    };
    let initialized = Initialized {
        protocol: found.protocol,
        features: found.features,
        info,
    };
    Ok((initialized, left_out))
}

/// Those values that are known here; the others are named in `left_out`.
fn known<T: serde::de::DeserializeOwned>(
    values: Vec<Value>,
    what: &str,
    left_out: &mut Vec<String>,
) -> Vec<T> {
    let read = |value: Value| {
        let known = T::deserialize(&value).ok();
        if known.is_none() {
            left_out.push(format!("{what} {value}"));
        }
        known
    };
    values.into_iter().filter_map(read).collect()
}

/// Reads the answer to `read` or `more`.
pub fn events(text: &str) -> Result<TestEvents<'static>, WireError> {
    let what = "the answer to `read`";
    Ok(answer(text, what)?.0)
}

/// Reads the answer to `finish`.
pub fn finished(text: &str) -> Result<(TestEvents<'static>, Ending), WireError> {
    let what = "the answer to `finish`";
    let (events, ending) = answer(text, what)?;
    let ending = ending.ok_or_else(|| WireError::Shape {
        what: what.to_owned(),
        why: "no `ending`".to_owned(),
        start: super::excerpt(text.as_bytes()),
    })?;
    Ok((events, ending))
}

fn answer(text: &str, what: &str) -> Result<(TestEvents<'static>, Option<Ending>), WireError> {
    #[derive(Deserialize)]
    struct Exact {
        #[serde(default)]
        events: Vec<TestEvent>,
        #[serde(default)]
        ending: Option<LooseEnding>,
        #[serde(default)]
        more: bool,
    }
    #[derive(Deserialize)]
    struct Loose<'a> {
        #[serde(default, borrow)]
        events: Vec<&'a RawValue>,
        #[serde(default)]
        ending: Option<LooseEnding>,
        #[serde(default)]
        more: bool,
    }
    if text == "null" {
        return Ok((TestEvents::default(), None));
    }
    // Nearly always every word is known; only otherwise each event is looked at alone.
    let (events, ending, more) = if let Ok(exact) = serde_json::from_str::<Exact>(text) {
        (exact.events, exact.ending, exact.more)
    } else {
        let loose: Loose<'_> =
            serde_json::from_str(text).map_err(|error| WireError::shape(what, &error, text))?;
        let mut events = Vec::with_capacity(loose.events.len());
        for event in loose.events {
            one(event.get(), what, &mut events)?;
        }
        (events, loose.ending, loose.more)
    };
    let events = TestEvents {
        events: events.into(),
        more,
    };
    Ok((events, ending.map(LooseEnding::known)))
}

/// An ending whose words may be newer than this host.
#[derive(Deserialize)]
struct LooseEnding {
    kind: String,
    #[serde(default)]
    exit: String,
    #[serde(default)]
    reason: Option<String>,
    #[serde(default)]
    hint: Option<String>,
}

impl LooseEnding {
    fn known(self) -> Ending {
        let exit = word(&self.exit).unwrap_or(ExitMeaning::Other);
        let kind = word::<EndingKind>(&self.kind);
        let reason = match kind {
            Some(_) => self.reason,
            None => Some(format!(
                "the backend says that the run ended as `{}`, which this qaas does not know{}",
                self.kind,
                self.reason
                    .map_or_else(String::new, |reason| format!(": {reason}"))
            )),
        };
        Ending {
            kind: kind.unwrap_or(EndingKind::Broken),
            exit,
            reason,
            hint: self.hint,
        }
    }
}

fn word<T: serde::de::DeserializeOwned>(word: &str) -> Option<T> {
    T::deserialize(&Value::from(word)).ok()
}

/// One event of an answer in which something is not known.
fn one(text: &str, what: &str, events: &mut Vec<TestEvent>) -> Result<(), WireError> {
    let malformed = |error: &serde_json::Error| WireError::shape(format!("an event in {what}"), error, text);
    let mut value: Value = serde_json::from_str(text).map_err(|error| malformed(&error))?;
    let mut unknown = Vec::new();
    forget_unknown_phases(&mut value, &mut unknown);
    let warn = |words: &str| TestEvent::Warning {
        message: format!("the backend speaks of {words}, which this qaas does not know"),
    };
    let error = match TestEvent::deserialize(&value) {
        Ok(event) => {
            events.extend(unknown.iter().map(|words| warn(words)));
            events.push(event);
            return Ok(());
        }
        Err(error) => error,
    };
    let kind = value.get("event").and_then(Value::as_str).unwrap_or_default();
    if !kind.is_empty() && !EVENTS.contains(&kind) {
        events.push(warn(&format!("an event `{kind}`")));
        return Ok(());
    }
    if kind == "entered" && !unknown.is_empty() {
        events.extend(unknown.iter().map(|words| warn(words)));
        return Ok(());
    }
    let nodeid = value.get("nodeid").and_then(Value::as_str);
    match (unknown_outcome(&value), nodeid) {
        (Some(outcome), Some(nodeid)) => {
            // It has no row, but it must not be forgotten either: begun and never seen to end.
            if kind == "finished" {
                events.push(TestEvent::Started {
                    nodeid: nodeid.to_owned(),
                    worker: None,
                });
            }
            events.push(warn(&format!("an outcome `{outcome}` of {nodeid}")));
            Ok(())
        }
        _ => Err(malformed(&error)),
    }
}

/// Takes out every `phase` that is no [`Phase`], and names it.
fn forget_unknown_phases(value: &mut Value, unknown: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            let strange = fields.get("phase").and_then(Value::as_str);
            if let Some(strange) = strange.filter(|phase| word::<Phase>(phase).is_none()) {
                unknown.push(format!("a phase `{strange}`"));
                fields.shift_remove("phase");
            }
            for field in fields.values_mut() {
                forget_unknown_phases(field, unknown);
            }
        }
        Value::Array(items) => {
            for item in items {
                forget_unknown_phases(item, unknown);
            }
        }
        _ => {}
    }
}

/// An `outcome` anywhere in the event that is no [`Outcome`].
fn unknown_outcome(value: &Value) -> Option<String> {
    match value {
        Value::Object(fields) => {
            let strange = fields.get("outcome").and_then(Value::as_str);
            let strange = strange.filter(|outcome| word::<Outcome>(outcome).is_none());
            strange
                .map(str::to_owned)
                .or_else(|| fields.values().find_map(unknown_outcome))
        }
        Value::Array(items) => items.iter().find_map(unknown_outcome),
        _ => None,
    }
}
