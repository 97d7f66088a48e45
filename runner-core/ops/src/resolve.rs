//! From arguments to a `RunSpec` for the engine: suite, folder, interpreter, backend, selection, time limit.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::asked::RunArguments;
use super::trust;
use super::{ErrorKind, OpError, Tool, Workspace, cut, known, locate, spread, suites};
use engine::config::{Env, Suite};
use engine::environment::Environment;
use engine::project::{self, Choice, ProjectError, ProjectErrorKind};
use engine::run::{RunSpec, child_environment};
use runner_core::backend::{Capability, Mode};
use runner_core::facts::Project;
use runner_core::nodeid::NodeId;
use runner_core::paths;
use runner_core::registry::nearest;
use runner_core::selector::{Selection, Selector};

impl RunArguments {
    /// Everything that a spec needs from the arguments alone, which are about one suite.
    pub(super) async fn spec(
        &self,
        workspace: &Workspace,
        tool: Tool,
        mode: Mode,
    ) -> Result<RunSpec, OpError> {
        let spec = match &self.scope.suite {
            Some(_) => self.make(workspace, tool, mode).await,
            None => match spread::only(workspace, self, tool) {
                Ok(one) => one.make(workspace, tool, mode).await,
                Err(error) => Err(error),
            },
        };
        spec.map_err(|mut error| {
            error.known.cwd.get_or_insert_with(|| match &self.scope.cwd {
                Some(cwd) => cut::quote_truncated(cwd),
                None => workspace.root.display().to_string(),
            });
            let asked = self.selectors.first().or(self.ids.first());
            error.known.selector = asked.map(|text| cut::quote_truncated(text));
            error
        })
    }

    async fn make(&self, workspace: &Workspace, tool: Tool, mode: Mode) -> Result<RunSpec, OpError> {
        let settings = workspace.settings()?;
        let asked_cwd = match &self.scope.cwd {
            Some(text) => Some(workspace.folder(text)?),
            None => None,
        };
        // Who names another folder means what lies there.
        let here = workspace.here.as_deref().filter(|_| asked_cwd.is_none());
        let typed: Vec<String> = self.selectors.iter().chain(&self.ids).cloned().collect();
        let name = self.scope.suite.as_deref().unwrap_or_default();
        let mut suite = suites::by_name(suites::all(workspace)?, name)?;
        let timeout = time_limit(workspace, &suite, self.scope.timeout)?;
        if typed.is_empty() {
            check_paths(workspace, &suite)?;
        }
        let (folder, cwd) = place(workspace, &mut suite, asked_cwd)?;
        let trust::Usable {
            env,
            left_out: mut warnings,
        } = trust::usable(workspace, settings, &mut suite)?;
        let mut gone = None;
        let context = SelectorContext {
            here,
            ..SelectorContext::of(workspace, &suite, &cwd, &folder)
        };
        let mut selectors = Vec::with_capacity(typed.len());
        for text in &self.selectors {
            selectors.push(context.selector(text)?);
        }
        context.widen(&mut selectors);
        for id in &self.ids {
            let test = context
                .test(id)
                .or_else(|error| known::handed_out(workspace, &suite, id).ok_or(error));
            match test {
                Ok(selector) => selectors.push(selector),
                Err(error) if self.lenient => {
                    warnings.push(format!("`{}` was left out: {error}", cut::quote_truncated(id)));
                    gone.get_or_insert(error);
                }
                Err(error) => return Err(error),
            }
        }
        if let (true, Some(error)) = (selectors.is_empty(), gone) {
            return Err(error);
        }
        let (project, choice) = tools(workspace, &suite, &around(&selectors, &cwd), &env).await?;
        warnings.extend(workspace.notes_of(&choice.backend.info().name));
        let policy = workspace.policy.clone();
        let asked = typed.into_iter().map(|text| match here {
            Some(_) => workspace.as_seen(&text),
            None => text,
        });
        let asked = asked.collect();
        Ok(RunSpec {
            passed_over: choice.passed_over,
            selection: Selection { selectors },
            asked,
            cwd,
            timeout,
            env,
            view: None,
            onlooker: workspace.onlooker.clone(),
            warnings,
            ..RunSpec::new(tool.name(), mode, suite, choice.backend, project, policy)
        })
    }
}

