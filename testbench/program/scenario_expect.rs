//! Every kind of expectation is seen to hold and seen to fail.

use rnic_cosim::scenario::{ModelEngine, Trace, parse, run};

const SETUP: &str = r#"
title = "T"

[[cq]]
name = "CQ1"
depth = 4

[[cq]]
name = "CQ2"
depth = 4

[[qp]]
name = "A"
send_cq = "CQ1"
recv_cq = "CQ2"
sq_depth = 4
rq_depth = 4
state = "RTS"
"#;

fn play(steps: &str) -> Trace {
    let text = format!("{SETUP}{steps}");
    let s = parse("t.toml", &text).unwrap_or_else(|e| panic!("{e}"));
    run(&s, &mut ModelEngine::new(s.config, s.policy))
}

/// The action with the expectation holds, with the other one it fails and says so.
fn both(action: &str, right: &str, wrong: &str, says: &str) {
    let with = |e: &str| play(&format!("[[step]]\n{action}\nexpect = {{ {e} }}\n"));
    let trace = with(right);
    assert!(trace.passed(), "{right} should hold: {:?} {:?}", trace.steps, trace.defect);
    let trace = with(wrong);
    assert!(!trace.passed(), "{wrong} should fail");
    let failures: Vec<_> = trace.steps.iter().flat_map(|s| &s.failures).collect();
    assert_eq!(failures.len(), 1, "{failures:?}");
    let f = failures[0];
    assert!(f.what.contains(says), "`{says}` is not in {f:?}");
    assert_ne!(f.expected, f.got);
    assert!(f.line > 0);
}

const POST: &str = r#"post_send = { qp = "A", count = 2 }"#;
const DONE: &str =
    r#"do = [{ post_send = { qp = "A", count = 3 } }, { complete = { qp = "A", count = 2 } }]"#;
const FAIL: &str = r#"do = [{ post_send = { qp = "A", count = 3 } }, { complete = { qp = "A", status = "REM_OP_ERR" } }]"#;

