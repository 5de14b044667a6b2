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
