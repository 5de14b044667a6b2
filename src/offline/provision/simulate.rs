//! The worst case: everything posted, everything flushed, nothing polled.

use super::plan::{Plan, Qp};
use crate::explain::route::{edges, path};
use crate::explain::values::harmless;
use crate::model::{
    AttrMask, Config, Effects, EventKinds, Machine, Modify, OpClass, Operation, Outcome, Policy,
    PostSend, QpState, Queue,
};

/// What became of one CQ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CqFlush {
    /// The CQ.
    pub cq: String,
    /// Completions that the flush wanted to write.
    pub cqes_wanted: u64,
    /// CQEs written.
    pub cqes_written: u64,
    /// Number (from 1) of the first completion that found the CQ full.
    pub overflow_at: Option<u64>,
}

/// What a simulation ran on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RanOn {
    /// The golden model alone, and why.
    Model {
        /// What is wrong.
        why: String,
    },
    /// The RTL in this configuration and the golden model in lockstep.
    Lockstep {
        /// Sizes of the hardware.
        config: &'static str,
    },
}

/// The whole run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Simulation {
    /// What it ran on.
    pub ran_on: RanOn,
    /// CQs.
    pub cqs: Vec<CqFlush>,
    /// QPs in ERR at the end.
    pub qps_in_error: u64,
    /// CQ error events.
    pub cq_errors: u64,
    /// Affiliated fatal events of QPs.
    pub qp_fatals: u64,
}

impl Simulation {
    /// Did any CQ overflow?
    pub fn overflow(&self) -> bool {
        self.cqs.iter().any(|c| c.overflow_at.is_some())
    }
}

/// Why there is no result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CannotSimulate {
    /// The plan is more than can be run.
    #[error("the plan cannot be simulated: {0}; without --simulate it is counted all the same")]
    Plan(String),
    /// Hardware and model disagree, or one of them with the protocol.
    #[error("{0}")]
    Differs(String),
}

/// Work requests of all QPs together that a run may hold.
const MOST_WRS: u64 = 1 << 22;

/// The policy of all simulations.
pub const POLICY: Policy = Policy::BOOK;

/// What a plan is run on.
pub trait FlushDevice {
    /// An operation up to its outcome.
    ///
    /// # Errors
    /// The device does something that it must not do.
    fn perform(&mut self, op: &Operation) -> Result<Outcome, CannotSimulate>;
    /// The device's own steps until nothing is owed.
    ///
    /// # Errors
    /// The device does something that it must not do.
    fn flush_all(&mut self) -> Result<(), CannotSimulate>;
    /// Its state, or that of the model beside it.
    fn machine(&self) -> &Machine;
    /// What came of its completion attempts so far.
    fn tally(&self) -> &Tally;
}

/// What came of all completion attempts.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Per CQ: wanted, written, the first that found it full.
    cqs: Vec<(u64, u64, Option<u64>)>,
    cq_errors: u64,
    qp_fatals: u64,
}

impl Tally {
    /// Of so many CQs, nothing attempted yet.
    pub fn new(cqs: usize) -> Tally {
        Tally { cqs: vec![(0, 0, None); cqs], ..Tally::default() }
    }

    /// Counts what an operation did.
    pub fn note(&mut self, effects: &Effects) {
        if let Some(cqe) = &effects.cqe {
            let (wanted, written, overflow_at) = &mut self.cqs[cqe.cqn as usize];
            *wanted += 1;
            match cqe.written {
                Some(_) => *written += 1,
                None => {
                    overflow_at.get_or_insert(*wanted);
                }
            }
        }
        if let Some(event) = &effects.event {
            self.cq_errors += u64::from(event.kinds.contains(EventKinds::CQ_ERR));
            self.qp_fatals += u64::from(event.kinds.contains(EventKinds::QP_FATAL));
        }
    }
}

