//! Finds Verilator and compiles its runtime, which no change of the RTL touches.
//!
//! Hands on to the crate that compiles the models (`DEP_RNIC_VERILATOR_RT_*`): the path of
//! Verilator, its include folder, its version and the flags both sides must share.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, exit};

/// `verilator --cc` of older ones lacks `--no-timing`.
const OLDEST: (u32, u32) = (5, 6);
/// Others may well work, nobody has looked.
const TESTED: &[(u32, u32)] = &[(5, 6), (5, 48)];

/// Definitions that decide class layouts and message routing: the same in every object.
const SHARED_FLAGS: &[&str] = &[
    "-std=c++17",
    "-fno-semantic-interposition",
    "-DVM_SC=0",
    "-DVM_TRACE_VCD=0",
    "-DVL_PRINTF=rnic_vl_printf",
    "-DVL_USER_FATAL",
];

/// Waveforms are there unless `RNIC_TRACE` is 0.
fn waves() -> bool {
    env::var("RNIC_TRACE").map_or(true, |v| v != "0")
}

/// [`SHARED_FLAGS`], and whether models count coverage (`RNIC_COVERAGE`, anything but 0) and
/// write waveforms.
fn shared_flags() -> Vec<&'static str> {
    let counts = env::var("RNIC_COVERAGE").is_ok_and(|v| !v.is_empty() && v != "0");
    let mut flags = SHARED_FLAGS.to_vec();
    flags.push(if counts { "-DVM_COVERAGE=1" } else { "-DVM_COVERAGE=0" });
    flags.extend(match waves() {
        true => ["-DVM_TRACE=1", "-DVM_TRACE_FST=1"],
        false => ["-DVM_TRACE=0", "-DVM_TRACE_FST=0"],
    });
    flags
}

fn main() {
    for name in ["RNIC_COVERAGE", "RNIC_TRACE", "RNIC_VERILATOR", "VERILATOR_ROOT", "PATH"] {
        println!("cargo::rerun-if-env-changed={name}");
    }
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src");

    let verilator = find_verilator();
    let version_text = ask(&verilator, &["--version"]);
    let version = version_of(&version_text);
    match version {
        Some(v) if v < OLDEST => give_up(&format!(
            "{} is {version_text}; rnic-cosim needs 5.006 or newer",
            verilator.display()
        )),
        Some(v) if !TESTED.contains(&v) => println!(
            "cargo::warning=this Verilator was never tested with rnic-cosim (tested: 5.006 and 5.048): {version_text}"
        ),
        Some(_) => {}
        None => println!(
            "cargo::warning=cannot tell the version of {} from {version_text:?} (tested: 5.006 and 5.048)",
            verilator.display()
        ),
    }

    // The distribution's package and a source build have different layouts: never guess.
    let root = ask(&verilator, &["--getenv", "VERILATOR_ROOT"]);
    let include = Path::new(&root).join("include");
    if root.is_empty() || !include.join("verilated.cpp").is_file() {
        give_up(&format!(
            "{} names {root:?} as its VERILATOR_ROOT, and there is no include/verilated.cpp there",
            verilator.display()
        ));
    }
    println!("cargo::rerun-if-changed={}", include.join("verilated.cpp").display());

    let shim = Path::new("src").join("runtime.h");
    // As for the models: the difference is the compiler's time.
    let opt_level = if env::var("PROFILE").as_deref() == Ok("release") { 2 } else { 1 };
    let mut build = cc::Build::new();
    build
        .cpp(true)
        .opt_level(opt_level)
        .debug(false)
        .warnings(false)
        .include(&include)
        .include(include.join("vltstd"))
        .flag("-include")
        .flag(&shim)
        .file("src/runtime.cpp");
    let flags = shared_flags();
    for flag in &flags {
        build.flag(flag);
    }
    if flags.contains(&"-DVM_COVERAGE=1") {
        build.file(include.join("verilated_cov.cpp"));
    }
    for file in ["verilated.cpp", "verilated_threads.cpp"] {
        build.file(include.join(file));
    }
    if waves() {
        build.file(include.join("verilated_fst_c.cpp"));
    }
    let needs_lz4 = waves() && wants_system_lz4(&include);
    if needs_lz4 && !header_found(&build, "lz4.h") {
        give_up_plainly(&format!(
            "the waveform writer of {version_text} needs lz4, and lz4.h was not found\n  \
             install it: apt-get install liblz4-dev"
        ));
    }
    if waves() && !header_found(&build, "zlib.h") {
        give_up_plainly(
            "the waveform writer of Verilator needs zlib, and zlib.h was not found (or there is \
             no working C++ compiler)\n  install them: apt-get install zlib1g-dev g++",
        );
    }
    if build.try_compile("rnic_verilator_rt").is_err() {
        give_up_plainly(
            "the Verilator runtime does not compile: see the compiler's messages above",
        );
    }
    if waves() {
        println!("cargo::rustc-link-lib=z");
    }
    println!("cargo::rustc-env=RNIC_WAVES={}", u8::from(waves()));
    if needs_lz4 {
        println!("cargo::rustc-link-lib=lz4");
    }

    let here = env::var("CARGO_MANIFEST_DIR").expect("cargo sets it");
    println!("cargo::metadata=VERILATOR={}", verilator.display());
    println!("cargo::metadata=VERSION={version_text}");
    println!("cargo::rustc-env=RNIC_VERILATOR_VERSION={version_text}");
    let tested = version.is_some_and(|v| TESTED.contains(&v));
    println!("cargo::metadata=TESTED={}", u8::from(tested));
    println!("cargo::metadata=INCLUDE={}", include.display());
    let shim = Path::new(&here).join(shim);
    let prelude = precompiled(&build, &shim, &[0, opt_level]).unwrap_or_else(|| shim.clone());
    println!("cargo::metadata=SHIM={}", shim.display());
    println!("cargo::metadata=PRELUDE={}", prelude.display());
    println!("cargo::metadata=FLAGS={}", flags.join(" "));
}

