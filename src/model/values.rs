//! Are the attribute values of a MODIFY_QP in range?

use super::{AddressVector, AttrMask, AttrValues, Config, LinkLayer, Policy, QpState};

/// PSNs and QP numbers have 24 bits.
const MAX_24: u32 = 0x00ff_ffff;

/// `ibv_mig_state`.
pub(crate) const MIGRATED: u8 = 0;
pub(crate) const REARM: u8 = 1;
pub(crate) const ARMED: u8 = 2;

/// The named attributes whose value is out of range, complete.
///
/// * `next`: the state the QP would be in; PATH_MIG_STATE depends on it.
/// * `mig_armed`: the QP's stored PATH_MIG_STATE is set and ARMED.
pub fn bad_values(
    values: &AttrValues,
    named: AttrMask,
    next: QpState,
    mig_armed: bool,
    policy: &Policy,
    config: &Config,
) -> AttrMask {
    let port = |p: u8| (1..=config.num_ports).contains(&p);
    let pkey = |i: u16| i < config.pkey_len;
    let path = |av: &AddressVector| policy.link_layer != LinkLayer::Roce || av.is_global != 0;
    let migration = match values.path_mig_state {
        MIGRATED => matches!(next, QpState::Rts | QpState::Sqd),
        REARM => next == QpState::Rts && !mig_armed,
        ARMED => true,
        _ => false,
    };
    let v = values;
    let judged = [
        (AttrMask::PKEY_INDEX, pkey(v.pkey_index)),
        (AttrMask::PORT, port(v.port)),
        (AttrMask::AV, path(&v.av)),
        (AttrMask::PATH_MTU, (1..=config.max_mtu).contains(&v.path_mtu)),
        (AttrMask::TIMEOUT, v.timeout <= 31),
        (AttrMask::RETRY_CNT, v.retry_cnt <= 7),
        (AttrMask::RNR_RETRY, v.rnr_retry <= 7),
        (AttrMask::RQ_PSN, v.rq_psn <= MAX_24),
        (AttrMask::MAX_QP_RD_ATOMIC, v.max_qp_rd_atomic <= config.max_rd_atomic),
        (
            AttrMask::ALT_PATH,
            v.alt_timeout <= 31 && port(v.alt_port) && pkey(v.alt_pkey_index) && path(&v.alt_av),
        ),
        (AttrMask::MIN_RNR_TIMER, v.min_rnr_timer <= 31),
        (AttrMask::SQ_PSN, v.sq_psn <= MAX_24),
        (AttrMask::MAX_DEST_RD_ATOMIC, v.max_dest_rd_atomic <= config.max_rd_atomic),
        (AttrMask::PATH_MIG_STATE, migration),
        (AttrMask::DEST_QPN, v.dest_qpn <= MAX_24),
    ];
    let mut bad = AttrMask::EMPTY;
    for (attr, good) in judged {
        if !good {
            bad |= attr;
        }
    }
    bad & named
}

