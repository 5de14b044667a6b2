//! A line of a log as words: what stands behind which key?

/// Words of a message: letters, digits and `_`; lower case.
pub fn words_of(s: &str) -> Vec<String> {
    s.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
        .filter(|w| !w.is_empty())
        .map(str::to_ascii_lowercase)
        .collect()
}

pub fn number(s: &str) -> Option<u64> {
    match s.strip_prefix("0x") {
        Some(h) => u64::from_str_radix(h, 16).ok(),
        None => s.parse().ok(),
    }
}

/// Some drivers print hex without 0x.
pub fn hex(s: &str) -> Option<u64> {
    u64::from_str_radix(s.strip_prefix("0x").unwrap_or(s), 16).ok()
}

/// What `read` makes of the word behind a key of one or more words, unless one of `not_after`
/// precedes the key.
pub fn behind(
    w: &[String],
    key: &[&str],
    not_after: &[&str],
    read: fn(&str) -> Option<u64>,
) -> Option<u64> {
    (0..w.len().saturating_sub(key.len())).find_map(|i| {
        let hit = key.iter().enumerate().all(|(k, s)| w[i + k] == *s);
        let blocked = i > 0 && not_after.contains(&w[i - 1].as_str());
        if hit && !blocked { read(&w[i + key.len()]) } else { None }
    })
}

pub fn after(w: &[String], key: &[&str]) -> Option<u64> {
    behind(w, key, &[], number)
}

pub fn hex_after(w: &[String], key: &[&str]) -> Option<u64> {
    behind(w, key, &[], hex)
}

pub fn after_any(w: &[String], keys: &[&[&str]]) -> Option<u64> {
    keys.iter().find_map(|k| after(w, k))
}

pub fn has(w: &[String], phrase: &[&str]) -> bool {
    w.windows(phrase.len()).any(|x| x.iter().zip(phrase).all(|(a, b)| a == b))
}

pub fn byte(n: Option<u64>) -> Option<u8> {
    n.and_then(|n| u8::try_from(n).ok())
}

pub fn word(n: Option<u64>) -> Option<u32> {
    n.and_then(|n| u32::try_from(n).ok())
}
