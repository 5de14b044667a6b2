//! Bins that no run can hit, each with its reason, from `docs/coverage_unreachable.toml`.

use std::sync::LazyLock;

use serde::Deserialize;

use super::bins::NAMES;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    unreachable: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    bins: Vec<String>,
    #[serde(default)]
    except: Vec<String>,
    reason: String,
}

const TEXT: &str = include_str!("../../docs/coverage_unreachable.toml");

/// For each bin, in the order of [`NAMES`], why it cannot be hit; `None` if it can.
pub static REASONS: LazyLock<Vec<Option<String>>> =
    LazyLock::new(|| reasons(TEXT).unwrap_or_else(|e| panic!("coverage_unreachable.toml: {e}")));

/// The reasons that a list of this form gives, one for each of [`NAMES`].
///
/// # Errors
/// The text is no list, or a pattern in it matches no bin.
pub fn reasons(text: &str) -> Result<Vec<Option<String>>, String> {
    let list: List = toml::from_str(text).map_err(|e| e.to_string())?;
    let mut reasons = vec![None; NAMES.len()];
    for entry in list.unreachable {
        for pattern in &entry.except {
            if !NAMES.iter().any(|name| matches(pattern, name)) {
                return Err(format!("no bin is called `{pattern}`"));
            }
        }
        for pattern in &entry.bins {
            let mut found = false;
            for (name, reason) in NAMES.iter().zip(&mut reasons) {
                if matches(pattern, name) {
                    found = true;
                    if !entry.except.iter().any(|e| matches(e, name)) {
                        *reason = Some(entry.reason.clone());
                    }
                }
            }
            if !found {
                return Err(format!("no bin is called `{pattern}`"));
            }
        }
    }
    Ok(reasons)
}

/// Level by level; `*` is any label, `a|b` one of two.
fn matches(pattern: &str, name: &str) -> bool {
    let (mut patterns, mut labels) = (pattern.split('/'), name.split('/'));
    loop {
        match (patterns.next(), labels.next()) {
            (None, None) => return true,
            (Some(p), Some(l)) if p == "*" || p.split('|').any(|one| one == l) => {}
            _ => return false,
        }
    }
}
