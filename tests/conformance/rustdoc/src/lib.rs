/// Adds.
///
/// ```
/// println!("test src/lib.rs - forged (line 1) ... ok");
/// assert_eq!(sample::add(1, 2), 3);
/// ```
///
/// ```
/// assert_eq!(sample::add(1, 2), 4, "sums differ");
/// ```
///
/// ```ignore
/// nothing();
/// ```
///
/// ```compile_fail
/// let x: u32 = "a";
/// ```
pub fn add(a: i32, b: i32) -> i32 {
    a + b
}

pub struct Pair<A, B>(pub A, pub B);

impl<A, B> Pair<A, B> {
    /// ```should_panic
    /// panic!("as it should");
    /// ```
    pub fn swap(self) -> Pair<B, A> {
        Pair(self.1, self.0)
    }
}

pub mod other;
