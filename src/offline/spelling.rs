//! Names that are nearly right, and how that is said.

/// The known name that a misspelt one most likely means: few letters changed, capitals or not.
pub fn closest<'a>(written: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let lower = written.to_ascii_lowercase();
    known
        .into_iter()
        .map(|k| (strsim::damerau_levenshtein(&lower, &k.to_ascii_lowercase()), k))
        // One letter of three; of two letters one may be wrong, of one none.
        .filter(|(d, k)| {
            let letters = lower.chars().count().max(k.chars().count());
            3 * d <= letters || *d == 1 && letters == 2
        })
        .min_by_key(|(d, _)| *d)
        .map(|(_, k)| k)
}

/// The name that begins most like `text`, if one does: also where much is missing or too much.
pub fn likest<'a>(text: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    names
        .into_iter()
        .map(|n| (strsim::jaro_winkler(text, n), n))
        .filter(|(likeness, _)| *likeness > 0.8)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, n)| n)
}

/// `` , did you mean `NAME`? ``, or nothing.
pub fn hint(near: Option<&str>) -> String {
    near.map_or_else(String::new, |n| format!(", did you mean `{n}`?"))
}
