//! One queue pair: its two queues and the edges between its states.

use super::{
    AttrMask, AttrValues, CqScope, Drain, GateContext, Policy, QpSnapshot, QpState, Queue, Sqd,
    Transport, values,
};

/// A queue pair context, one cache line: with 65,536 of them every operation is a miss.
///
/// A destroyed one keeps its epochs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[repr(align(64))]
pub(crate) struct Qp {
    pub exists: bool,
    pub transport: Transport,
    /// The state as last written; see [`Qp::untaken`] for errors it has yet to take.
    pub state: QpState,
    pub sq_sig_all: bool,
    pub drain: Drain,
    pub event_owed: bool,
    pub fatal_raised: bool,
    /// The error of the send CQ, of the receive CQ, has been taken.
    pub taken: [bool; 2],
    /// Send CQ, receive CQ.
    pub cqn: [u32; 2],
    pub sq_ceiling: u16,
    pub rq_ceiling: u16,
    /// Slot of the oldest send.
    pub sq_head: u16,
    pub sq_queued: u16,
    pub sq_issued: u16,
    /// Of the oldest sends, how many SQE → RTS has left to be flushed.
    pub sq_flush_owed: u16,
    pub sq_reads: u16,
    pub rq_head: u16,
    pub rq_queued: u16,
    pub send_epoch: u16,
    pub recv_epoch: u16,
    pub attr_set: AttrMask,
    pub stale: u32,
    /// `ibv_mtu` number with which messages are cut: that of the path, on UD that of the port.
    pub mtu: u8,
}

/// What a QP's own steps could do now, wire room given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Owed {
    /// An ISSUE step could release or reject the next waiting send.
    pub issue: bool,
    /// Sends wait for their flush.
    pub flush_send: bool,
    /// Receives wait for their flush.
    pub flush_recv: bool,
    /// The error of a CQ has not been taken; nothing else acts before.
    pub cascade: bool,
}

impl Owed {
    /// At least one step is owed.
    pub const fn any(self) -> bool {
        self.issue || self.flush_send || self.flush_recv || self.cascade
    }
}

impl Qp {
    /// May the queue's completions be reported by the transport engine?
    pub const fn live(&self, queue: Queue) -> bool {
        match queue {
            Queue::Send => matches!(self.state, QpState::Rts | QpState::Sqd),
            Queue::Recv => {
                matches!(self.state, QpState::Rtr | QpState::Rts | QpState::Sqd | QpState::Sqe)
            }
        }
    }

    /// Is a (QP, role) untaken, given which of its CQs are in error?
    pub fn untaken(&self, cq_errors: [bool; 2], policy: &Policy) -> bool {
        policy.cq_scope == CqScope::Cascade
            && ((cq_errors[0] && !self.taken[0]) || (cq_errors[1] && !self.taken[1]))
    }

    /// May waiting sends leave?
    pub fn sends_run(&self, policy: &Policy) -> bool {
        match self.state {
            QpState::Rts => true,
            QpState::Sqd => policy.sqd == Sqd::DrainPosted,
            _ => false,
        }
    }

    pub fn gate_context(&self, attrs: &AttrValues) -> GateContext {
        GateContext {
            transport: self.transport.number(),
            state: self.state.number(),
            draining: self.drain == Drain::Draining,
            mig_armed: self.attr_set.contains(AttrMask::PATH_MIG_STATE)
                && attrs.path_mig_state == values::ARMED,
        }
    }

    /// Issued sends are no longer issued, a drain ends without event.
    fn stop_sending(&mut self) {
        self.sq_issued = 0;
        self.sq_reads = 0;
        self.sq_flush_owed = 0;
        self.drain = Drain::None;
        self.event_owed = false;
    }

    pub fn enter_err(&mut self) {
        self.stop_sending();
        self.state = QpState::Err;
    }

    pub fn enter_sqe(&mut self) {
        self.stop_sending();
        self.state = QpState::Sqe;
        self.send_epoch = self.send_epoch.wrapping_add(1);
    }

    /// Empties the QP. Its epochs outlive this; the present errors of its CQs count as taken.
    pub fn enter_reset(&mut self, cq_errors: [bool; 2]) {
        self.stop_sending();
        self.state = QpState::Reset;
        self.attr_set = AttrMask::EMPTY;
        (self.sq_head, self.sq_queued) = (0, 0);
        (self.rq_head, self.rq_queued) = (0, 0);
        self.send_epoch = self.send_epoch.wrapping_add(1);
        self.recv_epoch = self.recv_epoch.wrapping_add(1);
        self.fatal_raised = false;
        self.taken = cq_errors;
    }

