//! Public reports of refused `ibv_modify_qp` calls: the answer is the one that its authors needed,
//! from the library and from the program alike.

use std::collections::BTreeSet;

use assert_cmd::Command;
use rnic_cosim::explain::{Overrides, explain_all, print, read};
use serde_json::Value;
use toml::{Table, Value as Toml};

fn cases() -> Vec<Table> {
    let file: Table = include_str!("../data/modify_qp_cases.toml").parse().expect("test data");
    let cases = file["case"].as_array().expect("cases");
    cases.iter().map(|c| c.as_table().expect("a table").clone()).collect()
}

fn case(id: &str) -> Table {
    cases().into_iter().find(|c| c["id"].as_str() == Some(id)).expect("a known case")
}

/// A file of calls with the steps of a case.
fn file(profile: &str, steps: &Toml) -> String {
    let mut t = Table::new();
    t.insert("profile".into(), profile.into());
    t.insert("step".into(), steps.clone());
    toml::to_string(&t).expect("writes")
}

fn by_library(text: &str) -> Value {
    let steps = read("calls.toml", text, &Overrides::default()).unwrap_or_else(|e| panic!("{e}"));
    print::json_steps(&explain_all(&steps))
}

/// Runs the program; its exit code says whether every call was accepted.
fn by_program(args: &[&str], input: &str) -> Value {
    let out = Command::cargo_bin("rnic-cosim")
        .expect("built")
        .arg("explain")
        .args(args)
        .arg("--json")
        .write_stdin(input)
        .output()
        .expect("runs");
    let json: Value = serde_json::from_slice(&out.stdout)
        .unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(&out.stderr)));
    let refused = match json["steps"].as_array() {
        Some(steps) => steps.iter().any(|s| s["verdict"] == "refuse"),
        None => json["verdict"] == "refuse",
    };
    assert_eq!(out.status.code(), Some(i32::from(refused)));
    json
}

fn names(v: &Value) -> BTreeSet<String> {
    v.as_array().expect("a list").iter().map(|n| n.as_str().expect("a name").to_string()).collect()
}

fn expected_names(v: &Toml) -> BTreeSet<String> {
    v.as_array().expect("a list").iter().map(|n| n.as_str().expect("a name").to_string()).collect()
}

fn said(v: &Value) -> Vec<String> {
    let steps = v["steps"].as_array().cloned().unwrap_or_else(|| vec![v.clone()]);
    steps
        .iter()
        .flat_map(|s| s["say"].as_array().expect("sentences").clone())
        .map(|s| s.as_str().expect("a sentence").to_string())
        .collect()
}

fn assert_says(v: &Value, sentence: &str) {
    let all = said(v);
    assert!(all.iter().any(|s| s.contains(sentence)), "nobody says `{sentence}`: {all:#?}");
}

fn check_steps(id: &str, answer: &Value, expect: &Toml) {
    let wanted = expect["steps"].as_array().expect("steps");
    let got = answer["steps"].as_array().expect("steps");
    assert_eq!(wanted.len(), got.len(), "{id}");
    for (i, (w, g)) in wanted.iter().zip(got).enumerate() {
        let at = format!("{id} step {}: {g:#}", i + 1);
        assert_eq!(w["verdict"].as_str(), g["verdict"].as_str(), "{at}");
        assert_eq!(w["layer"].as_str(), g["layer"].as_str(), "{at}");
        assert_eq!(expected_names(&w["missing"]), names(&g["missing"]), "{at}");
        assert_eq!(expected_names(&w["disallowed"]), names(&g["disallowed"]), "{at}");
    }
}

#[test]
fn every_step_of_every_report_gets_its_verdict() {
    let mut judged = 0;
    for case in cases() {
        let id = case["id"].as_str().expect("an id");
        let Some(steps) = case["input"].get("steps") else { continue };
        // Only this report depends on the profile; it is about Linux.
        let profiles: &[&str] = if id == "B-17" { &["linux"] } else { &["book", "linux"] };
        for profile in profiles {
            let text = file(profile, steps);
            let answer = by_library(&text);
            check_steps(id, &answer, &case["expect"]);
            if let Some(say) = case["expect"].get("say") {
                for sentence in say.as_array().expect("sentences") {
                    assert_says(&answer, sentence.as_str().expect("a sentence"));
                }
            }
            assert_eq!(answer, by_program(&["-"], &text), "{id}: program and library differ");
        }
        judged += 1;
    }
    assert_eq!(judged, 9, "reports with steps");
}

