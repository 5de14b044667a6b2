//! How much the tests do.

/// Tests that take minutes in full are asked for in full.
pub fn exhaustive() -> bool {
    std::env::var_os("RNIC_EXHAUSTIVE").is_some_and(|v| v == "1")
}
