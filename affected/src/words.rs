//! Words of a change in the texts of tests: a signal that needs no parser and knows no language.
//!
//! Ranked as texts are in a search (Okapi BM25): a word tells the more the fewer tests have it, and more occurrences
//! tell less and less more.

use crate::change::is_within;
use foldhash::{HashMap, HashMapExt};

/// How soon more of the same word stops counting.
const SATURATION: f32 = 2.0;
/// How much a long text has to have more of a word than a short one.
const LENGTH: f32 = 0.8;
/// Shorter parts of names tell nothing.
const LEAST_LETTERS: usize = 3;

/// The words of the lines that differ between two texts, each once.
pub(crate) fn changed_words(old: &str, new: &str) -> Vec<String> {
    let mut lines: HashMap<&str, i32> = HashMap::new();
    for line in old.lines() {
        *lines.entry(line.trim()).or_default() += 1;
    }
    for line in new.lines() {
        *lines.entry(line.trim()).or_default() -= 1;
    }
    let mut words = Vec::new();
    for line in lines
        .iter()
        .filter(|(_, count)| **count != 0)
        .map(|(line, _)| line)
    {
        each_word(line, &mut |word| words.push(word.to_owned()));
    }
    words.sort_unstable();
    words.dedup();
    words
}

/// The lines of these ranges, counted from 1.
pub(crate) fn of_lines(text: &str, ranges: &[(u32, u32)]) -> String {
    let lines = (1..).zip(text.lines());
    let chosen: Vec<&str> = lines
        .filter(|(number, _)| is_within(*number, ranges))
        .map(|(_, line)| line)
        .collect();
    chosen.join("\n")
}

/// Names as they are written, and the parts that they are made of.
fn each_word(text: &str, then: &mut impl FnMut(&str)) {
    for name in text.split(|c: char| !c.is_alphanumeric() && c != '_') {
        if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
            continue;
        }
        then(name);
        let mut from = 0;
        let mut before = '_';
        for (at, c) in name.char_indices() {
            if c == '_' || (c.is_uppercase() && before.is_lowercase()) {
                part(&name[from..at], then);
                from = at + usize::from(c == '_');
            }
            before = c;
        }
        part(&name[from..], then);
    }
}

/// A part of a name, told from a whole name by its mark.
fn part(part: &str, then: &mut impl FnMut(&str)) {
    if part.len() >= LEAST_LETTERS {
        then(&format!("~{}", part.to_lowercase()));
    }
}

/// How well each text goes with the words, from 0 to 1 for the one that does best.
pub(crate) fn resemblance(words: &[String], texts: &[&str]) -> Vec<f32> {
    let index: HashMap<&str, usize> = words
        .iter()
        .enumerate()
        .map(|(i, word)| (word.as_str(), i))
        .collect();
    let counts: Vec<HashMap<usize, f32>> = texts.iter().map(|text| count(text, &index)).collect();
    let mean = texts.iter().map(|text| text.len()).sum::<usize>() as f32 / texts.len().max(1) as f32;
    let telling: Vec<f32> = (0..words.len())
        .map(|word| {
            let having = counts.iter().filter(|counts| counts.contains_key(&word)).count() as f32;
            (1.0 + (texts.len() as f32 - having + 0.5) / (having + 0.5)).ln()
        })
        .collect();
    let score = |(text, counts): (&&str, &HashMap<usize, f32>)| -> f32 {
        let length = 1.0 - LENGTH + LENGTH * text.len() as f32 / mean.max(1.0);
        let one = |(word, count): (&usize, &f32)| {
            telling[*word] * count * (SATURATION + 1.0) / (count + SATURATION * length)
        };
        counts.iter().map(one).sum()
    };
    let mut scores: Vec<f32> = texts.iter().zip(&counts).map(score).collect();
    let most = scores.iter().copied().fold(0.0, f32::max);
    if most > 0.0 {
        for score in &mut scores {
            *score /= most;
        }
    }
    scores
}

fn count(text: &str, index: &HashMap<&str, usize>) -> HashMap<usize, f32> {
    let mut counts = HashMap::new();
    each_word(text, &mut |word| {
        if let Some(word) = index.get(word) {
            *counts.entry(*word).or_default() += 1.0;
        }
    });
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_those_of_lines_that_differ() {
        let words = changed_words("a = 1\nb = oldName(x)\n", "a = 1\nb = new_name(x)\n");
        assert_eq!(words, ["b", "new_name", "oldName", "x", "~name", "~new", "~old"]);
        assert!(
            changed_words("a\n", "  a\n").is_empty(),
            "other blanks are no change"
        );
    }

    #[test]
    fn a_rare_word_tells_more_than_a_common_one() {
        let words = vec!["common".to_owned(), "rare".to_owned()];
        let texts = ["common common", "common", "rare", "nothing", "common"];
        let scores = resemblance(&words, &texts);
        assert!((scores[2] - 1.0).abs() < 1e-6, "{scores:?}");
        assert!(scores[0] > scores[1] && scores[1] > 0.0, "{scores:?}");
        assert!(scores[3].abs() < 1e-6);
    }
}
