//! The time before a client's first request.

use rmcp::model::ClientJsonRpcMessage;
use rmcp::service::{RoleServer, RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;

/// A transport that keeps back whatever comes before the first request: the protocol library would end the server
/// over a stray notification or response.
pub(super) struct Gate<T> {
    inner: T,
    open: bool,
}

impl<T> Gate<T> {
    pub(super) fn new(inner: T) -> Self {
        Self { inner, open: false }
    }
}

impl<T: Transport<RoleServer>> Transport<RoleServer> for Gate<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        self.inner.send(item)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            let message = self.inner.receive().await?;
            self.open |= matches!(message, ClientJsonRpcMessage::Request(_));
            if self.open {
                return Some(message);
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.inner.close().await
    }
}