/// On the golden model alone, and `why` not on hardware.
///
/// # Errors
/// The plan is more than can be run.
pub fn simulate_on_model(plan: &Plan, why: String) -> Result<Simulation, CannotSimulate> {
    let device = &mut ModelAlone {
        machine: Machine::new(needed(plan)?, POLICY),
        tally: Tally::new(plan.cqs.len()),
    };
    simulate_on(plan, RanOn::Model { why }, device)
}

/// Posts every work request of every QP unsignaled, moves all QPs to ERR and lets the device
/// flush until nothing is owed. Drain work requests are posted after that, as drains do.
///
/// The device is just out of reset, under [`POLICY`], and holds [`needed`].
///
/// # Errors
/// The device does not do what the protocol asks for.
pub fn simulate_on(
    plan: &Plan,
    ran_on: RanOn,
    device: &mut impl FlushDevice,
) -> Result<Simulation, CannotSimulate> {
    for (cqn, cq) in (0u32..).zip(&plan.cqs) {
        // The limits were checked by `needed`.
        let depth = u32::try_from(cq.usable(&plan.device)).unwrap_or(0);
        let ignore_overrun = cq.ignore_overrun;
        must(device, &Operation::CreateCq { cqn, depth, ignore_overrun })?;
    }
    let qps: Vec<(u32, &Qp)> = (0u32..)
        .zip(plan.qps.iter().flat_map(|q| std::iter::repeat_n(q, q.count as usize)))
        .collect();
    for (qpn, qp) in &qps {
        bring_up(device, *qpn, qp)?;
    }
    for (qpn, _) in &qps {
        must(device, &modify(*qpn, QpState::Err, AttrMask::EMPTY))?;
    }
    for (qpn, qp) in &qps {
        if qp.drain && qp.sq_wr > 0 {
            drain(device, *qpn, Queue::Send)?;
        }
        if qp.drain && qp.receives() > 0 {
            drain(device, *qpn, Queue::Recv)?;
        }
    }
    device.flush_all()?;
    let machine = device.machine();
    let in_error = |n: &&(u32, &Qp)| machine.qp(n.0).is_some_and(|q| q.state == QpState::Err);
    let tally = device.tally();
    Ok(Simulation {
        ran_on,
        cqs: (plan.cqs.iter().zip(&tally.cqs))
            .map(|(c, &(cqes_wanted, cqes_written, overflow_at))| CqFlush {
                cq: c.id.clone(),
                cqes_wanted,
                cqes_written,
                overflow_at,
            })
            .collect(),
        qps_in_error: qps.iter().filter(in_error).count() as u64,
        cq_errors: tally.cq_errors,
        qp_fatals: tally.qp_fatals,
    })
}

/// The sizes that hold the plan.
///
/// # Errors
/// The plan is more than can be run.
pub fn needed(plan: &Plan) -> Result<Config, CannotSimulate> {
    let too = |text: String| Err(CannotSimulate::Plan(text));
    if plan.qps.iter().any(|q| q.srq.is_some()) {
        return too("shared receive queues are not modelled".into());
    }
    let qps = plan.qps.iter().map(|q| q.count).fold(0, u64::saturating_add);
    let largest = |part: fn(&Qp) -> u64| plan.qps.iter().map(part).max().unwrap_or(0).max(1);
    let (sq, rq) = (largest(Qp::sends), largest(Qp::receives));
    if sq.max(rq) > 1 << 15 {
        return too(format!("a work queue of {} is longer than 32768", sq.max(rq)));
    }
    let (sq, rq) = (sq.next_power_of_two(), rq.next_power_of_two());
    if qps > 1 << 16 || qps * (sq + rq) > MOST_WRS {
        return too(format!(
            "{qps} QPs with queues of {sq} and {rq} are more than {MOST_WRS} work requests or 65536 QPs"
        ));
    }
    for cq in &plan.cqs {
        let usable = cq.usable(&plan.device);
        if !(1..=u64::from(Config::DEFAULT.cq_depth_max)).contains(&usable) {
            return too(format!(
                "CQ {} has {usable} usable entries; the hardware has 1 to {}",
                cq.id,
                Config::DEFAULT.cq_depth_max
            ));
        }
    }
    Ok(Config {
        name: "plan",
        // All in range: checked above.
        num_qp: qps as u32,
        num_cq: plan.cqs.len() as u32,
        sq_depth: sq as u32,
        rq_depth: rq as u32,
        ..Config::DEFAULT
    })
}

