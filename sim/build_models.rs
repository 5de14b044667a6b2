//! The part of the build script that makes the hardware.
//!
//! Each model becomes two C++ files: what runs in every clock, never below `-O1` (`-O0` is many
//! times slower), and what runs once or only while a waveform is written, at `-O0`, since it is
//! half of the code.

use std::env;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, exit};

// The sizes of the named configurations are those that the rest of the crate uses.
use rnic_cosim_sizes::Config;

#[path = "build_objects.rs"]
mod build_objects;
#[path = "build_stamp.rs"]
pub mod build_stamp;
#[path = "top_check.rs"]
mod top_check;

/// What the C++ around a model makes of it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// The ports of `rnic_top`: a `Device`.
    Device,
    /// A block on its bench: a `Block`.
    Bench,
}

/// One model: a top module with one set of parameters.
struct Model {
    /// What `new_device` or `new_block` finds it by.
    name: &'static str,
    kind: Kind,
    top: &'static str,
    parameters: Vec<(&'static str, u32)>,
    sources: Vec<String>,
}

/// The C++ of one model.
struct Umbrellas {
    /// What Verilator made.
    folder: PathBuf,
    hot: PathBuf,
    /// A bench has none: without waveforms too little of it is cold.
    cold: Option<PathBuf>,
}

impl Model {
    fn prefix(&self) -> String {
        format!("V{}", self.name)
    }
}

/// What the runtime crate found out.
struct Verilator {
    path: PathBuf,
    include: PathBuf,
    version: String,
    tested: bool,
    runtime_header: PathBuf,
    /// What every object includes first: that header and Verilator's own.
    prelude: PathBuf,
    flags: Vec<String>,
}

impl Verilator {
    /// The runtime crate has looked at `RNIC_COVERAGE`.
    fn counts_coverage(&self) -> bool {
        self.flags.iter().any(|flag| flag == "-DVM_COVERAGE=1")
    }

    /// Nor does `RNIC_TRACE` need to be looked at again.
    fn writes_waves(&self) -> bool {
        self.flags.iter().any(|flag| flag == "-DVM_TRACE=1")
    }

