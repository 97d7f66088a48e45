#[test]
fn a_before() {}

#[test]
fn ends_its_process() {
    std::process::abort();
}
