//! What a scenario file says, once it is known to make sense.

use super::naming::{Given, Names};
use crate::model::{
    AccessFlags, Arm, AttrMask, AttrValues, Complete, Config, Drain, EventKinds, Layer, Lkey,
    Operation, Outcome, Policy, PostSend, PostWqe, QpState, Queue, Transport, WqeErrors,
};

/// A scenario that has been read and checked.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// Name of the file as the user gave it.
    pub file: String,
    /// Title.
    pub title: String,
    /// Free text under the title, may be empty.
    pub text: String,
    /// Sizes of the hardware.
    pub config: Config,
    /// Single policies of the file, name and value.
    pub settings: Vec<(String, String)>,
    /// Name of the profile that the policy started from.
    pub profile: &'static str,
    /// The choices made.
    pub policy: Policy,
    /// CQs.
    pub cqs: Vec<CqDecl>,
    /// QPs.
    pub qps: Vec<QpDecl>,
    /// Names of all QPs and CQs, also of those that steps create.
    pub names: Names,
    /// What was done, in order.
    pub steps: Vec<Step>,
}

/// A completion queue to create.
#[derive(Clone, Debug)]
pub struct CqDecl {
    /// Line of the file where it is declared.
    pub line: usize,
    pub name: String,
    pub cqn: u32,
    /// Entries.
    pub depth: u32,
    pub ignore_overrun: bool,
}

impl CqDecl {
    /// Its name, given at this moment.
    pub fn given(&self, since: usize) -> Given {
        Given { name: self.name.clone(), first: self.cqn, members: None, since }
    }

    /// The operation that creates it.
    pub fn operation(&self) -> Operation {
        Operation::CreateCq {
            cqn: self.cqn,
            depth: self.depth,
            ignore_overrun: self.ignore_overrun,
        }
    }
}

/// A queue pair to create and to bring up.
#[derive(Clone, Debug)]
pub struct QpDecl {
    /// Line of the file where it is declared.
    pub line: usize,
    pub name: String,
    /// Number of the first one.
    pub qpn: u32,
    /// So many alike, with numbers in a row.
    pub count: u32,
    /// Has a group's name.
    pub group: bool,
    pub transport: TransportCode,
    pub send_cqn: u32,
    pub recv_cqn: u32,
    /// Work requests.
    pub sq_ceiling: u32,
    pub rq_ceiling: u32,
    pub sq_sig_all: bool,
    /// Brought up to this state with every required attribute.
    pub state: QpState,
}

impl QpDecl {
    /// Its name, given at this moment.
    pub fn given(&self, since: usize) -> Given {
        let members = self.group.then_some(self.count);
        Given { name: self.name.clone(), first: self.qpn, members, since }
    }

    /// QP numbers of all.
    pub fn qpns(&self) -> std::ops::Range<u32> {
        self.qpn..self.qpn + self.count
    }

    /// The operation that creates one of them.
    pub fn operation(&self, qpn: u32) -> Operation {
        Operation::CreateQp {
            qpn,
            transport: self.transport.0,
            send_cqn: self.send_cqn,
            recv_cqn: self.recv_cqn,
            sq_ceiling: self.sq_ceiling,
            rq_ceiling: self.rq_ceiling,
            sq_sig_all: self.sq_sig_all,
        }
    }
}

/// The two-bit hardware encoding of a transport; 3 is sayable, to be refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TransportCode(pub u8);

impl TransportCode {
    /// The transport, unless this is the unused encoding.
    pub fn transport(self) -> Option<Transport> {
        Transport::from_number(self.0)
    }
}

/// One `[[step]]`.
#[derive(Clone, Debug)]
pub struct Step {
    /// Line of the file where it starts.
    pub line: usize,
    pub text: String,
    pub actions: Vec<Action>,
    /// The hardware finishes its own owed work after each action.
    pub settle: bool,
    pub outcomes: Outcomes,
    pub checks: Vec<Check>,
}

/// What is expected of the answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcomes {
    /// Of every operation of the step.
    All(Outcome),
    /// One per operation of the step.
    Each(Vec<Outcome>),
    /// Not looked at.
    Any,
}

/// Something that a step does.
#[derive(Clone, Debug)]
pub enum Action {
    CreateCq(CqDecl),
    CreateQp(QpDecl),
    DestroyCq {
        cqn: u32,
    },
    DestroyQp {
        qpn: u32,
    },
    QueryCq {
        cqn: u32,
    },
    QueryQp {
        qpn: u32,
    },
    Modify(ModifyAsk),
    /// `first`: WQE index of the first one; without it the queue's running number.
    PostSend {
        wqe: PostSend,
        count: u32,
        first: Option<u16>,
    },
    PostRecv {
        qpn: u32,
        count: u32,
        first: Option<u16>,
    },
    /// A send WQE in its send queue; `first` as above.
    PostWqe {
        wqe: Box<PostWqe>,
        first: Option<u16>,
        /// What of it has no effect, or another one than it seems, and why.
        remarks: Vec<String>,
    },
    RegKey {
        lkey: Lkey,
        region: RegionAsk,
    },
    DeregKey {
        lkey: Lkey,
    },
    Complete(CompleteAsk),
    Fault {
        cqn: u32,
        inaccessible: bool,
    },
    /// Software reads entries and does not tell the device. All readable ones without `count`.
    Poll {
        cqn: u32,
        count: Option<u32>,
    },
    /// Software reads entries and tells the device.
    Consume {
        cqn: u32,
        what: ConsumeAsk,
    },
    Arm {
        cqn: u32,
        solicited_only: bool,
    },
    /// Whether the wire takes new work.
    Wire {
        room: bool,
    },
    /// Let the hardware finish what it owes, or run this many clocks.
    Wait(WaitAsk),
    /// Reset of the hardware: every QP and CQ is gone.
    Reset,
    /// The same for each of these QPs, one after the other, nothing settling in between.
    Each {
        qpns: std::ops::Range<u32>,
        action: Box<Action>,
    },
}