#[test]
fn outcomes() {
    both(POST, r#"outcome = "ok""#, r#"outcome = "bad_state""#, "outcome of operation 1");
    both(POST, r#"outcome = ["ok", "ok"]"#, r#"outcome = ["ok", "queue_full"]"#, "outcomes");
    both(POST, r#"outcome = ["ok", "ok"]"#, r#"outcome = ["ok"]"#, "outcomes");
    // Without a word about it, everything has to be accepted.
    let trace = play("[[step]]\npost_send = { qp = \"A\", count = 5 }\n");
    assert!(!trace.passed());
    let trace =
        play("[[step]]\npost_send = { qp = \"A\", count = 5 }\nexpect = { outcome = \"any\" }\n");
    assert!(trace.passed());
}

#[test]
fn verdicts_of_the_gate() {
    let m = r#"modify = { qp = "A", to = "SQD", attrs = ["AV"] }"#;
    let no = r#"outcome = "modify_refused", "#;
    both(m, &format!("{no}layer = \"mask\""), &format!("{no}layer = \"value\""), "layer");
    both(m, &format!("{no}extra = [\"AV\"]"), &format!("{no}extra = [\"PORT\"]"), "extra");
    both(m, &format!("{no}missing = []"), &format!("{no}missing = [\"AV\"]"), "missing");
    let m = r#"modify = { qp = "A", to = "RTS", values = { min_rnr_timer = 32 } }"#;
    both(
        m,
        &format!("{no}bad_values = [\"MIN_RNR_TIMER\"]"),
        &format!("{no}bad_values = []"),
        "bad value",
    );
    let p = r#"post_send = { qp = "A", opcode = 0x3f }"#;
    both(
        p,
        r#"outcome = "bad_wqe", wqe_errors = ["BAD_OPCODE"]"#,
        r#"outcome = "bad_wqe", wqe_errors = ["BAD_DS"]"#,
        "WQE errors",
    );
}

#[test]
fn states_and_attributes() {
    both(POST, r#"state = "RTS""#, r#"state = "ERR""#, "state of A");
    both(POST, r#"state = { A = "RTS" }"#, r#"state = { A = "none" }"#, "state of A");
    let sqd = r#"do = [{ post_send = { qp = "A" } }, { modify = { qp = "A", to = "SQD" } }]"#;
    both(sqd, r#"drain = "draining""#, r#"drain = "drained""#, "drain of A");
    let reset = r#"modify = { qp = "A", to = "RESET" }"#;
    both(reset, "attr_set = []", r#"attr_set = ["PORT"]"#, "attributes set");
    both(reset, r#"unset = ["PORT"], attr = { port = 0 }"#, r#"attr = { port = 1 }"#, "port of A");
    both(POST, r#"unset = ["QKEY"]"#, r#"unset = ["PORT"]"#, "should be unset");
}

#[test]
fn numbers() {
    both(POST, "sq_queued = 2", "sq_queued = 3", "sq_queued of A");
    both(DONE, "occupancy = { CQ1 = 2 }", "occupancy = { CQ1 = 1 }", "occupancy of CQ1");
    both(DONE, "in_error = { CQ1 = false }", "in_error = { CQ1 = true }", "in_error of CQ1");
    both(DONE, "lost = { CQ2 = 0 }", "lost = { CQ2 = 1 }", "lost of CQ2");
    both(POST, "issued = 2", "issued = 1", "WQEs issued");
    both(POST, "issued = { A = 2 }", "issued = { A = 0 }", "WQEs issued by A");
    let arm = r#"arm = { cq = "CQ1" }"#;
    both(arm, r#"arm = "next""#, r#"arm = "none""#, "arm of CQ1");
}

#[test]
fn entries() {
    both(
        DONE,
        r#"cqes = { CQ1 = [{ index = 0 }, { index = 1 }] }"#,
        r#"cqes = { CQ1 = [{ index = 1 }, { index = 0 }] }"#,
        "CQEs written to CQ1",
    );
    both(DONE, r#"cqes = { CQ2 = [] }"#, r#"cqes = { CQ1 = [] }"#, "CQEs written to CQ1");
    both(FAIL, "counts = { error = 1, flush = 2 }", "counts = { error = 1 }", "CQEs written");
    both(
        FAIL,
        r#"counts = { error = 1, flush = "0..2" }"#,
        r#"counts = { error = 1, flush = "3..9" }"#,
        "CQEs written",
    );
    both(
        FAIL,
        "counts = { CQ1 = { error = 1, flush = 2 } }",
        "counts = { CQ2 = { flush = 2 } }",
        "CQEs written to CQ2",
    );
    both(DONE, "unread = { CQ1 = 2 }", "unread = { CQ1 = 3 }", "software can read");
    both(
        DONE,
        r#"unread = { CQ1 = [{ status = "SUCCESS", times = 2 }] }"#,
        r#"unread = { CQ1 = [{ status = "SUCCESS" }, { status = "WR_FLUSH_ERR" }] }"#,
        "software can read",
    );
    both(
        DONE,
        r#"ring = { CQ1 = [{ phase = 1 }, { phase = 1 }] }"#,
        r#"ring = { CQ1 = [{ phase = 1 }, { phase = 0 }] }"#,
        "memory of the ring",
    );
}

#[test]
fn events() {
    let drain = r#"modify = { qp = "A", to = "SQD", values = { en_sqd_async_notify = 1 } }"#;
    both(drain, r#"events = [{ kinds = ["SQ_DRAINED"], qp = "A" }]"#, r#"events = []"#, "events");
    both(
        drain,
        r#"events = [{ kinds = ["SQ_DRAINED"], qp = "A" }]"#,
        r#"events = [{ kinds = ["SQ_DRAINED"], qp = "A", cq = "CQ1" }]"#,
        "events",
    );
}

#[test]
fn what_cannot_be_done_fails_its_step() {
    let trace = play("[[step]]\ncomplete = { qp = \"A\" }\n");
    let f = &trace.steps[1].failures[0];
    assert!(f.what.contains("WQEs to complete"), "{f:?}");
    let trace = play("[[step]]\nconsume = { cq = \"CQ1\", count = 1 }\n");
    let f = &trace.steps[1].failures[0];
    assert!(f.what.contains("entries to read"), "{f:?}");
}

#[test]
fn a_closed_wire_holds_sends_back() {
    let trace = play(
        r#"
[[step]]
wire = "off"

[[step]]
post_send = { qp = "A", count = 2 }
expect = { issued = 0, sq_queued = 2 }

[[step]]
wire = "on"
expect = { issued = 2 }
"#,
    );
    assert!(trace.passed(), "{:?}", trace.steps);
}

#[test]
fn hardware_reset_empties_everything() {
    let trace = play(
        r#"
[[step]]
reset = true
expect = { state = { A = "none" } }

[[step]]
query = { qp = "A" }
expect = { outcome = "no_qp" }
"#,
    );
    assert!(trace.passed(), "{:?}", trace.steps);
}

/// What is said of a group holds for each member.
#[test]
fn groups() {
    let group = r#"
[[qp]]
name = "Q"
count = 3
send_cq = "CQ1"
recv_cq = "CQ2"
sq_depth = 2
rq_depth = 2
state = "RTS"
"#;
    let play = |expect: &str| {
        let steps = format!(
            "{group}[[step]]\npost_send = {{ qp = \"Q\", count = 2 }}\n\n[[step]]\n\
             complete = {{ qp = \"Q[1..2]\", status = \"REM_OP_ERR\" }}\n\n[[step]]\n\
             complete = {{ qp = \"Q[0]\" }}\nexpect = {{ {expect} }}\n"
        );
        play(&steps)
    };
    for right in [
        r#"state = { Q = "ERR" }"#,
        r#"sq_queued = { "Q[1..2]" = 0, "Q[0]" = 0, A = 0 }"#,
        r#"events = [{ kinds = ["QP_FATAL", "CQ_ERR"], qp = "Q[0]", cq = "CQ1" }]"#,
        r#"events = [{ kinds = ["QP_FATAL", "CQ_ERR"], qp = "Q", cq = "CQ1", times = "1..3" }]"#,
    ] {
        let trace = play(right);
        assert!(trace.passed(), "{right}: {:?}", trace.steps.last().map(|s| &s.failures));
    }
    for (wrong, says) in [
        (r#"state = { Q = "RTS" }"#, "state of Q[0]"),
        (r#"sq_queued = { "Q[2]" = 1 }"#, "sq_queued of Q[2]"),
        (r#"events = [{ kinds = ["QP_FATAL", "CQ_ERR"], qp = "Q", cq = "CQ1" }]"#, "events"),
        (
            r#"events = [{ kinds = ["QP_FATAL", "CQ_ERR"], qp = "Q[1..2]", cq = "CQ1", times = 1 }]"#,
            "events",
        ),
    ] {
        let trace = play(wrong);
        let failures: Vec<_> = trace.steps.iter().flat_map(|s| &s.failures).collect();
        assert!(failures.first().is_some_and(|f| f.what.contains(says)), "{wrong}: {failures:?}");
    }
}
