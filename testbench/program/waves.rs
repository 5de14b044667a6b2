//! Waveforms: windows of an FST file, and the save file that opens it in GTKWave.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

const SCENARIO: &str = "scenarios/qp_state_machine.toml";

fn rnic_cosim(args: &[&str]) -> (i32, String, String) {
    let output = assert_cmd::Command::cargo_bin("rnic-cosim")
        .expect("the binary is built")
        .args(args)
        .output()
        .expect("it starts");
    let text = |b: &[u8]| String::from_utf8_lossy(b).into_owned();
    (output.status.code().unwrap_or(-1), text(&output.stdout), text(&output.stderr))
}

/// A run with waveforms; what it printed, and where they are.
fn run(folder: &Path) -> (String, PathBuf) {
    let file = folder.join("qp.fst");
    let (code, out, err) =
        rnic_cosim(&["run", SCENARIO, "--waves", file.to_str().expect("plain text")]);
    assert_eq!(code, 0, "{out}{err}");
    (out, file)
}

fn waves(file: &Path, args: &[&str]) -> (i32, String, String) {
    rnic_cosim(&[&["waves", file.to_str().expect("plain text")], args].concat())
}

fn refused(file: &Path, args: &[&str]) -> String {
    let (code, out, err) = waves(file, args);
    assert_eq!(code, 2, "{args:?}: {out}{err}");
    assert_eq!(err.lines().count(), 1, "one message, not:\n{err}");
    assert!(out.is_empty(), "{out}");
    err
}

#[test]
fn a_window_shows_the_states_by_name_in_the_clocks_of_the_report() {
    let folder = TempDir::new().expect("a folder");
    let (_, file) = run(folder.path());
    // When the QP reaches RTS, by the account of the same run.
    let (_, json, _) = rnic_cosim(&["run", SCENARIO, "--json"]);
    let report: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    let retired = report[0]["steps"][5]["operations"][0]["clock"].as_u64().expect("a clock");
    let clock = retired.to_string();
    let (code, out, _) = waves(&file, &["--from", &clock, "--to", &clock]);
    assert_eq!(code, 0);
    let line = out.lines().nth(1).expect("a line for the clock");
    for part in [&*clock, "retired_op=MODIFY_QP", "retired_outcome=OK", "QP1.state=RTS"] {
        assert!(line.contains(part), "`{part}` is not in: {line}");
    }
    assert!(!out.contains("QP2."), "a QP that does not exist is shown:\n{out}");
}

#[test]
fn wavejson_holds_lanes_of_one_length() {
    let folder = TempDir::new().expect("a folder");
    let (_, file) = run(folder.path());
    let pattern = ["--signals", "g_qp[1].state", "cmd_*_?", "--json"];
    let (code, out, err) = waves(&file, &[&["--from", "50", "--to", "180"], &pattern[..]].concat());
    assert_eq!(code, 2, "`?` is no wildcard: {out}{err}");
    let pattern = ["--signals", "g_qp[1].state", "*_valid_i", "--json"];
    let (code, out, err) = waves(&file, &[&["--from", "50", "--to", "180"], &pattern[..]].concat());
    assert_eq!(code, 0, "{err}");
    let json: serde_json::Value = serde_json::from_str(&out).expect("JSON");
    let lanes = json["signal"].as_array().expect("lanes");
    let names: Vec<&str> = lanes.iter().filter_map(|l| l["name"].as_str()).collect();
    let ports = ["cmd_valid_i", "post_valid_i", "wire_valid_i", "cqdb_valid_i", "wqe_valid_i"];
    assert_eq!(names[..2], ["clock", "state"], "{names:?}");
    assert!(ports.iter().all(|p| names.iter().filter(|n| *n == p).count() == 1), "{names:?}");
    for lane in lanes {
        assert_eq!(lane["wave"].as_str().map(str::len), Some(131), "{lane}");
        let values = lane["wave"].as_str().map_or(0, |w| w.matches('=').count());
        assert_eq!(lane["data"].as_array().map_or(0, Vec::len), values, "{lane}");
    }
    let states: Vec<&str> =
        lanes[1]["data"].as_array().expect("values").iter().filter_map(|v| v.as_str()).collect();
    assert_eq!(states, ["RESET", "INIT", "RTR", "RTS", "SQD"], "{states:?}");
    assert_eq!(json["head"]["tick"], 50);
}

