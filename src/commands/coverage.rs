//! `qaas coverage`: a run, and what it covered.

use engine::policy::Policy;
use ops::{ExitCode, get_coverage};
use runner_core::model::FileCoverage;

use super::output::print;
use super::run::{conclude, fail};
use super::{Context, signals};
use crate::cli::{Coverage, Format};
use crate::display::Detail;

pub(super) async fn run(context: &Context, command: Coverage) -> ExitCode {
    let (format, paint) = (context.global.format, context.paint());
    let workspace = match context.workspace(Policy::person()) {
        Ok(workspace) => workspace,
        Err(error) => return fail(&error, format, paint),
    };
    let arguments = get_coverage::Arguments {
        paths: command.paths,
        selectors: command.narrow.selectors,
        scope: command.narrow.place.scope(),
    };
    let mut watch = context.watch(Detail::Failures);
    let runs = get_coverage::run(&workspace, &arguments, signals::cancel(), &mut |event, report| {
        watch.event(event, report);
    })
    .await;
    let runs = match runs {
        Ok(runs) => runs,
        Err(error) => return fail(&error, format, paint),
    };
    if format == Format::Human {
        for part in &runs.parts {
            if let Ok(answer) = &part.answer {
                if runs.is_several {
                    print(&format!("\n{}", paint.bold(&part.suite)));
                }
                print(&table(answer));
            }
        }
    }
    conclude(runs, format, paint)
}

/// One line a file, least covered first, and the whole at the end.
fn table(answer: &get_coverage::Answer) -> String {
    let mut files: Vec<&FileCoverage> = answer.measured.files.iter().collect();
    files.retain(|file| answer.files.contains_key(&file.path));
    files.sort_by(|a, b| a.percent.total_cmp(&b.percent).then_with(|| a.path.cmp(&b.path)));
    let mut lines: Vec<String> = files.iter().map(|file| line(file)).collect();
    let overall = answer
        .overall_percent
        .map_or("nothing was measured".to_owned(), |percent| {
            format!("{percent:6.2} %")
        });
    lines.push(format!("{overall}  overall ({})", answer.measures));
    lines.join("\n")
}

fn line(file: &FileCoverage) -> String {
    let missing = ranges(&file.missing_lines);
    let missing = if missing.is_empty() {
        String::new()
    } else {
        format!("  not run: {missing}")
    };
    format!("{:6.2} %  {}{missing}", file.percent, file.path)
}

/// `3, 7-9, 12`; long lists are cut.
fn ranges(lines: &[u32]) -> String {
    const MOST: usize = 12;
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for &line in lines {
        match ranges.last_mut() {
            Some((_, end)) if *end + 1 == line => *end = line,
            _ => ranges.push((line, line)),
        }
    }
    let word = |&(start, end): &(u32, u32)| {
        if start == end {
            start.to_string()
        } else {
            format!("{start}-{end}")
        }
    };
    let mut words: Vec<String> = ranges.iter().take(MOST).map(word).collect();
    if ranges.len() > MOST {
        words.push(format!("and {} more places", ranges.len() - MOST));
    }
    words.join(", ")
}

#[cfg(test)]
mod tests {
    use super::ranges;

    #[test]
    fn neighbouring_lines_become_a_range() {
        assert_eq!(ranges(&[3, 7, 8, 9, 12]), "3, 7-9, 12");
        assert_eq!(ranges(&[]), "");
        let scattered: Vec<u32> = (0..20).map(|n| n * 2).collect();
        assert!(ranges(&scattered).ends_with("22, and 8 more places"));
    }
}
