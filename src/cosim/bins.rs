//! The bins of functional coverage: what a campaign is meant to reach, each with a name.
//!
//! A group is a grid of labels. Its bins are `group/label/label`, and all groups lie one behind
//! the other in one vector of counts, so that a hit is one addition.

use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Labels along one side of a group.
type Axis = &'static [&'static str];

/// Bins of one kind.
#[derive(Clone, Copy)]
pub struct Group {
    /// Name.
    pub name: &'static str,
    /// What its bins count, for people.
    pub about: &'static str,
    axes: &'static [Axis],
    at: usize,
}

impl Group {
    const fn first(name: &'static str, about: &'static str, axes: &'static [Axis]) -> Group {
        Group { name, about, axes, at: 0 }
    }

    const fn then(&self, name: &'static str, about: &'static str, axes: &'static [Axis]) -> Group {
        Group { name, about, axes, at: self.at + self.size() }
    }

    const fn size(&self) -> usize {
        let (mut n, mut i) = (1, 0);
        while i < self.axes.len() {
            n *= self.axes[i].len();
            i += 1;
        }
        n
    }

    /// Positions of its bins among all of them.
    pub fn range(&self) -> std::ops::Range<usize> {
        self.at..self.at + self.size()
    }

    fn bin_name(&self, mut n: usize) -> String {
        let mut labels = Vec::with_capacity(self.axes.len());
        for axis in self.axes.iter().rev() {
            labels.push(axis[n % axis.len()]);
            n /= axis.len();
        }
        labels.push(self.name);
        labels.reverse();
        labels.join("/")
    }
}

const TRANSPORT: Axis = &["RC", "UC", "UD"];
const STATE: Axis = &["RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR"];
const QUEUE: Axis = &["SQ", "RQ"];
const ATTRIBUTE: Axis = &[
    "STATE",
    "CUR_STATE",
    "EN_SQD_ASYNC_NOTIFY",
    "ACCESS_FLAGS",
    "PKEY_INDEX",
    "PORT",
    "QKEY",
    "AV",
    "PATH_MTU",
    "TIMEOUT",
    "RETRY_CNT",
    "RNR_RETRY",
    "RQ_PSN",
    "MAX_QP_RD_ATOMIC",
    "ALT_PATH",
    "MIN_RNR_TIMER",
    "SQ_PSN",
    "MAX_DEST_RD_ATOMIC",
    "PATH_MIG_STATE",
    "CAP",
    "DEST_QPN",
    "above",
];
/// Operations in the order of `operation_label`; those that act on a QP come
/// first.
const OPERATION: Axis = &[
    "CREATE_QP",
    "DESTROY_QP",
    "MODIFY_QP",
    "QUERY_QP",
    "POST_SEND",
    "POST_RECV",
    "COMPLETE",
    "ISSUE",
    "FLUSH",
    "CASCADE",
    "CREATE_CQ",
    "DESTROY_CQ",
    "QUERY_CQ",
    "SET_CQ_FAULT",
    "CONSUME",
    "ARM",
    "unknown cmd",
    "unknown post",
    "unknown cqdb",
    "REG_KEY",
    "DEREG_KEY",
    "POST_SEND of a WQE",
];
const QP_OPERATION: Axis = OPERATION.split_at(10).0;
const CQ_OPERATION: Axis = &[
    "CREATE_QP",
    "COMPLETE",
    "ISSUE",
    "FLUSH",
    "CREATE_CQ",
    "DESTROY_CQ",
    "QUERY_CQ",
    "SET_CQ_FAULT",
    "CONSUME",
    "ARM",
];
const OUTCOME: Axis = &[
    "ok",
    "stale",
    "rejected",
    "no_qp",
    "qp_exists",
    "qpn_range",
    "no_cq",
    "cq_exists",
    "cqn_range",
    "cq_in_error",
    "bad_transport",
    "bad_depth",
    "bad_ceiling",
    "cq_attached",
    "bad_state",
    "queue_full",
    "bad_wqe",
    "modify_refused",
    "bad_index",
    "bad_op",
    "key_range",
    "key_exists",
    "no_key",
    "bad_region",
    "bad_access",
];
const DISTANCE: Axis = &["1", "2", "3", "4"];
const ATTEMPT: Axis = &[
    "send success",
    "send error",
    "receive success",
    "receive error",
    "send flush",
    "receive flush",
    "send rejected",
];
const OUTPUT: Axis = &["rsp", "issue", "cqe", "event", "retire"];
const DEPTH: Axis = &["1", "2", "power of two", "odd", "other"];

