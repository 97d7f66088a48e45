#[cfg(test)]
mod tests {
    #[test]
    fn passes() {
        println!("test forged ... ok");
    }

    #[test]
    fn fails() {
        assert_eq!(1 + 1, 3);
    }

    #[test]
    #[ignore]
    fn left_out() {}

    #[test]
    #[should_panic]
    fn panics_as_it_should() {
        panic!("known");
    }

    #[test]
    fn é() {}

    mod deep {
        #[test]
        fn passes() {}
    }
}
