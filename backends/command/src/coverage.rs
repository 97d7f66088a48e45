//! Coverage that a command's own measuring leaves: lcov, Cobertura, coverage.py's JSON. Merged by file.

use std::collections::BTreeMap;
use std::path::Path;

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};
use runner_core::model::{Coverage, FileCoverage};
use serde::Deserialize;

use crate::formats::xml_attribute;

/// A format that coverage can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CoverageFormat {
    Lcov,
    Cobertura,
    CoveragePy,
}

pub(crate) const COVERAGE_FORMATS: [(&str, CoverageFormat); 3] = [
    ("lcov", CoverageFormat::Lcov),
    ("cobertura", CoverageFormat::Cobertura),
    ("coveragepy-json", CoverageFormat::CoveragePy),
];

/// What is known of one file: hits by line, and hits by branch.
#[derive(Default)]
struct Hits {
    lines: BTreeMap<u32, u64>,
    branches: BTreeMap<(u32, String), u64>,
}

type Files = BTreeMap<String, Hits>;

impl CoverageFormat {
    /// Reads a whole report. Files inside `cwd` become relative to it. An error is the end of a sentence that begins
    /// with "the coverage report".
    pub(crate) fn read(self, bytes: &[u8], cwd: &Path) -> Result<Coverage, String> {
        let mut files = Files::new();
        match self {
            Self::Lcov => lcov(bytes, &mut files)?,
            Self::Cobertura => cobertura(bytes, cwd, &mut files)?,
            Self::CoveragePy => coverage_py(bytes, &mut files)?,
        }
        let mut merged = Files::new();
        for (path, mut hits) in files {
            // Tools that write these two tell the share of lines and that of branches apart; coverage.py has one of both.
            if self != Self::CoveragePy {
                hits.branches.clear();
            }
            let into = merged.entry(relative(&path, cwd)).or_default();
            for (line, count) in hits.lines {
                *into.lines.entry(line).or_default() += count;
            }
            for (branch, count) in hits.branches {
                *into.branches.entry(branch).or_default() += count;
            }
        }
        Ok(total(merged))
    }
}

fn relative(path: &str, cwd: &Path) -> String {
    let path = path.replace('\\', "/");
    let inside = Path::new(&path).strip_prefix(cwd).ok().and_then(Path::to_str);
    let path = inside.unwrap_or(&path);
    path.strip_prefix("./").unwrap_or(path).to_owned()
}

fn total(files: Files) -> Coverage {
    let files: Vec<FileCoverage> = files.into_iter().map(|(path, hits)| file(path, &hits)).collect();
    Coverage {
        percent: Coverage::percent_of(&files),
        files,
    }
}

fn file(path: String, hits: &Hits) -> FileCoverage {
    let covered = |counts: &mut dyn Iterator<Item = &u64>| counts.filter(|count| **count > 0).count() as u64;
    let covered_lines = covered(&mut hits.lines.values());
    let covered_branches = covered(&mut hits.branches.values());
    let (statements, branches) = (hits.lines.len() as u64, hits.branches.len() as u64);
    let missing = hits.lines.iter().filter(|(_, count)| **count == 0);
    FileCoverage {
        path,
        percent: percent(covered_lines + covered_branches, statements + branches),
        covered_lines,
        statements,
        missing_lines: missing.map(|(line, _)| *line).collect(),
        covered_branches,
        branches,
    }
}

/// A file without anything to cover is covered.
fn percent(covered: u64, all: u64) -> f64 {
    if all == 0 {
        100.0
    } else {
        covered as f64 * 100.0 / all as f64
    }
}

