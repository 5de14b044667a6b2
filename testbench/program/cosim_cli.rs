//! `regress`, `replay` and `bench` as commands: answers, exit codes, messages about bad input.

use assert_cmd::Command;

fn rnic_cosim(args: &[&str]) -> (i32, String, String) {
    let output = Command::cargo_bin("rnic-cosim")
        .expect("the binary of this crate")
        .args(args)
        .output()
        .expect("it starts");
    let text = |b: &[u8]| String::from_utf8_lossy(b).into_owned();
    (output.status.code().unwrap_or(-1), text(&output.stdout), text(&output.stderr))
}

fn refused(args: &[&str]) -> String {
    let (code, out, err) = rnic_cosim(args);
    assert_eq!(code, 2, "{args:?}: {out}{err}");
    assert_eq!(err.lines().count(), 1, "one message, not:\n{err}");
    assert!(out.is_empty(), "{out}");
    err
}

#[test]
fn bad_arguments_are_pointed_out() {
    assert!(refused(&["regress", "--profile", "stedy"]).contains("did you mean `steady`?"));
    assert!(refused(&["regress", "--config", "smal"]).contains("did you mean `small`?"));
    assert!(refused(&["regress", "--seeds", "9..3"]).contains("FROM < TO"));
    assert!(refused(&["regress", "--seeds", "few"]).contains("`few`"));
    assert!(refused(&["regress", "--policy", "cq_scop=sticky"]).contains("`cq_scope`"));
    assert!(refused(&["regress", "--policy", "sqd=drain"]).contains("drain_posted"));
    assert!(refused(&["regress", "--ops", "0"]).contains("at least one"));
    assert!(refused(&["regress", "--jobs", "0"]).contains("--jobs"));
    assert!(refused(&["regress", "--time-limit", "0"]).contains("--time-limit"));
    let (code, _, err) = rnic_cosim(&["regress", "--ops", "-5"]);
    assert_eq!(code, 2);
    assert!(err.contains("'-5' for '--ops <N>'") && !err.contains("tip:"), "{err}");
    assert!(refused(&["bench", "--config", "huge"]).contains("small, default, deep, large"));
    assert!(refused(&["replay", "no-such-file.json"]).contains("no-such-file.json"));
}

#[test]
fn bad_recordings_are_refused_with_their_place() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("r.json");
    let path = file.to_str().expect("plain text");
    for (text, part) in [
        ("", "r.json:1:0: EOF"),
        ("[[cq]]\nid = 1\n", "a recording, which `regress` writes, is a JSON object"),
        ("{\n  \"format\": one\n}", "r.json:2:13: expected value"),
        ("{\n  \"fromat\": 1\n}", "unknown field `fromat`, expected one of `format`"),
        ("\u{0}\u{1}", "r.json:1:1:"),
    ] {
        std::fs::write(&file, text).expect("it can be written");
        let err = refused(&["replay", path]);
        assert!(err.contains(part), "no `{part}` in: {err}");
    }
}

#[test]
fn a_campaign_answers_in_json() {
    let args = ["regress", "--config", "small", "--profile", "drain", "--seeds", "3..5"];
    let (code, out, err) = rnic_cosim(&[&args[..], &["--ops", "500", "--json"]].concat());
    assert_eq!(code, 0, "{out}{err}");
    let json: serde_json::Value = serde_json::from_str(&out).expect("JSON and nothing else");
    assert_eq!(json["verdict"], "passed");
    assert_eq!(json["profiles"][0]["profile"], "drain");
    assert_eq!(json["profiles"][0]["runs"], 2);
    assert!(json["operations"].as_u64() >= Some(1000));
    assert!(json["coverage"]["outcomes"]["ok"].as_u64() > Some(0));
}

#[test]
fn a_replay_writes_waveforms() {
    let kept = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/testbench/regressions"))
        .expect("the folder is part of the project")
        .find_map(|f| {
            f.ok().map(|f| f.path()).filter(|p| p.extension().is_some_and(|e| e == "json"))
        })
        .expect("a recording is kept");
    let folder = tempfile::tempdir().expect("a folder");
    let waves = folder.path().join("w.fst");
    let (file, path) = (kept.to_str().expect("plain"), waves.to_str().expect("plain"));
    let (code, out, err) = rnic_cosim(&["replay", file, "--waves", path]);
    assert_eq!(code, 0, "{out}{err}");
    assert!(out.contains("no difference"), "{out}");
    let wave = wellen::simple::read(&waves).expect("a complete FST file");
    assert!(wave.time_table().len() > 20, "only {} times", wave.time_table().len());

    let (code, _, err) = rnic_cosim(&["replay", file, "--waves", "/no/such/folder/w.fst"]);
    assert_eq!(code, 2, "{err}");
    assert!(err.contains("/no/such/folder/w.fst"), "{err}");
}

#[test]
fn the_benchmark_compares_four_harnesses() {
    let args = ["bench", "--config", "small", "--ops", "1000", "--rounds", "1", "--json"];
    let (code, out, err) = rnic_cosim(&args);
    assert_eq!(code, 0, "{out}{err}");
    let json: serde_json::Value = serde_json::from_str(&out).expect("JSON and nothing else");
    let harnesses = json["harnesses"].as_array().expect("a list");
    assert_eq!(harnesses.len(), 4);
    assert_eq!(harnesses[0]["ratio"], 1.0);
    assert!(json["operations_per_clock"].as_f64().is_some_and(|n| n > 0.2 && n <= 1.0));
}

/// How fast it is on this machine today is printed and not judged.
#[test]
fn the_benchmark_sets_two_configurations_against_each_other() {
    let two = ["bench", "--config", "small", "--against", "default", "--ops", "5000"];
    // The scheduler counts in ticks: less than a few of them may be none.
    let once = ["--rounds", "1", "--repetitions", "10", "--json"];
    let (code, out, err) = rnic_cosim(&[&two[..], &once[..]].concat());
    assert_eq!(code, 0, "{out}{err}");
    let json: serde_json::Value = serde_json::from_str(&out).expect("JSON and nothing else");
    assert_eq!(json["configs"][0]["config"], "small");
    assert_eq!(json["configs"][1]["config"], "default");
    for harness in ["bare", "checked"] {
        let ratio = json["clocks_per_second_ratio"][harness].as_f64();
        assert!(ratio.is_some_and(|r| r > 0.0), "{json}");
    }
    assert!(refused(&["bench", "--against", "lage"]).contains("did you mean `large`?"));
}
