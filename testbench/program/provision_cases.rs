//! Public reports of completion queues that were too small: the numbers are theirs.

use assert_cmd::Command;
use proptest::prelude::*;
use rnic_cosim::model::Transport;
use rnic_cosim::provision::{Cq, Device, Plan, Qp, check, print, read, simulate};
use serde_json::Value;
use toml::{Table, Value as Toml};

fn case(id: &str) -> Table {
    let file: Table = include_str!("../data/provision_cases.toml").parse().expect("test data");
    let cases = file["case"].as_array().expect("cases");
    let case = cases.iter().find(|c| c["id"].as_str() == Some(id)).expect("a known case");
    case.as_table().expect("a table").clone()
}

fn number(v: &Toml) -> u64 {
    v.as_integer().and_then(|n| u64::try_from(n).ok()).expect("a number")
}

/// The plan by the library and by the program, which must agree.
fn provision(text: &str, args: &[&str]) -> Value {
    let plan = read("plan.toml", text).unwrap_or_else(|e| panic!("{e}"));
    let simulation =
        args.contains(&"--simulate").then(|| simulate(&plan).unwrap_or_else(|e| panic!("{e}")));
    let by_library = print::json(&check(&plan), simulation.as_ref());
    let out = Command::cargo_bin("rnic-cosim")
        .expect("built")
        .args(["provision", "-", "--json"])
        .args(args)
        .write_stdin(text)
        .output()
        .expect("runs");
    let by_program: Value = serde_json::from_slice(&out.stdout)
        .unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(&out.stderr)));
    assert_eq!(by_library, by_program);
    assert_eq!(out.status.code(), Some(if by_program["ok"] == true { 0 } else { 1 }));
    by_program
}

/// The CQs and QPs of a case as a plan.
fn plan_of(case: &Table) -> String {
    let mut t = Table::new();
    t.insert("cq".into(), case["input"]["cqs"].clone());
    t.insert("qp".into(), case["input"]["qps"].clone());
    toml::to_string(&t).expect("writes")
}

fn assert_checks(report: &Value, expected: &Toml) {
    let expected = expected.as_array().expect("checks");
    let checks = report["checks"].as_array().expect("checks");
    assert_eq!(checks.len(), expected.len());
    for (got, want) in checks.iter().zip(expected) {
        assert_eq!(got["cq"].as_str(), want["cq"].as_str());
        assert_eq!(got["need"], number(&want["need"]), "{got}");
        assert_eq!(got["usable"], number(&want["usable"]), "{got}");
        assert_eq!(got["ok"].as_bool(), want["ok"].as_bool(), "{got}");
    }
}

fn assert_says(report: &Value, sentence: &str) {
    let say = report["say"].as_array().expect("sentences");
    assert!(
        say.iter().any(|s| s.as_str().is_some_and(|s| s.contains(sentence))),
        "nobody says `{sentence}`: {say:#?}"
    );
}

#[test]
fn c_02_unsignaled_requests_count_and_the_flush_shows_it() {
    let case = case("C-02");
    let report = provision(&plan_of(&case), &["--simulate"]);
    assert_checks(&report, &case["expect"]["check"]);
    let want = &case["expect"]["flush"];
    let sim = &report["simulation"];
    assert_eq!(sim["cqs"][0]["cqes_wanted"], number(&want["cqes_wanted"]));
    assert_eq!(sim["cqs"][0]["cqes_written"], number(&want["cqes_written"]));
    assert_eq!(sim["cqs"][0]["overflow_at"], number(&want["overflow_at"]));
    assert_eq!(sim["cqs"][1]["overflow_at"], Value::Null);
    // The report calls the state ERROR and the event "CQ error + affiliated QP error".
    assert_eq!(sim["qps_in_error"], 1);
    assert_eq!((&sim["cq_errors"], &sim["qp_fatals"]), (&1.into(), &1.into()));
}

#[test]
fn c_02_says_what_counting_signaled_requests_would_have_said() {
    let text = "[[cq]]\nid = 'send'\ndepth = 72\n[[qp]]\nid = 'qp1'\nsq_wr = 88\nsignaled = 72\n";
    assert_says(
        &provision(text, &[]),
        "counting signaled work requests only (72) it would have looked right",
    );
}

