//! The printed tables against public facts, and against what the documentation shows.

use assert_cmd::Command;
use rnic_cosim::model::Policy;
use rnic_cosim::report::tables::{Cell, Topic, states_svg, table};

fn tables(args: &[&str]) -> (Option<i32>, String, String) {
    let out = Command::cargo_bin("rnic-cosim")
        .expect("built")
        .arg("tables")
        .args(args)
        .output()
        .expect("runs");
    let text = |b: Vec<u8>| String::from_utf8(b).expect("UTF-8");
    (out.status.code(), text(out.stdout), text(out.stderr))
}

/// Lines of the public table: its first five columns.
fn public() -> Vec<String> {
    let lines = include_str!("../data/qp_transitions.csv").lines().filter(|l| !l.starts_with('#'));
    lines.map(|l| l.split(',').take(5).collect::<Vec<_>>().join(",")).collect()
}

#[test]
fn transitions_of_the_linux_profile_are_those_of_linux() {
    let (code, out, _) = tables(&["transitions", "--profile", "linux", "--format", "csv"]);
    assert_eq!(code, Some(0));
    let ours: Vec<&str> = out.lines().collect();
    assert_eq!(ours, public());
    assert_eq!(ours.len(), 67);
}

#[test]
fn the_book_differs_from_linux_in_two_places() {
    let out = table(Topic::Transitions, &Policy::BOOK).csv();
    let ours: Vec<&str> = out.lines().collect();
    let added: Vec<&&str> = ours.iter().filter(|l| !public().iter().any(|p| p == *l)).collect();
    let gone: Vec<String> = public().into_iter().filter(|l| !ours.contains(&l.as_str())).collect();
    assert_eq!(added, [&"RC,RESET,ERR,,", &"UC,RESET,ERR,,", &"UD,RESET,ERR,,"]);
    assert_eq!(gone, ["RC,SQE,RTS,,"]);
}

/// One column of one row, by the value of the row's key column.
fn cell(topic: Topic, policy: &Policy, key: (&str, &str), column: &str) -> Cell {
    let t = table(topic, policy);
    let at = |name: &str| t.columns.iter().position(|c| *c == name).expect("a column");
    let row = t.rows.iter().find(|r| r[at(key.0)] == Cell::from(key.1)).expect("a row");
    row[at(column)].clone()
}

#[test]
fn states_say_what_may_be_posted() {
    let column = |policy: &Policy, name: &str| -> Vec<Cell> {
        let t = table(Topic::States, policy);
        let at = t.columns.iter().position(|c| *c == name).expect("a column");
        t.rows.iter().map(|r| r[at].clone()).collect()
    };
    let cells = |words: [&str; 7]| words.map(Cell::from).to_vec();
    let flush = "accept and flush";
    assert_eq!(
        column(&Policy::BOOK, "post_send"),
        cells(["refuse", "refuse", "refuse", "accept", "refuse", flush, flush])
    );
    assert_eq!(
        column(&Policy::LINUX, "post_send"),
        cells(["refuse", "refuse", "refuse", "accept", "accept", flush, flush])
    );
    assert_eq!(
        column(&Policy::BOOK, "post_recv"),
        cells(["refuse", "accept", "accept", "accept", "accept", "accept", flush])
    );
}

#[test]
fn errors_lead_to_sqe_or_err() {
    let after =
        |state, column| cell(Topic::States, &Policy::BOOK, ("state", state), column).clone();
    let list = |words: &[&str]| Cell::List(words.iter().map(|w| w.to_string()).collect());
    let ud = "UD ERR (not for LOC_LEN_ERR)";
    for state in ["RTS", "SQD"] {
        assert_eq!(after(state, "send_error_to"), list(&["RC ERR", "UC SQE", "UD SQE"]), "{state}");
        assert_eq!(after(state, "recv_error_to"), list(&["RC ERR", "UC ERR", ud]), "{state}");
    }
    assert_eq!(after("SQE", "recv_error_to"), list(&["UC ERR", ud]), "RC never holds SQE");
    assert_eq!(after("INIT", "recv_error_to"), list(&[]), "a receive of INIT cannot complete yet");
}

#[test]
fn the_control_segment_lies_as_mlx5_has_it() {
    let csv = table(Topic::WqeLayout, &Policy::BOOK).csv();
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!(
        lines,
        [
            "field,word,byte_offset,bit_high,bit_low",
            "opmod,0,0,31,24",
            "wqe_index,0,0,23,8",
            "opcode,0,0,7,0",
            "sqn,1,4,31,8",
            "reserved_ds,1,4,7,6",
            "ds,1,4,5,0",
            "signature,2,8,31,24",
            "stream,2,8,23,8",
            "fence_mode,2,8,7,5",
            "inline,2,8,4,4",
            "completion_mode,2,8,3,2",
            "solicited,2,8,1,1",
            "reserved_flag,2,8,0,0",
            "misc,3,12,31,0",
        ]
    );
}