    fn of_runtime_crate() -> Self {
        let get = |key: &str| {
            env::var(format!("DEP_RNIC_VERILATOR_RT_{key}"))
                .unwrap_or_else(|_| panic!("rnic-cosim-rt did not hand on {key}"))
        };
        Self {
            path: get("VERILATOR").into(),
            include: get("INCLUDE").into(),
            version: get("VERSION"),
            tested: get("TESTED") == "1",
            runtime_header: get("SHIM").into(),
            prelude: get("PRELUDE").into(),
            flags: get("FLAGS").split(' ').map(str::to_owned).collect(),
        }
    }
}

/// Further arguments for Verilator, separated by blanks.
const MORE_ARGUMENTS: &str = "RNIC_VERILATOR_ARGS";

pub fn main() {
    println!("cargo::rerun-if-env-changed=RNIC_RTL");
    println!("cargo::rerun-if-env-changed={MORE_ARGUMENTS}");
    println!("cargo::rerun-if-changed=src/hw/ffi.rs");
    watch(Path::new("sim"));
    watch(Path::new("testbench/rtl"));

    let own = env::var_os("RNIC_RTL").filter(|v| !v.is_empty()).map(PathBuf::from);
    let is_own = own.is_some();
    let rtl = own.unwrap_or_else(|| PathBuf::from("rtl"));
    let list = rtl.join("rnic.f");
    if !list.is_file() {
        give_up(&format!(
            "{} was not found: RNIC_RTL must name a folder with RTL and its file list rnic.f \
             (docs/your_rtl.md)",
            list.display()
        ));
    }
    watch(&rtl);

    let verilator = Verilator::of_runtime_crate();
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    let mut sources = read_file_list(&list, &rtl);
    sources.extend(bound_into_the_top(&rtl));
    println!("cargo::rustc-env=RNIC_RTL_DIGEST={}", digest(&sources));
    let wanted = models(&sources, &rtl, wanted_configurations().as_deref());

    let done: Vec<Result<Umbrellas, String>> = std::thread::scope(|scope| {
        let jobs: Vec<_> = wanted
            .iter()
            .map(|model| scope.spawn(|| verilate(model, &verilator, &list, &out)))
            .collect();
        jobs.into_iter().map(|job| job.join().expect("verilate does not panic")).collect()
    });
    let (mut models, mut umbrellas) = (vec![], vec![]);
    for (model, done) in wanted.into_iter().zip(done) {
        match done {
            Ok(umbrella) => {
                models.push(model);
                umbrellas.push(umbrella);
            }
            // A file of the same name need not hold the same block.
            Err(_) if is_own && model.kind == Kind::Bench => println!(
                "cargo::warning={} does not fit a block of {}: its tests will not run",
                model.name,
                rtl.display()
            ),
            // All models read the same sources: the first message says it all.
            Err(why) => give_up(&why),
        }
    }
    let abi = env::var_os("DEP_RNIC_COSIM_ABI_INCLUDE");
    let abi = PathBuf::from(abi.expect("rnic-cosim-abi hands on where its header lies"));
    if is_own {
        check_package(&models[0], &verilator, &abi, &out);
    }
    write(&out.join("models.h"), &registry(&models));
    let built: Vec<&str> = models.iter().map(|model| model.name).collect();
    println!("cargo::rustc-env=RNIC_BUILT_MODELS={}", built.join(","));

    // A third of the compiler's time lies between the two, and hardly any of the model's.
    let hot_level = if env::var("PROFILE").as_deref() == Ok("release") { 2 } else { 1 };

    let mut units = vec![];
    let mut add = |name: String, mut build: cc::Build, opt_level: u32, mut inputs: Vec<PathBuf>| {
        // Debug information would double the time and nobody steps through these files.
        build.opt_level(opt_level).debug(false);
        inputs.extend([
            verilator.include.join("verilated.h"),
            verilator.runtime_header.clone(),
            "sim".into(),
            abi.join("rnic_abi.h"),
            "src/hw/ffi.rs".into(),
        ]);
        units.push(build_objects::Unit { name, build, inputs });
    };
    // Its clones share what it asks the compiler about itself, a tenth of a second.
    let mut around = cc::Build::new();
    around_models(around.cpp(true), &verilator, &abi, &out);
    let cpp = |file: &Path| {
        let mut build = around.clone();
        build.file(file);
        build
    };
    let mut bridge = cxx_build::bridge("src/hw/ffi.rs");
    around_models(&mut bridge, &verilator, &abi, &out);
    add("bridge".into(), bridge, hot_level, vec![]);
    add("device".into(), cpp(Path::new("sim/device.cpp")), hot_level, vec![out.join("models.h")]);
    for umbrella in &umbrellas {
        let Umbrellas { folder, hot, cold } = umbrella;
        let prefix = folder.file_name().expect("it has a name").to_string_lossy();
        let parts = [("cold", cold.as_ref(), 0), ("hot", Some(hot), hot_level)];
        for (part, file, opt_level) in parts {
            let Some(file) = file else { continue };
            let inputs = vec![folder.clone(), file.clone()];
            add(format!("{prefix}_{part}"), cpp(file), opt_level, inputs);
        }
    }
    let archived = build_objects::compile(units, &out).is_some_and(|all| {
        cc::Build::new().cpp(true).objects(all).try_compile("rnic_models").is_ok()
    });
    if !archived {
        give_up("the verilated models do not compile: see the compiler's messages above");
    }
}

/// `RNIC_CONFIGS`: the configurations to build, all of them if it is not set. For the inner
/// loop of work on the RTL, where each one costs seconds.
fn wanted_configurations() -> Option<Vec<String>> {
    println!("cargo::rerun-if-env-changed=RNIC_CONFIGS");
    let text = env::var("RNIC_CONFIGS").ok().filter(|t| !t.trim().is_empty())?;
    let wanted: Vec<String> = text.split(',').map(|name| name.trim().to_owned()).collect();
    let known = Config::ALL.map(|config| config.name);
    if let Some(name) = wanted.iter().find(|name| !known.contains(&name.as_str())) {
        give_up(&format!(
            "RNIC_CONFIGS names {name:?}; the configurations are {}",
            known.join(", ")
        ));
    }
    Some(wanted)
}

/// The named configurations, and the loopback that checks the bridge itself.
fn models(sources: &[String], rtl: &Path, wanted: Option<&[String]>) -> Vec<Model> {
    let mut models: Vec<Model> = Config::ALL
        .iter()
        .filter(|config| wanted.is_none_or(|names| names.iter().any(|name| name == config.name)))
        .map(|config| Model {
            name: config.name,
            kind: Kind::Device,
            top: "rnic_top",
            parameters: vec![
                ("NUM_QP", config.num_qp),
                ("NUM_CQ", config.num_cq),
                ("SQ_DEPTH", config.sq_depth),
                ("RQ_DEPTH", config.rq_depth),
                ("CQ_DEPTH_MAX", config.cq_depth_max),
                ("NUM_PORTS", config.num_ports.into()),
                ("PKEY_LEN", config.pkey_len.into()),
                ("MAX_MTU", config.max_mtu.into()),
                ("MAX_RD_ATOMIC", config.max_rd_atomic.into()),
                ("NUM_KEY", config.num_key),
            ],
            sources: sources.to_vec(),
        })
        .collect();
    models.push(Model {
        name: "loopback",
        kind: Kind::Device,
        top: "abi_loopback",
        parameters: vec![],
        sources: vec![
            rtl.join("rnic_pkg.sv").display().to_string(),
            "testbench/rtl/abi_loopback.sv".to_owned(),
        ],
    });
    models.extend(benches(rtl));
    models
}

/// The benches of single blocks, and the RTL that each reaches: where the tests are, that is in
/// this repository.
fn benches(rtl: &Path) -> Vec<Model> {
    const BENCHES: [(&str, &[&str]); 5] = [
        (
            "gate_bench",
            &[
                "rnic_pkg.sv",
                "qp_gate_pkg.sv",
                "qp_attr_values.sv",
                "qp_gate_call.sv",
                "qp_gate_states.sv",
                "qp_gate_verdict.sv",
                "qp_gate_answer.sv",
                "qp_transition.sv",
            ],
        ),
        ("decoder_bench", &["rnic_pkg.sv", "wqe_ctrl_decoder.sv"]),
        ("ring_bench", &["rnic_pkg.sv", "cq_ring.sv"]),
        ("memory_bench", &["ram_1r1w.sv", "work_list.sv"]),
        ("walker_bench", &["rnic_pkg.sv", "ram_1r1w.sv", "key_table.sv", "wqe_segment_walker.sv"]),
    ];
    BENCHES
        .into_iter()
        .map(|(name, reached)| {
            let bench = format!("testbench/rtl/{name}.sv");
            let reached = reached.iter().map(|file| rtl.join(file).display().to_string());
            let sources = reached.chain([bench]).collect();
            Model { name, kind: Kind::Bench, top: name, parameters: vec![], sources }
        })
        .filter(|model| model.sources.iter().all(|file| Path::new(file).is_file()))
        .collect()
}

/// What all C++ that sees a model is compiled with.
fn around_models(build: &mut cc::Build, verilator: &Verilator, abi: &Path, out: &Path) {
    build
        .warnings(false)
        .include("sim")
        .include(abi)
        .include(out)
        .include(out.join("cxxbridge/include"))
        .include(&verilator.include)
        .include(verilator.include.join("vltstd"))
        .include(verilator.runtime_header.parent().expect("it lies in a folder"))
        .flag("-include")
        .flag(&verilator.prelude);
    for flag in &verilator.flags {
        build.flag(flag);
    }
}

/// Holds the numbers of the package against the C header before anything else is compiled, so
/// that what differs is said without the compiler's pages.
fn check_package(model: &Model, verilator: &Verilator, abi: &Path, out: &Path) {
    let probe = out.join("package_check.cc");
    let prefix = model.prefix();
    write(
        &probe,
        &format!(
            "#include \"{prefix}/{prefix}_rnic_pkg.h\"\n#define RNIC_PKG {prefix}_rnic_pkg\n\
             #include \"abi_check.h\"\n"
        ),
    );
    let mut build = cc::Build::new();
    build.cpp(true);
    around_models(&mut build, verilator, abi, out);
    let mut command = build.get_compiler().to_command();
    let ran = command.arg("-fsyntax-only").arg(&probe).output();
    let ran = ran.unwrap_or_else(|e| give_up(&format!("the C++ compiler cannot be run: {e}")));
    if !ran.status.success() {
        let differ = top_check::numbers_that_differ(&String::from_utf8_lossy(&ran.stderr));
        give_up(&format!(
            "rnic_pkg does not have the numbers of sim/abi/rnic_abi.h:\n{}",
            differ.join("\n")
        ));
    }
}

/// Runs Verilator into an empty folder, unless what lies there was made from the same, and writes
/// files that include all that came out.
fn verilate(
    model: &Model,
    verilator: &Verilator,
    list: &Path,
    out: &Path,
) -> Result<Umbrellas, String> {
    let prefix = model.prefix();
    let folder = out.join(&prefix);
    let mut command = Command::new(&verilator.path);
    command
        .args(["--cc", "--no-timing", "--assert"])
        // One function of 10,000 lines takes the compiler twice as long as forty of them and
        // gains it 4 %.
        .args(["--output-split-cfuncs", "300"])
        .args(["--x-assign", "fast", "--x-initial", "unique"])
        .args(["--prefix", &prefix, "--top-module", model.top, "--Mdir"])
        .arg(&folder);
    if verilator.counts_coverage() {
        // Optimised, the counters of combinational blocks stand still at 1.
        command.args(["-O0", "--coverage-line", "--coverage-user"]);
    } else {
        command.arg("-O3");
    }
    if model.kind == Kind::Device && verilator.writes_waves() {
        command.args(["--trace-fst", "--no-trace-params"]);
    }
    for (name, value) in &model.parameters {
        command.arg(format!("-G{name}={value}"));
    }
    if !verilator.tested {
        // Every version warns of something else; that must not stop a user who has it.
        command.arg("-Wno-fatal");
    }
    if let Ok(more) = env::var(MORE_ARGUMENTS) {
        command.args(more.split_whitespace());
    }
    command.arg("sim/rnic.vlt").args(&model.sources);
    // In the folder, so that the two go together.
    let stamp = folder.join("stamp");
    let recipe = format!("{command:?}");
    if build_stamp::note_if_current(&stamp, &recipe).is_none() {
        // Files of an earlier run with other options would be compiled along.
        if folder.exists() {
            fs::remove_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        }
        fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        let ran = command
            .output()
            .map_err(|e| format!("{} cannot be run: {e}", verilator.path.display()))?;
        if !ran.status.success() {
            let stderr = String::from_utf8_lossy(&ran.stderr);
            return Err(top_check::explained(list, &stderr).unwrap_or_else(|| {
                format!(
                    "{} refuses the RTL of configuration {}:\n\n{}",
                    verilator.version,
                    model.name,
                    stderr.trim()
                )
            }));
        }
        let read = what_it_read(&folder.join(format!("{prefix}__ver.d")));
        if !read.is_empty() {
            build_stamp::set(&stamp, &recipe, &read, "");
        }
    }
    if model.kind == Kind::Device {
        let header = folder.join(format!("{prefix}.h"));
        let text = fs::read_to_string(&header).map_err(|e| format!("{}: {e}", header.display()))?;
        top_check::check_ports(&text)?;
        if !folder.join(format!("{prefix}_rnic_pkg.h")).is_file() {
            return Err(format!(
                "the RTL of {} uses no package rnic_pkg with /*verilator public*/ numbers: its \
                 records and numbers are what the co-simulation speaks",
                list.display()
            ));
        }
    }

    // Their names and number depend on the design and on Verilator: never guessed.
    let mut generated: Vec<String> = fs::read_dir(&folder)
        .map_err(|e| format!("{}: {e}", folder.display()))?
        .flatten()
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| name.ends_with(".cpp"))
        .collect();
    generated.sort();
    let is_cold = |name: &&String| {
        model.kind == Kind::Device
            && ["__Slow", "__Trace__", "__Syms", "__Dpi"].iter().any(|part| name.contains(part))
    };
    let (cold, hot): (Vec<&String>, Vec<&String>) = generated.iter().partition(is_cold);
    let include = |files: Vec<&String>| -> String {
        files.iter().map(|file| format!("#include \"{prefix}/{file}\"\n")).collect()
    };
    let umbrellas = Umbrellas {
        folder,
        hot: out.join(format!("{prefix}_hot.cc")),
        cold: (model.kind == Kind::Device).then(|| out.join(format!("{prefix}_cold.cc"))),
    };
    write(&umbrellas.hot, &(include(hot) + &shim(model)));
    if let Some(file) = &umbrellas.cold {
        write(file, &include(cold));
    }
    Ok(umbrellas)
}

