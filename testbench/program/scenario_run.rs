//! The `run` command: exit codes, messages, and files that are whole or not there.

use std::fs;

use assert_cmd::Command;
use tempfile::TempDir;

const GOOD: &str = "scenarios/qp_state_machine.toml";

fn run(args: &[&str]) -> assert_cmd::assert::Assert {
    Command::cargo_bin("rnic-cosim")
        .expect("the binary is built")
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .arg("run")
        .args(args)
        .assert()
}

fn stdout(a: &assert_cmd::assert::Assert) -> String {
    String::from_utf8(a.get_output().stdout.clone()).expect("UTF-8")
}

fn stderr(a: &assert_cmd::assert::Assert) -> String {
    String::from_utf8(a.get_output().stderr.clone()).expect("UTF-8")
}

#[test]
fn a_passing_scenario_ends_with_0_and_can_be_followed() {
    let text = stdout(&run(&[GOOD, "--engine", "model"]).code(0));
    for part in ["step 4:", "missing RETRY_CNT", "state: A RTS → ERR", "event: SQ_DRAINED: A"] {
        assert!(text.contains(part), "`{part}` is not in:\n{text}");
    }
}

#[test]
fn a_failing_scenario_ends_with_1_and_says_where() {
    let dir = TempDir::new().expect("a folder");
    let file = dir.path().join("f.toml");
    let text = fs::read_to_string(GOOD)
        .expect("there")
        .replace("missing = [\"RETRY_CNT\"]", "missing = [\"AV\"]");
    fs::write(&file, text).expect("written");
    let a = run(&[file.to_str().expect("UTF-8"), "--engine", "model"]).code(1);
    let text = stdout(&a);
    assert!(text.contains("step 4: missing attributes"), "{text}");
    assert!(text.contains("expected: AV") && text.contains("got:      RETRY_CNT"), "{text}");
}

#[test]
fn the_command_line_overrules_the_file() {
    let file = "scenarios/cq_overflow_keep_unread_sticky.toml";
    let a = run(&[file, "--engine", "model", "--policy", "cq_full=overwrite"]).code(1);
    assert!(
        stdout(&a).contains("memory")
            || stdout(&a).contains("unread")
            || stdout(&a).contains("read from CQ1")
    );
    run(&[GOOD, "--engine", "model", "--profile", "linux"]).code(1);
}