impl Action {
    /// The same for another QP. What is not about a QP stays as it is.
    /// (COMPLETE of several is one action, put together where it runs.)
    pub fn on(&self, qpn: u32) -> Action {
        let mut action = self.clone();
        match &mut action {
            Action::DestroyQp { qpn: q }
            | Action::QueryQp { qpn: q }
            | Action::PostRecv { qpn: q, .. } => *q = qpn,
            Action::Modify(m) => m.qpn = qpn,
            Action::PostSend { wqe, .. } => {
                // A raw control segment may name any number.
                if wqe.ctrl[1] >> 8 == wqe.qpn & 0xff_ffff {
                    wqe.ctrl[1] = (qpn & 0xff_ffff) << 8 | wqe.ctrl[1] & 0xff;
                }
                wqe.qpn = qpn;
            }
            Action::PostWqe { wqe, .. } => wqe.qpn = qpn,
            _ => {}
        }
        action
    }
}

/// A memory region as a file asks for it, right or wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegionAsk {
    pub base: u64,
    pub length: u64,
    pub access: AccessFlags,
}

/// How far CONSUME goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConsumeAsk {
    /// Everything readable.
    All,
    /// That many more entries than were read so far.
    More(u32),
    /// This raw index, right or wrong.
    Index(u32),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitAsk {
    Settle,
    /// The model has no clocks and takes at most this many internal steps.
    Clocks(u32),
}

/// A MODIFY_QP, perhaps with a set of attributes that depends on the state at that moment.
#[derive(Clone, Debug)]
pub struct ModifyAsk {
    pub qpn: u32,
    /// Target and CUR_STATE, raw.
    pub to: Option<u8>,
    pub cur_state: Option<u8>,
    pub attrs: AttrsAsk,
    pub values: AttrValues,
}

#[derive(Clone, Debug)]
pub enum AttrsAsk {
    /// This mask, STATE and CUR_STATE included.
    Mask(AttrMask),
    /// What the row of the QP's state and the target requires, plus and minus these.
    Required { also: AttrMask, omit: AttrMask },
}

/// One or more reports of the transport engine.
#[derive(Clone, Debug)]
pub struct CompleteAsk {
    /// Epoch and slot are filled in for the oldest outstanding WQE unless `explicit`.
    pub report: Complete,
    pub explicit: bool,
    pub count: u32,
}

/// One expectation.
#[derive(Clone, Debug)]
pub struct Check {
    pub line: usize,
    pub what: Expected,
}

/// What is expected after, or of, a step. Lists of pairs hold a QP or CQ number and a value.
#[derive(Clone, Debug)]
pub enum Expected {
    Layer(Layer),
    Missing(AttrMask),
    Extra(AttrMask),
    BadValues(AttrMask),
    WqeErrors(WqeErrors),
    /// `None`: the QP does not exist.
    State(u32, Option<QpState>),
    Drain(u32, Drain),
    AttrSet(u32, AttrMask),
    Unset(u32, AttrMask),
    /// Value of an attribute by the name of its field.
    Attr(u32, &'static str, Range),
    /// A number of QUERY_QP or QUERY_CQ by its name.
    QpNumber(u32, &'static str, Range),
    CqNumber(u32, &'static str, Range),
    /// A yes-or-no fact of QUERY_CQ by its name.
    CqFlag(u32, &'static str, bool),
    Arm(u32, Arm),
    /// CQEs written to this CQ in this step; order counts within one queue of one QP.
    Cqes(u32, Vec<CqePattern>),
    /// CQEs written in this step, by kind, to one CQ or to all.
    Counts(Option<u32>, Counts),
    /// What software can read by the phase bit, in order.
    Unread(u32, Vec<CqePattern>),
    UnreadCount(u32, Range),
    /// What lies in the memory of the ring, slot by slot from 0.
    Ring(u32, Vec<CqePattern>),
    Events(Vec<EventPattern>),
    /// WQEs released to the wire in this step, by one QP or by all.
    Issued(Option<u32>, Range),
}

/// The fields of a CQE that are compared; what is left out is not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CqePattern {
    pub qpn: Option<u32>,
    pub queue: Option<Queue>,
    pub index: Option<u16>,
    pub status: Option<u8>,
    pub opcode: Option<u8>,
    pub byte_count: Option<u32>,
    pub imm: Option<u32>,
    pub phase: Option<bool>,
}

/// Event records that are alike, each compared whole: kinds, the QP or none, the CQ or none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventPattern {
    pub kinds: EventKinds,
    /// Any of these QPs.
    pub qpns: Option<std::ops::Range<u32>>,
    pub cqn: Option<u32>,
    /// How many of them.
    pub times: Range,
}

/// CQEs by kind; a kind that is not named is expected not to occur.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Counts {
    pub success: Range,
    pub flush: Range,
    /// Every other status.
    pub error: Range,
}

/// An inclusive range of a count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Range {
    pub least: u64,
    pub most: u64,
}

impl Range {
    /// This number and no other.
    pub const fn exactly(n: u64) -> Self {
        Self { least: n, most: n }
    }

    /// Does the number lie in it?
    pub fn holds(self, n: u64) -> bool {
        (self.least..=self.most).contains(&n)
    }
}

impl std::fmt::Display for Range {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.least == self.most {
            write!(f, "{}", self.least)
        } else {
            write!(f, "{}..{}", self.least, self.most)
        }
    }
}