#[test]
fn c_06_three_completions_per_request() {
    let case = case("C-06");
    let (input, expect) = (&case["input"], &case["expect"]);
    for (depth, ok) in [("old_depth", "old_ok"), ("new_depth", "new_ok")] {
        let text = format!(
            "[[cq]]\nid = 'cq'\ndepth = {}\n[[qp]]\nid = 'qp'\ncount = {}\nsq_wr = {}\ncompletions_per_request = {}\n",
            number(&expect[depth]),
            number(&input["nqps"]),
            number(&input["max_requests"]),
            number(&input["completions_per_request"]),
        );
        let report = provision(&text, &[]);
        assert_eq!(report["checks"][0]["need"], number(&expect["need"]));
        assert_eq!(report["checks"][0]["ok"].as_bool(), expect[ok].as_bool(), "{depth}");
    }
}

#[test]
fn c_07_a_clamped_depth_is_judged_as_clamped() {
    let case = case("C-07");
    let (input, expect) = (&case["input"], &case["expect"]);
    for result in expect["results"].as_array().expect("results") {
        let (n, per_qp) = (number(&result["nqps"]), number(&input["per_qp"]));
        let text = format!(
            "[device]\nmax_cqe = {}\n[[cq]]\nid = 'cq'\ndepth = {}\n[[qp]]\nid = 'qp'\ncount = {n}\nsq_wr = {per_qp}\n",
            number(&input["device"]["max_cqe"]),
            n * per_qp,
        );
        let report = provision(&text, &[]);
        let got = &report["checks"][0];
        assert_eq!(got["need"], number(&result["need"]));
        assert_eq!(got["usable"], number(&result["depth"]));
        assert_eq!(got["ok"].as_bool(), result["ok"].as_bool(), "{n} QPs");
        if got["ok"] == false {
            assert_eq!(report["max_safe_qps"], number(&expect["max_safe_nqps"]));
            assert_eq!(report["cqs_needed"], 2);
            assert_says(&report, expect["say"][0].as_str().expect("a sentence"));
        }
        // And by flags alone.
        let (n, depth, per_qp) = (n.to_string(), (n * per_qp).to_string(), per_qp.to_string());
        let args =
            ["provision", "--depth", &depth, "--max-cqe", "65435", "--qps", &n, "--sq", &per_qp];
        let code = if got["ok"] == true { 0 } else { 1 };
        Command::cargo_bin("rnic-cosim").expect("built").args(args).assert().code(code);
    }
}

#[test]
fn c_09_a_reserved_entry_is_not_usable() {
    let case = case("C-09");
    let requests = case["input"]["requests"].as_array().expect("requests");
    let results = case["expect"]["results"].as_array().expect("results");
    assert_eq!(requests.len(), results.len());
    for (request, result) in requests.iter().zip(results) {
        let asked = number(&request["asked"]);
        let text = format!(
            "[[cq]]\nid = 'cq'\ndepth = {asked}\ngranted = {}\nreserved = {}\n[[qp]]\nid = 'qp'\nsq_wr = {asked}\n",
            number(&request["hw"]),
            number(&request["reserved"]),
        );
        let report = provision(&text, &[]);
        assert_eq!(report["checks"][0]["usable"], number(&result["usable"]));
        assert_eq!(report["checks"][0]["ok"].as_bool(), result["ok"].as_bool(), "{asked}");
        if report["ok"] == false {
            assert_says(&report, "against the whole ring (64) it would have looked right");
        }
    }
    let gen3 = &case["input"]["gen3"];
    let text = format!(
        "[device]\nadds = {}\nnever_exactly = {}\n[[cq]]\nid = 'cq'\ndepth = {}\n[[qp]]\nid = 'qp'\nsq_wr = 63\n",
        number(&gen3["plus"]),
        number(&gen3["page_entries"]),
        number(&gen3["asked"]),
    );
    let granted = provision(&text, &[])["checks"][0]["granted"].as_u64().expect("a number");
    assert_ne!(granted, number(&case["expect"]["gen3"]["hw_must_not_equal"]));
    assert_eq!(granted, 65);
}