#[test]
fn a_picture_is_written_as_a_whole() {
    let folder = TempDir::new().expect("a folder");
    let (_, file) = run(folder.path());
    let picture = folder.path().join("w.svg");
    let (code, out, _) = waves(&file, &["--svg", picture.to_str().expect("plain text")]);
    assert_eq!((code, &*out), (0, ""));
    let svg = fs::read_to_string(&picture).expect("it was written");
    assert!(svg.starts_with("<?xml") && svg.trim_end().ends_with("</svg>"));
    for part in ["s-INIT", "cmd_valid_i", "QP 1", "prefers-color-scheme: dark"] {
        assert!(svg.contains(part), "`{part}` is not in the picture");
    }
    assert!(refused(&file, &["--svg", "/no/such/folder/w.svg"]).contains("/no/such/folder"));
}

#[test]
fn wrong_wishes_are_pointed_out() {
    let folder = TempDir::new().expect("a folder");
    let (_, file) = run(folder.path());
    assert!(refused(&file, &["--signals", "ex_kin"]).contains("did you mean `ex_kind`?"));
    assert!(refused(&file, &["--signals", "g_qp[1].stat"]).contains("`g_qp[1].state`"));
    // A pattern is the whole end of a path.
    for wrong in ["tate", "state*x", "g_qp[0]state", ""] {
        assert!(refused(&file, &["--signals", wrong]).contains("signal"), "{wrong:?}");
    }
    for fine in ["state", "g_qp*.state", "*watch*"] {
        assert_eq!(waves(&file, &["--signals", fine]).0, 0, "{fine}");
    }
    assert!(refused(&file, &["--from", "9000"]).contains("the file has clocks 0 to"));
    assert!(refused(&file, &["--from", "9", "--to", "3"]).contains("clocks 9 to 3"));
    assert!(refused(Path::new("no/such.fst"), &[]).contains("cannot read no/such.fst"));
    assert!(refused(folder.path(), &[]).contains("it is a folder"));
    assert!(refused(Path::new(SCENARIO), &[]).contains("no waveform file"));
}

/// However much of the file is missing: one message, no crash.
#[test]
fn a_cut_file_is_refused() {
    let folder = TempDir::new().expect("a folder");
    let (_, file) = run(folder.path());
    let whole = fs::read(&file).expect("it was written");
    let cut = folder.path().join("cut.fst");
    for part in [0, 1, 9, 100, 329, 330, 331, 1000, whole.len() / 2, whole.len() - 1] {
        fs::write(&cut, &whole[..part]).expect("written");
        let message = refused(&cut, &[]);
        assert!(message.contains("cut.fst: "), "{part} bytes: {message}");
    }
}

#[test]
fn the_save_file_names_signals_that_exist() {
    let folder = TempDir::new().expect("a folder");
    let (out, file) = run(folder.path());
    let save = file.with_extension("gtkw");
    let line = format!("waves: gtkwave {} {}", file.display(), save.display());
    assert!(out.lines().any(|l| l == line), "`{line}` is not in:\n{out}");
    let waves = wellen::simple::read(&file).expect("a complete FST file");
    let h = waves.hierarchy();
    let widths: HashMap<String, u32> =
        h.all_vars().map(|v| (h[v].full_name(h), h[v].length(h).unwrap_or_default())).collect();
    let text = fs::read_to_string(save).expect("it was written");
    let mut shown = 0;
    for line in text.lines().filter(|l| !l.starts_with(['@', '-', '[', '*'])) {
        let (name, width) = match line.rsplit_once('[') {
            Some((name, bits)) if bits.ends_with(":0]") => {
                (name, bits.trim_end_matches(":0]").parse::<u32>().expect("a number") + 1)
            }
            _ => (line, 1),
        };
        assert_eq!(widths.get(name), Some(&width), "{line}");
        shown += 1;
    }
    assert!(shown > 60, "only {shown} signals");
    for group in ["-cmd", "-in EX", "-QP 0", "-CQ 3"] {
        assert_eq!(text.lines().filter(|l| *l == group).count(), 2, "{group}");
    }
    assert!(text.contains("@100000028\nTOP.rnic_top.u_watch.g_qp[1].state[2:0]"));
}

#[test]
fn a_signal_is_found_by_the_name_it_is_shown_with() {
    let folder = TempDir::new().expect("a folder");
    let (_, file) = run(folder.path());
    let show = |pattern: &str| waves(&file, &["--from", "50", "--to", "180", "--signals", pattern]);
    let (code, shown, err) = show("QP1.state");
    assert_eq!(code, 0, "{err}");
    assert!(shown.contains("state=INIT"), "{shown}");
    assert_eq!(shown, show("g_qp[1].state").1);
    assert_eq!(show("CQ1.occupancy").0, 0);
    assert!(refused(&file, &["--signals", "QP1.stat"]).contains("g_qp[1].stat"));
}
