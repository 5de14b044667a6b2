//! What a MODIFY_QP names is stored as it was given, and nothing else is.

use std::collections::BTreeMap;

use crate::model_support::*;
use rnic_cosim::model::*;

const Q: u32 = 0;

/// Every field of the attributes, with the attribute that it belongs to, each with a value of its
/// own that the gate takes.
fn fields(v: &AttrValues) -> BTreeMap<&'static str, (AttrMask, u64)> {
    let av = |a: &AddressVector| {
        u64::from_le_bytes([
            a.is_global,
            a.sgid_index,
            a.hop_limit,
            a.traffic_class,
            a.sl,
            a.static_rate,
            a.dlid as u8,
            (a.dlid >> 8) as u8,
        ])
    };
    BTreeMap::from([
        ("access_flags", (AttrMask::ACCESS_FLAGS, v.access_flags.into())),
        ("qkey", (AttrMask::QKEY, v.qkey.into())),
        ("rq_psn", (AttrMask::RQ_PSN, v.rq_psn.into())),
        ("sq_psn", (AttrMask::SQ_PSN, v.sq_psn.into())),
        ("dest_qpn", (AttrMask::DEST_QPN, v.dest_qpn.into())),
        ("av", (AttrMask::AV, av(&v.av))),
        ("alt_av", (AttrMask::ALT_PATH, av(&v.alt_av))),
        ("pkey_index", (AttrMask::PKEY_INDEX, v.pkey_index.into())),
        ("alt_pkey_index", (AttrMask::ALT_PATH, v.alt_pkey_index.into())),
        ("en_sqd_async_notify", (AttrMask::EN_SQD_ASYNC_NOTIFY, v.en_sqd_async_notify.into())),
        ("port", (AttrMask::PORT, v.port.into())),
        ("path_mtu", (AttrMask::PATH_MTU, v.path_mtu.into())),
        ("timeout", (AttrMask::TIMEOUT, v.timeout.into())),
        ("retry_cnt", (AttrMask::RETRY_CNT, v.retry_cnt.into())),
        ("rnr_retry", (AttrMask::RNR_RETRY, v.rnr_retry.into())),
        ("max_qp_rd_atomic", (AttrMask::MAX_QP_RD_ATOMIC, v.max_qp_rd_atomic.into())),
        ("min_rnr_timer", (AttrMask::MIN_RNR_TIMER, v.min_rnr_timer.into())),
        ("max_dest_rd_atomic", (AttrMask::MAX_DEST_RD_ATOMIC, v.max_dest_rd_atomic.into())),
        ("path_mig_state", (AttrMask::PATH_MIG_STATE, v.path_mig_state.into())),
        ("alt_port", (AttrMask::ALT_PATH, v.alt_port.into())),
        ("alt_timeout", (AttrMask::ALT_PATH, v.alt_timeout.into())),
    ])
}

fn values(round: u8) -> AttrValues {
    let n = u32::from(round);
    let av = AddressVector {
        is_global: 1,
        sgid_index: 10 + round,
        hop_limit: 20 + round,
        traffic_class: 30 + round,
        dlid: 0x4000 + u16::from(round),
        sl: 1 + round % 8,
        static_rate: 3 + round,
    };
    AttrValues {
        access_flags: 0x10 + n,
        qkey: 0x8000_0100 + n,
        rq_psn: 0xab_0000 + n,
        sq_psn: 0xcd_0000 + n,
        dest_qpn: 0xef_0000 + n,
        av,
        alt_av: AddressVector { sgid_index: 60 + round, dlid: 0x5000 + u16::from(round), ..av },
        pkey_index: 2 + u16::from(round),
        alt_pkey_index: 40 + u16::from(round),
        en_sqd_async_notify: 1 + round,
        port: 1 + round % 2,
        path_mtu: 1 + round % 5,
        timeout: 9 + round,
        retry_cnt: 1 + round % 7,
        rnr_retry: 1 + (round + 1) % 7,
        max_qp_rd_atomic: 1 + round,
        min_rnr_timer: 15 + round,
        max_dest_rd_atomic: 2 + round,
        path_mig_state: 2,
        alt_port: 1 + (round + 1) % 2,
        alt_timeout: 19 + round,
    }
}

#[test]
fn a_query_shows_what_was_given_and_nothing_else() {
    let mut named_at_all = AttrMask::EMPTY;
    for transport in Transport::ALL {
        let mut b = Bench::new(Policy::BOOK);
        b.cq(0, 8);
        b.create_qp(Q, *transport, [0, 0], [4, 4]);
        let mut shown = fields(&AttrValues::default());
        let way = [QpState::Init, QpState::Init, QpState::Rtr, QpState::Rts, QpState::Rts];
        for (round, to) in way.into_iter().enumerate() {
            let row = transition_row(*transport, b.state(Q), to, &Policy::BOOK).expect("legal");
            // The second call of a pair names the optional ones only, with other values.
            let mask = row.required | row.optional | AttrMask::STATE;
            named_at_all |= mask;
            let given = values(round as u8);
            let e = b.op(Operation::ModifyQp(Modify {
                qpn: Q,
                attr_mask: mask,
                qp_state: to.number(),
                cur_qp_state: b.state(Q).number(),
                values: given,
            }));
            assert_eq!(e.outcome, Outcome::Ok, "{transport} {to}: {:?}", e.answer);
            for (name, (attr, value)) in fields(&given) {
                if mask.contains(attr) {
                    shown.insert(name, (attr, value));
                }
            }
            let Answer::QueryQp(q) = b.op(Operation::QueryQp { qpn: Q }).answer else {
                panic!("a query answers");
            };
            assert_eq!(fields(&q.attr), shown, "{transport} {to}");
        }
    }
    let all = fields(&AttrValues::default()).into_values();
    let missing: Vec<AttrMask> =
        all.map(|(attr, _)| attr).filter(|a| !named_at_all.contains(*a)).collect();
    assert_eq!(missing, [AttrMask::EN_SQD_ASYNC_NOTIFY], "only the way to SQD takes it");
}
