//! Every scenario file that comes with the project holds on the golden model.

use std::path::{Path, PathBuf};

use rnic_cosim::scenario::{ModelEngine, parse, run};

fn scenarios() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios");
    let mut folders = vec![root];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("the scenarios folder can be read") {
            let path = entry.expect("its entries too").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "toml") {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

#[test]
fn every_scenario_holds_on_the_model() {
    let mut wrong = String::new();
    let files = scenarios();
    assert!(files.len() >= 8, "the walkthroughs are missing");
    for path in &files {
        let text = std::fs::read_to_string(path).expect("readable");
        let name = path.display().to_string();
        match parse(&name, &text) {
            Err(e) => wrong += &format!("{e}\n\n"),
            Ok(s) => {
                let trace = run(&s, &mut ModelEngine::new(s.config, s.policy));
                if let Some(d) = &trace.defect {
                    wrong += &format!("{name}: {d}\n");
                }
                for step in &trace.steps {
                    for f in &step.failures {
                        wrong += &format!(
                            "{name}:{}: step {}: {}: expected {}, got {}\n",
                            f.line, step.number, f.what, f.expected, f.got
                        );
                    }
                }
                assert!(trace.checked() > 0, "{name} checks nothing");
            }
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

#[cfg(feature = "rtl")]
mod on_the_rtl {
    use rnic_cosim::hw::{HwConfig, Rtl};
    use rnic_cosim::report::steps::verdict;
    use rnic_cosim::scenario::{BareEngine, Engine, LockstepEngine, Scenario, Trace};

    use super::*;

    fn all_hold(which: impl Fn(&Scenario) -> bool, run_one: impl Fn(&Scenario, Rtl) -> Trace) {
        let mut wrong = String::new();
        for path in scenarios() {
            let text = std::fs::read_to_string(&path).expect("readable");
            let s = parse(&path.display().to_string(), &text).expect("a good file");
            if !which(&s) {
                continue;
            }
            let config = HwConfig::from_name(s.config.name).expect("a configuration of the RTL");
            if !config.is_built() {
                eprintln!("{}: configuration left out by RNIC_CONFIGS", path.display());
                continue;
            }
            let trace = run_one(&s, Rtl::new(config, 7).expect("powers up"));
            if !trace.passed() {
                wrong += &verdict(&trace);
            }
        }
        assert!(wrong.is_empty(), "\n{wrong}");
    }

    #[test]
    fn every_scenario_holds_in_lockstep() {
        let all = |_: &Scenario| true;
        all_hold(all, |s, device| {
            let mut engine = LockstepEngine::new(device, s.config, s.policy).expect("comes up");
            run(s, &mut engine as &mut dyn Engine)
        });
    }

    #[test]
    fn every_scenario_holds_on_the_rtl_alone() {
        // Alone, it is asked for every QP after every step: minutes where there are thousands.
        let few = |s: &Scenario| s.names.groups.iter().all(|g| g.count < 1000);
        all_hold(few, |s, device| {
            let mut engine = BareEngine::new(device, s.policy).expect("comes up");
            run(s, &mut engine as &mut dyn Engine)
        });
    }
}

#[test]
fn the_guide_names_every_outcome_and_event() {
    use rnic_cosim::model::{EventKinds, Outcome};
    let guide = include_str!("../../docs/scenarios.md");
    let outcomes = Outcome::ALL.iter().map(|o| o.name().to_owned());
    for name in outcomes.chain(EventKinds(0xf).names()) {
        assert!(guide.contains(&format!("`{name}`")), "{name}");
    }
}

#[test]
fn the_guide_names_every_opcode_status_and_wqe_error() {
    use rnic_cosim::model::WqeErrors;
    use rnic_cosim::scenario::names::{STATUS, wqe_opcode_choices};
    let guide = include_str!("../../docs/scenarios.md");
    let opcodes = wqe_opcode_choices().into_iter().map(|(name, _)| name);
    let errors = WqeErrors::NAMED.iter().map(|(_, name)| *name);
    for name in opcodes.chain(STATUS.iter().copied()).chain(errors) {
        assert!(guide.contains(&format!("`{name}`")), "{name}");
    }
}
