//! Which state changes MODIFY_QP knows, and which attributes each one takes.

use super::{AttrMask, Policy, QpState, Transport};

/// The attributes of one legal pair of states. STATE is implied and in neither set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// Every one of these must be given.
    pub required: AttrMask,
    /// These may be given; no others.
    pub optional: AttrMask,
}

type Line = (QpState, QpState, AttrMask, AttrMask);

const NONE: AttrMask = AttrMask::EMPTY;

const fn all(bits: &[AttrMask]) -> AttrMask {
    let (mut mask, mut i) = (0, 0);
    while i < bits.len() {
        mask |= bits[i].0;
        i += 1;
    }
    AttrMask(mask)
}

const INIT_CONNECTED: AttrMask =
    all(&[AttrMask::ACCESS_FLAGS, AttrMask::PKEY_INDEX, AttrMask::PORT]);
const INIT_UD: AttrMask = all(&[AttrMask::PKEY_INDEX, AttrMask::PORT, AttrMask::QKEY]);

/// To RTR: the path to the peer, who it is, and where its sequence numbers start.
const PEER: AttrMask =
    all(&[AttrMask::AV, AttrMask::PATH_MTU, AttrMask::RQ_PSN, AttrMask::DEST_QPN]);
const PEER_RC: AttrMask = all(&[PEER, AttrMask::MIN_RNR_TIMER, AttrMask::MAX_DEST_RD_ATOMIC]);
const TO_RTR_CONNECTED: AttrMask =
    all(&[AttrMask::ACCESS_FLAGS, AttrMask::PKEY_INDEX, AttrMask::ALT_PATH]);
const PKEY_QKEY: AttrMask = all(&[AttrMask::PKEY_INDEX, AttrMask::QKEY]);

/// To RTS, RC: everything its retry machine will need.
const SEND_RC: AttrMask = all(&[
    AttrMask::TIMEOUT,
    AttrMask::RETRY_CNT,
    AttrMask::RNR_RETRY,
    AttrMask::MAX_QP_RD_ATOMIC,
    AttrMask::SQ_PSN,
]);
const LIVE_UC: AttrMask = all(&[
    AttrMask::CUR_STATE,
    AttrMask::ACCESS_FLAGS,
    AttrMask::ALT_PATH,
    AttrMask::PATH_MIG_STATE,
]);
const LIVE_RC: AttrMask = all(&[LIVE_UC, AttrMask::MIN_RNR_TIMER]);
const LIVE_UD: AttrMask = all(&[AttrMask::CUR_STATE, AttrMask::QKEY]);

const DRAINED_UC: AttrMask = all(&[
    AttrMask::ACCESS_FLAGS,
    AttrMask::PKEY_INDEX,
    AttrMask::AV,
    AttrMask::ALT_PATH,
    AttrMask::PATH_MIG_STATE,
]);
const DRAINED_RC: AttrMask = all(&[
    DRAINED_UC,
    AttrMask::PORT,
    AttrMask::TIMEOUT,
    AttrMask::RETRY_CNT,
    AttrMask::RNR_RETRY,
    AttrMask::MAX_QP_RD_ATOMIC,
    AttrMask::MIN_RNR_TIMER,
    AttrMask::MAX_DEST_RD_ATOMIC,
]);
const SQE_UC: AttrMask = all(&[AttrMask::CUR_STATE, AttrMask::ACCESS_FLAGS]);
const NOTIFY: AttrMask = AttrMask::EN_SQD_ASYNC_NOTIFY;

use QpState::{Init, Reset, Rtr, Rts, Sqd, Sqe};

