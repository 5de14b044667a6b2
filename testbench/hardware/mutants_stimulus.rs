//! The inputs and outputs of random co-simulation runs, clock by clock, for the mutants of the RTL
//! (`make mutants`): `RNIC_MUTANTS_STIMULUS` names the file that they are written to. With
//! `RNIC_MUTANTS_FAR` they are those of one of the far runs instead.

use std::path::Path;

use crate::far_runs::{self, Far};
use rnic_cosim::cosim::campaign::Case;
use rnic_cosim::cosim::stimulus::{Generator, Profile};
use rnic_cosim::cosim::{Cosim, PortLog};
use rnic_cosim::hw::{Dut, DutError, HwConfig, Rtl, abi};

/// Hardware whose ports are kept.
struct Kept {
    rtl: Rtl,
    log: PortLog,
}

impl Dut for Kept {
    fn reset(&mut self, policy: &abi::rnic_policy) -> Result<(), DutError> {
        self.log.reset(policy);
        self.rtl.reset(policy)
    }

    fn step(&mut self, stim: &abi::rnic_stim, resp: &mut abi::rnic_resp) -> Result<(), DutError> {
        self.rtl.step(stim, resp)?;
        self.log.step(stim, resp);
        Ok(())
    }

    fn open_waves(&mut self, path: &Path) -> Result<(), DutError> {
        self.rtl.open_waves(path)
    }

    fn close_waves(&mut self) {
        self.rtl.close_waves();
    }
}

#[test]
fn every_profile_passes_while_its_inputs_are_kept() {
    if !HwConfig::Small.is_built() {
        eprintln!("configuration small was left out by RNIC_CONFIGS");
        return;
    }
    let kept = std::env::var_os("RNIC_MUTANTS_STIMULUS");
    if let (Some(path), Ok(name)) = (&kept, std::env::var("RNIC_MUTANTS_FAR")) {
        assert!(far_runs::RUNS.contains(&name.as_str()), "{name} is no far run");
        let wrap = |rtl, before: Option<Kept>| Kept {
            rtl,
            log: before.map_or_else(PortLog::default, |kept| kept.log),
        };
        let log = far_runs::play(&name, Far::Mutants, wrap).expect("it ran").log;
        std::fs::write(path, log.into_bytes())
            .expect("the file of RNIC_MUTANTS_STIMULUS can be written");
        return;
    }
    let number = |name: &str, default: u64| {
        std::env::var(name).ok().and_then(|v| v.parse().ok()).unwrap_or(default)
    };
    let (seed, operations) = (number("RNIC_MUTANTS_SEED", 0), number("RNIC_MUTANTS_OPS", 300));
    let mut log = PortLog::default();
    for profile in Profile::ALL.iter() {
        let case = Case::new(profile, HwConfig::Small, &[], operations, seed);
        let sizes = *HwConfig::Small.sizes();
        let rtl = Rtl::new(HwConfig::Small, seed).expect("the hardware powers up");
        let kept = Kept { rtl, log: std::mem::take(&mut log) };
        let mut cosim = Cosim::new(kept, sizes, case.policy, &case.timing).expect("it resets");
        let mut source = Generator::new(profile, sizes, operations, seed);
        if let Err(failure) = cosim.run(&mut source) {
            panic!("{failure}\nrun it again: rnic-cosim {}", case.origin());
        }
        log = cosim.into_dut().log;
    }
    let file = log.into_bytes();
    assert!(file.len() > 100_000, "only {} bytes of inputs", file.len());
    if let Some(path) = kept {
        std::fs::write(&path, &file).expect("the file of RNIC_MUTANTS_STIMULUS can be written");
    }
}
