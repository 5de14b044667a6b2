//! The silicon page and the accepted cell counts speak of the designs that there are.

use std::collections::BTreeSet;
use std::fs;

fn designs() -> Vec<toml::Table> {
    let text = fs::read_to_string("tools/synth.toml").expect("the list of designs is there");
    let list: toml::Table = toml::from_str(&text).expect("the list is readable");
    let designs = list["design"].as_array().expect("[[design]]");
    designs.iter().map(|d| d.as_table().expect("a table").clone()).collect()
}

fn name(design: &toml::Table) -> &str {
    design["name"].as_str().expect("a name")
}

#[test]
fn the_page_names_every_design_and_no_other() {
    let page = fs::read_to_string("docs/synth.md").expect("the page is there");
    let results = page.split("## Results").nth(1).expect("the page has results");
    let results = results.split("\n## ").next().expect("split yields one");
    let said: BTreeSet<&str> = results
        .lines()
        .filter_map(|line| line.strip_prefix("| ")?.split(' ').next())
        .filter(|&word| word != "design")
        .collect();
    let designs = designs();
    let there: BTreeSet<&str> = designs.iter().map(name).collect();
    assert!(there.len() >= 8, "only {} designs", there.len());
    assert_eq!(said, there, "docs/synth.md is of other designs than tools/synth.toml: make synth");
}

#[test]
fn every_accepted_count_is_of_a_design_with_its_memories() {
    let text = fs::read_to_string("testbench/data/synth_baseline.json").expect("it is there");
    let baseline: serde_json::Value = serde_json::from_str(&text).expect("it is readable");
    let cells = baseline["cells"].as_object().expect("cells");
    let designs = designs();
    // What continuous integration compares.
    for block in ["qp_transition", "wqe_ctrl_decoder", "cq_ring"] {
        assert!(cells.contains_key(block), "{block} has no accepted counts");
    }
    for (design, families) in cells {
        let known = designs.iter().find(|d| name(d) == design);
        let known = known.unwrap_or_else(|| panic!("tools/synth.toml has no design {design}"));
        let ecp5 = families["ecp5"].as_object().expect("counts on ECP5");
        assert!(ecp5["LUT4"].as_u64().expect("a number") > 0, "{design}");
        let has_ram = ecp5.keys().any(|kind| kind.contains("RAM"));
        assert_eq!(has_ram, known.contains_key("contexts"), "{design}: contexts in memories");
    }
}