/// The time limit of a run: the call's, else the suite's, else the policy's; never over the cap.
fn time_limit(
    workspace: &Workspace,
    suite: &Suite,
    asked: Option<Duration>,
) -> Result<Option<Duration>, OpError> {
    let policy = &workspace.policy;
    let cap = policy.max_timeout.map(|cap| {
        let cap = suite.max_timeout.unwrap_or(cap);
        // Who writes a longer limit into the suite means it.
        suite.timeout.map_or(cap, |written| cap.max(written))
    });
    match (asked, cap) {
        (Some(asked), Some(cap)) if asked > cap => Err(OpError::bad_argument(format!(
            "`timeout_s` may be at most {} here, not {}",
            cap.as_secs_f64(),
            asked.as_secs_f64()
        ))
        .with_hint(format!(
            "Narrow the run with a selector, or raise `max_timeout` of suite `{}` in `qaas.toml`.",
            suite.name
        ))),
        (Some(asked), _) => Ok(Some(asked)),
        (None, _) => {
            let limit = suite.timeout.or(policy.default_timeout);
            Ok(limit.map(|limit| cap.map_or(limit, |cap| limit.min(cap))))
        }
    }
}

/// A suite's paths as seen from `cwd`: those below it, relative to it. None where `cwd` lies inside one of them, or
/// elsewhere: then `cwd` itself is what was asked for. The one place that narrows them: backends take what they get.
fn narrow(paths: &[String], folder: &Path, cwd: &Path) -> Vec<String> {
    if folder == cwd {
        return paths.to_vec();
    }
    let below = paths.iter().filter_map(|path| {
        let path = folder.join(path);
        let relative = path.strip_prefix(cwd).ok()?;
        Some(relative.to_string_lossy().into_owned()).filter(|relative| !relative.is_empty())
    });
    below.collect()
}

/// Refuses a suite whose `paths` name what is not there: it would run nothing, or less than it says.
pub(super) fn check_paths(workspace: &Workspace, suite: &Suite) -> Result<(), OpError> {
    let folder = suites::folder(&workspace.root, suite);
    let is_gone = |path: &&String| !path.contains('*') && !folder.join(NodeId::of(path).file()).exists();
    let Some(gone) = suite.paths.iter().find(is_gone) else {
        return Ok(());
    };
    let message = format!(
        "suite `{}`: `paths` names `{}`, and there is no such file or folder in {}",
        suite.name,
        cut::quote_truncated(gone),
        folder.display()
    );
    let entries = std::fs::read_dir(&folder).into_iter().flatten().flatten();
    let names: Vec<String> = entries
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    let error = OpError::new(ErrorKind::Config, "no_such_path", message);
    Err(match nearest(gone, names.iter().map(String::as_str)) {
        Some(near) => error.with_hint(format!("Did you mean `{near}`? Mend `paths` in `qaas.toml`.")),
        None => error.with_hint("Mend `paths` in `qaas.toml`, or take it out."),
    })
}

/// The suite's folder and where its run starts: there, unless the call says where. Its paths become those seen from there.
pub(super) fn place(
    workspace: &Workspace,
    suite: &mut Suite,
    asked_cwd: Option<PathBuf>,
) -> Result<(PathBuf, PathBuf), OpError> {
    let folder = project::resolve_dir(&workspace.root, &suite.dir.to_string_lossy())?;
    let cwd = asked_cwd.unwrap_or_else(|| folder.clone());
    let mut paths = Vec::with_capacity(suite.paths.len());
    for path in &suite.paths {
        paths.push(project::resolve_suite_path(&workspace.root, &folder, path)?);
    }
    suite.paths = narrow(&paths, &folder, &cwd);
    Ok((folder, cwd))
}

/// What can be read about the suite's project. Starts nothing.
pub(super) fn discover(workspace: &Workspace, suite: &Suite, cwd: &Path) -> Result<Project, OpError> {
    Ok(project::discover(
        &workspace.root,
        suite,
        &workspace.registry,
        cwd,
        &workspace.overrides,
        &workspace.environment,
    )?)
}

/// The first usable backend of the suite.
pub(super) fn backend(workspace: &Workspace, suite: &Suite, project: &Project) -> Result<Choice, OpError> {
    project::choose_backend(&workspace.registry, suite, project, &workspace.overrides)
        .map_err(|error| without_backend(workspace, suite, error))
}

