//! Names that scenario files and reports use, and the values behind them.

use crate::model::{
    Arm, AttrMask, AttrValues, Config, CqSnapshot, Drain, OpClass, QpSnapshot, QpState,
};

/// `ibv_wc_status` without its prefix, by number.
pub const STATUS: &[&str] = &[
    "SUCCESS",
    "LOC_LEN_ERR",
    "LOC_QP_OP_ERR",
    "LOC_EEC_OP_ERR",
    "LOC_PROT_ERR",
    "WR_FLUSH_ERR",
    "MW_BIND_ERR",
    "BAD_RESP_ERR",
    "LOC_ACCESS_ERR",
    "REM_INV_REQ_ERR",
    "REM_ACCESS_ERR",
    "REM_OP_ERR",
    "RETRY_EXC_ERR",
    "RNR_RETRY_EXC_ERR",
    "LOC_RDD_VIOL_ERR",
    "REM_INV_RD_REQ_ERR",
    "REM_ABORT_ERR",
    "INV_EECN_ERR",
    "INV_EEC_STATE_ERR",
    "FATAL_ERR",
    "RESP_TIMEOUT_ERR",
    "GENERAL_ERR",
    "TM_ERR",
    "TM_RNDV_INCOMPLETE",
];

/// `IBV_WC_WR_FLUSH_ERR`.
pub const FLUSH: u8 = 5;

/// Name of a work-completion status; an unknown one by its number.
pub fn status_name(status: u8) -> String {
    STATUS.get(usize::from(status)).map_or_else(|| format!("status {status}"), |s| s.to_string())
}

/// Send WQE opcodes, mlx5 numbers.
pub const WQE_OPCODES: &[(&str, u8)] = &[
    ("SEND_INVAL", 1),
    ("RDMA_WRITE", 8),
    ("RDMA_WRITE_IMM", 9),
    ("SEND", 10),
    ("SEND_IMM", 11),
    ("RDMA_READ", 16),
    ("ATOMIC_CS", 17),
    ("ATOMIC_FA", 18),
];

/// What scenario files take as a send WQE opcode: the names above, and those of `ibv_wr_opcode`.
pub fn wqe_opcode_choices() -> Vec<(&'static str, u8)> {
    let verbs = OpClass::ALL.into_iter().map(|c| (c.name(), c.mlx5()));
    let known = |name: &str| WQE_OPCODES.iter().any(|(n, _)| *n == name);
    WQE_OPCODES.iter().copied().chain(verbs.filter(|(name, _)| !known(name))).collect()
}

/// How far a drain is, as a scenario file says it.
pub fn drain_name(drain: Drain) -> String {
    if drain == Drain::None { "none".to_owned() } else { drain.to_string() }
}

/// What a CQ is armed for, as a scenario file says it.
pub fn arm_name(arm: Arm) -> String {
    if arm == Arm::None { "none".to_owned() } else { arm.to_string() }
}

/// A state as a scenario file says it; `None` is a QP that does not exist.
pub fn state_name(state: Option<QpState>) -> &'static str {
    state.map_or("none", QpState::name)
}

/// Name of a send WQE opcode; an unknown one by its number.
pub fn wqe_opcode_name(opcode: u8) -> String {
    WQE_OPCODES
        .iter()
        .find(|(_, n)| *n == opcode)
        .map_or_else(|| format!("opcode {opcode:#04x}"), |(s, _)| s.to_string())
}

/// `ibv_wc_opcode` without its prefix.
pub const WC_OPCODES: &[(&str, u8)] = &[
    ("SEND", 0),
    ("RDMA_WRITE", 1),
    ("RDMA_READ", 2),
    ("COMP_SWAP", 3),
    ("FETCH_ADD", 4),
    ("RECV", 128),
    ("RECV_RDMA_WITH_IMM", 129),
];

/// The named configurations.
pub const CONFIGS: &[(&str, Config)] = &[
    ("small", Config::SMALL),
    ("default", Config::DEFAULT),
    ("deep", Config::DEEP),
    ("large", Config::LARGE),
];

/// One attribute value: its name, the mask bit it belongs to, the largest value that fits,
/// and how to write and read it.
pub struct AttrField {
    /// Name.
    pub name: &'static str,
    /// The attribute it belongs to.
    pub mask: AttrMask,
    /// Largest value that fits.
    pub max: u64,
    /// Writes it.
    pub set: fn(&mut AttrValues, u64),
    /// Reads it.
    pub get: fn(&AttrValues) -> u64,
}

