//! The regression engine: shards, merging, files, signals.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rnic_cosim::cosim::campaign::Shard;

fn program() -> Command {
    Command::new(assert_cmd::cargo::cargo_bin("rnic-cosim"))
}

/// The shell's own `kill`: a small system has no other.
#[cfg(unix)]
fn signal(name: &str, to: &std::process::Child) {
    let kill = Command::new("sh").arg("-c").arg(format!("kill -{name} {}", to.id())).status();
    assert!(kill.expect("sh is there").success());
}

/// Exit code, standard output, standard error.
fn rnic_cosim(args: &[&str]) -> (i32, String, String) {
    let output = program().args(args).output().expect("it starts");
    let text = |b: &[u8]| String::from_utf8_lossy(b).into_owned();
    (output.status.code().unwrap_or(-1), text(&output.stdout), text(&output.stderr))
}

const CAMPAIGN: [&str; 7] = ["regress", "--config", "small", "--seeds", "40..43", "--ops", "300"];

/// Runs with all files in `folder`.
fn campaign(folder: &Path, more: &[&str]) {
    let path = |name: &str| folder.join(name).display().to_string();
    let (out, junit, coverage) = (path(""), path("junit.xml"), path("coverage"));
    let files = ["--out", &out, "--junit", &junit, "--coverage", &coverage];
    let (code, stdout, stderr) = rnic_cosim(&[&CAMPAIGN[..], more, &files[..]].concat());
    assert_eq!(code, 0, "{stdout}{stderr}");
}

fn merge(from: &[PathBuf], to: &Path) -> (i32, String, String) {
    let path = |name: &str| to.join(name).display().to_string();
    let (out, junit, coverage) = (path(""), path("junit.xml"), path("coverage"));
    let mut args = vec!["regress", "merge", "--out", &out, "--junit", &junit];
    args.extend(["--coverage", &coverage]);
    let from: Vec<String> = from.iter().map(|f| f.display().to_string()).collect();
    args.extend(from.iter().map(String::as_str));
    rnic_cosim(&args)
}

const FILES: [&str; 5] = [
    "results.json",
    "junit.xml",
    "coverage/index.html",
    "coverage/coverage.txt",
    "coverage/coverage.json",
];

fn same_files(a: &Path, b: &Path) {
    for file in FILES {
        let read = |folder: &Path| fs::read_to_string(folder.join(file)).expect(file);
        assert!(read(a) == read(b), "{file} differs");
        assert!(read(a).len() > 200, "{file} is all but empty");
    }
}

#[test]
fn four_merged_shards_equal_the_whole() {
    let folder = tempfile::tempdir().expect("a folder");
    let whole = folder.path().join("whole");
    campaign(&whole, &["--jobs", "1"]);
    let shards: Vec<PathBuf> = (1..=4).map(|i| folder.path().join(format!("shard{i}"))).collect();
    for (i, shard) in shards.iter().enumerate() {
        campaign(shard, &["--jobs", "2", "--shard", &format!("{}/4", i + 1)]);
    }
    let merged = folder.path().join("merged");
    // In any order.
    let order = [2, 0, 3, 1].map(|i| shards[i].clone());
    let (code, stdout, stderr) = merge(&order, &merged);
    assert_eq!(code, 0, "{stdout}{stderr}");
    same_files(&whole, &merged);

    // Three of them are not the whole, and that is said.
    let (code, _, stderr) = merge(&shards[..3], &merged);
    assert_eq!(code, 1, "{stderr}");
    assert!(stderr.contains("incomplete"), "{stderr}");
    // One twice is a mistake.
    let (code, _, stderr) = merge(&[shards[0].clone(), shards[0].clone()], &merged);
    assert_eq!(code, 2, "{stderr}");
    assert!(stderr.contains("named twice"), "{stderr}");
    // As is one of another campaign.
    let other = folder.path().join("other");
    campaign(&other, &["--policy", "sqd=drain_posted", "--shard", "2/4"]);
    let (code, _, stderr) = merge(&[shards[0].clone(), other], &merged);
    assert_eq!(code, 2, "{stderr}");
    assert!(stderr.contains("field `campaign`"), "{stderr}");
    // And the recording of a failure or anything else is no result.
    let (code, _, stderr) = merge(&[whole.join("coverage/coverage.json")], &merged);
    assert_eq!(code, 2, "{stderr}");
    assert!(stderr.contains("no results of a campaign"), "{stderr}");
}

