//! The RTL in other hands: file lists of other build systems.

use std::fs;

/// The files of `rtl/rnic.f`, as seen from the top of the repository.
fn listed() -> Vec<String> {
    let list = fs::read_to_string("rtl/rnic.f").expect("the list is there");
    list.lines().map(|file| format!("rtl/{file}")).collect()
}

/// Every `- rtl/x.sv` of a YAML file, in its order.
fn named_by(file: &str) -> Vec<String> {
    let text = fs::read_to_string(file).unwrap_or_else(|e| panic!("{file}: {e}"));
    let items = text.lines().filter_map(|line| line.trim().strip_prefix("- "));
    items.filter(|item| item.ends_with(".sv")).map(str::to_owned).collect()
}

#[test]
fn the_lists_of_fusesoc_and_bender_are_the_file_list() {
    // The assertions are bound into the top and not part of the design.
    let mut expected = listed();
    expected.push("rtl/rnic_checks.sv".into());
    for file in ["rnic_cosim.core", "Bender.yml"] {
        assert_eq!(named_by(file), expected, "{file}");
    }
    let mut there: Vec<String> = fs::read_dir("rtl")
        .expect("rtl is there")
        .map(|entry| format!("rtl/{}", entry.expect("a file").file_name().display()))
        .filter(|file| file.ends_with(".sv"))
        .collect();
    there.sort();
    expected.sort();
    assert_eq!(there, expected, "every file of rtl/ is listed");
}

#[test]
fn versions_agree() {
    let core = fs::read_to_string("rnic_cosim.core").expect("the core file is there");
    let name = format!("name: rnic_cosim:rtl:rnic_top:{}\n", env!("CARGO_PKG_VERSION"));
    assert!(core.contains(&name), "rnic_cosim.core has no {name}");
}
