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

#[test]
fn a_name_is_free_again_behind_destroy_and_reset() {
    let again = "{ create_qp = { name = 'A', transport = 'UC', state = 'RTS' } }";
    let destroyed = listing(&format!(
        "[[step]]\ndo = [{{ destroy = {{ qp = 'A' }} }}, {again}, \
         {{ post_send = {{ qp = 'A' }} }}]\nexpect = {{ state = 'RTS' }}\n"
    ));
    in_order(&destroyed, &["destroy QP A", "create UC QP A", "post SEND on A", "ok: 1 steps"]);
    let reset = listing(&format!(
        "[[step]]\nreset = true\n[[step]]\ndo = [{{ create_cq = {{ name = 'C', depth = 64 }} }}, \
         {again}]\nexpect = {{ state = 'RTS' }}\n"
    ));
    in_order(&reset, &["create CQ C of depth 64", "create UC QP A on C", "ok: 2 steps"]);
    let groups = "[[qp]]\nname = 'G'\ncount = 3\n[[step]]\ndo = [{ destroy = { qp = 'G[0..1]' } }, \
                  { destroy = { qp = 'G[2]' } }, { create_qp = { name = 'G', count = 3 } }]\n\
                  expect = { state = { G = 'RESET' } }\n";
    in_order(&listing(groups), &["destroy QP G ×3", "create RC QP G on C ×3", "ok: 1 steps"]);
    // As long as one member is left, the name is taken; and a refused creation changes no name.
    let left = groups.replace("{ destroy = { qp = 'G[2]' } }, ", "");
    let (code, _, error) = play(&format!("{SETUP}{left}"), &[]);
    assert_eq!(code, 2);
    assert!(error.contains("there already is a QP named `G`"), "{error}");
}

#[test]
fn a_qp_is_told_under_the_name_of_that_moment() {
    let steps = "[[step]]\npost_send = { qp = 'A' }\n\
         [[step]]\ncreate_qp = { name = 'late', number = 1 }\nexpect = { outcome = 'qp_exists' }\n\
         [[step]]\ncomplete = { qp = 'A' }\n\
         [[step]]\ndo = [{ destroy = { qp = 'A' } }, \
         { create_qp = { name = 'A2', number = 1, state = 'RTS' } }]\n\
         [[step]]\npost_send = { qp = 'A2' }\nexpect = { state = 'ERR' }\n";
    let text = listing(steps);
    in_order(
        &text,
        &[
            "post SEND on A →",
            "create RC QP late on C → refused: qp exists",
            "complete A SQ",
            "cqe: C: A SQ #0",
            "destroy QP A →",
            "create RC QP A2 on C",
            "state: A RTS → -",
            "state: A2 - → RESET",
            "post SEND on A2 →",
            "step 5: state of A2",
        ],
    );
    let all = json(steps);
    assert_eq!(all["qps"]["A2"]["state"], "RTS", "{:#}", all["qps"]);
    assert_eq!(all["cqs"]["C"]["written"][0]["qp"], "A");
}

#[test]
fn a_setup_that_fails_says_which_entry_and_which_limit() {
    let cq = |depth: &str| format!("title = 'T'\n[[cq]]\nname = 'C'\ndepth = {depth}\n");
    let qp = |more: &str| format!("{}[[qp]]\nname = 'A'\n{more}\n", cq("8"));
    let step = "[[step]]\nquery = { cq = 'C' }\n[[step]]\nquery = { qp = 1 }\n";
    for (text, line, says) in [
        (cq("0"), 2, "bad_depth: depth 0; configuration default: 1 to 65536\n"),
        (cq("100000"), 2, "bad_depth: depth 100000; configuration default: 1 to 65536\n"),
        (
            qp("sq_depth = 1000"),
            5,
            "bad_ceiling: sq_depth 1000; configuration default: queues of 1 to 64; \
             config = \"deep\" has 1024\n",
        ),
        (
            qp("rq_depth = 0"),
            5,
            "bad_ceiling: rq_depth 0; configuration default: queues of 1 to 64\n",
        ),
        (qp("transport = 3"), 5, "bad_transport: transport 3; RC, UC, UD are 0, 1, 2\n"),
    ] {
        let (code, text, error) = play(&format!("{text}{step}"), &[]);
        assert_eq!(code, 1, "{text}{error}");
        assert!(text.contains(&format!("FAILED <stdin>:{line}: setup: create ")), "{text}");
        assert!(text.contains(says), "`{says}` is not in:\n{text}");
        assert_eq!(text.matches("FAILED").count(), 1, "{text}");
        assert!(text.contains("no step is run") && !text.contains("step 1"), "{text}");
    }
}

