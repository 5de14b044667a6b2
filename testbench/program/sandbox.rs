//! A folder in which every command that the help and the README show can be typed.

use std::fs;
use std::path::Path;
use std::process::Output;

use tempfile::TempDir;

/// Files that the examples name.
const DUMP: &str = "00000000: 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00\n\
    00000010: 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00\n\
    00000020: 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00\n\
    00000030: 00 00 00 00 00 00 88 13 08 00 01 13 07 47 67 d2\n";
const CALLS: &str = "[[step]]\ntransport = 'RC'\nfrom = 'RTS'\nto = 'ERR'\nattrs = ['STATE']\n";
const PLAN: &str = "[[cq]]\nid = 'a'\ndepth = 8\n\n\
    [[qp]]\nid = 'q'\ncount = 2\nsend_cq = 'a'\nrecv_cq = 'a'\nsq_wr = 2\nrq_wr = 2\n";

pub struct Sandbox {
    folder: TempDir,
}

impl Sandbox {
    pub fn new() -> Self {
        let folder = TempDir::new().expect("a temporary folder");
        let project = Path::new(env!("CARGO_MANIFEST_DIR"));
        for linked in ["scenarios", "testbench"] {
            std::os::unix::fs::symlink(project.join(linked), folder.path().join(linked))
                .expect("a link");
        }
        let write = |name: &str, text: &str| {
            fs::write(folder.path().join(name), text).expect("a file");
        };
        write("dump.txt", DUMP);
        write("crash.txt", DUMP);
        write("calls.toml", CALLS);
        write("plan.toml", PLAN);
        for made in ["out", "bin"] {
            fs::create_dir(folder.path().join(made)).expect("a folder");
        }
        // A kernel log that holds one dump.
        let log = folder.path().join("bin/dmesg");
        fs::write(&log, format!("#!/bin/sh\ncat <<'END'\n{DUMP}END\n")).expect("a script");
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(&log, fs::Permissions::from_mode(0o755)).expect("it may run");
        Self { folder }
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// What a shell makes of a line.
    pub fn type_in(&self, line: &str) -> Output {
        let program = assert_cmd::cargo::cargo_bin("rnic-cosim");
        let beside = program.parent().expect("a folder").to_owned();
        let mut path = vec![self.path().join("bin"), beside];
        path.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()));
        assert_cmd::Command::new("sh")
            .args(["-c", line])
            .env("PATH", std::env::join_paths(path).expect("plain folders"))
            .env_remove("NO_COLOR")
            .current_dir(self.path())
            .timeout(std::time::Duration::from_secs(300))
            .output()
            .expect("a shell")
    }
}