/// The profile changes underneath; what the file says of single policies stands. And what is in
/// force is said.
#[test]
fn single_policies_of_a_file_stand_and_are_told() {
    let dir = TempDir::new().expect("a folder");
    let file = dir.path().join("s.toml");
    let text = "title = \"x\"\nprofile = \"book\"\npolicy = { cur_state = \"match\", link_layer = \"infiniband\", max_inline = 64 }\ncq = [{ name = \"C\", depth = 4 }]\n[[step]]\nquery = { cq = \"C\" }\n";
    fs::write(&file, text).expect("written");
    let path = file.to_str().expect("UTF-8");
    let a = run(&[path, "--engine", "model", "--profile", "linux", "--policy", "cq_scope=cascade"]);
    let said = stdout(&a.code(0));
    let head = "profile linux with cur_state=match, cq_scope=cascade, max_inline=64";
    assert!(said.contains(head), "{said}");
    let a = run(&[path, "--engine", "model", "--profile", "linux", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&stdout(&a.code(0))).expect("JSON");
    let policy = &json[0]["policy"];
    assert_eq!(
        (&policy["cur_state"], &policy["link_layer"], &policy["max_inline"], &policy["cq_scope"]),
        (&"match".into(), &"infiniband".into(), &64.into(), &"sticky".into())
    );
}

#[test]
fn bad_input_ends_with_2_and_one_message() {
    let dir = TempDir::new().expect("a folder");
    let bad = dir.path().join("bad.toml");
    fs::write(&bad, "title = \"x\"\n[[cq]]\nname = \"a\"\ndept = 3\n").expect("written");
    let latin = dir.path().join("latin.toml");
    fs::write(&latin, b"title = \"caf\xe9\"\n").expect("written");
    let path = |p: &std::path::Path| p.to_str().expect("UTF-8").to_owned();
    let cases: &[(&[&str], &str)] = &[
        (&[&path(&bad), "--engine", "model"], "bad.toml:4:1"),
        (&[&path(&latin), "--engine", "model"], "latin.toml:1: this is not UTF-8"),
        (&["no/such.toml", "--engine", "model"], "cannot read no/such.toml"),
        (&[GOOD, "--engine", "model", "--profile", "boook"], "did you mean `book`?"),
        (&[GOOD, "--engine", "model", "--policy", "sqd"], "expected NAME=VALUE"),
        (&[GOOD, "--engine", "model", "--policy", "sdq=x"], "did you mean `sqd`?"),
        (&[GOOD, "--engine", "model", "--policy", "sqd=drain"], "drain_posted, hold_unstarted"),
        (&[GOOD, "--engine", "model", "--waves", "w.fst"], "no waveforms"),
        (&[GOOD, GOOD, "--engine", "model", "--svg", "x.svg"], "one scenario at a time"),
        (&[GOOD, GOOD, "--engine", "model", "--report-dir", "x"], "overwrite each other"),
    ];
    for (args, says) in cases {
        let a = run(args).code(2);
        let text = stderr(&a);
        assert!(text.contains(says), "`{says}` is not in:\n{text}");
        assert_eq!(text.matches("error: ").count(), 1, "more than one message:\n{text}");
        assert!(stdout(&a).is_empty());
    }
    assert!(!std::path::Path::new("w.fst").exists());
}

#[test]
fn a_bad_file_stops_before_anything_is_written() {
    let dir = TempDir::new().expect("a folder");
    let bad = dir.path().join("bad.toml");
    fs::write(&bad, "title = 3").expect("written");
    let out = dir.path().join("out");
    run(&[
        GOOD,
        bad.to_str().expect("UTF-8"),
        "--engine",
        "model",
        "--report-dir",
        out.to_str().expect("UTF-8"),
    ])
    .code(2);
    assert!(!out.exists());
}

#[test]
fn standard_input() {
    let text = fs::read_to_string(GOOD).expect("there");
    Command::cargo_bin("rnic-cosim")
        .expect("built")
        .args(["run", "-", "--engine", "model"])
        .write_stdin(text)
        .assert()
        .code(0);
    let a = Command::cargo_bin("rnic-cosim")
        .expect("built")
        .args(["run", "-", "--engine", "model"])
        .write_stdin("title = 1")
        .assert()
        .code(2);
    assert!(stderr(&a).contains("<stdin>:1:9"), "{}", stderr(&a));
}

#[test]
fn reports_are_whole_and_need_nothing_else() {
    let dir = TempDir::new().expect("a folder");
    let (page, picture) = (dir.path().join("r.html"), dir.path().join("r.svg"));
    run(&[
        "scenarios/cq_overflow_overwrite_cascade.toml",
        "--engine",
        "model",
        "--report",
        page.to_str().expect("UTF-8"),
        "--svg",
        picture.to_str().expect("UTF-8"),
    ])
    .code(0);
    let html = fs::read_to_string(&page).expect("written");
    assert!(html.starts_with("<!DOCTYPE html>") && html.ends_with("</html>"));
    for outside in ["http://", "https://", "src=", "@import", "url("] {
        assert!(!html.contains(outside), "the page refers to {outside}");
    }
    for part in ["C9-218", "prefers-color-scheme: dark", "s-ERR", "e-flush", "data-act=\"next\""] {
        assert!(html.contains(part), "`{part}` is not in the page");
    }
    let svg = fs::read_to_string(&picture).expect("written");
    assert!(svg.contains("<svg") && svg.trim_end().ends_with("</svg>"));
    let left: Vec<_> = fs::read_dir(dir.path()).expect("readable").collect();
    assert_eq!(left.len(), 2, "something else was left behind: {left:?}");
}

#[test]
fn a_report_that_cannot_be_written_leaves_nothing() {
    let dir = TempDir::new().expect("a folder");
    let a =
        run(&[GOOD, "--engine", "model", "--report", dir.path().to_str().expect("UTF-8")]).code(2);
    assert!(stderr(&a).contains("cannot write"), "{}", stderr(&a));
    assert_eq!(fs::read_dir(dir.path()).expect("readable").count(), 0);
}

#[test]
fn json_holds_verdict_steps_states_and_entries() {
    let file = "scenarios/cq_overflow_keep_unread_sticky.toml";
    let text = stdout(&run(&[file, "--engine", "model", "--json"]).code(0));
    let all: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let one = &all[0];
    assert_eq!(one["verdict"], "pass");
    assert_eq!(one["qps"]["C"]["state"], "ERR");
    assert_eq!(one["cqs"]["CQ1"]["lost"], 5);
    assert_eq!(one["cqs"]["CQ1"]["written"].as_array().map(Vec::len), Some(8));
    assert_eq!(one["events"][0]["qp"], "C");
    assert_eq!(one["steps"][5]["operations"][0]["outcome"], "ok");
    assert_eq!(one["steps"][5]["state_changes"][0]["to"], "ERR");
}

#[cfg(feature = "rtl")]
#[test]
fn waveforms_are_whole() {
    let dir = TempDir::new().expect("a folder");
    run(&[GOOD, "--waves-dir", dir.path().to_str().expect("UTF-8")]).code(0);
    let file = dir.path().join("qp_state_machine.fst");
    let waves = wellen::simple::read(&file).expect("a complete FST file");
    assert!(waves.hierarchy().items().next().is_some());
    // And its save file for GTKWave.
    assert_eq!(fs::read_dir(dir.path()).expect("readable").count(), 2);
}

#[cfg(not(feature = "rtl"))]
#[test]
fn without_rtl_the_other_engines_are_refused() {
    for engine in ["both", "rtl"] {
        assert!(stderr(&run(&[GOOD, "--engine", engine]).code(2)).contains("no RTL"));
    }
}

/// 11,001 QPs on one page: a person can open it.
#[test]
fn a_storm_is_a_small_page() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let page = folder.path().join("storm.html");
    let picture = folder.path().join("storm.svg");
    let run = assert_cmd::Command::cargo_bin("rnic-cosim")
        .expect("the binary is built")
        .args(["run", "scenarios/flush_storm.toml", "--engine", "model", "--report"])
        .arg(&page)
        .arg("--svg")
        .arg(&picture)
        .output()
        .expect("it runs");
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stdout));
    let steps = String::from_utf8_lossy(&run.stdout).into_owned();
    assert!(steps.lines().count() < 80, "members of a group are told one by one:\n{steps}");
    for line in
        ["Q RTS → ERR ×10000", "deep: Q SQ WR_FLUSH_ERR ×50000", "signaled: lost of S ×4976"]
    {
        assert!(steps.contains(line), "{line} is not in\n{steps}");
    }
    let page = std::fs::read_to_string(&page).expect("it was written");
    let picture = std::fs::read_to_string(&picture).expect("it was written");
    assert!(page.len() < 300_000 && picture.len() < 200_000, "{} {}", page.len(), picture.len());
    for text in ["10000 QPs from 1", "10000 ERR", "1000 RTS", "60000/65536", "1024/1024"] {
        assert!(picture.contains(text) && page.contains(text), "{text} is not shown");
    }
}