macro_rules! attr_fields {
    ($($name:literal $mask:ident $ty:ty = $($path:ident).+;)+) => {
        /// All attribute values, in the names of `struct ibv_qp_attr`.
        pub const ATTR_FIELDS: &[AttrField] = &[$(AttrField {
            name: $name,
            mask: AttrMask::$mask,
            max: <$ty>::MAX as u64,
            set: |v, n| v.$($path).+ = n as $ty,
            get: |v| u64::from(v.$($path).+),
        }),+];
    };
}

attr_fields! {
    "en_sqd_async_notify" EN_SQD_ASYNC_NOTIFY u8 = en_sqd_async_notify;
    "access_flags" ACCESS_FLAGS u32 = access_flags;
    "pkey_index" PKEY_INDEX u16 = pkey_index;
    "port" PORT u8 = port;
    "qkey" QKEY u32 = qkey;
    "av.is_global" AV u8 = av.is_global;
    "av.sgid_index" AV u8 = av.sgid_index;
    "av.hop_limit" AV u8 = av.hop_limit;
    "av.traffic_class" AV u8 = av.traffic_class;
    "av.dlid" AV u16 = av.dlid;
    "av.sl" AV u8 = av.sl;
    "av.static_rate" AV u8 = av.static_rate;
    "path_mtu" PATH_MTU u8 = path_mtu;
    "timeout" TIMEOUT u8 = timeout;
    "retry_cnt" RETRY_CNT u8 = retry_cnt;
    "rnr_retry" RNR_RETRY u8 = rnr_retry;
    "rq_psn" RQ_PSN u32 = rq_psn;
    "max_qp_rd_atomic" MAX_QP_RD_ATOMIC u8 = max_qp_rd_atomic;
    "alt_av.is_global" ALT_PATH u8 = alt_av.is_global;
    "alt_av.sgid_index" ALT_PATH u8 = alt_av.sgid_index;
    "alt_av.hop_limit" ALT_PATH u8 = alt_av.hop_limit;
    "alt_av.traffic_class" ALT_PATH u8 = alt_av.traffic_class;
    "alt_av.dlid" ALT_PATH u16 = alt_av.dlid;
    "alt_av.sl" ALT_PATH u8 = alt_av.sl;
    "alt_av.static_rate" ALT_PATH u8 = alt_av.static_rate;
    "alt_pkey_index" ALT_PATH u16 = alt_pkey_index;
    "alt_port" ALT_PATH u8 = alt_port;
    "alt_timeout" ALT_PATH u8 = alt_timeout;
    "min_rnr_timer" MIN_RNR_TIMER u8 = min_rnr_timer;
    "sq_psn" SQ_PSN u32 = sq_psn;
    "max_dest_rd_atomic" MAX_DEST_RD_ATOMIC u8 = max_dest_rd_atomic;
    "path_mig_state" PATH_MIG_STATE u8 = path_mig_state;
    "dest_qpn" DEST_QPN u32 = dest_qpn;
}

/// A number that QUERY_QP shows.
pub type QpNumber = (&'static str, fn(&QpSnapshot) -> u64);

/// Numbers of QUERY_QP that can be expected by name.
pub const QP_NUMBERS: &[QpNumber] = &[
    ("sq_queued", |q| q.sq_queued.into()),
    ("rq_queued", |q| q.rq_queued.into()),
    ("sq_issued", |q| q.sq_issued.into()),
    ("sq_reads", |q| q.sq_reads.into()),
    ("sq_flush_owed", |q| q.sq_flush_owed.into()),
    ("sq_head", |q| q.sq_head.into()),
    ("rq_head", |q| q.rq_head.into()),
    ("send_epoch", |q| q.send_epoch.into()),
    ("recv_epoch", |q| q.recv_epoch.into()),
    ("stale", |q| q.stale.into()),
];

/// A number that QUERY_CQ shows.
pub type CqNumber = (&'static str, fn(&CqSnapshot) -> u64);

/// Numbers of QUERY_CQ that can be expected by name.
pub const CQ_NUMBERS: &[CqNumber] = &[
    ("occupancy", |c| c.occupancy.into()),
    ("lost", |c| c.lost.into()),
    ("producer", |c| c.producer.into()),
    ("consumer", |c| c.consumer.into()),
    ("ceiling_sum", |c| c.ceiling_sum.into()),
    ("attached", |c| c.attached.into()),
];

/// Yes-or-no facts of QUERY_CQ that can be expected by name; true is 1.
pub const CQ_FLAGS: &[CqNumber] = &[
    ("in_error", |c| c.in_error.into()),
    ("exceeds", |c| c.exceeds.into()),
    ("fault", |c| c.fault.into()),
    ("cq_err_raised", |c| c.cq_err_raised.into()),
];
