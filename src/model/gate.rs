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
    let (Some(transport), Some(real)) =
        (Transport::from_number(ctx.transport), QpState::from_number(ctx.state))
    else {
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
        let sayable = matches!(claimed, QpState::Rtr | QpState::Rts | QpState::Sqd | QpState::Sqe);
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
        return ModifyVerdict { missing, extra, ..refused(Layer::Mask) };
    }

    let bad = bad_values(&modify.values, mask, target, ctx.mig_armed, policy, config);
    if !bad.is_empty() {
        return ModifyVerdict { bad_values: bad, ..refused(Layer::Value) };
    }

    let leaves_early = real == QpState::Sqd
        && matches!(target, QpState::Rts | QpState::Sqd)
        && ctx.draining
        && !policy.allow_leave_draining;
    refused(if leaves_early { Layer::Drain } else { Layer::None })
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTR: GateContext =
        GateContext { transport: 0, state: 2, draining: false, mig_armed: false };
    const TO_RTS: AttrMask = AttrMask(0x12e01);

    fn to_rts() -> Modify {
        Modify { attr_mask: TO_RTS, qp_state: 3, ..Modify::default() }
    }

    fn judge(ctx: &GateContext, modify: &Modify) -> ModifyVerdict {
        judge_modify(ctx, modify, &Policy::BOOK, &Config::DEFAULT)
    }

    #[test]
    fn unused_encodings_are_refused() {
        assert_eq!(judge(&RTR, &to_rts()).layer, Layer::None);
        let reset = Modify { attr_mask: AttrMask::STATE, ..Modify::default() };
        for ctx in [
            GateContext { transport: 3, ..RTR },
            GateContext { state: 7, ..RTR },
            GateContext { state: 255, ..RTR },
        ] {
            assert_eq!(judge(&ctx, &reset).layer, Layer::Encoding);
        }
        for qp_state in [7, 8, 15, 255] {
            assert_eq!(judge(&RTR, &Modify { qp_state, ..to_rts() }).layer, Layer::Encoding);
        }
    }

    #[test]
    fn fields_without_their_bit_are_not_looked_at() {
        let call = Modify { cur_qp_state: 99, ..to_rts() };
        assert_eq!(judge(&RTR, &call).layer, Layer::None);
        let ctx = GateContext { state: 3, ..RTR };
        let stay = Modify { attr_mask: AttrMask::MIN_RNR_TIMER, qp_state: 99, ..Modify::default() };
        assert_eq!(judge(&ctx, &stay).layer, Layer::None);
    }

    #[test]
    fn missing_and_extra_are_complete() {
        let given = TO_RTS.minus(AttrMask::TIMEOUT).minus(AttrMask::SQ_PSN)
            | AttrMask::CAP
            | AttrMask::AV
            | AttrMask(1 << 31);
        let v = judge(&RTR, &Modify { attr_mask: given, ..to_rts() });
        assert_eq!(v.layer, Layer::Mask);
        assert_eq!(v.missing, AttrMask::TIMEOUT | AttrMask::SQ_PSN);
        assert_eq!(v.extra, AttrMask::CAP | AttrMask::AV | AttrMask(1 << 31));
        assert_eq!(v.bad_values, AttrMask::EMPTY);
    }

    #[test]
    fn bad_values_are_complete() {
        let mut call = to_rts();
        call.values.retry_cnt = 20;
        call.values.sq_psn = 1 << 24;
        let v = judge(&RTR, &call);
        assert_eq!(v.layer, Layer::Value);
        assert_eq!(v.bad_values, AttrMask::RETRY_CNT | AttrMask::SQ_PSN);
    }

    /// Each call is wrong on its layer and on all later ones: the first is named.
    #[test]
    fn the_first_layer_is_named() {
        let sqd = GateContext { state: 4, draining: true, ..RTR };
        let mut call = Modify {
            attr_mask: AttrMask::STATE | AttrMask::CUR_STATE | AttrMask::TIMEOUT | AttrMask::CAP,
            qp_state: 7,
            cur_qp_state: 3,
            ..Modify::default()
        };
        call.values.timeout = 99;
        assert_eq!(judge(&sqd, &call).layer, Layer::Encoding);
        call.qp_state = 5;
        assert_eq!(judge(&sqd, &call).layer, Layer::CurState);
        call.cur_qp_state = 4;
        assert_eq!(judge(&sqd, &call).layer, Layer::Transition);
        call.qp_state = 4;
        assert_eq!(judge(&sqd, &call).layer, Layer::Mask);
        call.attr_mask = AttrMask::STATE | AttrMask::TIMEOUT;
        assert_eq!(judge(&sqd, &call).layer, Layer::Value);
        call.values.timeout = 9;
        assert_eq!(judge(&sqd, &call).layer, Layer::Drain);
        call.attr_mask = AttrMask::TIMEOUT;
        assert_eq!(judge(&sqd, &call).layer, Layer::Drain, "without STATE it is SQD to SQD");
        for out in [QpState::Err, QpState::Reset] {
            let leave =
                Modify { attr_mask: AttrMask::STATE, qp_state: out.number(), ..Modify::default() };
            assert_eq!(judge(&sqd, &leave).layer, Layer::None);
        }
    }
}
