//! Compiles C++ files, each only if what it is made from has changed.
//!
//! A touched RTL file changes every model, but not the loopback, the shim's table and the
//! generated bridge, and every second counts in the loop of editing and testing.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use crate::build_models::build_stamp;

/// One object: a compiler with all its flags and one source, and the files that source reads.
pub struct Unit {
    pub name: String,
    pub build: cc::Build,
    /// Files and folders.
    pub inputs: Vec<PathBuf>,
}

/// The objects of all units, or nothing if one does not compile; the compiler's messages have
/// then been printed.
pub fn compile(units: Vec<Unit>, out: &Path) -> Option<Vec<PathBuf>> {
    let workers = env::var("NUM_JOBS").ok().and_then(|n| n.parse().ok()).unwrap_or(1);
    let waiting = Mutex::new(units);
    let objects = Mutex::new(Some(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                loop {
                    let Some(unit) = waiting.lock().expect("no worker panics").pop() else {
                        return;
                    };
                    let made = object(&unit, out);
                    let mut objects = objects.lock().expect("no worker panics");
                    match (made, objects.as_mut()) {
                        (Some(object), Some(all)) => all.push(object),
                        _ => *objects = None,
                    }
                }
            });
        }
    });
    let mut objects = objects.into_inner().expect("no worker panics")?;
    objects.sort();
    Some(objects)
}

fn object(unit: &Unit, out: &Path) -> Option<PathBuf> {
    let stamp = out.join(format!("{}.stamp", unit.name));
    let inputs: Vec<PathBuf> = unit.inputs.iter().flat_map(|input| files_of(input)).collect();
    // With the names of the inputs: one more or less is another object.
    let recipe = format!("{:?} {inputs:?}", unit.build.try_get_compiler().ok()?.to_command());
    if let Some(object) = build_stamp::note_if_current(&stamp, &recipe).map(PathBuf::from)
        && object.is_file()
    {
        return Some(object);
    }
    let object = unit.build.try_compile_intermediates().ok()?.into_iter().next()?;
    build_stamp::set(&stamp, &recipe, &inputs, &object.to_string_lossy());
    Some(object)
}

/// The file itself, or the C++ that lies directly in the folder, in order. (Verilator's lists
/// of its input files hold times.)
fn files_of(input: &Path) -> Vec<PathBuf> {
    if input.is_file() {
        return vec![input.to_owned()];
    }
    let mut files: Vec<PathBuf> = fs::read_dir(input)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|e| e == "cpp" || e == "h"))
        .collect();
    files.sort();
    files
}
