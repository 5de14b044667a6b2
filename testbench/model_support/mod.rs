//! Short ways to drive the golden model in tests.
#![allow(dead_code)]

use rnic_cosim::model::*;

/// Legal values for every attribute.
pub fn good_values() -> AttrValues {
    let av = AddressVector { is_global: 1, ..AddressVector::default() };
    AttrValues {
        access_flags: 7,
        qkey: 0x1111_1111,
        rq_psn: 1,
        sq_psn: 2,
        dest_qpn: 3,
        av,
        alt_av: av,
        pkey_index: 0,
        alt_pkey_index: 0,
        en_sqd_async_notify: 1,
        port: 1,
        path_mtu: 3,
        timeout: 14,
        retry_cnt: 7,
        rnr_retry: 7,
        max_qp_rd_atomic: 16,
        min_rnr_timer: 12,
        max_dest_rd_atomic: 16,
        path_mig_state: 2,
        alt_port: 1,
        alt_timeout: 14,
    }
}

/// A signaled WQE of that class in book format, with one data segment.
pub fn wqe(class: OpClass, index: u16) -> ControlSegment {
    ControlSegment {
        opcode: class.mlx5(),
        wqe_index: index,
        ds: 1,
        completion_mode: 2,
        ..ControlSegment::default()
    }
}

/// A machine and what it has brought about.
#[derive(Clone)]
pub struct Bench {
    pub m: Machine,
    /// Every CQE written, with its CQ.
    pub cqes: Vec<(u32, Cqe)>,
    /// CQEs lost.
    pub lost: usize,
    pub events: Vec<Event>,
    pub issued: Vec<Issue>,
}

impl Bench {
    pub fn new(policy: Policy) -> Self {
        Self::with(Config::DEFAULT, policy)
    }

    pub fn with(config: Config, policy: Policy) -> Self {
        Self {
            m: Machine::new(config, policy),
            cqes: Vec::new(),
            lost: 0,
            events: Vec::new(),
            issued: Vec::new(),
        }
    }

    /// Applies an operation with wire room.
    pub fn op(&mut self, op: Operation) -> Effects {
        self.try_op(op, true).unwrap_or_else(|e| panic!("{op:?}: {e}"))
    }

    pub fn try_op(&mut self, op: Operation, wire_room: bool) -> Result<Effects, NotOwed> {
        let e = self.m.apply(&op, wire_room)?;
        match e.cqe {
            Some(CqeEffect { cqn, written: Some((_, cqe)) }) => self.cqes.push((cqn, cqe)),
            Some(_) => self.lost += 1,
            None => {}
        }
        self.events.extend(e.event);
        self.issued.extend(e.issue);
        Ok(e)
    }

    /// Applies an operation that must succeed.
    pub fn ok(&mut self, op: Operation) -> Effects {
        let e = self.op(op);
        assert_eq!(e.outcome, Outcome::Ok, "{op:?} gave {e:?}");
        e
    }

    pub fn cq(&mut self, cqn: u32, depth: u32) {
        self.ok(Operation::CreateCq { cqn, depth, ignore_overrun: false });
    }

    pub fn create_qp(
        &mut self,
        qpn: u32,
        transport: Transport,
        cqs: [u32; 2],
        ceilings: [u32; 2],
    ) -> Effects {
        self.ok(Operation::CreateQp {
            qpn,
            transport: transport.number(),
            send_cqn: cqs[0],
            recv_cqn: cqs[1],
            sq_ceiling: ceilings[0],
            rq_ceiling: ceilings[1],
            sq_sig_all: false,
        })
    }

    /// A QP in RTS.
    pub fn qp(&mut self, qpn: u32, transport: Transport, cqs: [u32; 2], ceilings: [u32; 2]) {
        self.create_qp(qpn, transport, cqs, ceilings);
        self.climb(qpn);
    }

    /// RESET, INIT, RTR, RTS with exactly the required attributes.
    pub fn climb(&mut self, qpn: u32) {
        for to in [QpState::Init, QpState::Rtr, QpState::Rts] {
            self.go(qpn, to);
        }
    }

    /// One transition with exactly the required attributes.
    pub fn go(&mut self, qpn: u32, to: QpState) -> Effects {
        let e = self.modify(qpn, to, AttrMask::EMPTY);
        assert_eq!(e.outcome, Outcome::Ok, "QP {qpn} to {to}: {e:?}");
        e
    }

