//! The recorded bytes of a run, whole, in every order and cut in which they could have come.

use super::super::recording::{Playing, Recording, Replay};
use super::super::subject::Subject;
use runner_core::plan::{Lines, Stream};

pub(super) fn replay(_: &Subject, recording: &Recording, whole: &Replay) -> Result<String, String> {
    if let Some(crash) = &whole.crash {
        return Err(crash.clone());
    }
    match &recording.recorded {
        Some(recorded) if *recorded != whole.rows() => Err(format!(
            "{} instead of the run's {} rows",
            whole.words(),
            recorded.len()
        )),
        _ => Ok(whole.words()),
    }
}

/// The first thing that differs, in words.
fn same(played: &Replay, whole: &Replay, what: &str) -> Result<(), String> {
    let (now, then) = (played.essence(), whole.essence());
    if now == then {
        return Ok(());
    }
    let parts = now.as_object().into_iter().flatten();
    for (key, value) in parts {
        if *value != then[key] {
            let cut = |text: String| text.chars().take(400).collect::<String>();
            return Err(format!(
                "{what}: {key} {} instead of {}",
                cut(value.to_string()),
                cut(then[key].to_string())
            ));
        }
    }
    Err(format!("{what}: {} instead of {}", played.words(), whole.words()))
}

pub(super) fn batches(subject: &Subject, recording: &Recording, whole: &Replay) -> Result<String, String> {
    let single = recording.single_lines();
    for size in [1, 2, 7, usize::MAX] {
        let played = recording
            .with(batched(&single, size))
            .play(subject.backend.as_ref());
        let what = match size {
            usize::MAX => "all lines of a stream in one batch".to_owned(),
            size => format!("batches of {size}"),
        };
        same(&played, whole, &what)?;
    }
    Ok(format!("{} lines, the same each time", single.len()))
}

/// Neighbours of the same step and stream brought together, up to `size` lines.
fn batched(single: &[Lines], size: usize) -> Vec<Lines> {
    let mut batches: Vec<Lines> = Vec::new();
    for line in single {
        match batches.last_mut() {
            Some(last) if last.step == line.step && last.stream == line.stream && last.lines.len() < size => {
                last.lines.extend(line.lines.iter().cloned());
            }
            _ => batches.push(line.clone()),
        }
    }
    batches
}

pub(super) fn streams(subject: &Subject, recording: &Recording, whole: &Replay) -> Result<String, String> {
    use Stream::{Channel, Stderr, Stdout};
    let single = recording.single_lines();
    let orders = [
        [Channel, Stdout, Stderr],
        [Channel, Stderr, Stdout],
        [Stdout, Stderr, Channel],
        [Stdout, Channel, Stderr],
        [Stderr, Stdout, Channel],
        [Stderr, Channel, Stdout],
    ];
    for order in orders {
        let played = recording
            .with(one_after_another(&single, order))
            .play(subject.backend.as_ref());
        same(&played, whole, &format!("streams one after another: {order:?}"))?;
        let played = recording
            .with(in_turns(&single, order))
            .play(subject.backend.as_ref());
        same(
            &played,
            whole,
            &format!("a line of each stream in turn: {order:?}"),
        )?;
    }
    Ok(format!("{} orders, the same each time", orders.len() * 2))
}

/// The lines of each step by stream. Steps stay in their order: the next begins when one has ended.
fn by_stream(single: &[Lines], order: [Stream; 3]) -> Vec<Vec<Vec<Lines>>> {
    let steps = single
        .iter()
        .map(|line| line.step)
        .max()
        .map_or(0, |last| last + 1);
    let of = |step: usize, stream: Stream| {
        let lines = single
            .iter()
            .filter(|line| line.step == step && line.stream == stream);
        lines.cloned().collect::<Vec<_>>()
    };
    let step = |step| order.iter().map(|stream| of(step, *stream)).collect();
    (0..steps).map(step).collect()
}

fn one_after_another(single: &[Lines], order: [Stream; 3]) -> Vec<Lines> {
    by_stream(single, order).into_iter().flatten().flatten().collect()
}

fn in_turns(single: &[Lines], order: [Stream; 3]) -> Vec<Lines> {
    let mut lines = Vec::with_capacity(single.len());
    for streams in by_stream(single, order) {
        let longest = streams.iter().map(Vec::len).max().unwrap_or_default();
        for place in 0..longest {
            lines.extend(streams.iter().filter_map(|stream| stream.get(place).cloned()));
        }
    }
    lines
}

/// One reader for each tape, fed by turns; then once more one after the other.
pub(super) fn readers(subject: &Subject, one: &Recording, other: &Recording) -> Result<String, String> {
    let backend = subject.backend.as_ref();
    let alone = (one.play(backend), other.play(backend));
    let mut first = Playing::new(backend, &one.request);
    let mut second = Playing::new(backend, &other.request);
    for place in 0..one.calls.len().max(other.calls.len()) {
        one.calls.get(place).into_iter().for_each(|call| first.read(call));
        other
            .calls
            .get(place)
            .into_iter()
            .for_each(|call| second.read(call));
    }
    let second = second.finish(&other.exits, &other.files);
    let first = first.finish(&one.exits, &one.files);
    same(&first, &alone.0, "beside another reader")?;
    same(&second, &alone.1, "beside another reader")?;
    same(&one.play(backend), &alone.0, "after other readers")?;
    Ok("each as alone".to_owned())
}
