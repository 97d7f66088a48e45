//! Who is let in. Requests are written by hand, as a client of bad will would.

use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::time::Duration;

use engine::config::Settings;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::{HttpError, HttpOptions, Listening, MAX_BODY_BYTES, ServerExit, serve_http};
use crate::testing::{workspace, workspace_with_state};

struct Site {
    address: SocketAddr,
    token: String,
    token_file: PathBuf,
    server: JoinHandle<Result<ServerExit, HttpError>>,
    _folders: [tempfile::TempDir; 2],
}

impl Site {
    async fn open() -> Self {
        let (root, state) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let workspace = workspace_with_state(root.path(), &state.path().join("state"));
        let options = HttpOptions {
            address: "127.0.0.1:0".parse().unwrap(),
            allow_remote: false,
            token_file: None,
        };
        let (sender, announced) = oneshot::channel();
        let announce = |at: &Listening| sender.send(at.clone()).unwrap();
        let server = tokio::spawn(serve_http(workspace, options, announce));
        let at = announced.await.unwrap();
        let address = at
            .url
            .strip_prefix("http://")
            .unwrap()
            .strip_suffix("/mcp")
            .unwrap();
        Self {
            address: address.parse().unwrap(),
            token: std::fs::read_to_string(&at.token_file).unwrap().trim().to_owned(),
            token_file: at.token_file,
            server,
            _folders: [root, state],
        }
    }

    /// Posts an `initialize` with further header lines; the status and the head of the answer.
    async fn post(&self, headers: &[(&str, &str)], body: &str) -> (u16, String) {
        let mut head = format!(
            "POST /mcp HTTP/1.1\r\nConnection: close\r\nContent-Length: {}\r\n",
            body.len()
        );
        let host = self.address.to_string();
        let usual = [
            ("Host", host.as_str()),
            ("Content-Type", "application/json"),
            ("Accept", "application/json, text/event-stream"),
        ];
        let kept = usual
            .iter()
            .filter(|(name, _)| !headers.iter().any(|(other, _)| other == name));
        for (name, value) in kept.chain(headers) {
            head.push_str(name);
            head.push_str(": ");
            head.push_str(value);
            head.push_str("\r\n");
        }
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        stream.write_all(head.as_bytes()).await.unwrap();
        stream.write_all(b"\r\n").await.unwrap();
        // The server may have refused by now, and not read on.
        let _ = stream.write_all(body.as_bytes()).await;
        let mut answer = vec![0; 4096];
        let count = timeout(Duration::from_secs(5), stream.read(&mut answer))
            .await
            .unwrap()
            .unwrap();
        let answer = String::from_utf8_lossy(&answer[..count]).into_owned();
        let status = answer.split(' ').nth(1).and_then(|word| word.parse().ok());
        (status.unwrap_or(0), answer)
    }

    async fn status(&self, headers: &[(&str, &str)]) -> u16 {
        self.post(headers, &initialize()).await.0
    }

    fn bearer(&self) -> String {
        format!("Bearer {}", self.token)
    }
}

fn initialize() -> String {
    let params = json!({
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    });
    json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}).to_string()
}

#[tokio::test]
async fn only_who_shows_the_token_is_served() {
    let site = Site::open().await;
    let bearer = site.bearer();
    assert_eq!(site.status(&[("Authorization", &bearer)]).await, 200);
    let (status, head) = site.post(&[], &initialize()).await;
    assert_eq!(status, 401);
    assert!(head.to_lowercase().contains("www-authenticate: bearer"), "{head}");
    for wrong in ["Bearer x", "Bearer ", &bearer[..bearer.len() - 1], &site.token] {
        assert_eq!(site.status(&[("Authorization", wrong)]).await, 401, "{wrong}");
    }
}

#[tokio::test]
async fn other_hosts_and_origins_are_refused() {
    let site = Site::open().await;
    let bearer = site.bearer();
    let port = site.address.port();
    for host in [
        "evil.example",
        "127.0.0.1.evil.example",
        &format!("evil.example:{port}"),
    ] {
        assert_eq!(
            site.status(&[("Authorization", &bearer), ("Host", host)]).await,
            403,
            "{host}"
        );
    }
    for origin in ["http://evil.example", "null", "https://127.0.0.1.evil.example"] {
        assert_eq!(
            site.status(&[("Authorization", &bearer), ("Origin", origin)])
                .await,
            403,
            "{origin}"
        );
    }
    let own = format!("http://localhost:{port}");
    assert_eq!(
        site.status(&[("Authorization", &bearer), ("Origin", &own)]).await,
        200
    );
}

#[tokio::test]
async fn what_is_too_large_or_not_json_is_refused() {
    let site = Site::open().await;
    let bearer = site.bearer();
    let large = format!("{{\"x\": \"{}\"}}", "x".repeat(MAX_BODY_BYTES));
    assert_eq!(site.post(&[("Authorization", &bearer)], &large).await.0, 413);
    let kinds = [("Authorization", bearer.as_str()), ("Content-Type", "text/plain")];
    assert_eq!(site.status(&kinds).await, 415);
    let accept = [("Authorization", bearer.as_str()), ("Accept", "text/html")];
    assert_eq!(site.status(&accept).await, 406);
}

#[tokio::test]
async fn the_token_is_kept_from_others_and_new_at_each_start() {
    let one = Site::open().await;
    let mode = std::fs::metadata(&one.token_file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let other = Site::open().await;
    assert_ne!(one.token, other.token);
    one.server.abort();
    assert!(one.server.await.unwrap_err().is_cancelled());
    assert!(!one.token_file.exists());
}

#[tokio::test]
async fn other_machines_are_served_only_if_that_is_meant() {
    let root = tempfile::tempdir().unwrap();
    let options = HttpOptions {
        address: "0.0.0.0:0".parse().unwrap(),
        allow_remote: false,
        token_file: None,
    };
    let workspace = workspace(root.path(), Ok(Settings::default()));
    let refused = serve_http(workspace.clone(), options.clone(), |_| {}).await;
    assert!(
        matches!(refused, Err(HttpError::NotLoopback { .. })),
        "{refused:?}"
    );
    let meant = HttpOptions {
        allow_remote: true,
        ..options
    };
    // Without a state folder there is no place for the token, and no server without a token.
    let refused = serve_http(workspace, meant, |_| {}).await;
    assert!(matches!(refused, Err(HttpError::NoStateFolder)), "{refused:?}");
}
