//! What `run` prints of a scenario: in the order done, under the names of that moment, with the
//! values that matter.

use assert_cmd::Command;
use serde_json::Value;

/// One CQ, one QP in RTS.
const SETUP: &str =
    "title = 'T'\n[[cq]]\nname = 'C'\ndepth = 8\n[[qp]]\nname = 'A'\nstate = 'RTS'\n";

/// Runs a scenario on the model; exit code, standard output, standard error.
fn play(text: &str, options: &[&str]) -> (i32, String, String) {
    let output = Command::cargo_bin("rnic-cosim")
        .expect("the binary is built")
        .args(["run", "-", "--engine", "model"])
        .args(options)
        .write_stdin(text)
        .output()
        .expect("it runs");
    let utf8 = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    (output.status.code().expect("it ends by itself"), utf8(output.stdout), utf8(output.stderr))
}

/// What is printed of the steps after the setup.
fn listing(steps: &str) -> String {
    let (_, text, error) = play(&format!("{SETUP}{steps}"), &[]);
    assert!(error.is_empty(), "{error}");
    text.split_once("step 1").map(|(_, steps)| format!("step 1{steps}")).unwrap_or(text)
}

fn json(steps: &str) -> Value {
    let (_, text, error) = play(&format!("{SETUP}{steps}"), &["--json"]);
    assert!(error.is_empty(), "{error}");
    serde_json::from_str::<Value>(&text).expect("JSON")[0].clone()
}

/// The parts occur in this order.
fn in_order(text: &str, parts: &[&str]) {
    let mut from = 0;
    for part in parts {
        let at = text[from..].find(part);
        let at = at.unwrap_or_else(|| panic!("`{part}` is not in its place in:\n{text}"));
        from += at + part.len();
    }
}

#[test]
fn a_step_is_listed_in_the_order_done() {
    let text = listing(
        "[[step]]\ndo = [{ post_send = { qp = 'A' } }, { complete = { qp = 'A' } }, \
         { poll = { cq = 'C', count = 1 } }, { post_send = { qp = 'A', count = 2 } }, \
         { wire = 'off' }, { consume = { cq = 'C' } }]\n",
    );
    in_order(
        &text,
        &[
            "post SEND on A →",
            "complete A SQ",
            "read 1 entry of C\n",
            "post SEND on A ×2",
            "the wire is full",
            "read 0 entries of C",
            "tell C the consumer index 1",
        ],
    );
}

#[test]
fn a_reset_ends_every_qp_and_cq() {
    let steps = "[[step]]\ndo = [{ post_send = { qp = 'A' } }, { complete = { qp = 'A' } }]\n\
                 [[step]]\nreset = true\nexpect = { state = 'none' }\n";
    let text = listing(steps);
    in_order(&text, &["hardware reset: every QP and CQ is gone", "state: A RTS → -"]);
    let all = json(steps);
    let changes = &all["steps"][2]["state_changes"];
    assert_eq!(changes, &serde_json::json!([{ "qp": "A", "from": "RTS", "to": null }]));
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("r.svg");
    play(&format!("{SETUP}{steps}"), &["--svg", file.to_str().expect("UTF-8")]);
    let svg = std::fs::read_to_string(file).expect("drawn");
    // The reset is in the seventh column.
    assert!(svg.contains("<rect x=\"37\" y=\"68\" width=\"169\""), "the lane of A ends: {svg}");
    let wells = svg.split("class=\"well\"").skip(1).filter_map(|w| w.split("width=\"").nth(1));
    let widths: Vec<&str> = wells.filter_map(|w| w.split('"').next()).collect();
    assert_eq!(widths, ["204"], "the lane of the CQ ends in step 2: {svg}");
    assert!(svg.contains("hardware reset"), "the reset has a mark");
}