#[test]
fn json_says_why_a_call_was_refused_and_where_a_post_went() {
    let text = "title = 'one'\n[[cq]]\nname = 'C'\ndepth = 4\n[[qp]]\nname = 'A'\nstate = 'RTS'\n\
        [[step]]\ndo = [{ post_send = { qp = 'A', raw = [10, 0x3f, 0xe0, 0] } }, \
        { post_send = { qp = 'A' } }, { modify = { qp = 9, to = 'INIT' } }, \
        { modify = { qp = 'A', to = 'RTR' } }, { complete = { qp = 'A', status = 77 } }]\n\
        expect = { outcome = 'any' }\n";
    let output = Command::cargo_bin("rnic-cosim")
        .expect("the binary of this crate")
        .args(["run", "-", "--engine", "model", "--json", "--policy", "wqe_check=at_post"])
        .write_stdin(text)
        .output()
        .expect("it starts");
    let all: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let steps = all[0]["steps"].as_array().expect("steps");
    let ops = &steps.last().expect("a step")["operations"];
    assert_eq!(ops[0]["outcome"], "bad_wqe", "{ops:#}");
    assert!(!ops[0]["wqe_errors"].as_array().expect("errors").is_empty());
    assert_eq!((&ops[1]["slot"], &ops[1]["epoch"]), (&0.into(), &0.into()), "{ops:#}");
    assert_eq!((&ops[2]["outcome"], &ops[2]["layer"]), (&"no_qp".into(), &"qp".into()));
    assert_eq!(
        (&ops[3]["outcome"], &ops[3]["layer"]),
        (&"modify_refused".into(), &"transition".into())
    );
    assert_eq!(all[0]["cqs"]["C"]["written"][0]["status_number"], 77, "{:#}", all[0]["cqs"]);
}