#[test]
fn a_query_shows_what_it_returned() {
    let steps = "[[step]]\ndo = [{ post_send = { qp = 'A' } }, { complete = { qp = 'A' } }, \
                 { query = { qp = 'A' } }, { query = { cq = 'C' } }]\n";
    let text = listing(steps);
    for part in [
        "query QP A → ok: RTS, drain none, sq_queued 0, rq_queued 0,",
        "send_epoch 0, recv_epoch 0, stale 0; attributes access_flags 7, pkey_index 0, port 1,",
        "dest_qpn 17",
        "query CQ C → ok: depth 8, occupancy 1, lost 0, producer 1, consumer 0,",
        "arm none",
    ] {
        assert!(text.contains(part), "`{part}` is not in:\n{text}");
    }
    assert!(!text.contains("qkey"), "an attribute that is not set is shown:\n{text}");
    let all = json(steps);
    let ops = &all["steps"][1]["operations"];
    let (qp, cq) = (&ops[2]["qp"], &ops[3]["cq"]);
    assert_eq!((&qp["state"], &qp["sq_head"]), (&"RTS".into(), &1.into()), "{qp:#}");
    assert_eq!((&qp["attributes"]["port"], &qp["send_cq"]), (&1.into(), &"C".into()), "{qp:#}");
    assert_eq!((&cq["occupancy"], &cq["in_error"]), (&1.into(), &false.into()), "{cq:#}");
    assert_eq!((&cq["depth"], &cq["arm"]), (&8.into(), &"none".into()), "{cq:#}");
}

#[test]
fn a_failed_outcome_says_which_operation_on_which_qp() {
    let group = "[[qp]]\nname = 'G'\ncount = 3\n[[step]]\npost_send = { qp = 'G' }\n";
    let text = listing(group);
    let says = "outcome of operation 1 of 3, post SEND on G[0], and of 2 more";
    assert!(text.contains(says), "{text}");
    let text = listing(&format!("{group}expect = {{ outcome = ['ok', 'ok'] }}\n"));
    assert!(text.contains("outcomes: 2 outcomes given for 3 operations"), "{text}");
    let list = "expect = { outcome = ['bad_state', 'ok', 'bad_state'] }\n";
    let text = listing(&format!("{group}{list}"));
    assert!(text.contains("the first wrong one of operation 2, post SEND on G[1]"), "{text}");
}

#[test]
fn what_is_expected_is_told_in_words_that_can_be_written() {
    let expect = "expect = { drain = 'draining', arm = 'next', state = 'none' }\n";
    let text = listing(&format!("[[step]]\ndo = [{{ query = {{ qp = 'A' }} }}]\n{expect}"));
    in_order(&text, &["drain of A\n  expected: draining\n  got:      none\n"]);
    in_order(&text, &["arm of C\n  expected: next\n  got:      none\n"]);
    in_order(&text, &["state of A\n  expected: none\n  got:      RTS\n"]);
}

#[test]
fn a_post_shows_what_is_not_as_usual() {
    let text = listing(
        "[[step]]\ndo = [{ post_send = { qp = 'A', inline = true, length = 20, solicited = true } }, \
         { post_send = { qp = 'A', opcode = 'SEND_IMM', imm = 0x2a, segments = 3 } }, \
         { post_send = { qp = 'A', opcode = 'ATOMIC_CS', fence = true, signaled = false } }, \
         { reg_key = { lkey = 0x101, base = 0x1000, length = 4096 } }, \
         { post_wqe = { qp = 'A', opcode = 'SEND_IMM', imm = 7, sge = [\
         { addr = 0x1000, length = 16, lkey = 0x101 }, { addr = 0x1fff, length = 2, lkey = 0x101 }, \
         { addr = 0x1000, length = 1, lkey = 0x102 }] } }]\nexpect = { outcome = 'any' }\n",
    );
    in_order(
        &text,
        &[
            "post solicited SEND on A, inline, 20 bytes →",
            "post SEND_IMM on A, 3 segments, imm 0x2a →",
            "post fenced unsignaled ATOMIC_CS on A →",
            "post SEND_IMM on A, 19 bytes, imm 0x7, in block 0 of its ring →",
            "the WQE's unit 2: lkey 0x101 does not resolve for 2 bytes at 0x1fff",
            "the WQE's unit 3: lkey 0x102 does not resolve for 1 bytes at 0x1000",
        ],
    );
}