#[test]
fn the_number_of_jobs_decides_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let (a, b) = (folder.path().join("a"), folder.path().join("b"));
    campaign(&a, &["--jobs", "1"]);
    campaign(&b, &["--jobs", "5"]);
    same_files(&a, &b);
}

#[test]
fn a_mixture_draws_one_profile_per_seed() {
    let args = ["regress", "--config", "small", "--seeds", "0..40", "--ops", "50", "--json"];
    let mix = ["--profile-mix", "steady=3,drain=1"];
    let (code, stdout, stderr) = rnic_cosim(&[&args[..], &mix[..]].concat());
    assert_eq!(code, 0, "{stdout}{stderr}");
    let json: serde_json::Value = serde_json::from_str(&stdout).expect("JSON and nothing else");
    let runs = |i: usize| json["profiles"][i]["runs"].as_u64().expect("a number");
    assert_eq!(runs(0) + runs(1), 40);
    assert!(runs(0) > runs(1) && runs(1) > 2, "{} and {}", runs(0), runs(1));
}

#[test]
fn wrong_arguments_are_refused_before_anything_runs() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("file");
    fs::write(&file, "").expect("it can be written");
    let below_a_file = file.join("x").display().to_string();
    let a_folder = folder.path().display().to_string();
    for (args, part) in [
        (["--shard", "0/4"], "1 ≤ I ≤ N"),
        (["--shard", "5/4"], "`5/4`"),
        (["--shard", "two"], "I/N"),
        (["--max-fail", "0"], "from 1"),
        (["--profile-mix", "steady=0"], "weight"),
        (["--profile-mix", "steady=1,stedy=2"], "did you mean `steady`?"),
        (["--profile-mix", "steady,steady"], "named twice"),
        (["--out", &below_a_file], "--out"),
        (["--coverage", &below_a_file], "--coverage"),
        (["--junit", &a_folder], "is a directory"),
    ] {
        let (code, stdout, stderr) = rnic_cosim(&[&["regress"], &args[..]].concat());
        assert_eq!(code, 2, "{args:?}: {stdout}{stderr}");
        assert_eq!(stderr.lines().count(), 1, "one message, not:\n{stderr}");
        assert!(stderr.contains(part), "{args:?}: {stderr}");
    }
    let (code, _, stderr) = rnic_cosim(&["regress", "merge", &a_folder]);
    assert_eq!(code, 2, "{stderr}");
    assert!(stderr.contains("results.json"), "{stderr}");
}

#[test]
fn a_time_limit_leaves_runs_out_and_says_so() {
    let folder = tempfile::tempdir().expect("a folder");
    let (out, junit) = (folder.path().display().to_string(), folder.path().join("j.xml"));
    let junit_path = junit.display().to_string();
    let (code, stdout, stderr) = rnic_cosim(&[
        "regress",
        "--config",
        "small",
        "--seeds",
        "0..2000",
        "--time-limit",
        "1",
        "--profile",
        "steady",
        "--out",
        &out,
        "--junit",
        &junit_path,
    ]);
    assert_eq!(code, 0, "{stdout}{stderr}");
    assert!(stdout.contains("time limit: "), "{stdout}");
    assert!(stdout.contains("no difference"), "{stdout}");
    let junit = fs::read_to_string(junit).expect("it was written");
    assert!(junit.contains("<skipped"), "runs that were left out are skipped");
    let passed = junit.lines().filter(|l| l.contains("\"operations\"")).count();
    assert!(passed > 0, "some runs were made in a second");
}