    /// RTS → SQD. True if the drain event fires at once.
    pub fn enter_sqd(&mut self, notify: bool, policy: &Policy) -> bool {
        self.state = QpState::Sqd;
        self.drain = Drain::Draining;
        self.event_owed = notify;
        self.drained_now(policy)
    }

    /// SQD or SQE → RTS; from SQE, what is queued is still to be flushed.
    pub fn enter_rts(&mut self) {
        if self.state == QpState::Sqe {
            self.sq_flush_owed = self.sq_queued;
        }
        self.drain = Drain::None;
        self.event_owed = false;
        self.state = QpState::Rts;
    }

    /// Takes the edge draining → drained if nothing is waited for. True if its event fires.
    pub fn drained_now(&mut self, policy: &Policy) -> bool {
        let waited_for = match policy.sqd {
            Sqd::DrainPosted => self.sq_queued,
            Sqd::HoldUnstarted => self.sq_issued,
        };
        if self.drain != Drain::Draining || waited_for != 0 {
            return false;
        }
        self.drain = Drain::Drained;
        std::mem::take(&mut self.event_owed)
    }

    pub fn snapshot(&self, attrs: &AttrValues) -> QpSnapshot {
        QpSnapshot {
            state: self.state,
            transport: self.transport,
            sq_sig_all: self.sq_sig_all,
            drain: self.drain,
            event_owed: self.event_owed,
            qp_fatal_raised: self.fatal_raised,
            send_cqn: self.cqn[0],
            recv_cqn: self.cqn[1],
            sq_ceiling: self.sq_ceiling,
            rq_ceiling: self.rq_ceiling,
            sq_head: self.sq_head,
            sq_queued: self.sq_queued,
            sq_issued: self.sq_issued,
            sq_flush_owed: self.sq_flush_owed,
            sq_reads: self.sq_reads,
            rq_head: self.rq_head,
            rq_queued: self.rq_queued,
            send_epoch: self.send_epoch,
            recv_epoch: self.recv_epoch,
            attr_set: self.attr_set,
            stale: self.stale,
            attr: visible(attrs, self.attr_set),
        }
    }
}

/// The attributes that are set; the others read 0.
fn visible(stored: &AttrValues, set: AttrMask) -> AttrValues {
    let mut shown = AttrValues::default();
    store(&mut shown, stored, set);
    shown
}

/// Copies the named attributes.
pub(crate) fn store(into: &mut AttrValues, from: &AttrValues, named: AttrMask) {
    let has = |attr| named.contains(attr);
    if has(AttrMask::EN_SQD_ASYNC_NOTIFY) {
        into.en_sqd_async_notify = from.en_sqd_async_notify;
    }
    if has(AttrMask::ACCESS_FLAGS) {
        into.access_flags = from.access_flags;
    }
    if has(AttrMask::PKEY_INDEX) {
        into.pkey_index = from.pkey_index;
    }
    if has(AttrMask::PORT) {
        into.port = from.port;
    }
    if has(AttrMask::QKEY) {
        into.qkey = from.qkey;
    }
    if has(AttrMask::AV) {
        into.av = from.av;
    }
    if has(AttrMask::PATH_MTU) {
        into.path_mtu = from.path_mtu;
    }
    if has(AttrMask::TIMEOUT) {
        into.timeout = from.timeout;
    }
    if has(AttrMask::RETRY_CNT) {
        into.retry_cnt = from.retry_cnt;
    }
    if has(AttrMask::RNR_RETRY) {
        into.rnr_retry = from.rnr_retry;
    }
    if has(AttrMask::RQ_PSN) {
        into.rq_psn = from.rq_psn;
    }
    if has(AttrMask::MAX_QP_RD_ATOMIC) {
        into.max_qp_rd_atomic = from.max_qp_rd_atomic;
    }
    if has(AttrMask::ALT_PATH) {
        into.alt_av = from.alt_av;
        into.alt_pkey_index = from.alt_pkey_index;
        into.alt_port = from.alt_port;
        into.alt_timeout = from.alt_timeout;
    }
    if has(AttrMask::MIN_RNR_TIMER) {
        into.min_rnr_timer = from.min_rnr_timer;
    }
    if has(AttrMask::SQ_PSN) {
        into.sq_psn = from.sq_psn;
    }
    if has(AttrMask::MAX_DEST_RD_ATOMIC) {
        into.max_dest_rd_atomic = from.max_dest_rd_atomic;
    }
    if has(AttrMask::PATH_MIG_STATE) {
        into.path_mig_state = from.path_mig_state;
    }
    if has(AttrMask::DEST_QPN) {
        into.dest_qpn = from.dest_qpn;
    }
}