#[test]
fn sizes_are_those_of_rdma_core() {
    let csv = table(Topic::WqeSizes, &Policy::BOOK).csv();
    for line in [
        "RC,SEND,16,1,62,20,44",
        "RC,RDMA_WRITE,32,2,61,36,28",
        "RC,RDMA_READ,32,2,61,,",
        "RC,ATOMIC_FETCH_AND_ADD,48,3,60,,",
        "UC,RDMA_WRITE,32,2,61,36,28",
        "UD,SEND,64,4,59,68,60",
    ] {
        assert!(csv.lines().any(|l| l == line), "{line} is not in\n{csv}");
    }
    assert_eq!(csv.lines().count(), 1 + 8 + 4 + 2);
}

#[test]
fn flags_act_where_the_standard_lets_them() {
    let csv = table(Topic::Flags, &Policy::BOOK).csv();
    for line in [
        "RC,SEND,yes,yes,yes,yes",
        "RC,RDMA_WRITE,yes,yes,no,yes",
        "RC,RDMA_WRITE_WITH_IMM,yes,yes,yes,yes",
        "RC,RDMA_READ,yes,yes,no,no",
        "RC,ATOMIC_CMP_AND_SWP,yes,yes,no,no",
        "UD,SEND_WITH_IMM,yes,yes,yes,yes",
    ] {
        assert!(csv.lines().any(|l| l == line), "{line} is not in\n{csv}");
    }
}

#[test]
fn opcodes_are_the_eight_of_mlx5() {
    let t = table(Topic::Opcodes, &Policy::BOOK);
    let numbers: Vec<Cell> = t.rows.iter().map(|r| r[0].clone()).collect();
    assert_eq!(numbers, [1u8, 8, 9, 10, 11, 16, 17, 18].map(Cell::from));
    let inv = cell(Topic::Opcodes, &Policy::BOOK, ("name", "SEND_WITH_INV"), "transports");
    assert_eq!(inv, Cell::List(vec!["RC".to_string()]));
}

#[test]
fn policies_name_both_profiles() {
    let csv = table(Topic::Policies, &Policy::BOOK).csv();
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!(lines[0], "name,values,book,linux");
    assert_eq!(lines[1], "reset_to_err,allow;refuse,allow,refuse");
    assert!(lines.contains(&"cq_scope,affected;sticky;cascade,sticky,sticky"));
    assert!(lines.contains(&"max_inline,a number of bytes,28,28"));
    assert_eq!(lines.len(), 11);
}

#[test]
fn every_topic_comes_in_every_format() {
    for topic in
        ["transitions", "states", "policies", "opcodes", "flags", "wqe-layout", "wqe-sizes"]
    {
        let rows = |format: &str| {
            let (code, out, err) = tables(&[topic, "--format", format]);
            assert_eq!(code, Some(0), "{topic} {format}: {err}");
            match format {
                "json" => {
                    serde_json::from_str::<Vec<serde_json::Value>>(&out).expect("a list").len()
                }
                "csv" => out.lines().count() - 1,
                _ => {
                    assert!(out.lines().all(|l| l.starts_with('|') && l.ends_with('|')), "{out}");
                    out.lines().count() - 2
                }
            }
        };
        let n = rows("md");
        assert!(n > 0, "{topic}");
        assert_eq!((rows("csv"), rows("json")), (n, n), "{topic}");
    }
}

#[test]
fn wrong_words_are_refused() {
    let (code, out, err) = tables(&["transitions", "--profile", "linus"]);
    assert_eq!((code, out.as_str()), (Some(2), ""));
    assert!(err.contains("did you mean `linux`?"), "{err}");
    let (code, out, err) = tables(&["policies", "--format", "svg"]);
    assert_eq!((code, out.as_str()), (Some(2), ""));
    assert!(err.contains("tables states"), "{err}");
    assert_eq!(tables(&["stats"]).0, Some(2));
}

#[test]
fn the_picture_in_the_documentation_is_the_models() {
    let kept = include_str!("../../docs/qp_states.svg");
    assert!(
        kept == states_svg(&Policy::BOOK),
        "docs/qp_states.svg is out of date: rnic-cosim tables states --format svg > docs/qp_states.svg"
    );
}
