fn broken() -> u32 { "no number" }