/// A header for the models to include before everything else, the shim and what all of them read,
/// in the form in which the compiler has read it: one parse per optimisation level instead of one
/// per object. Nothing if the compiler is not GCC, which alone passes over such a file without a
/// word where it does not fit.
fn precompiled(like: &cc::Build, shim: &Path, opt_levels: &[u32]) -> Option<PathBuf> {
    let compiler = like.try_get_compiler().ok()?;
    if !compiler.is_like_gnu() {
        return None;
    }
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    let prelude = out.join("prelude.h");
    let text = format!(
        "#pragma once\n#include \"{}\"\n#include \"verilated.h\"\n\
         #if VM_TRACE\n#include \"verilated_fst_c.h\"\n#endif\n",
        shim.display()
    );
    std::fs::write(&prelude, text).ok()?;
    let folder = out.join("prelude.h.gch");
    std::fs::create_dir_all(&folder).ok()?;
    // Without one of them its objects take longer, no more.
    std::thread::scope(|scope| {
        for opt_level in opt_levels {
            let mut command = like.clone().opt_level(*opt_level).get_compiler().to_command();
            command.args(["-x", "c++-header"]).arg(&prelude);
            command.arg("-o").arg(folder.join(format!("O{opt_level}")));
            scope.spawn(move || command.output());
        }
    });
    Some(prelude)
}

/// `RNIC_VERILATOR`, else `$VERILATOR_ROOT/bin/verilator`, else `verilator` on `PATH`.
fn find_verilator() -> PathBuf {
    if let Some(named) = env::var_os("RNIC_VERILATOR").filter(|v| !v.is_empty()) {
        let path = PathBuf::from(named);
        if !path.is_file() {
            give_up(&format!("RNIC_VERILATOR names {}, which is no file", path.display()));
        }
        return path;
    }
    let in_root = env::var_os("VERILATOR_ROOT").map(|r| Path::new(&r).join("bin/verilator"));
    let on_path = env::var_os("PATH")
        .map(|p| env::split_paths(&p).map(|d| d.join("verilator")).collect::<Vec<_>>())
        .unwrap_or_default();
    in_root
        .into_iter()
        .chain(on_path)
        .find(|p| p.is_file())
        .unwrap_or_else(|| give_up("Verilator was not found on PATH"))
}

/// What a run of Verilator prints, without the newline at the end.
fn ask(verilator: &Path, args: &[&str]) -> String {
    match Command::new(verilator).args(args).output() {
        Ok(o) if o.status.success() => String::from_utf8_lossy(&o.stdout).trim().to_owned(),
        Ok(o) => give_up(&format!(
            "{} {} failed: {}",
            verilator.display(),
            args.join(" "),
            String::from_utf8_lossy(&o.stderr).trim()
        )),
        Err(e) => give_up(&format!("{} cannot be run: {e}", verilator.display())),
    }
}

/// `5.006` of `Verilator 5.006 2023-01-22 rev ...`.
fn version_of(text: &str) -> Option<(u32, u32)> {
    let (major, minor) = text.split_whitespace().find_map(|w| w.split_once('.'))?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// Older ones carry their own copy of lz4, newer ones use the system's.
fn wants_system_lz4(include: &Path) -> bool {
    let folders = ["gtkwave", "fstcpp"].map(|name| std::fs::read_dir(include.join(name)));
    folders
        .into_iter()
        .flatten()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .chain([include.join("verilated_fst_c.cpp")])
        .filter_map(|path| std::fs::read_to_string(path).ok())
        .any(|text| text.contains("<lz4.h>"))
}

fn header_found(build: &cc::Build, header: &str) -> bool {
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    let probe = out.join("probe.cpp");
    if let Err(e) = std::fs::write(&probe, format!("#include <{header}>\n")) {
        give_up_plainly(&format!("cannot write {}: {e}", probe.display()));
    }
    let Ok(compiler) = build.try_get_compiler() else {
        return false;
    };
    compiler
        .to_command()
        .arg("-fsyntax-only")
        .arg(&probe)
        .output()
        .is_ok_and(|o| o.status.success())
}

fn give_up(why: &str) -> ! {
    let root = match env::var("VERILATOR_ROOT") {
        Ok(root) => format!("\n  VERILATOR_ROOT is set to {root:?}: if that is wrong, unset it"),
        Err(_) => String::new(),
    };
    give_up_plainly(&format!(
        "{why}{root}\n  \
         install Verilator: apt-get install verilator (or set RNIC_VERILATOR to its path)\n  \
         or build without the hardware: cargo build --no-default-features"
    ))
}

/// One message and no backtrace.
fn give_up_plainly(why: &str) -> ! {
    eprintln!("\nerror: {why}\n");
    exit(1)
}