#[test]
fn c_12_one_cq_for_both_queues_is_deep_enough_but_promises_no_order() {
    let case = case("C-12");
    let report = provision(&plan_of(&case), &[]);
    assert_eq!(report["ok"].as_bool(), case["expect"]["provisioned"].as_bool());
    assert_eq!(report["checks"][0]["need"], 196);
    for sentence in case["expect"]["say"].as_array().expect("sentences") {
        assert_says(&report, sentence.as_str().expect("a sentence"));
    }
}

#[test]
fn c_13_an_srq_bounds_the_receive_side() {
    let case = case("C-13");
    let (input, expect) = (&case["input"], &case["expect"]);
    let count = number(&input["max_endpoints"]);
    let cq = format!("[[cq]]\nid = 'rx'\ndepth = {}\n", number(&input["cq_depth_old"]));
    let without =
        format!("{cq}[[qp]]\nid = 'ep'\ncount = {count}\nrq_wr = {}\n", number(&input["rx_wr"]));
    let report = provision(&without, &[]);
    assert_eq!(report["checks"][0]["need"], number(&expect["need"]));
    assert_eq!(report["ok"].as_bool(), expect["old_ok"].as_bool());
    let with = format!(
        "{cq}[[srq]]\nid = 'shared'\nwr = 4096\n[[qp]]\nid = 'ep'\ncount = {count}\nsrq = 'shared'\n"
    );
    let report = provision(&with, &[]);
    assert_eq!(report["checks"][0]["need"], 4096);
    assert_eq!(report["ok"], true);
    assert_says(&report, "bounds the receive side instead of the sum");
}

#[test]
fn c_15_fitting_by_rounding_is_luck() {
    let case = case("C-15");
    let (input, expect) = (&case["input"], &case["expect"]);
    let text = format!(
        "[[cq]]\nid = 'cq'\ndepth = {}\ngranted = {}\n[[qp]]\nid = 'qp'\nsq_wr = {}\n",
        number(&input["asked"]),
        number(&input["granted"]),
        number(&input["in_flight"]),
    );
    let report = provision(&text, &[]);
    let got = &report["checks"][0];
    assert_eq!(got["ok"].as_bool(), expect["provisioned_by_granted"].as_bool());
    assert_eq!(got["ok_by_asked"].as_bool(), expect["provisioned_by_asked"].as_bool());
    assert_says(&report, expect["say"][0].as_str().expect("a sentence"));
}

#[test]
fn c_17_without_resize_the_plan_must_be_right_at_creation() {
    let case = case("C-17");
    let report = provision(&plan_of(&case), &[]);
    assert_checks(&report, &case["expect"]["check"]);
    assert_eq!(report["max_safe_qps"], number(&case["expect"]["largest_count"]));
    assert_says(&report, "cannot be resized");
}

#[test]
fn d_09_a_drain_needs_one_more_in_each_queue() {
    let case = case("D-09");
    let report = provision(&plan_of(&case), &["--simulate"]);
    assert_checks(&report, &case["expect"]["check"]);
    assert_says(&report, "without the drain work requests (64) it would have looked right");
    for cq in report["simulation"]["cqs"].as_array().expect("CQs") {
        assert_eq!((&cq["cqes_wanted"], &cq["overflow_at"]), (&65.into(), &65.into()));
    }
}