/// Rows whose target is neither RESET nor ERR.
const RC: &[Line] = &[
    (Reset, Init, INIT_CONNECTED, NONE),
    (Init, Init, NONE, INIT_CONNECTED),
    (Init, Rtr, PEER_RC, TO_RTR_CONNECTED),
    (Rtr, Rts, SEND_RC, LIVE_RC),
    (Rts, Rts, NONE, LIVE_RC),
    (Rts, Sqd, NONE, NOTIFY),
    (Sqd, Rts, NONE, LIVE_RC),
    (Sqd, Sqd, NONE, DRAINED_RC),
    (Sqe, Rts, NONE, NONE),
];
const UC: &[Line] = &[
    (Reset, Init, INIT_CONNECTED, NONE),
    (Init, Init, NONE, INIT_CONNECTED),
    (Init, Rtr, PEER, TO_RTR_CONNECTED),
    (Rtr, Rts, AttrMask::SQ_PSN, LIVE_UC),
    (Rts, Rts, NONE, LIVE_UC),
    (Rts, Sqd, NONE, NOTIFY),
    (Sqd, Rts, NONE, LIVE_UC),
    (Sqd, Sqd, NONE, DRAINED_UC),
    (Sqe, Rts, NONE, SQE_UC),
];
const UD: &[Line] = &[
    (Reset, Init, INIT_UD, NONE),
    (Init, Init, NONE, INIT_UD),
    (Init, Rtr, NONE, PKEY_QKEY),
    (Rtr, Rts, AttrMask::SQ_PSN, LIVE_UD),
    (Rts, Rts, NONE, LIVE_UD),
    (Rts, Sqd, NONE, NOTIFY),
    (Sqd, Rts, NONE, LIVE_UD),
    (Sqd, Sqd, NONE, PKEY_QKEY),
    (Sqe, Rts, NONE, LIVE_UD),
];

type Table = [[Option<Row>; 7]; 7];

const fn table(lines: &[Line]) -> Table {
    let bare = Some(Row { required: NONE, optional: NONE });
    let mut t: Table = [[None; 7]; 7];
    let mut from = 0;
    while from < 7 {
        t[from][QpState::Reset as usize] = bare;
        t[from][QpState::Err as usize] = bare;
        from += 1;
    }
    let mut i = 0;
    while i < lines.len() {
        let (from, to, required, optional) = lines[i];
        t[from as usize][to as usize] = Some(Row { required, optional });
        i += 1;
    }
    t
}

static TABLES: [Table; 3] = [table(RC), table(UC), table(UD)];

/// The row that judges the attribute mask of `from` → `to`, or `None` if the pair is illegal.
///
/// Two cells depend on the policy: RESET → ERR, and SQE → RTS of an RC QP.
#[inline]
pub fn transition_row(
    transport: Transport,
    from: QpState,
    to: QpState,
    policy: &Policy,
) -> Option<Row> {
    match (from, to) {
        (QpState::Reset, QpState::Err) if policy.refuse_reset_to_err => None,
        (QpState::Sqe, QpState::Rts) if transport == Transport::Rc && !policy.rc_sqe_row => None,
        _ => TABLES[transport as usize][from as usize][to as usize],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_two_cells_of_policy() {
        let row = |policy: Policy, t, from, to| transition_row(t, from, to, &policy).is_some();
        assert!(row(Policy::BOOK, Transport::Rc, Reset, QpState::Err));
        assert!(!row(Policy::LINUX, Transport::Rc, Reset, QpState::Err));
        assert!(!row(Policy::BOOK, Transport::Rc, Sqe, Rts));
        assert!(row(Policy::LINUX, Transport::Rc, Sqe, Rts));
        assert!(row(Policy::BOOK, Transport::Ud, Sqe, Rts));
    }

    #[test]
    fn rtr_to_rts_needs_six_attributes_for_rc_and_two_for_the_others() {
        let with_state = |t| {
            let row = transition_row(t, Rtr, Rts, &Policy::BOOK).expect("legal");
            row.required.union(AttrMask::STATE).0.count_ones()
        };
        assert_eq!([Transport::Rc, Transport::Uc, Transport::Ud].map(with_state), [6, 2, 2]);
    }

    #[test]
    fn error_has_one_way_out() {
        for &t in Transport::ALL {
            let exits: Vec<_> = QpState::ALL
                .iter()
                .filter(|&&to| transition_row(t, QpState::Err, to, &Policy::BOOK).is_some())
                .collect();
            assert_eq!(exits, [&QpState::Reset, &QpState::Err]);
        }
    }
}