/// The files that a run of Verilator has read, out of the rule for `make` that it wrote: targets,
/// a colon, what they depend on.
fn what_it_read(rule: &Path) -> Vec<PathBuf> {
    let text = fs::read_to_string(rule).unwrap_or_default();
    let names = text.split_once(" : ").map_or("", |(_, inputs)| inputs);
    names.split_whitespace().filter(|name| *name != "\\").map(PathBuf::from).collect()
}

/// What makes a device or a bench of the model, and holds its constants against the header.
fn shim(model: &Model) -> String {
    let (name, prefix) = (model.name, model.prefix());
    let (before, interface) = match model.kind {
        Kind::Device => (
            format!(
                "#include \"{prefix}/{prefix}_rnic_pkg.h\"\n\
                 #define RNIC_PKG {prefix}_rnic_pkg\n\
                 #include \"abi_check.h\"\n\
                 #include \"verilated_device.h\"\n"
            ),
            "Device",
        ),
        Kind::Bench => ("#include \"verilated_block.h\"\n".to_owned(), "Block"),
    };
    format!(
        "{before}\
         namespace rnic {{\n\
         std::unique_ptr<{interface}> make_{name}(uint64_t seed) {{\n    \
             return std::make_unique<Verilated{interface}<{prefix}>>(seed);\n\
         }}\n\
         }}\n"
    )
}

