//! ```
//! assert!(true);
//! ```