/// The folder around everything that is selected, where the search for an interpreter starts: a project in a subfolder
/// has an environment of its own.
fn around(selectors: &[Selector], cwd: &Path) -> PathBuf {
    let folder = |selector: &Selector| {
        let path = match selector {
            Selector::Path { path } | Selector::Node { path, .. } if !path.is_empty() => cwd.join(path),
            _ => return cwd.to_owned(),
        };
        let folder = if path.is_dir() {
            Some(path.as_path())
        } else {
            path.parent()
        };
        folder.filter(|folder| folder.is_dir()).unwrap_or(cwd).to_owned()
    };
    let common = |one: PathBuf, other: PathBuf| {
        let shared = one.ancestors().find(|folder| other.starts_with(folder));
        shared.unwrap_or(cwd).to_owned()
    };
    let folders = selectors.iter().map(folder);
    folders.reduce(common).unwrap_or_else(|| cwd.to_owned())
}

/// What runs the suite: its project with an interpreter whose packages are known, and the first usable backend.
async fn tools(
    workspace: &Workspace,
    suite: &Suite,
    start: &Path,
    env: &Env,
) -> Result<(Project, Choice), OpError> {
    let mut project = discover(workspace, suite, start)?;
    if let Some(interpreter) = &project.interpreter
        && interpreter.packages.is_none()
    {
        // Started as the tests will be: with their environment, not with the caller's secrets.
        let vars = child_environment(&workspace.policy, &workspace.environment, env, None, None).vars;
        let environment = Environment {
            vars,
            ..(*workspace.environment).clone()
        };
        let asked = project::ask(interpreter, &workspace.engine.supervisor, &environment).await;
        match asked {
            Ok(asked) => project.interpreter = Some(asked),
            // What has nothing to do with Python does not fail by it.
            Err(_) if !wants_python(workspace, suite) => {}
            Err(error) => return Err(error.into()),
        }
    }
    let choice = backend(workspace, suite, &project)?;
    Ok((project, choice))
}

/// An interpreter that is not there is the project's trouble, unless somebody named it: then it is theirs to mend.
fn without_backend(workspace: &Workspace, suite: &Suite, error: ProjectError) -> OpError {
    let no_interpreter = error.kind == ProjectErrorKind::NoInterpreter;
    let mut error = OpError::from(error);
    if no_interpreter {
        if workspace.overrides.python.is_some() {
            error.kind = ErrorKind::BadRequest;
        } else if suite.options.contains_key("python") {
            error.kind = ErrorKind::Config;
        }
    }
    error
}

/// Where selectors are looked for.
struct SelectorContext<'a> {
    root: &'a Path,
    cwd: &'a Path,
    /// Where a person stands, unless they named the working folder.
    here: Option<&'a Path>,
    /// The suite's.
    folder: &'a Path,
    /// Whether ids of the suite are names that need not begin with a file.
    names: bool,
    /// Whether its tests can be listed.
    lists: bool,
    /// Whether a selector may be a keyword expression.
    keywords: bool,
}

fn wants_python(workspace: &Workspace, suite: &Suite) -> bool {
    suites::infos(workspace, suite).any(|info| info.uses_python())
}

impl<'a> SelectorContext<'a> {
    fn of(workspace: &'a Workspace, suite: &Suite, cwd: &'a Path, folder: &'a Path) -> Self {
        Self {
            root: &workspace.root,
            cwd,
            here: None,
            folder,
            names: suites::can(workspace, suite, Capability::Names),
            lists: suites::can(workspace, suite, Capability::List),
            keywords: suites::can(workspace, suite, Capability::Keyword),
        }
    }
}