fn lcov(bytes: &[u8], files: &mut Files) -> Result<(), String> {
    let text = String::from_utf8_lossy(bytes);
    let mut open: Option<String> = None;
    for line in text.lines() {
        if line == "end_of_record" {
            open = None;
            continue;
        }
        let Some((key, value)) = line.split_once(':') else {
            continue;
        };
        if key == "SF" {
            files.entry(value.to_owned()).or_default();
            open = Some(value.to_owned());
            continue;
        }
        let Some(hits) = open.as_ref().and_then(|path| files.get_mut(path)) else {
            continue;
        };
        let mut parts = value.split(',');
        let number = parts.next().and_then(|number| number.parse().ok());
        match (key, number) {
            ("DA", Some(number)) => {
                let count = parts
                    .next()
                    .and_then(|count| count.parse::<u64>().ok())
                    .unwrap_or_default();
                *hits.lines.entry(number).or_default() += count;
            }
            ("BRDA", Some(number)) => {
                let rest: Vec<&str> = parts.collect();
                let (taken, branch) = rest.split_last().unwrap_or((&"-", &[]));
                *hits.branches.entry((number, branch.join(","))).or_default() += taken.parse().unwrap_or(0);
            }
            _ => {}
        }
    }
    match open {
        Some(path) => Err(format!("stops inside the record of {path}")),
        None if files.is_empty() && !text.trim().is_empty() => Err("is no lcov".to_owned()),
        None => Ok(()),
    }
}

fn cobertura(bytes: &[u8], cwd: &Path, files: &mut Files) -> Result<(), String> {
    let mut reader = Reader::from_reader(bytes);
    let mut sources: Vec<String> = Vec::new();
    let mut in_source = false;
    let mut depth = 0_u32;
    let mut open: Option<String> = None;
    loop {
        match reader
            .read_event()
            .map_err(|error| format!("is no whole XML: {error}"))?
        {
            Event::Start(start) => {
                depth += 1;
                in_source = start.local_name().as_ref() == b"source";
                element(&start, cwd, &sources, &mut open, files);
            }
            Event::Empty(start) => element(&start, cwd, &sources, &mut open, files),
            Event::Text(text) if in_source => sources.push(String::from_utf8_lossy(&text).trim().to_owned()),
            Event::End(_) => {
                depth = depth.saturating_sub(1);
                in_source = false;
            }
            // The format's own document type is only named; entities would be declared inside brackets.
            Event::DocType(text) if text.contains(&b'[') => {
                return Err("declares entities, which no report needs; it is refused".to_owned());
            }
            Event::Eof if depth > 0 => return Err("is no whole XML: it stops midway".to_owned()),
            Event::Eof => return Ok(()),
            _ => {}
        }
    }
}

fn element(
    start: &BytesStart<'_>,
    cwd: &Path,
    sources: &[String],
    open: &mut Option<String>,
    files: &mut Files,
) {
    match start.local_name().as_ref() {
        b"class" => {
            *open = xml_attribute(start, "filename").map(|name| below_source(&name, sources, cwd));
            if let Some(path) = open {
                files.entry(path.clone()).or_default();
            }
        }
        b"line" => {
            let number = |name: &str| xml_attribute(start, name)?.trim().parse::<u64>().ok();
            let hits = open.as_ref().and_then(|path| files.get_mut(path));
            let (Some(hits), Some(line)) = (hits, number("number")) else {
                return;
            };
            let line = line as u32;
            // A line stands under its method and under its class: the larger count is the one of both.
            let count = hits.lines.entry(line).or_default();
            *count = (*count).max(number("hits").unwrap_or_default());
            let Some((covered, all)) =
                xml_attribute(start, "condition-coverage").and_then(|text| fraction(&text))
            else {
                return;
            };
            for branch in 0..all.min(1000) {
                let taken = hits.branches.entry((line, branch.to_string())).or_default();
                *taken = (*taken).max(u64::from(branch < covered));
            }
        }
        _ => {}
    }
}

/// `50% (1/2)`
fn fraction(text: &str) -> Option<(u32, u32)> {
    let (covered, all) = text.split_once('(')?.1.split_once(')')?.0.split_once('/')?;
    Some((covered.trim().parse().ok()?, all.trim().parse().ok()?))
}

/// A name is relative to a source folder; the one inside the working folder is meant, where there is one.
fn below_source(name: &str, sources: &[String], cwd: &Path) -> String {
    let mut inside = sources.iter().filter(|source| Path::new(source).starts_with(cwd));
    match inside.next_back() {
        Some(source) if !Path::new(name).is_absolute() => format!("{}/{name}", source.trim_end_matches('/')),
        _ => name.to_owned(),
    }
}

#[derive(Deserialize)]
struct PyReport {
    files: BTreeMap<String, PyFile>,
}

#[derive(Deserialize)]
struct PyFile {
    #[serde(default)]
    executed_lines: Vec<u32>,
    #[serde(default)]
    missing_lines: Vec<u32>,
    #[serde(default)]
    executed_branches: Vec<(i64, i64)>,
    #[serde(default)]
    missing_branches: Vec<(i64, i64)>,
}