/// The tables that `new_device` and `new_block` look their names up in.
fn registry(models: &[Model]) -> String {
    let mut text = String::from(
        "#pragma once\n#include \"block.h\"\n#include \"device.h\"\nnamespace rnic {\n",
    );
    for (kind, interface) in [(Kind::Device, "Device"), (Kind::Bench, "Block")] {
        let models = || models.iter().filter(|model| model.kind == kind);
        let made = format!("std::unique_ptr<{interface}>");
        for model in models() {
            let _ = writeln!(text, "{made} make_{}(uint64_t seed);", model.name);
        }
        let _ = writeln!(
            text,
            "struct {interface}Entry {{ const char* name; {made} (*make)(uint64_t); }};\n\
             constexpr {interface}Entry k{interface}s[] = {{"
        );
        for model in models() {
            let _ = writeln!(text, "    {{\"{0}\", make_{0}}},", model.name);
        }
        // An array of none is no array.
        let _ = writeln!(text, "    {{nullptr, nullptr}},\n}};");
    }
    text + "}\n"
}

/// The files that `rnic.f` names, relative to the folder that it lies in, as `-F` reads it.
fn read_file_list(list: &Path, rtl: &Path) -> Vec<String> {
    let text =
        fs::read_to_string(list).unwrap_or_else(|e| give_up(&format!("{}: {e}", list.display())));
    let mut files = vec![];
    for (number, line) in text.lines().enumerate() {
        let name = line.split("//").next().unwrap_or("").trim();
        if name.is_empty() {
            continue;
        }
        let file = rtl.join(name);
        if !file.is_file() {
            give_up(&format!(
                "{}:{}: {} is not there; the list names files relative to its own folder",
                list.display(),
                number + 1,
                file.display()
            ));
        }
        files.push(file.display().to_string());
    }
    files
}

