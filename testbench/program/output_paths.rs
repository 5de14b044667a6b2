//! Where results go: folders, pipes, links, a reader that is gone, a full disk.

use std::fs;
use std::os::unix::fs::{FileTypeExt, symlink};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

const SCENARIO: &str = "scenarios/cq_overflow_avoided_by_depth.toml";
const RECORDING: &str = "testbench/regressions/inline-payload-has-no-lkey.json";

fn program(args: &[&str], files: &[(&str, &Path)]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rnic-cosim"));
    command.current_dir(env!("CARGO_MANIFEST_DIR")).args(args);
    for (flag, path) in files {
        command.arg(flag).arg(path);
    }
    command
}

fn done(args: &[&str], files: &[(&str, &Path)]) -> Output {
    program(args, files).output().expect("it starts")
}

/// One message, exit code 2, nothing run.
fn refused(args: &[&str], files: &[(&str, &Path)]) -> String {
    let output = done(args, files);
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{args:?} {files:?}: {text}");
    assert_eq!(text.lines().count(), 1, "{text}");
    assert!(output.stdout.is_empty(), "{args:?} {files:?} ran");
    text
}

fn names(folder: &Path) -> Vec<String> {
    let mut all: Vec<String> = fs::read_dir(folder)
        .expect("a folder")
        .map(|e| e.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    all.sort();
    all
}

fn flags() -> Vec<(&'static [&'static str], &'static str)> {
    let mut all: Vec<(&[&str], &str)> = vec![
        (&["run", "--engine", "model", SCENARIO], "--report"),
        (&["run", "--engine", "model", SCENARIO], "--svg"),
    ];
    if cfg!(feature = "rtl") {
        all.push((&["run", SCENARIO], "--waves"));
        all.push((&["replay", RECORDING], "--waves"));
        all.push((&["regress", "--seeds", "0..1", "--ops", "50"], "--junit"));
    }
    all
}

#[test]
fn a_folder_is_refused_before_anything_runs() {
    for (args, flag) in flags() {
        let folder = TempDir::new().expect("a folder");
        fs::create_dir(folder.path().join("taken")).expect("a folder");
        let text = refused(args, &[(flag, &folder.path().join("taken"))]);
        assert!(text.contains(flag) && text.contains("is a directory"), "{text}");
        assert_eq!(names(folder.path()), ["taken"], "{args:?} {flag}");
    }
}

#[test]
fn a_folder_that_is_not_there_is_said() {
    let folder = TempDir::new().expect("a folder");
    let file = folder.path().join("none").join("f");
    for (args, flag) in flags() {
        // That of JUnit is made.
        if flag != "--junit" {
            assert!(refused(args, &[(flag, &file)]).contains("there is no such folder"));
        }
    }
}

#[test]
fn one_file_is_not_two_results() {
    let folder = TempDir::new().expect("a folder");
    let file = folder.path().join("f");
    let args = ["run", "--engine", "model", SCENARIO];
    let text = refused(&args, &[("--report", &file), ("--svg", &file)]);
    assert!(text.contains("two outputs"), "{text}");
}

/// What is read stays as it is, under whatever name it is to be written.
#[test]
fn nothing_overwrites_what_it_reads() {
    let folder = TempDir::new().expect("a folder");
    let keep = |from: &str, name: &str| {
        let file = folder.path().join(name);
        fs::copy(from, &file).expect("copied");
        file
    };
    let scenario = keep(SCENARIO, "s.toml");
    let (link, twin) = (folder.path().join("link"), folder.path().join("twin"));
    symlink(&scenario, &link).expect("a link");
    fs::hard_link(&scenario, &twin).expect("a second name");
    let before = fs::read(&scenario).expect("readable");
    let run = ["run", "--engine", "model", scenario.to_str().expect("UTF-8")];
    for flag in ["--report", "--svg"] {
        for name in [&scenario, &link, &twin] {
            let text = refused(&run, &[(flag, name)]);
            assert!(text.contains("is read and named for an output too"), "{text}");
        }
    }
    let html = keep(SCENARIO, "other.html");
    let run = ["run", "--engine", "model", html.to_str().expect("UTF-8")];
    let text = refused(&run, &[("--report-dir", folder.path())]);
    assert!(text.contains("other.html is read and named"), "{text}");
    assert_eq!(fs::read(&scenario).expect("readable"), before);
    if cfg!(feature = "rtl") {
        let recording = keep(RECORDING, "r.json");
        let replay = ["replay", recording.to_str().expect("UTF-8")];
        assert!(refused(&replay, &[("--waves", &recording)]).contains("is read and named"));
        // The save file of GTKWave is an output, too.
        let save = folder.path().join("w.gtkw");
        assert!(refused(&replay, &[("--waves", &save)]).contains("named for two outputs"));
        let recording = keep(RECORDING, "r.gtkw");
        let replay = ["replay", recording.to_str().expect("UTF-8")];
        let waves = folder.path().join("r.fst");
        assert!(refused(&replay, &[("--waves", &waves)]).contains("is read and named"));
        let waves = folder.path().join("w.fst");
        let text = refused(&["run", SCENARIO], &[("--waves", &waves), ("--svg", &save)]);
        assert!(text.contains("named for two outputs"), "{text}");
    }
}

