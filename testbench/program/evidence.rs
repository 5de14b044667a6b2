//! docs/evidence.md speaks of the properties that there are, and of all of them.

use std::collections::BTreeSet;
use std::fs;

/// `Name_A` of every assertion and `Name_C` of every cover statement of a property file.
fn properties_of(text: &str) -> BTreeSet<String> {
    text.lines()
        .filter_map(|line| line.trim().split_once(':'))
        .filter(|(name, rest)| {
            (name.ends_with("_A") && rest.trim_start().starts_with("assert"))
                || (name.ends_with("_C") && rest.trim_start().starts_with("cover"))
        })
        .map(|(name, _)| name.to_owned())
        .collect()
}

#[test]
fn the_page_names_every_property_and_no_other() {
    let page = fs::read_to_string("docs/evidence.md").expect("the page is there");
    let proofs = fs::read_to_string("formal/proofs.toml").expect("the list of proofs is there");
    let proofs: toml::Table = toml::from_str(&proofs).expect("the list is readable");
    let proofs = proofs["proof"].as_array().expect("[[proof]]");
    assert!(proofs.len() >= 10, "only {} proofs", proofs.len());
    for proof in proofs {
        let name = proof["name"].as_str().expect("a name");
        let file = format!("formal/{name}.sv");
        let text = fs::read_to_string(&file).unwrap_or_else(|e| panic!("{file}: {e}"));
        let there = properties_of(&text);
        assert!(!there.is_empty(), "{file} has no property");
        let section = page
            .split("\n### ")
            .find(|part| part.lines().next() == Some(name))
            .unwrap_or_else(|| panic!("docs/evidence.md has no section {name}: make evidence"));
        let section = section.split("\n## ").next().expect("split yields one");
        let said: BTreeSet<String> = section
            .lines()
            .filter_map(|line| line.strip_prefix("| ")?.split(' ').next())
            // The last part of a path; assertions of rtl/rnic_checks.sv are bound into the top.
            .map(|path| path.rsplit('.').next().unwrap_or(path).to_owned())
            .filter(|word| word.ends_with("_A") || word.ends_with("_C"))
            .collect();
        let bound = fs::read_to_string("rtl/rnic_checks.sv").expect("the assertions are there");
        let unknown: Vec<_> = said
            .iter()
            .filter(|n| !there.contains(*n) && !bound.contains(&format!("{n}: assert")))
            .collect();
        assert!(unknown.is_empty(), "{name}: the page names {unknown:?}, which {file} has not");
        let unsaid: Vec<_> = there.difference(&said).collect();
        assert!(unsaid.is_empty(), "{name}: the page does not name {unsaid:?}: make evidence");
    }
}
