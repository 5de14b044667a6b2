//! The worst case on the golden model: everything posted, everything flushed at once, nothing
//! polled.

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
    pub cq: String,
    /// Completions that the flush wanted to write.
    pub cqes_wanted: u64,
    pub cqes_written: u64,
    /// Number (from 1) of the first completion that found the CQ full.
    pub overflow_at: Option<u64>,
}

/// The whole run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Simulation {
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

/// A plan that the model cannot run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the plan cannot be simulated: {0}")]
pub struct CannotSimulate(pub String);

/// Work requests of all QPs together that a run may hold.
const MOST_WRS: u64 = 1 << 22;

/// Posts every work request of every QP unsignaled, moves all QPs to ERR and lets the hardware
/// flush until nothing is owed. Drain work requests are posted after that, as drains do.
pub fn simulate(plan: &Plan) -> Result<Simulation, CannotSimulate> {
    let config = config(plan)?;
    let policy = Policy::BOOK;
    let mut run = Run {
        machine: Machine::new(config, policy),
        out: Simulation {
            cqs: plan
                .cqs
                .iter()
                .map(|c| CqFlush {
                    cq: c.id.clone(),
                    cqes_wanted: 0,
                    cqes_written: 0,
                    overflow_at: None,
                })
                .collect(),
            ..Simulation::default()
        },
    };
    for (cqn, cq) in (0u32..).zip(&plan.cqs) {
        // The limits were checked by `config`.
        let depth = u32::try_from(cq.usable(&plan.device)).unwrap_or(0);
        run.must(&Operation::CreateCq { cqn, depth, ignore_overrun: false })?;
    }
    let qps: Vec<(u32, &Qp)> = (0u32..)
        .zip(plan.qps.iter().flat_map(|q| std::iter::repeat_n(q, q.count as usize)))
        .collect();
    for (qpn, qp) in &qps {
        run.bring_up(*qpn, qp, &policy)?;
    }
    for (qpn, _) in &qps {
        run.must(&modify(*qpn, QpState::Err, AttrMask::EMPTY))?;
    }
    for (qpn, qp) in &qps {
        if qp.drain && qp.sq_wr > 0 {
            run.must(&send(*qpn))?;
        }
        if qp.drain && qp.receives() > 0 {
            run.must(&Operation::PostRecv { qpn: *qpn, wqe_index: 0 })?;
        }
    }
    run.flush_all()?;
    let in_error = |n: &&(u32, &Qp)| run.machine.qp(n.0).is_some_and(|q| q.state == QpState::Err);
    run.out.qps_in_error = qps.iter().filter(in_error).count() as u64;
    Ok(run.out)
}

/// A configuration that holds the plan.
fn config(plan: &Plan) -> Result<Config, CannotSimulate> {
    let too = |text: String| Err(CannotSimulate(text));
    if !plan.srqs.is_empty() {
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

struct Run {
    machine: Machine,
    out: Simulation,
}

impl Run {
    /// An operation that a working model accepts.
    fn must(&mut self, op: &Operation) -> Result<(), CannotSimulate> {
        let effects = self.machine.apply(op, true).map_err(|e| CannotSimulate(e.to_string()))?;
        self.note(&effects);
        match effects.outcome {
            Outcome::Ok => Ok(()),
            other => Err(CannotSimulate(format!("the model answers {other} to {op:?}"))),
        }
    }

    fn bring_up(&mut self, qpn: u32, qp: &Qp, policy: &Policy) -> Result<(), CannotSimulate> {
        self.must(&Operation::CreateQp {
            qpn,
            transport: qp.transport.number(),
            send_cqn: qp.send_cq as u32,
            recv_cqn: qp.recv_cq as u32,
            sq_ceiling: (qp.sends() as u32).max(1),
            rq_ceiling: (qp.receives() as u32).max(1),
            sq_sig_all: false,
        })?;
        let way =
            path(&edges(qp.transport, policy), QpState::Reset, QpState::Rts).unwrap_or_default();
        for edge in way {
            self.must(&modify(qpn, edge.to, edge.row.required))?;
        }
        for _ in 0..qp.sq_wr * qp.completions_per_request {
            self.must(&send(qpn))?;
        }
        for _ in 0..if qp.srq.is_none() { qp.rq_wr } else { 0 } {
            self.must(&Operation::PostRecv { qpn, wqe_index: 0 })?;
        }
        Ok(())
    }

    /// The hardware's own steps, one per QP and round, until nothing is owed.
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
                self.must(&step)?;
            }
        }
        Ok(())
    }

    fn note(&mut self, effects: &Effects) {
        if let Some(cqe) = &effects.cqe {
            let cq = &mut self.out.cqs[cqe.cqn as usize];
            cq.cqes_wanted += 1;
            match cqe.written {
                Some(_) => cq.cqes_written += 1,
                None => {
                    cq.overflow_at.get_or_insert(cq.cqes_wanted);
                }
            }
        }
        if let Some(event) = &effects.event {
            self.out.cq_errors += u64::from(event.kinds.contains(EventKinds::CQ_ERR));
            self.out.qp_fatals += u64::from(event.kinds.contains(EventKinds::QP_FATAL));
        }
    }
}
