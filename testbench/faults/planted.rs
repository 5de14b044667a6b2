//! Faults by list, and copies of the RTL to plant them into.

use std::fs;
use std::path::Path;

#[derive(serde::Deserialize)]
struct List {
    fault: Vec<Fault>,
}

/// One place of the RTL that becomes another one.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fault {
    /// Its own, or that of the assertion that must notice it.
    pub name: String,
    pub text: String,
    pub file: String,
    pub from: String,
    pub to: String,
}

impl Fault {
    /// The place that it changes is there, and only once.
    pub fn must_fit(&self) {
        let source = fs::read_to_string(Path::new("rtl").join(&self.file)).expect(&self.file);
        let count = source.matches(&self.from).count();
        assert_eq!(count, 1, "{}: `from` must occur once", self.name);
    }
}

/// The faults of a list in testbench/data.
pub fn faults(list: &str) -> Vec<Fault> {
    let path = Path::new("testbench/data").join(list);
    let text = fs::read_to_string(path).expect("the list is there");
    toml::from_str::<List>(&text).expect("the list is readable").fault
}

/// Builds take minutes: only where they are asked for.
pub fn asked_for() -> bool {
    let asked = std::env::var_os("RNIC_FAULTS").is_some();
    if !asked {
        eprintln!("this takes builds of its own: RNIC_FAULTS=1 does it");
    }
    asked
}

/// Those that `RNIC_FAULT` names; without it, all.
pub fn chosen(name: &str) -> bool {
    std::env::var("RNIC_FAULT").map_or(true, |only| only == name)
}

/// Copies the RTL into an empty folder; `change` makes of name and text of each file another text.
pub fn copy_rtl(folder: &Path, change: impl Fn(&str, String) -> String) {
    let _ = fs::remove_dir_all(folder);
    fs::create_dir_all(folder).expect("the target folder is writable");
    for entry in fs::read_dir("rtl").expect("rtl is there").flatten() {
        let name = entry.file_name();
        let text = fs::read_to_string(entry.path()).expect("sources are text");
        let text = change(&name.to_string_lossy(), text);
        fs::write(folder.join(name), text).expect("the target folder is writable");
    }
}
