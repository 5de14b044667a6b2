//! Builds of another kind: no waveforms, and a model in many more files.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::planted::asked_for;

/// One configuration, without waveforms, its C++ cut into small files.
fn build() -> std::path::PathBuf {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("other");
    let built = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--bin", "rnic-cosim", "--target-dir"])
        .arg(&target)
        .env("RNIC_CONFIGS", "default")
        .env("RNIC_TRACE", "0")
        .env("RNIC_VERILATOR_ARGS", "--output-split 4000 --output-split-cfuncs 50")
        .output()
        .expect("cargo runs");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    target.join("debug/rnic-cosim")
}

#[test]
fn without_waveforms_and_in_many_files() {
    if !asked_for() {
        return;
    }
    let program = build();
    let scenario = Path::new("scenarios/cq_overflow_keep_unread_sticky.toml");

    let ran = Command::new(&program).arg("run").arg(scenario).output().expect("it runs");
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));

    let folder = tempfile::tempdir().expect("a temporary folder");
    let waves = folder.path().join("asked.fst");
    let ran = Command::new(&program)
        .arg("run")
        .arg(scenario)
        .arg("--waves")
        .arg(&waves)
        .output()
        .expect("it runs");
    let said = String::from_utf8_lossy(&ran.stderr);
    assert_eq!(ran.status.code(), Some(2), "{said}");
    assert!(said.contains("built without waveforms (RNIC_TRACE=0)"), "{said}");
    assert_eq!(said.trim().lines().count(), 1, "{said}");
    let left: Vec<_> = fs::read_dir(folder.path()).expect("it is there").flatten().collect();
    assert!(left.is_empty(), "{left:?}");
}