fn coverage_py(bytes: &[u8], files: &mut Files) -> Result<(), String> {
    let report: PyReport =
        serde_json::from_slice(bytes).map_err(|error| format!("is no whole report: {error}"))?;
    for (path, file) in report.files {
        let lines = file.executed_lines.into_iter().map(|line| (line, 1));
        let branch = |(from, to): (i64, i64), taken| ((from.unsigned_abs() as u32, to.to_string()), taken);
        let executed = file.executed_branches.into_iter().map(|pair| branch(pair, 1));
        let hits = Hits {
            lines: lines
                .chain(file.missing_lines.into_iter().map(|line| (line, 0)))
                .collect(),
            branches: executed
                .chain(file.missing_branches.into_iter().map(|pair| branch(pair, 0)))
                .collect(),
        };
        files.insert(path, hits);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(format: CoverageFormat, text: &str) -> Result<Vec<String>, String> {
        let coverage = format.read(text.as_bytes(), Path::new("/repo"))?;
        let line = |file: &FileCoverage| {
            format!(
                "{} {:.0}% {}/{} {}/{} missing {:?}",
                file.path,
                file.percent,
                file.covered_lines,
                file.statements,
                file.covered_branches,
                file.branches,
                file.missing_lines
            )
        };
        Ok(coverage.files.iter().map(line).collect())
    }

    #[test]
    fn lcov_is_merged_by_file() {
        let text = "TN:\nSF:/repo/src/a.js\nDA:1,2\nDA:2,0\nBRDA:1,0,0,1\nBRDA:1,0,1,-\nend_of_record\n\
                    SF:src\\a.js\nDA:2,1\nDA:3,0\nend_of_record\n";
        assert_eq!(
            read(CoverageFormat::Lcov, text).unwrap(),
            ["src/a.js 67% 2/3 0/0 missing [3]"]
        );
        assert!(
            read(CoverageFormat::Lcov, "SF:a\nDA:1,1\n")
                .unwrap_err()
                .contains("stops inside")
        );
        assert!(
            read(CoverageFormat::Lcov, "hello")
                .unwrap_err()
                .contains("no lcov")
        );
    }

    #[test]
    fn cobertura_resolves_its_sources_and_declares_nothing() {
        let text = r#"<?xml version="1.0"?><!DOCTYPE coverage SYSTEM "coverage-04.dtd"><coverage>
            <sources><source>/repo/lib</source></sources><packages><package><classes><class filename="a.py">
            <methods><method><lines><line number="1" hits="1"/></lines></method></methods>
            <lines><line number="1" hits="1" branch="true" condition-coverage="50% (1/2)"/><line number="2" hits="0"/></lines>
            </class></classes></package></packages></coverage>"#;
        assert_eq!(
            read(CoverageFormat::Cobertura, text).unwrap(),
            ["lib/a.py 50% 1/2 0/0 missing [2]"]
        );
        assert!(read(CoverageFormat::Cobertura, &text[..200]).is_err());
        let entity = text.replace("SYSTEM \"coverage-04.dtd\"", "[<!ENTITY a \"b\">]");
        assert!(
            read(CoverageFormat::Cobertura, &entity)
                .unwrap_err()
                .contains("entities")
        );
    }

    #[test]
    fn coverage_pys_json_with_branches() {
        let text = include_str!("../../coverage-py/fixtures/branch-7.6.12.json");
        let coverage = CoverageFormat::CoveragePy
            .read(text.as_bytes(), Path::new("/repo"))
            .unwrap();
        let whole: serde_json::Value = serde_json::from_str(text).unwrap();
        let expected = whole["totals"]["percent_covered"].as_f64().unwrap();
        assert!((coverage.percent.unwrap() - expected).abs() < 1e-9);
    }

    proptest::proptest! {
        #[test]
        fn of_arbitrary_bytes_no_reader_makes_lines_that_are_covered(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..200)) {
            for (_, format) in COVERAGE_FORMATS {
                let read = format.read(&bytes, Path::new("/repo"));
                proptest::prop_assert!(read.is_err() || read.as_ref().is_ok_and(|read| read.files.is_empty()), "{:?}", read);
            }
        }
    }
}
