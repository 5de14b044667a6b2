//! The verdict on a MODIFY_QP of a QP that exists. Nothing is written here.

use super::{
    AttrMask, Config, CurState, Layer, Modify, ModifyVerdict, Policy, QpState, Transport,
    bad_values, transition_row,
};

/// What the gate sees of the QP. Raw numbers, so that unused encodings can be said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GateContext {
    /// Two bits; 3 is unused.
    pub transport: u8,
    /// `ibv_qp_state`; 7 and above are unused.
    pub state: u8,
    /// SQD, and something is still waited for.
    pub draining: bool,
    /// PATH_MIG_STATE is set and ARMED.
    pub mig_armed: bool,
}

const fn refused(layer: Layer) -> ModifyVerdict {
    ModifyVerdict {
        layer,
        missing: AttrMask::EMPTY,
        extra: AttrMask::EMPTY,
        bad_values: AttrMask::EMPTY,
    }
}

/// Judges a call layer by layer; the first layer that objects is named. Layer
/// [`Layer::None`] means accepted. [`Layer::Qp`] is not judged here.
pub fn judge_modify(
    ctx: &GateContext,
    modify: &Modify,
    policy: &Policy,
    config: &Config,
) -> ModifyVerdict {
    let mask = modify.attr_mask;
    let (Some(transport), Some(real)) = (
        Transport::from_number(ctx.transport),
        QpState::from_number(ctx.state),
    ) else {
        return refused(Layer::Encoding);
    };
    let target = if mask.contains(AttrMask::STATE) {
        match QpState::from_number(modify.qp_state) {
            Some(state) => state,
            None => return refused(Layer::Encoding),
        }
    } else {
        real
    };
    let mut judging = real;
    if mask.contains(AttrMask::CUR_STATE) {
        let Some(claimed) = QpState::from_number(modify.cur_qp_state) else {
            return refused(Layer::Encoding);
        };
        let sayable = matches!(
            claimed,
            QpState::Rtr | QpState::Rts | QpState::Sqd | QpState::Sqe
        );
        if !sayable || (policy.cur_state == CurState::Match && claimed != real) {
            return refused(Layer::CurState);
        }
        judging = claimed;
    }

    let Some(mut row) = transition_row(transport, real, target, policy) else {
        return refused(Layer::Transition);
    };
    if judging != real {
        match transition_row(transport, judging, target, policy) {
            Some(claimed_row) => row = claimed_row,
            None => return refused(Layer::Transition),
        }
    }

    let missing = row.required.minus(mask);
    let extra = mask.minus(row.required | row.optional | AttrMask::STATE);
    if !missing.is_empty() || !extra.is_empty() {
        return ModifyVerdict {
            missing,
            extra,
            ..refused(Layer::Mask)
        };
    }

    let bad = bad_values(&modify.values, mask, target, ctx.mig_armed, policy, config);
    if !bad.is_empty() {
        return ModifyVerdict {
            bad_values: bad,
            ..refused(Layer::Value)
        };
    }

    let leaves_early = real == QpState::Sqd
        && matches!(target, QpState::Rts | QpState::Sqd)
        && ctx.draining
        && !policy.allow_leave_draining;
    refused(if leaves_early {
        Layer::Drain
    } else {
        Layer::None
    })
}