/// Ends with results, and quickly, though a run alone takes minutes.
#[cfg(unix)]
#[test]
fn a_signal_ends_it_with_what_was_found() {
    let folder = tempfile::tempdir().expect("a folder");
    let child = program()
        .args(["regress", "--config", "small", "--profile", "steady", "--seeds", "0..2"])
        // An end of its own, should nobody be left to send the signal.
        .args(["--ops", "4000000000", "--jobs", "2", "--time-limit", "60", "--out"])
        .arg(folder.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    std::thread::sleep(Duration::from_millis(1500));
    let sent = Instant::now();
    signal("INT", &child);
    let output = child.wait_with_output().expect("it ends");
    assert!(sent.elapsed() < Duration::from_secs(20), "it took {:?}", sent.elapsed());
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(130), "{stdout}");
    assert!(stdout.contains("interrupted: 2 runs were left out"), "{stdout}");
    let results = fs::read_to_string(folder.path().join("results.json")).expect("results");
    assert!(results.contains("\"left_out\""), "{results}");
    for entry in fs::read_dir(folder.path()).expect("it is there").flatten() {
        assert!(!entry.file_name().to_string_lossy().contains(".part"), "{entry:?}");
    }
}

#[test]
fn a_file_that_is_no_recording_is_named_as_what_it_is() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("f.json");
    let path = file.display().to_string();
    let not_text: &[u8] = &[0xff, 0xfe, 0x00];
    for (bytes, part) in [
        (&b"[1, 2]"[..], "it holds an array"),
        (b"{\"cases\": 3, \"runs\": []}", "the results of a campaign"),
        (b"{\"name\": \"x\"}", "an object without any field of a recording"),
        (b"\"text\"", "a string"),
        (not_text, "it is not text"),
    ] {
        fs::write(&file, bytes).expect("it can be written");
        let (code, stdout, stderr) = rnic_cosim(&["replay", &path]);
        assert_eq!((code, stdout.as_str()), (2, ""), "{stderr}");
        assert!(stderr.contains("no recording") && stderr.contains(part), "{stderr}");
        assert_eq!(stderr.lines().count(), 1, "{stderr}");
    }
}

/// A recording whose run lasts, if only minutes: it goes on for as long as `until` says.
#[cfg(unix)]
#[test]
fn a_killed_replay_leaves_no_cut_waveform() {
    let folder = tempfile::tempdir().expect("a folder");
    let kept = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/testbench/regressions/inline-payload-has-no-lkey.json"
    );
    let text = fs::read_to_string(kept).expect("a kept recording");
    let at = text.find("\"until\": ").expect("the field") + "\"until\": ".len();
    let end = at + text[at..].find(',').expect("another field");
    let long = format!("{}40000000{}", &text[..at], &text[end..]);
    let (file, waves) = (folder.path().join("long.json"), folder.path().join("w.fst"));
    fs::write(&file, long).expect("it can be written");
    let mut child = program()
        .arg("replay")
        .arg(&file)
        .arg("--waves")
        .arg(&waves)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("it starts");
    std::thread::sleep(Duration::from_millis(700));
    signal("TERM", &child);
    assert_eq!(child.wait().expect("it ends").code(), Some(130));
    let left: Vec<_> = fs::read_dir(folder.path()).expect("it is there").flatten().collect();
    assert_eq!(left.len(), 1, "only the recording is left: {left:?}");
}

#[test]
fn every_run_is_in_one_shard() {
    for of in 1..12 {
        let mut sizes = vec![0_usize; of];
        for number in 0..of * of * 3 + 5 {
            let holders: Vec<usize> =
                (0..of).filter(|&index| Shard { index, of }.holds(number)).collect();
            assert_eq!(holders.len(), 1, "run {number} of {of} shards");
            sizes[holders[0]] += 1;
        }
        let (least, most) = (sizes.iter().min(), sizes.iter().max());
        assert!(most.zip(least).is_some_and(|(m, l)| m - l <= 2), "{of}: {sizes:?}");
    }
}

#[test]
fn shards_mix_what_the_list_repeats() {
    // Four configurations, four shards: none may see only one of them.
    let shard = Shard { index: 0, of: 4 };
    let seen: HashSet<usize> = (0..64).filter(|&n| shard.holds(n)).map(|n| n % 4).collect();
    assert_eq!(seen.len(), 4);
}
