//! Are completion queues deep enough?
//!
//! The rule: with the sum of all work requests that may be outstanding on the queues of a CQ within
//! its depth, the CQ never overflows, because even a flush of everything at once fits. A [`Plan`]
//! is counted by [`check`] and can be run on RTL and golden model by [`simulate`].

#[cfg(feature = "rtl")]
mod on_rtl;

pub use rnic_cosim_offline::provision::*;

/// The worst case: everything posted, everything flushed, nothing polled. On hardware and golden
/// model in lockstep where a configuration of the hardware is large enough, else on the model.
///
/// # Errors
/// The plan is more than can be run, or hardware and model disagree.
#[cfg(feature = "rtl")]
pub fn simulate(plan: &Plan) -> Result<Simulation, CannotSimulate> {
    let need = needed(plan)?;
    match on_rtl::fitting(&need) {
        Some(config) => {
            let device = &mut on_rtl::Lockstep::new(config, plan.cqs.len())?;
            simulate_on(plan, RanOn::Lockstep { config: config.name() }, device)
        }
        None => simulate_on_model(
            plan,
            format!(
                "no configuration of the hardware has {} QPs with {} sends and {} receives each, and {} CQs",
                need.num_qp,
                plan.qps.iter().map(Qp::sends).max().unwrap_or(0),
                plan.qps.iter().map(Qp::receives).max().unwrap_or(0),
                need.num_cq
            ),
        ),
    }
}

/// The worst case: everything posted, everything flushed, nothing polled; on the golden model.
///
/// # Errors
/// The plan is more than can be run.
#[cfg(not(feature = "rtl"))]
pub fn simulate(plan: &Plan) -> Result<Simulation, CannotSimulate> {
    simulate_on_model(plan, "this program was built without the hardware".into())
}
