//! Conversations with a program of our own over its standard input and output. Not for tests: nothing here looks after
//! what such a program starts, since that is what the program itself is for.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::task::JoinHandle;

use super::ProcessError;

/// How much of standard error is kept, in bytes.
const KEPT: u64 = 4_096;

/// A running program and its pipes. Dropped: the program is killed.
#[derive(Debug)]
pub struct Session {
    child: Child,
    stdin: ChildStdin,
    stdout: Lines<BufReader<ChildStdout>>,
    stderr: JoinHandle<String>,
}

/// How a [`Session`] ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionExit {
    /// `None`: it did not end in time and was killed, or a signal ended it.
    pub code: Option<i32>,
    /// The beginning of its standard error.
    pub stderr: String,
}

impl Session {
    /// Starts a program with its whole environment: nothing is inherited. Time limits are the caller's.
    #[expect(clippy::disallowed_methods, reason = "the room that starts processes")]
    pub fn start(
        program: &Path,
        args: &[OsString],
        env: &BTreeMap<OsString, OsString>,
        cwd: &Path,
    ) -> Result<Self, ProcessError> {
        let fault = |source| ProcessError::Start {
            program: program.display().to_string(),
            source,
        };
        let mut child = Command::new(program)
            .args(args)
            .env_clear()
            .envs(env)
            .current_dir(cwd)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .map_err(fault)?;
        let missing = || fault(std::io::Error::other("a pipe is missing"));
        let stdin = child.stdin.take().ok_or_else(missing)?;
        let stdout = child.stdout.take().ok_or_else(missing)?;
        let stderr = child.stderr.take().ok_or_else(missing)?;
        let stderr = tokio::spawn(async move {
            let mut text = Vec::new();
            let mut head = stderr.take(KEPT);
            let _ = head.read_to_end(&mut text).await;
            // What is beyond is read and forgotten, so that nobody waits on a full pipe.
            let _ = tokio::io::copy(&mut head.into_inner(), &mut tokio::io::sink()).await;
            String::from_utf8_lossy(&text).into_owned()
        });
        Ok(Self {
            child,
            stdin,
            stdout: BufReader::new(stdout).lines(),
            stderr,
        })
    }

    /// Writes a line.
    pub async fn send(&mut self, line: &str) -> std::io::Result<()> {
        self.stdin.write_all(line.as_bytes()).await?;
        self.stdin.write_all(b"\n").await?;
        self.stdin.flush().await
    }

    /// The next line of standard output; `None` at its end.
    pub async fn line(&mut self) -> std::io::Result<Option<String>> {
        self.stdout.next_line().await
    }

    /// Shuts the program's input and waits for its end; kills it when that takes longer than `patience`.
    pub async fn part(self, patience: Duration) -> SessionExit {
        let Self {
            mut child,
            stdin,
            stdout,
            stderr,
        } = self;
        drop((stdin, stdout));
        let ended = tokio::time::timeout(patience, child.wait()).await;
        if ended.is_err() {
            let _ = child.kill().await;
        }
        let code = ended.ok().and_then(Result::ok).and_then(|status| status.code());
        let stderr = tokio::time::timeout(patience, stderr).await;
        SessionExit {
            code,
            stderr: stderr.ok().and_then(Result::ok).unwrap_or_default(),
        }
    }
}
