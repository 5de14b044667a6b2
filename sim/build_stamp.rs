//! What something was made from, kept beside it: whether it has to be made again.
//!
//! By contents, not by times: a checkout and `touch` change nothing.

use std::collections::hash_map::DefaultHasher;
use std::fs;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};

/// The note that [`set`] left with the stamp, if the recipe is the same and none of the files that
/// were read then has changed.
pub fn note_if_current(stamp: &Path, recipe: &str) -> Option<String> {
    let text = fs::read_to_string(stamp).ok()?;
    let mut lines = text.lines();
    let (hash, note) = (lines.next()?, lines.next()?);
    let inputs: Vec<PathBuf> = lines.map(PathBuf::from).collect();
    (hash == hash_of(recipe, &inputs)?).then(|| note.to_owned())
}

/// To be called once the thing is made; `note` is one line. If it fails, the thing is only made
/// again next time.
pub fn set(stamp: &Path, recipe: &str, inputs: &[PathBuf], note: &str) {
    let Some(hash) = hash_of(recipe, inputs) else { return };
    let names: Vec<_> = inputs.iter().map(|file| file.to_string_lossy()).collect();
    let _ = fs::write(stamp, format!("{hash}\n{note}\n{}\n", names.join("\n")));
}

fn hash_of(recipe: &str, inputs: &[PathBuf]) -> Option<String> {
    let mut hasher = DefaultHasher::new();
    recipe.hash(&mut hasher);
    for file in inputs {
        file.hash(&mut hasher);
        fs::read(file).ok()?.hash(&mut hasher);
    }
    Some(format!("{:016x}", hasher.finish()))
}
