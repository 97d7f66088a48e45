//! qaas's own server, as a client of each era finds it.

use std::path::Path;

use serde_json::Value;

use super::check::Check;
use super::machine::REPORT;
use super::schema;
use super::talk::{Era, Talk, talk};
use crate::commands::Context;

/// All tool definitions together: every client pays for them in every conversation.
const MOST_BYTES: usize = 10_000;
const MOST_TOOLS: usize = 12;

pub(super) async fn checks(context: &Context, root: &Path) -> Vec<Check> {
    let (old, new) = tokio::join!(
        talk(context, root, Era::Initialize),
        talk(context, root, Era::Discover)
    );
    let tools = match (&old, &new) {
        (Ok(old), Ok(new)) => tools(&old.tools, &new.tools),
        _ => Check::skipped("tools", "the server could not be asked in both ways"),
    };
    vec![
        handshake(Era::Initialize, &old),
        handshake(Era::Discover, &new),
        tools,
    ]
}

fn handshake(era: Era, talk: &Result<Talk, String>) -> Check {
    let name = format!("server {}", era.version());
    match talk {
        Ok(talk) => {
            let (hello, list) = (talk.hello.as_millis(), talk.list.as_millis());
            let method = era.method();
            Check::ok(
                name,
                format!("{method} answered {hello} ms after the start, tools/list in {list} ms"),
            )
        }
        Err(why) => Check::fail(name, why.as_str(), REPORT),
    }
}

fn tools(old: &[Value], new: &[Value]) -> Check {
    const NAME: &str = "tools";
    let faults = schema::faults(old);
    if !faults.is_empty() {
        return Check::fail(NAME, "definitions that some client cannot read", REPORT).with_notes(faults);
    }
    let bytes = Value::from(old).to_string().len();
    if old != new {
        return Check::fail(NAME, "the two ways of asking are offered different tools", REPORT);
    }
    if old.len() > MOST_TOOLS || bytes > MOST_BYTES {
        return Check::fail(
            NAME,
            format!("{} tools in {bytes} bytes are too many", old.len()),
            REPORT,
        );
    }
    let names: Vec<&str> = old.iter().filter_map(|tool| tool["name"].as_str()).collect();
    Check::ok(NAME, format!("{} in {bytes} bytes, schemas checked", names.len()))
        .with_notes([names.join(", ")])
}