#[test]
fn bad_plans_are_pointed_at() {
    let refuses = |text: &str, fragments: &[&str]| {
        let out = Command::cargo_bin("rnic-cosim")
            .expect("built")
            .args(["provision", "-"])
            .write_stdin(text)
            .output()
            .expect("runs");
        let err = String::from_utf8(out.stderr).expect("UTF-8");
        assert_eq!(out.status.code(), Some(2), "{text}: {err}");
        assert!(out.stdout.is_empty(), "{text}");
        for f in fragments {
            assert!(err.contains(f), "`{f}` is not in: {err}");
        }
    };
    let two = "[[cq]]\nid = 'send'\ndepth = 4\n[[cq]]\nid = 'recv'\ndepth = 4\n";
    refuses("", &["cq"]);
    refuses("[[cq]]\nid = 'a'\n", &["standard input:1:1", "depth"]);
    refuses("[[cq]]\nid = 'a'\ndepth = 0\n", &["standard input:3:9", "depth", "from 1 to"]);
    refuses("[[cq]]\nid = 'a'\ndepht = 4\n", &["standard input:3:1", "did you mean `depth`?"]);
    refuses(
        "[[cq]]\nid = 'a'\ndepth = 4\n[[cq]]\nid = 'a'\ndepth = 4\n",
        &["standard input:5:6", "twice"],
    );
    refuses("[[cq]]\nid = 'a'\ndepth = 4\n", &["qp"]);
    refuses(
        &format!("{two}[[qp]]\nid = 'q'\nsend_cq = 'sent'\nsq_wr = 1\n"),
        &["standard input:9:11", "did you mean `send`?"],
    );
    refuses(&format!("{two}[[qp]]\nid = 'q'\nsq_wr = 1\n"), &["standard input:7:1", "send_cq"]);
    refuses(&format!("{two}[[qp]]\nid = 'q'\n"), &["no work requests"]);
    refuses(
        &format!("{two}[[qp]]\nid = 'q'\nsend_cq = 'send'\nsq_wr = 2\nsignaled = 3\n"),
        &["standard input:11:12", "signaled"],
    );
    refuses(
        "[device]\nmax_cqe = 4\n[[cq]]\nid = 'a'\ndepth = 4\ngranted = 5\n",
        &["standard input:6:11", "at most 4"],
    );
}

#[test]
fn several_kinds_of_qps_are_packed_into_cqs() {
    let text = "[[cq]]\nid = 'cq'\ndepth = 10\n[[qp]]\nid = 'big'\ncount = 3\nsq_wr = 6\n[[qp]]\nid = 'small'\ncount = 5\nsq_wr = 4\n";
    let report = provision(text, &[]);
    // 3 × 6 + 5 × 4 = 38: three rings of 6 + 4, one of 4 + 4.
    assert_eq!(report["checks"][0]["need"], 38);
    assert_eq!(report["checks"][0]["cqs_needed"], 4);
    assert_eq!(report["checks"][0]["max_qps"], 1, "two big ones do not fit");
    let alone = "[[cq]]\nid = 'cq'\ndepth = 5\n[[qp]]\nid = 'q'\nsq_wr = 3\nrq_wr = 3\n";
    let report = provision(alone, &[]);
    assert_eq!(report["cqs_needed"], Value::Null);
    assert_says(&report, "give send and receive queue a CQ each");
}

#[test]
fn an_srq_is_not_simulated_and_this_is_said() {
    let text =
        "[[cq]]\nid = 'rx'\ndepth = 8\n[[srq]]\nid = 's'\nwr = 4\n[[qp]]\nid = 'q'\nsrq = 's'\n";
    let plan = read("plan.toml", text).unwrap_or_else(|e| panic!("{e}"));
    assert!(
        simulate(&plan).expect_err("not modelled").to_string().contains("shared receive queues")
    );
}

/// Made so on purpose: <https://github.com/deepseek-ai/DeepEP/issues/180>.
#[test]
fn a_cq_that_ignores_overruns_loses_entries_and_nobody_fails() {
    let plan = "cq = [{ id = \"a\", depth = 4, ignore_overrun = true }]\n[[qp]]\nid = \"q\"\ntransport = \"XRC_INI\"\nsq_wr = 10\n";
    let report = provision(plan, &["--simulate"]);
    assert_eq!(report["ok"], false);
    assert_says(&report, "6 too few; with ignore_overrun that is no CQ error");
    assert_eq!(report["simulation"]["cq_errors"], 0);
    assert_eq!(report["simulation"]["cqs"][0]["cqes_written"], 10);
}

