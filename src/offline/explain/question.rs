//! One modify call, as the question is put.

use super::device::Device;
use super::errno::Errno;
use super::knobs::Profile;
use super::names;
use super::source::InputError;
use super::values::{Field, Given, lay_out, unjudged};
use crate::model::{AttrMask, GateContext, Modify, ModifyVerdict, Policy, Transport, judge_modify};

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
    /// Fields of the struct that were given and that no table and no check here looks at.
    pub unjudged: Vec<&'static str>,
    /// Limits of the device.
    pub device: Device,
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
            unjudged: Vec::new(),
            device: Device::default(),
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

    /// Enters the value of a field of `struct ibv_qp_attr`. States are taken if they say what
    /// was said already.
    ///
    /// # Errors
    /// There is no such field, the value is none of it, or it was given before.
    pub fn give(&mut self, name: &str, value: &str) -> Result<(), InputError> {
        let same = |told: Option<u8>| told.is_some() && names::state(value).ok() == told;
        let bare = name.trim().to_ascii_lowercase();
        if bare == "qp_state" && same(self.to) || bare == "cur_qp_state" && same(self.cur_state) {
            return Ok(());
        }
        if let Some(field) = unjudged(name) {
            self.unjudged.push(field);
            return Ok(());
        }
        let field = Field::named(name)?;
        if self.values.iter().any(|g| g.field.names == field.names) {
            return Err(InputError(format!("{} is given twice", field.names[0])));
        }
        self.values.push(Given { field, value: field.parse(value)? });
        Ok(())
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
            &self.device.config(),
        )
    }
}