impl SelectorContext<'_> {
    fn selector(&self, text: &str) -> Result<Selector, ProjectError> {
        let resolved = project::resolve_from(self.root, self.cwd, self.here, &[self.folder], text);
        match resolved {
            Err(error)
                if self.names
                    && matches!(
                        error.kind,
                        ProjectErrorKind::NoSuchPath | ProjectErrorKind::BadSelector
                    ) =>
            {
                locate::name(text).ok_or(error)
            }
            // Where there are no keywords, a word that is no file is a name.
            Ok(keyword @ Selector::Keyword { .. }) if self.names && !self.keywords => {
                Ok(locate::name(text).unwrap_or(keyword))
            }
            other => other,
        }
    }

    /// Who names a folder around the whole suite means all of it, whatever else is named beside.
    fn widen(&self, selectors: &mut Vec<Selector>) {
        let around = |selector: &Selector| {
            let Selector::Path { path } = selector else {
                return false;
            };
            let place = paths::clean(&self.cwd.join(path)).unwrap_or_default();
            place != self.folder && self.folder.starts_with(&place)
        };
        if self.cwd == self.folder && selectors.iter().any(around) {
            selectors.retain(|selector| matches!(selector, Selector::Keyword { .. }));
        }
    }

    /// A test by its id: a file, or something in a file. Never a keyword, never a folder.
    ///
    /// Frameworks have roots of their own, so an id may be relative to a folder that nobody names here. If exactly one
    /// folder of the repository has its file, it is that one; the rows of the run then have to bear the very id.
    fn test(&self, id: &str) -> Result<Selector, OpError> {
        let shape = self.shape();
        let no_test = |what: &str| {
            let message = format!("`{}` {what}", cut::quote_truncated(id));
            OpError::new(ErrorKind::BadRequest, "no_such_test", message).with_hint(&*shape)
        };
        let selector = match self.selector(id) {
            Err(error) if error.kind == ProjectErrorKind::NoSuchPath => self.elsewhere(id, error)?,
            other => other.map_err(|error| OpError::from(error).or_hint(&*shape))?,
        };
        match selector {
            Selector::Keyword { .. } if self.names => {
                locate::name(id).ok_or_else(|| no_test("is not the id of a test"))
            }
            Selector::Keyword { .. } => Err(no_test("is not the id of a test")),
            Selector::Path { path } if self.cwd.join(&path).is_dir() => {
                Err(no_test("is a folder, not a test"))
            }
            other => Ok(other),
        }
    }

    /// What ids look like here, and where they are to be had.
    fn shape(&self) -> String {
        let looks = if self.names {
            "Ids are the tests' whole names, as a run gives them"
        } else {
            "Ids look like `path/to/test_file.py::test_name`"
        };
        if self.lists {
            format!("{looks}; `list_tests` gives them.")
        } else {
            format!("{looks}; the rows of a run give them.")
        }
    }

    fn elsewhere(&self, id: &str, error: ProjectError) -> Result<Selector, OpError> {
        let (file, rest) = (NodeId::of(id).file(), NodeId::of(id).rest());
        let bases = locate::below(self.root, file);
        match bases.as_slice() {
            [] => Err(error.into()),
            [base] => {
                let path = base.join(file);
                Ok(self.selector(&format!("{}{rest}", path.display()))?)
            }
            many => Err(several_files(self.root, file, many)),
        }
    }
}

fn several_files(root: &Path, file: &str, bases: &[PathBuf]) -> OpError {
    let names = bases.iter().take(5).map(|base| {
        let base = base.strip_prefix(root).unwrap_or(base);
        base.join(file).display().to_string()
    });
    let names: Vec<String> = names.collect();
    OpError::new(
        ErrorKind::BadRequest,
        "no_such_path",
        format!(
            "{} does not exist here; there are {}",
            cut::quote_truncated(file),
            names.join(", ")
        ),
    )
    .with_hint("Name one of them, or give its folder as `cwd`.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interpreter_is_looked_for_from_the_folder_around_the_selected_files() {
        let root = tempfile::tempdir().unwrap();
        let cwd = root.path();
        for folder in ["apps/api/tests", "apps/web"] {
            std::fs::create_dir_all(cwd.join(folder)).unwrap();
        }
        let file = |path: &str| Selector::Path {
            path: path.to_owned(),
        };
        let keyword = Selector::Keyword {
            expression: "slow".to_owned(),
        };
        let api = file("apps/api/tests/test_a.py");
        let rows = [
            (vec![], ""),
            (vec![api.clone()], "apps/api/tests"),
            (vec![file("apps/api")], "apps/api"),
            (vec![api.clone(), file("apps/web/test_w.py")], "apps"),
            (vec![api, keyword], ""),
        ];
        for (selectors, expected) in rows {
            let expected = if expected.is_empty() {
                cwd.to_owned()
            } else {
                cwd.join(expected)
            };
            assert_eq!(around(&selectors, cwd), expected, "{selectors:?}");
        }
    }
}
