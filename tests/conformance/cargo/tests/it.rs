#[test]
fn é() {}

mod deep {
    #[test]
    fn passes() {}
}
