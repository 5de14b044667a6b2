//! Input that cannot be used.

use crate::spelling::closest;

/// The message says what was found and what was expected, and for a file where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InputError(pub String);

/// `; did you mean X?` for the nearest of the known names, or nothing if none is near.
pub(crate) fn did_you_mean<'a>(found: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    closest(found, known).map_or_else(String::new, |k| format!("; did you mean {k}?"))
}