pub(super) const MODIFY: Group = Group::first(
    "modify",
    "MODIFY_QP by transport, real state, target and the layer that decided",
    &[
        TRANSPORT,
        STATE,
        STATE,
        &["accepted", "encoding", "cur_state", "transition", "mask", "value", "drain"],
    ],
);
pub(super) const BAD_TARGET: Group = MODIFY.then(
    "modify_bad_target",
    "MODIFY_QP with a target state of 7 or above, by transport and real state",
    &[TRANSPORT, STATE],
);
pub(super) const MODIFY_REASON: Group = BAD_TARGET.then(
    "modify_reason",
    "what MODIFY_QP names as wrong on the layers mask and value",
    &[&["missing", "extra", "bad_value"], ATTRIBUTE],
);
pub(super) const OUTCOMES: Group =
    MODIFY_REASON.then("outcome", "every operation by its outcome", &[OPERATION, OUTCOME]);
pub(super) const BAD_WQE: Group = OUTCOMES.then(
    "bad_wqe",
    "what a refused POST_SEND names as wrong",
    &[&[
        "BAD_OPCODE",
        "BAD_TRANSPORT",
        "RESERVED",
        "BAD_FENCE",
        "BAD_DS",
        "WALK_FORMAT",
        "BAD_LENGTH",
        "WALK_LENGTH",
        "WALK_KEY",
    ]],
);
pub(super) const REJECTED: Group = BAD_WQE.then(
    "rejected",
    "status with which an ISSUE step completes a bad WQE",
    &[&["LOC_LEN_ERR", "LOC_QP_OP_ERR", "LOC_PROT_ERR"]],
);
pub(super) const POST: Group = REJECTED.then(
    "post",
    "posts by queue, state and answer",
    &[QUEUE, STATE, &["accepted", "bad_state", "queue_full", "bad_wqe"]],
);
pub(super) const SEND: Group = POST.then(
    "send",
    "what becomes of an accepted send at once, and of one released later, by opcode",
    &[
        &["issued", "no wire room", "waits", "released later"],
        &["WRITE", "WRITE_IMM", "SEND", "SEND_IMM", "READ", "CMP_SWAP", "FETCH_ADD", "SEND_INV"],
    ],
);
pub(super) const COMPLETE: Group = SEND.then(
    "complete",
    "COMPLETE by transport, queue, state and what it is",
    &[TRANSPORT, QUEUE, STATE, &["success", "error", "stale"]],
);
pub(super) const QP_HAZARD: Group = COMPLETE.then(
    "qp_hazard",
    "an operation, a later one on the same QP, and how far behind it retires",
    &[QP_OPERATION, QP_OPERATION, DISTANCE],
);
pub(super) const CQ_HAZARD: Group = QP_HAZARD.then(
    "cq_hazard",
    "an operation, a later one on the same CQ, and how far behind it retires; COMPLETE, ISSUE \
     and FLUSH act on a CQ when they make an entry",
    &[CQ_OPERATION, CQ_OPERATION, DISTANCE],
);
pub(super) const FAILED: Group = CQ_HAZARD.then(
    "failed",
    "failed completion attempts by cause, source, cq_full and cq_scope",
    &[
        &["full", "fault", "in error"],
        ATTEMPT,
        &["keep_unread", "overwrite"],
        &["affected", "sticky", "cascade"],
    ],
);
pub(super) const OVERRUN: Group = FAILED.then(
    "overrun",
    "an entry written over another in a CQ with ignore_overrun, by source",
    &[ATTEMPT],
);
pub(super) const FLUSH_SAME: Group = OVERRUN.then(
    "flush_same_qp",
    "operations on a QP that is owed flushes of the queues named",
    &[&["SQ", "RQ", "SQ and RQ"], QP_OPERATION],
);
pub(super) const FLUSH_OTHER: Group =
    FLUSH_SAME.then("flush_other_qp", "operations while another QP is owed flushes", &[OPERATION]);
