#[test]
fn a_before() {}

#[test]
fn hangs() {
    loop {
        std::thread::sleep(std::time::Duration::from_secs(60));
    }
}
