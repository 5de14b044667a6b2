//! Policies: where the standard or the chapters leave a choice. Straps of the RTL.

/// CUR_STATE of a MODIFY_QP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CurState {
    /// It must be the real state.
    Match,
    /// It replaces the row that judges the mask.
    Override,
}

/// What SQD does with sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Sqd {
    /// New sends are refused, all posted ones finish.
    DrainPosted,
    /// Posting is allowed and held, only issued ones finish.
    HoldUnstarted,
}

/// When a bad send WQE is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WqeCheck {
    /// When it is posted.
    AtPost,
    /// When it could go out.
    InPipeline,
}

/// The CQE of a failed completion attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CqFull {
    /// Discarded and counted; unread entries stay.
    KeepUnread,
    /// Written over the oldest entry.
    Overwrite,
}

/// What else becomes of a CQ whose completion attempt failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CqScope {
    /// Nothing.
    Affected,
    /// In error until re-created; each QP falls at its own attempt.
    Sticky,
    /// As sticky, and every QP of that CQ is in ERR at once.
    Cascade,
}

/// Link layer of the ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LinkLayer {
    /// Ethernet.
    Roce,
    /// InfiniBand.
    Infiniband,
}

/// One setting of all policies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Policy {
    /// `reset_to_err`: RESET to ERR by a call is refused.
    pub refuse_reset_to_err: bool,
    /// What CUR_STATE means.
    pub cur_state: CurState,
    /// RC SQE→RTS is in the table.
    pub rc_sqe_row: bool,
    /// SQD→RTS and SQD→SQD are allowed while draining.
    pub allow_leave_draining: bool,
    /// What SQD does with sends.
    pub sqd: Sqd,
    /// When WQEs are checked.
    pub wqe_check: WqeCheck,
    /// What becomes of a CQE for a full CQ.
    pub cq_full: CqFull,
    /// Whom a CQ error reaches.
    pub cq_scope: CqScope,
    /// Bytes.
    pub max_inline: u32,
    /// Link layer of the port.
    pub link_layer: LinkLayer,
}

impl Policy {
    /// The profile of the book's chapters, and the default.
    pub const BOOK: Policy = Policy {
        refuse_reset_to_err: false,
        cur_state: CurState::Match,
        rc_sqe_row: false,
        allow_leave_draining: false,
        sqd: Sqd::DrainPosted,
        wqe_check: WqeCheck::AtPost,
        cq_full: CqFull::KeepUnread,
        cq_scope: CqScope::Sticky,
        max_inline: 28,
        link_layer: LinkLayer::Roce,
    };

    /// What Linux' `ib_core` does.
    pub const LINUX: Policy = Policy {
        refuse_reset_to_err: true,
        cur_state: CurState::Override,
        rc_sqe_row: true,
        allow_leave_draining: true,
        sqd: Sqd::HoldUnstarted,
        wqe_check: WqeCheck::InPipeline,
        ..Policy::BOOK
    };
}

impl Default for Policy {
    fn default() -> Self {
        Self::BOOK
    }
}

/// Sizes: parameters of the RTL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Config {
    /// Name.
    pub name: &'static str,
    /// QPs.
    pub num_qp: u32,
    /// CQs.
    pub num_cq: u32,
    /// Power of two.
    pub sq_depth: u32,
    /// Power of two.
    pub rq_depth: u32,
    /// Entries of the deepest CQ.
    pub cq_depth_max: u32,
    /// Ports, numbered from 1.
    pub num_ports: u8,
    /// Entries of the P_Key table.
    pub pkey_len: u16,
    /// `ibv_mtu` number of the port.
    pub max_mtu: u8,
    /// READs and atomics outstanding at most.
    pub max_rd_atomic: u8,
    /// Memory keys.
    pub num_key: u32,
}

impl Config {
    /// 64 QPs, 16 CQs.
    pub const DEFAULT: Config = Config {
        name: "default",
        num_qp: 64,
        num_cq: 16,
        sq_depth: 64,
        rq_depth: 64,
        cq_depth_max: 65_536,
        num_ports: 2,
        pkey_len: 128,
        max_mtu: 5,
        max_rd_atomic: 16,
        num_key: 64,
    };
    /// 4 QPs, 2 CQs, queues of 4: for proofs.
    pub const SMALL: Config = Config {
        name: "small",
        num_qp: 4,
        num_cq: 2,
        sq_depth: 4,
        rq_depth: 4,
        num_key: 8,
        ..Config::DEFAULT
    };
    /// 16 QPs with queues of 1,024.
    pub const DEEP: Config =
        Config { name: "deep", num_qp: 16, sq_depth: 1024, rq_depth: 1024, ..Config::DEFAULT };
    /// 65,536 QPs, 4,096 CQs, queues of 16.
    pub const LARGE: Config = Config {
        name: "large",
        num_qp: 65_536,
        num_cq: 4096,
        sq_depth: 16,
        rq_depth: 16,
        num_key: 1024,
        ..Config::DEFAULT
    };
    /// The named configurations.
    pub const ALL: [Config; 4] = [Self::SMALL, Self::DEFAULT, Self::DEEP, Self::LARGE];
}