/// The assertions of the RTL, if it has any, and what waveforms show: RTL with other insides
/// brings its own watch, or an empty one.
fn bound_into_the_top(rtl: &Path) -> Vec<String> {
    let there = |name: &str| Some(rtl.join(name)).filter(|file| file.is_file());
    let watch = there("rnic_watch.sv").unwrap_or_else(|| "sim/rnic_watch.sv".into());
    there("rnic_checks.sv").into_iter().chain([watch]).map(|f| f.display().to_string()).collect()
}

/// Names the hardware by its sources, so that a kept failure can say what it was seen on. The
/// same on every machine: FNV-1a over names and contents.
fn digest(sources: &[String]) -> String {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    for source in sources {
        let path = Path::new(source);
        let text = fs::read(path).unwrap_or_else(|e| give_up(&format!("{source}: {e}")));
        let name = path.file_name().unwrap_or_default().as_encoded_bytes();
        for byte in name.iter().chain(&[0]).chain(&text).chain(&[0]) {
            hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    format!("{hash:016x}")
}

/// Every file in the folder, and the folder itself for new ones.
fn watch(folder: &Path) {
    println!("cargo::rerun-if-changed={}", folder.display());
}

fn write(path: &Path, text: &str) {
    if let Err(e) = fs::write(path, text) {
        give_up(&format!("cannot write {}: {e}", path.display()));
    }
}

/// One message and no backtrace.
fn give_up(why: &str) -> ! {
    eprintln!("\nerror: {why}\n");
    exit(1)
}