fn modify(qpn: u32, to: QpState, required: AttrMask) -> Operation {
    Operation::ModifyQp(Modify {
        qpn,
        attr_mask: required | AttrMask::STATE,
        qp_state: to.number(),
        values: harmless(),
        ..Modify::default()
    })
}

/// A SEND with one segment, unsignaled.
fn send(qpn: u32) -> Operation {
    Operation::PostSend(PostSend {
        qpn,
        ctrl: [OpClass::Send.mlx5().into(), 1, 0, 0],
        ..PostSend::default()
    })
}

/// The request that a drain posts in ERR.
fn drain(device: &mut impl FlushDevice, qpn: u32, queue: Queue) -> Result<(), CannotSimulate> {
    must(
        device,
        &match queue {
            Queue::Send => send(qpn),
            Queue::Recv => Operation::PostRecv { qpn, wqe_index: 0 },
        },
    )
}

/// An operation that a working device accepts.
fn must(device: &mut impl FlushDevice, op: &Operation) -> Result<(), CannotSimulate> {
    match device.perform(op)? {
        Outcome::Ok => Ok(()),
        other => Err(CannotSimulate::Differs(format!("the device answers {other} to {op:?}"))),
    }
}

fn bring_up(device: &mut impl FlushDevice, qpn: u32, qp: &Qp) -> Result<(), CannotSimulate> {
    must(
        device,
        &Operation::CreateQp {
            qpn,
            transport: qp.transport.number(),
            send_cqn: qp.send_cq as u32,
            recv_cqn: qp.recv_cq as u32,
            sq_ceiling: (qp.sends() as u32).max(1),
            rq_ceiling: (qp.receives() as u32).max(1),
            sq_sig_all: false,
        },
    )?;
    let way = path(&edges(qp.transport, &POLICY), QpState::Reset, QpState::Rts).unwrap_or_default();
    for edge in way {
        must(device, &modify(qpn, edge.to, edge.row.required))?;
    }
    for _ in 0..qp.sq_wr * qp.completions_per_request {
        must(device, &send(qpn))?;
    }
    for _ in 0..if qp.srq.is_none() { qp.rq_wr } else { 0 } {
        must(device, &Operation::PostRecv { qpn, wqe_index: 0 })?;
    }
    Ok(())
}

/// The golden model, which takes its own steps, one per QP and round.
struct ModelAlone {
    machine: Machine,
    tally: Tally,
}

impl FlushDevice for ModelAlone {
    fn perform(&mut self, op: &Operation) -> Result<Outcome, CannotSimulate> {
        let effects =
            self.machine.apply(op, true).map_err(|e| CannotSimulate::Differs(e.to_string()))?;
        self.tally.note(&effects);
        Ok(effects.outcome)
    }

    fn flush_all(&mut self) -> Result<(), CannotSimulate> {
        while !self.machine.nothing_owed() {
            for qpn in self.machine.owed_qps().collect::<Vec<u32>>() {
                let owed = self.machine.owed(qpn);
                let step = if owed.cascade {
                    Operation::Cascade { qpn }
                } else if owed.flush_send {
                    Operation::Flush { qpn, queue: Queue::Send }
                } else if owed.flush_recv {
                    Operation::Flush { qpn, queue: Queue::Recv }
                } else {
                    Operation::Issue { qpn }
                };
                must(self, &step)?;
            }
        }
        Ok(())
    }

    fn machine(&self) -> &Machine {
        &self.machine
    }

    fn tally(&self) -> &Tally {
        &self.tally
    }
}
