//! ```
//! assert!(true);
//! ```

/// ```
/// loop {
///     std::thread::sleep(std::time::Duration::from_secs(60));
/// }
/// ```
pub fn hangs() {}
