//! Verified reference hardware for the control plane of an RDMA NIC.
//!
//! The RTL lies in `rtl/`; this crate holds the golden model, the co-simulation of both, and the
//! tools that need no hardware at all. The program `rnic-cosim` is a thin shell around it.
//!
//! * [`model`]: the golden model, a pure function from state and operation to effects.
//! * [`policies`]: the choices that the standard leaves, by name.
//! * [`scenario`]: scenario files, checked and run on model, RTL or both.
//! * [`decode`]: meaning of pasted WQE and CQE dumps.
//! * [`explain`]: why a modify was refused. [`provision`]: whether CQs are deep enough.
//! * [`report`]: tables, timelines and pages for people.
//! * `waves` (feature `waves`): windows of FST files as text, WaveJSON and pictures.
//! * [`wqes`]: send WQEs at random, legal ones and broken ones.
//! * `hw` (feature `rtl`): safe handle of the Verilated RTL.
//! * `cosim` (feature `rtl`): driver, scoreboard and stimulus; the only place that sees both.
//!
//! # Features
//!
//! | feature | holds | needs |
//! |---|---|---|
//! | `rtl` (default) | the Verilated hardware and everything that drives it; includes `waves` | Verilator 5.006 or newer, a C++17 compiler, zlib, libclang |
//! | `waves` | reading FST files | nothing |
//! | none | model, scenarios on the model, decode, explain, provision, tables | nothing |
//!
//! # The golden model
//!
//! ```
//! use rnic_cosim::model::{Config, Machine, Operation, Outcome, Policy};
//!
//! let mut nic = Machine::new(Config::SMALL, Policy::BOOK);
//! let make = Operation::CreateCq { cqn: 1, depth: 4, ignore_overrun: false };
//! // The second argument: the wire has room.
//! assert_eq!(nic.apply(&make, true)?.outcome, Outcome::Ok);
//! assert_eq!(nic.apply(&make, true)?.outcome, Outcome::CqExists);
//! assert_eq!(nic.cq(1).map(|cq| (cq.depth, cq.occupancy)), Some((4, 0)));
//! # Ok::<(), rnic_cosim::model::NotOwed>(())
//! ```
//!
//! # A scenario
//!
//! ```
//! use rnic_cosim::scenario::{ModelEngine, parse, run};
//!
//! let scenario = parse("full.toml", r#"
//!     title = "A QP that was never connected takes no sends"
//!     [[cq]]
//!     name = "cq"
//!     depth = 2
//!     [[qp]]
//!     name = "A"
//!     state = "INIT"
//!     [[step]]
//!     do = [{ post_send = { qp = "A" } }]
//!     expect = { outcome = "bad_state", state = "INIT" }
//! "#)?;
//! let mut engine = ModelEngine::new(scenario.config, scenario.policy);
//! let trace = run(&scenario, &mut engine);
//! assert!(trace.passed());
//! let page = rnic_cosim::report::timeline::page(&trace);
//! assert!(page.starts_with("<!DOCTYPE html>"));
//! # Ok::<(), rnic_cosim::scenario::BadScenario>(())
//! ```
//!
//! # A policy by name
//!
//! ```
//! use rnic_cosim::model::Policy;
//! use rnic_cosim::policies;
//!
//! let mut policy = Policy::LINUX;
//! policies::set(&mut policy, "cq_full", "overwrite")?;
//! let wrong = policies::set(&mut policy, "cq_ful", "overwrite").unwrap_err();
//! assert!(wrong.to_string().contains("did you mean `cq_full`?"));
//! # Ok::<(), policies::PolicyError>(())
//! ```
//!
//! # A dump
//!
//! ```
//! use rnic_cosim::decode::{Options, decode};
//! use rnic_cosim::model::WqeFormat;
//!
//! let options = Options { format: Some(WqeFormat::Book), ..Options::default() };
//! let report = decode("00000a0a 00012001 00000018 00000000", &options)?;
//! assert!(report.consistent());
//! # Ok::<(), rnic_cosim::decode::Refusal>(())
//! ```
#![cfg_attr(
    feature = "rtl",
    doc = r#"
# Stimulus of your own, on hardware and model in lockstep

```
use rnic_cosim::cosim::{Cosim, Failure, Source, Timing, View};
use rnic_cosim::hw::{HwConfig, Rtl};
use rnic_cosim::model::{Channel, Operation, Policy};

/// Offers these commands, one after the other.
struct Commands(std::vec::IntoIter<Operation>);

impl Source for Commands {
    fn next(
        &mut self,
        channel: Channel,
        _: &mut View<'_>,
    ) -> Result<Option<Operation>, Failure> {
        Ok(if channel == Channel::Cmd { self.0.next() } else { None })
    }

    fn exhausted(&self) -> bool {
        self.0.len() == 0
    }
}

let commands = vec![
    Operation::CreateCq { cqn: 1, depth: 4, ignore_overrun: false },
    Operation::QueryCq { cqn: 1 },
];
let config = HwConfig::Small;
let device = Rtl::new(config, 1)?;
let mut cosim = Cosim::new(device, *config.sizes(), Policy::BOOK, &Timing::READY)?;
// Every record of the hardware is compared with the model's; a difference is an error.
cosim.run(&mut Commands(commands.into_iter()))?;
// At the end every QP and CQ that exists is queried: here the CQ.
assert_eq!(cosim.operations(), 3);
# Ok::<(), Box<dyn std::error::Error>>(())
```
"#
)]
#![deny(missing_docs)]
#![deny(unsafe_op_in_unsafe_fn)]

#[cfg(feature = "rtl")]
pub mod cosim;
#[cfg(feature = "rtl")]
pub mod hw;
pub mod provision;
pub use rnic_cosim_model as model;
#[cfg(feature = "waves")]
pub use rnic_cosim_offline::waves;
pub use rnic_cosim_offline::{decode, explain, policies, report, wqes};
use rnic_cosim_offline::{files, spelling};
pub mod scenario;

#[doc(hidden)]
pub mod cli;