#[test]
fn what_of_a_wqe_has_no_effect_is_said() {
    let text = listing(
        "[[step]]\ndo = [{ post_wqe = { qp = 'A', imm = 5, inline = 4 } }, \
         { post_wqe = { qp = 'A', opcode = 'RDMA_WRITE', inline = 4 } }, \
         { post_wqe = { qp = 'A', block = 20, inline = 4 } }, \
         { modify = { qp = 'A', to = 'SQD', attrs = 'required', omit = ['AV'] } }]\n\
         expect = { outcome = 'any' }\n",
    );
    in_order(
        &text,
        &[
            "imm 0x5 has no effect because SEND carries none",
            "RDMA_WRITE without `remote`: its address and rkey are 0",
            "block 20 of a ring of 16 blocks is its block 4",
            "omit AV has no effect because the transition does not require it",
        ],
    );
}

#[test]
fn opcodes_have_their_names_of_verbs_too() {
    use rnic_cosim::model::OpClass;
    for class in OpClass::ALL {
        for prefix in ["", "IBV_WR_", "ibv_wr_"] {
            let opcode = format!("{prefix}{}", class.name());
            let remote = if class.is_send() { "" } else { ", remote = { addr = 0, rkey = 0 }" };
            let text = listing(&format!(
                "[[step]]\ndo = [{{ post_send = {{ qp = 'A', opcode = '{opcode}' }} }}, \
                 {{ post_wqe = {{ qp = 'A', opcode = '{opcode}'{remote} }} }}]\n\
                 expect = {{ outcome = 'any' }}\n"
            ));
            assert_eq!(text.matches("  post ").count(), 2, "{opcode}: {text}");
            assert!(!text.contains("post opcode"), "{opcode}: {text}");
        }
    }
    let steps = "[[step]]\ndo = [{ post_send = { qp = 'A' } }, \
                 { complete = { qp = 'A', status = 'IBV_WC_REM_ACCESS_ERR' } }]\n\
                 expect = { state = 'IBV_QPS_ERR', attr_set = ['IBV_QP_PORT'], outcome = 'any' }\n";
    in_order(&listing(steps), &["REM_ACCESS_ERR", "attributes set on A\n  expected: PORT\n"]);
}

#[test]
fn every_number_may_be_a_range() {
    let expect = |e: &str| {
        listing(&format!(
            "[[step]]\ndo = [{{ post_send = {{ qp = 'A', count = 3 }} }}, \
             {{ complete = {{ qp = 'A' }} }}]\nexpect = {{ {e} }}\n"
        ))
    };
    for (name, right, wrong) in [
        ("sq_queued", "0..2", "3..9"),
        ("lost", "0..3", "1..3"),
        ("unread", "1..2", "2..8"),
        ("issued", "1..3", "4..4"),
    ] {
        let text = expect(&format!("{name} = '{right}'"));
        assert!(text.contains("ok: 1 steps"), "{text}");
        let text = expect(&format!("{name} = '{wrong}'"));
        let wrong = if wrong == "4..4" { "4" } else { wrong };
        assert!(text.contains(&format!("expected: {wrong}\n")), "{text}");
    }
    let text = expect("attr = { timeout = '1..31', port = '2..3' }");
    assert!(text.contains("port of A\n  expected: 2..3\n  got:      1\n"), "{text}");
    let text = format!("{SETUP}[[step]]\nexpect = {{ lost = '0..5000000000' }}\n");
    let (code, _, error) = play(&text, &[]);
    assert_eq!(code, 2);
    assert!(error.contains("`lost` is out of range: 0..5000000000"), "{error}");
}

/// Reading a file takes a time in proportion to its length.
#[test]
fn a_long_file_is_read_in_one_pass() {
    use std::time::{Duration, Instant};
    let time = |steps: usize| {
        let step = "[[step]]\npost_recv = { qp = 'A' }\nexpect = { outcome = 'any' , lost = 0 }\n";
        let text = format!("{SETUP}{}", step.repeat(steps));
        let parse = || {
            let start = Instant::now();
            rnic_cosim::scenario::parse("long.toml", &text).expect("good");
            start.elapsed()
        };
        parse().min(parse())
    };
    let (short, long) = (time(1000), time(8000));
    assert!(long < short * 24 + Duration::from_millis(100), "8 times as long: {short:?} {long:?}");
}