/// The plan that docs/provision.md shows, with the first command of that page.
#[test]
fn the_plan_of_the_documentation_can_be_simulated() {
    let page = std::fs::read_to_string("docs/provision.md").expect("the page is there");
    let plan = page.split("```toml\n").nth(1).and_then(|p| p.split("```").next()).expect("a plan");
    let report = provision(plan, &["--simulate"]);
    assert_says(&report, "with ignore_overrun that is no CQ error");
    assert_eq!(report["simulation"]["cq_errors"], 0);
}

fn plans() -> impl Strategy<Value = Plan> {
    let qp = (1u64..3, 0usize..2, 0usize..2, 0u64..5, 0u64..5, any::<bool>(), 0u8..3);
    (proptest::collection::vec(qp, 1..4), 1u64..24, 1u64..24).prop_map(|(qps, a, b)| Plan {
        device: Device::default(),
        cqs: [a, b]
            .iter()
            .enumerate()
            .map(|(i, n)| Cq {
                id: format!("cq{i}"),
                asked: *n,
                granted: None,
                reserved: 0,
                resizable: true,
                ignore_overrun: false,
            })
            .collect(),
        qps: qps
            .into_iter()
            .enumerate()
            .map(|(i, (count, send_cq, recv_cq, sq_wr, rq_wr, drain, t))| Qp {
                id: format!("qp{i}"),
                count,
                transport: Transport::from_number(t).expect("three transports"),
                send_cq,
                recv_cq,
                sq_wr,
                rq_wr,
                srq: None,
                drain,
                completions_per_request: 1,
                signaled: None,
            })
            .collect(),
        srqs: Vec::new(),
    })
}

proptest! {
    /// The count and the machine agree: the flush wants exactly `need` completions, and the CQ
    /// overflows exactly where the count says that it is too small, at the first one too many.
    #[test]
    fn the_count_is_what_the_machine_does(plan in plans()) {
        let report = check(&plan);
        let sim = simulate(&plan).expect("small enough");
        for (c, s) in report.checks.iter().zip(&sim.cqs) {
            prop_assert_eq!(c.need, s.cqes_wanted);
            prop_assert_eq!(s.overflow_at, (!c.ok).then_some(c.usable + 1));
            prop_assert_eq!(s.cqes_written, c.need.min(c.usable));
        }
    }
}

/// Where a configuration of the hardware is large enough, RTL and model run the plan in lockstep.
#[cfg(feature = "rtl")]
#[test]
fn the_worst_case_runs_on_the_rtl_where_it_fits() {
    use rnic_cosim::hw::HwConfig;
    use rnic_cosim::provision::RanOn;

    if !HwConfig::Default.is_built() {
        eprintln!("configuration default was left out by RNIC_CONFIGS");
        return;
    }
    let plan = |depth: u64, sq: u64| Plan {
        cqs: vec![Cq {
            id: "cq".into(),
            asked: depth,
            granted: None,
            reserved: 0,
            resizable: true,
            ignore_overrun: false,
        }],
        qps: vec![Qp {
            id: "qp".into(),
            count: 6,
            transport: rnic_cosim::model::Transport::Uc,
            send_cq: 0,
            recv_cq: 0,
            sq_wr: sq,
            rq_wr: 5,
            srq: None,
            drain: true,
            completions_per_request: 1,
            signaled: None,
        }],
        ..Plan::default()
    };
    // Each QP: 9 + 1 sends, 5 + 1 receives.
    for (depth, overflow) in [(96, false), (95, true)] {
        let sim = simulate(&plan(depth, 9)).expect("small enough");
        assert_eq!(sim.ran_on, RanOn::Lockstep { config: "default" });
        let cq = &sim.cqs[0];
        assert_eq!((cq.cqes_wanted, cq.cqes_written), (96, depth));
        assert_eq!(cq.overflow_at, overflow.then_some(96));
        assert_eq!((sim.qps_in_error, sim.cq_errors), (6, u64::from(overflow)));
    }
    let sim = simulate(&plan(30_000, 4000)).expect("the model takes it");
    assert!(
        matches!(&sim.ran_on, RanOn::Model { why } if why.contains("4001 sends and 6 receives")),
        "{sim:?}"
    );
}
