//! The limit of a configuration that a declaration goes beyond, for messages.

use super::file::{CqDecl, QpDecl};
use super::names::CONFIGS;
use crate::model::{Config, Outcome};

/// Why a CQ of the setup was refused; empty where no limit is the reason.
pub(super) fn of_cq(outcome: Outcome, cq: &CqDecl, config: &Config) -> String {
    if outcome != Outcome::BadDepth {
        return String::new();
    }
    let most = |c: &Config| c.cq_depth_max;
    let larger = larger(cq.depth > 0, |c| most(c) >= cq.depth, most);
    format!("depth {}; configuration {}: 1 to {}{larger}", cq.depth, config.name, most(config))
}

/// Why a QP of the setup was refused; empty where no limit is the reason.
pub(super) fn of_qp(outcome: Outcome, qp: &QpDecl, config: &Config) -> String {
    match outcome {
        Outcome::BadTransport => format!("transport {}; RC, UC, UD are 0, 1, 2", qp.transport.0),
        Outcome::BadCeiling => {
            let sends = qp.sq_ceiling == 0 || qp.sq_ceiling > config.sq_depth;
            let (key, asked, most): (_, _, fn(&Config) -> u32) = if sends {
                ("sq_depth", qp.sq_ceiling, |c| c.sq_depth)
            } else {
                ("rq_depth", qp.rq_ceiling, |c| c.rq_depth)
            };
            let larger = larger(asked > 0, |c| most(c) >= asked, most);
            let (name, most) = (config.name, most(config));
            format!("{key} {asked}; configuration {name}: queues of 1 to {most}{larger}")
        }
        _ => String::new(),
    }
}

/// A configuration that has enough, where more is what is asked for.
fn larger(more: bool, fits: impl Fn(&Config) -> bool, most: impl Fn(&Config) -> u32) -> String {
    match CONFIGS.iter().map(|(_, c)| c).find(|c| more && fits(c)) {
        Some(c) => format!("; config = \"{}\" has {}", c.name, most(c)),
        None => String::new(),
    }
}
