//! Two file descriptors as asynchronous halves, each with a thread of its own.
//!
//! A thread takes any kind of descriptor (a pipe, a socket, a terminal) without changing its flags, which it may
//! share with others, and does not keep the runtime from ending. The reader also sees that the client is gone as
//! soon as that happens: the protocol library would first wait for the calls that are going on.

use std::io::{self, Read, Write};
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::{CancellationToken, PollSender};

const CHUNK_BYTES: usize = 64 * 1024;
/// Chunks that may wait on either side.
const QUEUE: usize = 16;

/// Bytes from the client.
pub(super) struct Incoming {
    chunks: mpsc::Receiver<Vec<u8>>,
    current: Vec<u8>,
    taken: usize,
}

/// Reads in a thread. `gone` is cancelled at the end of the input, or when reading fails.
pub(super) fn incoming(mut source: impl Read + Send + 'static, gone: &CancellationToken) -> Incoming {
    let (sender, chunks) = mpsc::channel(QUEUE);
    let at_end = gone.clone().drop_guard();
    std::thread::spawn(move || {
        let _at_end = at_end;
        let mut buffer = vec![0; CHUNK_BYTES];
        loop {
            match source.read(&mut buffer) {
                Ok(0) => break,
                Ok(count) => {
                    if sender.blocking_send(buffer[..count].to_vec()).is_err() {
                        break;
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => break,
            }
        }
    });
    Incoming {
        chunks,
        current: Vec::new(),
        taken: 0,
    }
}

impl AsyncRead for Incoming {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.taken == self.current.len() {
            match self.chunks.poll_recv(context) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(None) => return Poll::Ready(Ok(())),
                Poll::Ready(Some(chunk)) => {
                    self.current = chunk;
                    self.taken = 0;
                }
            }
        }
        let rest = &self.current[self.taken..];
        let count = rest.len().min(buffer.remaining());
        buffer.put_slice(&rest[..count]);
        self.taken += count;
        Poll::Ready(Ok(()))
    }
}

/// Bytes to the client.
pub(super) struct Outgoing {
    chunks: PollSender<Vec<u8>>,
    silent: CancellationToken,
}

/// Writes in a thread, until `silent` is cancelled. The receiver hears when everything is written, or nothing can be
/// written any more; in the second case `gone` is cancelled as well: a client that reads no answers is as good as gone.
pub(super) fn outgoing(
    mut sink: impl Write + Send + 'static,
    gone: &CancellationToken,
    silent: CancellationToken,
) -> (Outgoing, oneshot::Receiver<()>) {
    let gone = gone.clone();
    let (sender, mut chunks) = mpsc::channel::<Vec<u8>>(QUEUE);
    let (done, written) = oneshot::channel();
    std::thread::spawn(move || {
        while let Some(chunk) = chunks.blocking_recv() {
            if sink.write_all(&chunk).and_then(|()| sink.flush()).is_err() {
                gone.cancel();
                break;
            }
        }
        // Nobody listens any more if the server was told to end at once.
        let _ = done.send(());
    });
    let outgoing = Outgoing {
        chunks: PollSender::new(sender),
        silent,
    };
    (outgoing, written)
}

fn closed<T>(_: T) -> io::Error {
    io::Error::from(io::ErrorKind::BrokenPipe)
}

impl AsyncWrite for Outgoing {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        if self.silent.is_cancelled() {
            return Poll::Ready(Err(closed(())));
        }
        match self.chunks.poll_reserve(context) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(Err(error)) => Poll::Ready(Err(closed(error))),
            Poll::Ready(Ok(())) => {
                let sent = self.chunks.send_item(bytes.to_vec()).map_err(closed);
                Poll::Ready(sent.map(|()| bytes.len()))
            }
        }
    }

    /// The thread flushes after every chunk.
    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.chunks.close();
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    #[tokio::test]
    async fn bytes_come_whole_and_the_end_is_seen() {
        let bytes: Vec<u8> = (0..200_000u32).map(|n| n as u8).collect();
        let gone = CancellationToken::new();
        let mut reader = incoming(io::Cursor::new(bytes.clone()), &gone);
        let mut read = Vec::new();
        reader.read_to_end(&mut read).await.unwrap();
        assert_eq!(read, bytes);
        gone.cancelled().await;
    }

    #[tokio::test]
    async fn the_end_is_seen_while_nobody_reads() {
        let gone = CancellationToken::new();
        let _reader = incoming(io::Cursor::new(b"one line\n".to_vec()), &gone);
        gone.cancelled().await;
    }

    #[tokio::test]
    async fn everything_is_written_before_the_writer_is_done() {
        let (mut theirs, ours) = std::os::unix::net::UnixStream::pair().unwrap();
        let gone = CancellationToken::new();
        let (mut writer, written) = outgoing(ours, &gone, CancellationToken::new());
        let reading = std::thread::spawn(move || {
            let mut read = Vec::new();
            theirs.read_to_end(&mut read).unwrap();
            read.len()
        });
        for _ in 0..50 {
            writer.write_all(&[7; 10_000]).await.unwrap();
        }
        drop(writer);
        written.await.unwrap();
        assert_eq!(reading.join().unwrap(), 500_000);
        assert!(!gone.is_cancelled());
    }

    #[tokio::test]
    async fn nothing_is_written_once_there_is_to_be_silence() {
        let (gone, silent) = (CancellationToken::new(), CancellationToken::new());
        let (mut writer, written) = outgoing(std::io::sink(), &gone, silent.clone());
        writer.write_all(b"one").await.unwrap();
        silent.cancel();
        assert!(writer.write_all(b"two").await.is_err());
        drop(writer);
        written.await.unwrap();
    }

    #[tokio::test]
    async fn a_client_that_does_not_listen_breaks_the_pipe_and_is_gone() {
        let (theirs, ours) = std::os::unix::net::UnixStream::pair().unwrap();
        drop(theirs);
        let gone = CancellationToken::new();
        let (mut writer, written) = outgoing(ours, &gone, CancellationToken::new());
        while writer.write_all(&[7; 10_000]).await.is_ok() {}
        written.await.unwrap();
        gone.cancelled().await;
    }
}
