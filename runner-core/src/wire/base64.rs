//! Bytes in JSON: the standard alphabet of RFC 4648, with padding.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// Bytes as text.
pub fn encode(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// Text as bytes. `None` if it is not base64 with its padding.
pub fn decode(text: &str) -> Option<Vec<u8>> {
    STANDARD.decode(text).ok()
}