#[test]
fn b_01_names_the_bad_value_alone() {
    let answer = by_library(&file("book", &case("B-01")["input"]["steps"]));
    assert_eq!(names(&answer["steps"][0]["bad_values"]), BTreeSet::from(["RETRY_CNT".to_string()]));
    assert!(names(&answer["steps"][1]["bad_values"]).is_empty());
    let all = said(&answer);
    assert!(!all.iter().any(|s| s.contains("timeout")), "26 is a legal timeout: {all:?}");
}

#[test]
fn b_03_offers_the_way_over_sqd_and_tells_ud_where_its_address_is() {
    let answer = by_library(&file("book", &case("B-03")["input"]["steps"]));
    assert_says(
        &answer,
        "legal way: RTS → SQD (with EN_SQD_ASYNC_NOTIFY, then wait until drained) → SQD (with AV) → RTS",
    );
    assert_says(&answer, "a UD QP has no address: it is in each work request");
}

#[test]
fn b_07_errno_names_the_layer_and_blames_no_mask_for_19_and_110() {
    let case = case("B-07");
    let reports = case["input"]["reports"].as_array().expect("reports");
    let layers = case["expect"]["layers"].as_array().expect("layers");
    assert_eq!(reports.len(), layers.len());
    for (report, layer) in reports.iter().zip(layers) {
        let errno = report["errno"].as_integer().expect("a number");
        let text = |key: &str| report[key].as_str().expect("a name").to_string();
        let (transport, from, to) = (text("transport"), text("from_state"), text("to_state"));
        let errno_text = errno.to_string();
        let args =
            ["--transport", &transport, "--from", &from, "--to", &to, "--errno", &errno_text];
        let answer = by_program(&args, "");
        assert_eq!(answer["errno_layer"].as_str(), layer.as_str());
        assert!(answer.get("verdict").is_none(), "no mask was given: {answer:#}");
        assert!(answer.get("missing").is_none(), "{answer:#}");
        if errno != 22 {
            assert!(answer.get("required").is_none(), "{answer:#}");
            let all = said(&answer).join("\n");
            for name in ["AV", "PATH_MTU", "DEST_QPN", "RQ_PSN", "missing", "needs"] {
                assert!(!all.contains(name), "{name} in: {all}");
            }
        }
    }
}

#[test]
fn b_10_a_refusal_after_a_refusal_is_told_as_its_consequence() {
    let text = "transport = 'RC'
[[step]]
from = 'INIT'
to = 'RTR'
attrs = 'STATE|AV|PATH_MTU|DEST_QPN|RQ_PSN|MIN_RNR_TIMER'
[[step]]
to = 'RTS'
attrs = ['STATE', 'TIMEOUT', 'RETRY_CNT', 'RNR_RETRY', 'SQ_PSN', 'MAX_QP_RD_ATOMIC']
[[step]]
to = 'RTS'
attrs = ['STATE', 'TIMEOUT']
[[step]]
to = 'RESET'
attrs = 1
[[step]]
to = 'RTS'
attrs = 1
";
    for answer in [by_library(text), by_program(&["-"], text)] {
        let steps = &answer["steps"];
        assert_eq!(steps[0]["layer"], "mask");
        assert!(steps[0].get("cascade_of").is_none());
        assert_eq!((&steps[1]["from"], &steps[1]["layer"]), (&"INIT".into(), &"transition".into()));
        assert_eq!(steps[1]["cascade_of"], 1);
        // From RTS, where it would be, RTS → RTS does not take TIMEOUT: a fault of its own.
        assert_eq!(steps[2]["verdict"], "refuse");
        assert!(steps[2].get("cascade_of").is_none());
        assert_eq!(steps[3]["verdict"], "accept");
        // After RESET wish and truth are one again.
        assert_eq!(steps[4]["from"], "RESET");
        assert!(steps[4].get("cascade_of").is_none());
    }
}