/// In words, what [`bad_values`] expects of one attribute; `None` if every value passes.
///
/// Only the lowest set bit of `attr` is looked at.
pub fn value_rule(attr: AttrMask, policy: &Policy, config: &Config) -> Option<String> {
    let roce = policy.link_layer == LinkLayer::Roce;
    let ports = config.num_ports;
    let last_pkey = config.pkey_len.saturating_sub(1);
    let lowest = AttrMask(attr.0 & attr.0.wrapping_neg());
    Some(match lowest {
        AttrMask::PKEY_INDEX => format!("0..{last_pkey} (P_Key table index)"),
        AttrMask::PORT => format!("1..{ports}"),
        AttrMask::AV if roce => "global (is_global nonzero), as RoCE requires".to_string(),
        AttrMask::PATH_MTU => {
            format!("1..{} (ibv_mtu: 256..{} bytes)", config.max_mtu, 128u32 << config.max_mtu)
        }
        AttrMask::TIMEOUT => "0..31 (0 never, else 4.096 us x 2^value)".to_string(),
        AttrMask::RETRY_CNT => "0..7".to_string(),
        AttrMask::RNR_RETRY => "0..7 (7 retries for ever)".to_string(),
        AttrMask::RQ_PSN | AttrMask::SQ_PSN | AttrMask::DEST_QPN => {
            "0..0xffffff (24 bits)".to_string()
        }
        AttrMask::MAX_QP_RD_ATOMIC | AttrMask::MAX_DEST_RD_ATOMIC => {
            format!("0..{} (device maximum)", config.max_rd_atomic)
        }
        AttrMask::ALT_PATH => format!(
            "timeout 0..31, port 1..{ports}, P_Key index 0..{last_pkey}{}",
            if roce { ", global as RoCE requires" } else { "" }
        ),
        AttrMask::MIN_RNR_TIMER => "0..31".to_string(),
        AttrMask::PATH_MIG_STATE => {
            "MIGRATED (0) towards RTS or SQD, REARM (1) towards RTS unless already ARMED, ARMED (2)"
                .to_string()
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: AttrValues = AttrValues {
        access_flags: u32::MAX,
        qkey: u32::MAX,
        rq_psn: MAX_24,
        sq_psn: MAX_24,
        dest_qpn: MAX_24,
        av: AddressVector { is_global: 1, ..ZERO_AV },
        alt_av: AddressVector { is_global: 255, ..ZERO_AV },
        pkey_index: 127,
        alt_pkey_index: 127,
        en_sqd_async_notify: 255,
        port: 2,
        path_mtu: 5,
        timeout: 31,
        retry_cnt: 7,
        rnr_retry: 7,
        max_qp_rd_atomic: 16,
        min_rnr_timer: 31,
        max_dest_rd_atomic: 16,
        path_mig_state: 2,
        alt_port: 1,
        alt_timeout: 31,
    };
    const ZERO_AV: AddressVector = AddressVector {
        is_global: 0,
        sgid_index: 0,
        hop_limit: 0,
        traffic_class: 0,
        dlid: 0,
        sl: 0,
        static_rate: 0,
    };
    const EVERY: AttrMask = AttrMask(0x1f_ffff);

    fn bad(v: &AttrValues, next: QpState, armed: bool) -> AttrMask {
        bad_values(v, EVERY, next, armed, &Policy::BOOK, &Config::DEFAULT)
    }

    #[test]
    fn the_largest_legal_values_pass() {
        assert_eq!(bad(&GOOD, QpState::Rts, false), AttrMask::EMPTY);
    }

    #[test]
    fn one_beyond_each_limit_is_that_attribute_alone() {
        type Break = fn(&mut AttrValues);
        let cases: [(AttrMask, Break); 23] = [
            (AttrMask::PKEY_INDEX, |v| v.pkey_index = 128),
            (AttrMask::PKEY_INDEX, |v| v.pkey_index = 0xffff),
            (AttrMask::PORT, |v| v.port = 0),
            (AttrMask::PORT, |v| v.port = 3),
            (AttrMask::AV, |v| v.av.is_global = 0),
            (AttrMask::PATH_MTU, |v| v.path_mtu = 0),
            (AttrMask::PATH_MTU, |v| v.path_mtu = 6),
            (AttrMask::TIMEOUT, |v| v.timeout = 32),
            (AttrMask::RETRY_CNT, |v| v.retry_cnt = 8),
            (AttrMask::RNR_RETRY, |v| v.rnr_retry = 8),
            (AttrMask::RQ_PSN, |v| v.rq_psn = 1 << 24),
            (AttrMask::SQ_PSN, |v| v.sq_psn = u32::MAX),
            (AttrMask::DEST_QPN, |v| v.dest_qpn = 1 << 24),
            (AttrMask::MAX_QP_RD_ATOMIC, |v| v.max_qp_rd_atomic = 17),
            (AttrMask::MAX_DEST_RD_ATOMIC, |v| v.max_dest_rd_atomic = 17),
            (AttrMask::MIN_RNR_TIMER, |v| v.min_rnr_timer = 32),
            (AttrMask::PATH_MIG_STATE, |v| v.path_mig_state = 3),
            (AttrMask::ALT_PATH, |v| v.alt_timeout = 32),
            (AttrMask::ALT_PATH, |v| v.alt_port = 0),
            (AttrMask::ALT_PATH, |v| v.alt_port = 3),
            (AttrMask::ALT_PATH, |v| v.alt_pkey_index = 128),
            (AttrMask::ALT_PATH, |v| v.alt_av.is_global = 0),
            (AttrMask::EMPTY, |v| *v = GOOD),
        ];
        for (expected, spoil) in cases {
            let mut v = GOOD;
            spoil(&mut v);
            assert_eq!(bad(&v, QpState::Rts, false), expected, "{v:?}");
        }
    }

    #[test]
    fn only_named_attributes_are_judged() {
        let v = AttrValues { port: 0, retry_cnt: 99, ..GOOD };
        let judge =
            |named| bad_values(&v, named, QpState::Rts, false, &Policy::BOOK, &Config::DEFAULT);
        assert_eq!(judge(AttrMask::TIMEOUT), AttrMask::EMPTY);
        assert_eq!(judge(AttrMask::PORT), AttrMask::PORT);
        assert_eq!(judge(EVERY), AttrMask::PORT | AttrMask::RETRY_CNT);
    }

    #[test]
    fn migration_depends_on_the_next_state_and_on_being_armed() {
        let passes = |state: u8, next, armed| {
            bad(&AttrValues { path_mig_state: state, ..GOOD }, next, armed).is_empty()
        };
        for &next in QpState::ALL {
            assert_eq!(passes(MIGRATED, next, false), matches!(next, QpState::Rts | QpState::Sqd));
            assert_eq!(passes(REARM, next, false), next == QpState::Rts);
            assert!(!passes(REARM, next, true));
            assert!(passes(ARMED, next, true));
        }
    }

    #[test]
    fn infiniband_needs_no_global_route() {
        let v = AttrValues { av: ZERO_AV, alt_av: ZERO_AV, ..GOOD };
        let policy = Policy { link_layer: LinkLayer::Infiniband, ..Policy::BOOK };
        let b = bad_values(&v, EVERY, QpState::Rts, false, &policy, &Config::DEFAULT);
        assert_eq!(b, AttrMask::EMPTY);
        assert_eq!(bad(&v, QpState::Rts, false), AttrMask::AV | AttrMask::ALT_PATH);
    }

    #[test]
    fn every_judged_attribute_has_a_rule_in_words() {
        let v = AttrValues {
            rq_psn: u32::MAX,
            sq_psn: u32::MAX,
            dest_qpn: u32::MAX,
            timeout: 255,
            retry_cnt: 255,
            rnr_retry: 255,
            max_qp_rd_atomic: 255,
            min_rnr_timer: 255,
            max_dest_rd_atomic: 255,
            path_mig_state: 255,
            pkey_index: u16::MAX,
            ..AttrValues::default()
        };
        let bad = bad(&v, QpState::Rts, false);
        for &(attr, name) in AttrMask::NAMED {
            let rule = value_rule(attr, &Policy::BOOK, &Config::DEFAULT);
            assert_eq!(bad.contains(attr), rule.is_some(), "{name}");
        }
    }
}
