//! One modify call, as the question is put.

use super::errno::Errno;
use super::knobs::Profile;
use super::values::{Given, lay_out};
use crate::model::{
    AttrMask, Config, GateContext, Modify, ModifyVerdict, Policy, Transport, judge_modify,
};

/// One call of `ibv_modify_qp` and the state of the QP it was made on.
#[derive(Clone)]
pub struct Question {
    /// Transport of the QP.
    pub transport: Transport,
    /// Number of the state the QP is in; 7 and above can be asked about.
    pub from: u8,
    /// Number of the target state, if one was named.
    pub to: Option<u8>,
    /// The attribute mask; without one the answer says what a mask would need.
    pub mask: Option<AttrMask>,
    /// What CUR_STATE means.
    pub cur_state: Option<u8>,
    /// Values that are known. All others are taken to be fine.
    pub values: Vec<Given>,
    /// Sends of a QP in SQD still run.
    pub draining: bool,
    /// The QP's stored path migration state is ARMED.
    pub mig_armed: bool,
    /// Profile.
    pub profile: Profile,
    /// The errno that the call ended with.
    pub errno: Option<Errno>,
    /// The mask holds STATE only because a target was named.
    pub state_implied: bool,
}

impl Question {
    /// A question with nothing given but the transport and the state the QP is in.
    pub fn new(transport: Transport, from: u8) -> Self {
        Question {
            transport,
            from,
            to: None,
            mask: None,
            cur_state: None,
            values: Vec::new(),
            draining: false,
            mig_armed: false,
            profile: Profile::default(),
            errno: None,
            state_implied: false,
        }
    }

    /// The state the call leads to if it is accepted: without STATE the present one.
    pub fn target(&self) -> u8 {
        match self.mask {
            Some(mask) if !mask.contains(AttrMask::STATE) => self.from,
            _ => self.to.unwrap_or(self.from),
        }
    }

    /// The golden model's verdict on this call with these parts of it replaced.
    pub(super) fn judge(&self, mask: AttrMask, values: &[Given], policy: &Policy) -> ModifyVerdict {
        judge_modify(
            &GateContext {
                transport: self.transport.number(),
                state: self.from,
                draining: self.draining,
                mig_armed: self.mig_armed,
            },
            &Modify {
                qpn: 0,
                attr_mask: mask,
                qp_state: self.target(),
                cur_qp_state: self.cur_state.unwrap_or(self.from),
                values: lay_out(values),
            },
            policy,
            &Config::DEFAULT,
        )
    }
}