#[test]
fn b_14_numbers_outside_the_table_are_refused_by_encoding() {
    let case = case("B-14");
    let from = case["input"]["from_state_raw"].as_integer().expect("a number").to_string();
    for raw in case["input"]["to_state_raws"].as_array().expect("numbers") {
        let raw = raw.as_integer().expect("a number");
        let text = raw.to_string();
        let answer =
            by_program(&["--transport", "RC", "--from", &from, "--to", &text, "--mask", "1"], "");
        assert_eq!(answer["verdict"].as_str(), case["expect"]["verdict"].as_str());
        // The report calls the layer state-encoding.
        assert_eq!(case["expect"]["layer"].as_str(), Some("state-encoding"));
        assert_eq!(answer["layer"], "encoding");
        assert_says(&answer, &format!("target state {raw} is not a state"));
    }
    let eight = by_program(&["--transport", "RC", "--from", "0", "--to", "8", "--mask", "1"], "");
    assert_eq!(eight["layer"], "encoding", "8 is not 0");
}

#[test]
fn b_16_every_state_can_be_entered_by_a_path_except_sqe() {
    let path = |from: &str, to: &str| {
        said(&by_program(
            &["--transport", "RC", "--from", from, "--to", to, "--attrs", "state"],
            "",
        ))
        .into_iter()
        .find(|s| s.starts_with("legal way"))
    };
    assert!(path("RTR", "SQD").expect("a way").starts_with("legal way: RTR → RTS (with "));
    assert!(path("INIT", "SQD").expect("a way").contains("→ RTR (with "));
    assert_eq!(path("RTS", "SQE"), None);
}

#[test]
fn b_17_the_book_lets_reset_go_to_err_and_linux_does_not() {
    let ask = |profile: &str| {
        by_program(
            &[
                "--transport",
                "RC",
                "--from",
                "RESET",
                "--to",
                "ERR",
                "--mask",
                "1",
                "--profile",
                profile,
            ],
            "",
        )
    };
    let (book, linux) = (ask("book"), ask("linux"));
    assert_eq!((&book["verdict"], &book["profile"]), (&"accept".into(), &"book".into()));
    assert_eq!(
        (&linux["verdict"], &linux["layer"], &linux["profile"]),
        (&"refuse".into(), &"transition".into(), &"linux".into())
    );
    assert_says(&linux, "with reset_to_err=allow it is accepted");
    let steps = by_library(&file("linux", &case("B-17")["input"]["steps"]));
    assert_says(
        &steps,
        "legal way: ERR → RESET → INIT (with ACCESS_FLAGS, PKEY_INDEX, PORT) → RTR (with ",
    );
}

#[test]
fn b_20_a_raw_mask_is_printed_in_names() {
    let case = case("B-20");
    let mask = format!("{:#x}", case["input"]["mask_hex"].as_integer().expect("a number"));
    let answer = by_program(
        &["--transport", "RC", "--from", "INIT", "--to", "RTR", "--mask", &mask, "--errno", "22"],
        "",
    );
    assert_eq!(names(&answer["mask_names"]), expected_names(&case["expect"]["decoded_mask"]));
    assert_eq!(names(&answer["missing"]), expected_names(&case["expect"]["missing"]));
    assert_eq!(names(&answer["disallowed"]), expected_names(&case["expect"]["disallowed"]));
    assert_eq!(answer["mask"], case["input"]["mask_hex"].as_integer().expect("a number"));
}

#[test]
fn b_21_rc_sqe_to_rts_is_a_written_choice() {
    for (profile, verdict) in [("book", "refuse"), ("linux", "accept")] {
        let answer = by_program(
            &[
                "--transport",
                "RC",
                "--from",
                "SQE",
                "--to",
                "RTS",
                "--mask",
                "1",
                "--profile",
                profile,
            ],
            "",
        );
        assert_eq!(answer["verdict"], verdict, "{profile}");
    }
}