pub(super) const WRAP: Group = FLUSH_OTHER.then(
    "wrap",
    "indices that start over, by depth of the CQ",
    &[&["producer, first lap", "producer, both laps", "consumer"], DEPTH],
);
pub(super) const WQE_WRAP: Group = WRAP.then("wqe_wrap", "WQE slots that start over", &[QUEUE]);
pub(super) const ARM_OVER: Group = WQE_WRAP.then(
    "arm_over",
    "ARM by what was armed before and what is asked for",
    &[&["none", "solicited", "next"], &["solicited", "next"]],
);
pub(super) const ARMED: Group = ARM_OVER.then(
    "armed",
    "completion attempts at an armed CQ: how armed, what comes, what becomes of it",
    &[&["solicited", "next"], ATTEMPT, &["fires", "stays", "not written"]],
);
pub(super) const ARM_AT: Group = ARMED.then(
    "arm_at",
    "ARM by the condition of the CQ",
    &[&["empty", "unread entries", "full", "fault", "in error"]],
);
pub(super) const EVENT: Group = ARM_AT.then(
    "event",
    "kinds that one event record joins",
    &[&[
        "CQ_ERR",
        "QP_FATAL",
        "CQ_ERR+QP_FATAL",
        "SQ_DRAINED",
        "CQ_ERR+SQ_DRAINED",
        "QP_FATAL+SQ_DRAINED",
        "CQ_ERR+QP_FATAL+SQ_DRAINED",
        "COMPLETION",
        "CQ_ERR+COMPLETION",
        "QP_FATAL+COMPLETION",
        "CQ_ERR+QP_FATAL+COMPLETION",
        "SQ_DRAINED+COMPLETION",
        "CQ_ERR+SQ_DRAINED+COMPLETION",
        "QP_FATAL+SQ_DRAINED+COMPLETION",
        "CQ_ERR+QP_FATAL+SQ_DRAINED+COMPLETION",
    ]],
);
pub(super) const STALLED: Group = EVENT.then(
    "stalled",
    "an output that offers something and is not taken while an operation retires; for retire, \
     that the operation itself had to wait there",
    &[OUTPUT, OPERATION],
);
pub(super) const RESET: Group = STALLED.then(
    "device_reset",
    "what the device was about when it was reset",
    &[&["operations under way", "flush owed", "issue owed", "cascade owed", "entries unread"]],
);
pub(super) const POLICY: Group = RESET.then(
    "policy",
    "runs by policy",
    &[&[
        "reset_to_err=allow",
        "reset_to_err=refuse",
        "cur_state=match",
        "cur_state=override",
        "rc_sqe_row=absent",
        "rc_sqe_row=present",
        "leave_draining=refuse",
        "leave_draining=allow",
        "sqd=drain_posted",
        "sqd=hold_unstarted",
        "wqe_check=at_post",
        "wqe_check=in_pipeline",
        "cq_full=keep_unread",
        "cq_full=overwrite",
        "cq_scope=affected",
        "cq_scope=sticky",
        "cq_scope=cascade",
        "link_layer=roce",
        "link_layer=infiniband",
    ]],
);

/// All groups, in the order of their bins.
pub const GROUPS: [Group; 24] = [
    MODIFY,
    BAD_TARGET,
    MODIFY_REASON,
    OUTCOMES,
    BAD_WQE,
    REJECTED,
    POST,
    SEND,
    COMPLETE,
    QP_HAZARD,
    CQ_HAZARD,
    FAILED,
    OVERRUN,
    FLUSH_SAME,
    FLUSH_OTHER,
    WRAP,
    WQE_WRAP,
    ARM_OVER,
    ARMED,
    ARM_AT,
    EVENT,
    STALLED,
    RESET,
    POLICY,
];

/// How many bins there are.
const BINS: usize = POLICY.at + POLICY.size();

/// Names of all bins, in order.
pub static NAMES: LazyLock<Vec<String>> = LazyLock::new(|| {
    let names = GROUPS.iter().flat_map(|g| (0..g.size()).map(|n| g.bin_name(n)));
    names.collect()
});

static BY_NAME: LazyLock<HashMap<&'static str, usize>> =
    LazyLock::new(|| NAMES.iter().enumerate().map(|(i, n)| (n.as_str(), i)).collect());

/// How often each bin was hit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bins {
    counts: Vec<u64>,
}

impl Default for Bins {
    fn default() -> Self {
        Bins { counts: vec![0; BINS] }
    }
}

impl Bins {
    /// Counts of all bins in the order of [`NAMES`].
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// The bin of a group at these labels; out of range is a fault of the caller.
    #[inline]
    pub fn hit<const N: usize>(&mut self, group: &Group, at: [usize; N]) {
        debug_assert_eq!(group.axes.len(), N);
        let mut n = 0;
        for (i, axis) in at.iter().zip(group.axes) {
            debug_assert!(*i < axis.len(), "{}: label {i} of {}", group.name, axis.len());
            n = n * axis.len() + i;
        }
        self.counts[group.at + n] += 1;
    }

    pub(super) fn add(&mut self, other: &Bins) {
        self.counts.iter_mut().zip(&other.counts).for_each(|(a, b)| *a += b);
    }
}

impl Serialize for Bins {
    /// A map of the bins that were hit, in order.
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_map(NAMES.iter().zip(&self.counts).filter(|(_, n)| **n > 0))
    }
}

impl<'de> Deserialize<'de> for Bins {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let mut bins = Bins::default();
        for (name, count) in BTreeMap::<String, u64>::deserialize(d)? {
            let at = BY_NAME.get(name.as_str()).ok_or_else(|| {
                serde::de::Error::custom(format!("no coverage bin is called `{name}`"))
            })?;
            bins.counts[*at] = count;
        }
        Ok(bins)
    }
}
