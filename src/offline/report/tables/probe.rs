//! A QP of the golden model, brought into a state to see what it does there.

use crate::explain::route::{edges, path};
use crate::explain::values::harmless;
use crate::model::{
    AttrMask, Complete, Config, Effects, Machine, Modify, OpClass, Operation, Outcome, Owed,
    Policy, PostSend, QpState, Queue, Transport, status,
};

/// One QP on one CQ.
#[derive(Clone)]
pub(crate) struct Probe {
    machine: Machine,
    transport: Transport,
}

impl Probe {
    /// The QP in that state, or nothing if the transport never holds it.
    pub fn in_state(transport: Transport, state: QpState, policy: &Policy) -> Option<Self> {
        let mut probe = Self::reset(transport, policy)?;
        match state {
            QpState::Sqe => {
                probe.walk(QpState::Rts, policy)?;
                probe.post(Queue::Send);
                probe.fail(Queue::Send);
            }
            _ => probe.walk(state, policy)?,
        }
        (probe.machine.qp(0)?.state == state).then_some(probe)
    }

    /// The QP in that state with one send posted in RTS and one receive, as far as the way there
    /// allows.
    pub fn busy_in_state(transport: Transport, state: QpState, policy: &Policy) -> Option<Self> {
        let mut probe = Self::reset(transport, policy)?;
        let sqd = state == QpState::Sqd;
        probe.walk(if sqd { QpState::Rts } else { state }, policy)?;
        probe.post(Queue::Send);
        probe.post(Queue::Recv);
        if sqd {
            probe.walk(state, policy)?;
        }
        (probe.machine.qp(0)?.state == state).then_some(probe)
    }

    fn reset(transport: Transport, policy: &Policy) -> Option<Self> {
        let mut machine = Machine::new(Config::SMALL, *policy);
        for op in [
            Operation::CreateCq { cqn: 0, depth: 8, ignore_overrun: false },
            Operation::CreateQp {
                qpn: 0,
                transport: transport.number(),
                send_cqn: 0,
                recv_cqn: 0,
                sq_ceiling: 4,
                rq_ceiling: 4,
                sq_sig_all: true,
            },
        ] {
            let effects = machine.apply(&op, true).ok()?;
            (effects.outcome == Outcome::Ok).then_some(())?;
        }
        Some(Probe { machine, transport })
    }

    fn walk(&mut self, to: QpState, policy: &Policy) -> Option<()> {
        let from = self.machine.qp(0)?.state;
        for edge in path(&edges(self.transport, policy), from, to)? {
            let modify = Modify {
                qpn: 0,
                attr_mask: edge.row.required | AttrMask::STATE,
                qp_state: edge.to.number(),
                values: harmless(),
                ..Modify::default()
            };
            let effects = self.machine.apply(&Operation::ModifyQp(modify), true).ok()?;
            (effects.outcome == Outcome::Ok).then_some(())?;
        }
        Some(())
    }

    /// Posts one work request.
    pub fn post(&mut self, queue: Queue) -> Outcome {
        let op = match queue {
            Queue::Send => Operation::PostSend(PostSend {
                qpn: 0,
                ctrl: [OpClass::Send.mlx5().into(), 1, 0, 0],
                ..PostSend::default()
            }),
            Queue::Recv => Operation::PostRecv { qpn: 0, wqe_index: 0 },
        };
        // A post always has an outcome; only internal steps can be not owed.
        self.machine.apply(&op, true).map_or(Outcome::BadOp, |e| e.outcome)
    }

    /// Reports an error for the oldest work request of the queue.
    pub fn fail(&mut self, queue: Queue) -> Option<Effects> {
        self.fail_with(queue, status::LOC_PROT_ERR)
    }

    /// The same with this status.
    pub fn fail_with(&mut self, queue: Queue, status: u8) -> Option<Effects> {
        let qp = self.machine.qp(0)?;
        let (epoch, slot) = match queue {
            Queue::Send => (qp.send_epoch, qp.sq_head),
            Queue::Recv => (qp.recv_epoch, qp.rq_head),
        };
        let complete = Complete {
            qpn: 0,
            queue,
            epoch,
            slot,
            status,
            byte_count: 0,
            opcode: 0,
            imm: 0,
            wc_flags: 0,
            solicited: false,
        };
        self.machine.apply(&Operation::Complete(complete), true).ok()
    }

    /// What the hardware owes the QP.
    pub fn owed(&self) -> Owed {
        self.machine.owed(0)
    }
}