    /// One transition with the required attributes and `more`.
    pub fn modify(&mut self, qpn: u32, to: QpState, more: AttrMask) -> Effects {
        let qp = self.m.qp(qpn).expect("the QP exists");
        let row = transition_row(qp.transport, qp.state, to, self.m.policy());
        let required = row.map_or(AttrMask::EMPTY, |row| row.required);
        self.op(Operation::ModifyQp(Modify {
            qpn,
            attr_mask: AttrMask::STATE | required | more,
            qp_state: to.number(),
            cur_qp_state: qp.state.number(),
            values: good_values(),
        }))
    }

    pub fn state(&self, qpn: u32) -> QpState {
        self.m.qp(qpn).expect("the QP exists").state
    }

    pub fn post(&mut self, qpn: u32, control: ControlSegment) -> Effects {
        self.post_room(qpn, control, true)
    }

    pub fn post_room(&mut self, qpn: u32, control: ControlSegment, room: bool) -> Effects {
        let atomic = OpClass::from_mlx5(control.opcode).is_some_and(OpClass::is_atomic);
        let op = Operation::PostSend(PostSend {
            qpn,
            ctrl: control.pack().expect("fields fit"),
            payload_len: if atomic { 8 } else { 100 },
            ..PostSend::default()
        });
        self.try_op(op, room).expect("a post is always answered")
    }

    /// Posts `n` signaled SENDs with indices from `first` on.
    pub fn sends(&mut self, qpn: u32, first: u16, n: u16) {
        for i in first..first + n {
            assert_eq!(self.post(qpn, wqe(OpClass::Send, i)).outcome, Outcome::Ok);
        }
    }

    pub fn recvs(&mut self, qpn: u32, first: u16, n: u16) {
        for wqe_index in first..first + n {
            self.ok(Operation::PostRecv { qpn, wqe_index });
        }
    }

    /// What COMPLETE of the oldest WQE looks like.
    pub fn oldest(&self, qpn: u32, queue: Queue, status: u8) -> Complete {
        let qp = self.m.qp(qpn).expect("the QP exists");
        let (epoch, slot) = match queue {
            Queue::Send => (qp.send_epoch, qp.sq_head),
            Queue::Recv => (qp.recv_epoch, qp.rq_head),
        };
        Complete {
            qpn,
            queue,
            epoch,
            slot,
            status,
            byte_count: 100,
            opcode: 128,
            imm: 0,
            wc_flags: 0,
            solicited: false,
        }
    }

    pub fn complete(&mut self, qpn: u32, queue: Queue, status: u8) -> Effects {
        let c = self.oldest(qpn, queue, status);
        self.op(Operation::Complete(c))
    }

    /// Moves the consumer index to the producer.
    pub fn poll(&mut self, cqn: u32) {
        let index = self.m.cq(cqn).expect("the CQ exists").producer;
        self.ok(Operation::Consume { cqn, index });
    }

    /// Takes the steps that are owed until none is left, and says how many there were.
    pub fn settle(&mut self) -> usize {
        let mut steps = 0;
        while let Some(qpn) = self.m.owed_qps().min() {
            let op = self.owed_step(qpn).expect("the QP is owed something");
            self.op(op);
            steps += 1;
        }
        assert!(self.m.nothing_owed());
        steps
    }

    /// The first step owed to a QP.
    pub fn owed_step(&self, qpn: u32) -> Option<Operation> {
        let owed = self.m.owed(qpn);
        if owed.cascade {
            Some(Operation::Cascade { qpn })
        } else if owed.flush_send {
            let queue = Queue::Send;
            Some(Operation::Flush { qpn, queue })
        } else if owed.flush_recv {
            let queue = Queue::Recv;
            Some(Operation::Flush { qpn, queue })
        } else if owed.issue {
            Some(Operation::Issue { qpn })
        } else {
            None
        }
    }

    /// Indices and statuses of the CQEs of one queue, oldest first.
    pub fn seen(&self, qpn: u32, queue: Queue) -> Vec<(u16, u8)> {
        let of_queue = |(_, c): &&(u32, Cqe)| c.qpn == qpn && c.queue == queue;
        self.cqes.iter().filter(of_queue).map(|(_, c)| (c.wqe_index, c.status)).collect()
    }
}