/// The first shard's results are no place for those of all.
#[cfg(feature = "rtl")]
#[test]
fn merging_spares_its_parts() {
    let folder = TempDir::new().expect("a folder");
    let parts = ["1", "2"].map(|n| folder.path().join(n));
    for (n, part) in (1..).zip(&parts) {
        let shard = format!("{n}/2");
        let args = ["regress", "--seeds", "0..1", "--ops", "20", "--shard", &shard];
        assert!(done(&args, &[("--out", part)]).status.success());
    }
    let [a, b] = parts.each_ref().map(|p| p.to_str().expect("UTF-8"));
    let text = refused(&["regress", "merge", a, b], &[("--out", &parts[0])]);
    assert!(text.contains("results.json is read and named"), "{text}");
    assert!(
        done(&["regress", "merge", a, b], &[("--out", &folder.path().join("all"))])
            .status
            .success()
    );
}

#[test]
fn what_a_link_names_is_written() {
    let folder = TempDir::new().expect("a folder");
    let (file, link) = (folder.path().join("file"), folder.path().join("link"));
    fs::write(&file, "old").expect("a file");
    symlink(&file, &link).expect("a link");
    for (args, flag) in flags() {
        fs::write(&file, "old").expect("a file");
        assert!(done(args, &[(flag, &link)]).status.success(), "{args:?} {flag}");
        assert!(link.is_symlink(), "{args:?} {flag}");
        assert!(fs::metadata(&file).expect("it is there").len() > 100, "{args:?} {flag}");
    }
}

#[test]
fn a_pipe_is_written_into_and_no_place_for_waveforms() {
    let folder = TempDir::new().expect("a folder");
    let pipe = folder.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().expect("it starts").success());
    for (args, flag) in flags() {
        if flag == "--waves" {
            assert!(refused(args, &[(flag, &pipe)]).contains("no regular file"));
            continue;
        }
        let reader =
            Command::new("cat").arg(&pipe).stdout(Stdio::piped()).spawn().expect("it starts");
        assert!(done(args, &[(flag, &pipe)]).status.success(), "{args:?} {flag}");
        let read = reader.wait_with_output().expect("it ends").stdout;
        assert!(read.len() > 100, "{args:?} {flag}: {} bytes", read.len());
        assert!(pipe.symlink_metadata().expect("it is there").file_type().is_fifo());
    }
    assert_eq!(names(folder.path()), ["pipe"]);
}

fn printing() -> Vec<Vec<&'static str>> {
    let mut all =
        vec![vec!["run", "--engine", "model", SCENARIO], vec!["tables", "opcodes"], vec!["man"]];
    if cfg!(feature = "rtl") {
        all.push(vec!["replay", RECORDING]);
        all.push(vec!["replay", RECORDING, "--json"]);
        all.push(vec!["regress", "--seeds", "0..1", "--ops", "50"]);
        all.push(vec!["regress", "--seeds", "0..1", "--ops", "50", "--json"]);
        all.push(vec!["regress", "--profile", "list"]);
        all.push(vec!["bench", "--ops", "50", "--rounds", "1", "--repetitions", "1"]);
    }
    all
}

#[test]
fn nobody_need_read_on() {
    for args in printing() {
        let mut child = program(&args, &[])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts");
        drop(child.stdout.take());
        let output = child.wait_with_output().expect("it ends");
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{args:?}: {text}");
        assert!(text.is_empty(), "{args:?}: {text}");
    }
}

/// `/dev/full` is Linux's disk without room.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_said_and_fails() {
    for args in printing() {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").expect("Linux has it");
        let output = program(&args, &[]).stdout(full).output().expect("it starts");
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{args:?}: {text}");
        assert_eq!(text.lines().count(), 1, "{args:?}: {text}");
        assert!(text.contains("cannot write to standard output: "), "{args:?}: {text}");
    }
}
