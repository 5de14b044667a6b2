//! The value fields of a modify call, by the names of `struct ibv_qp_attr`.

use super::names;
use super::source::{InputError, did_you_mean};
use crate::model::{AttrMask, AttrValues};

/// One field of `struct ibv_qp_attr` or of one of its two `struct ibv_ah_attr`.
pub struct Field {
    /// Name in the struct first, then other spellings.
    pub names: &'static [&'static str],
    /// The mask bit that makes the gate look at it.
    pub attr: AttrMask,
    /// Width in the struct, in bits.
    pub bits: u32,
    set: fn(&mut AttrValues, u32),
    /// Judged by Linux before any table, and no field of this hardware.
    pub linux_only: bool,
    words: &'static [(&'static str, u32)],
}

pub(super) const MTUS: &[(&str, u32)] =
    &[("MTU_256", 1), ("MTU_512", 2), ("MTU_1024", 3), ("MTU_2048", 4), ("MTU_4096", 5)];
const MIGRATION: &[(&str, u32)] = &[
    ("MIG_MIGRATED", 0),
    ("MIG_REARM", 1),
    ("MIG_ARMED", 2),
    ("MIGRATED", 0),
    ("REARM", 1),
    ("ARMED", 2),
];
const ACCESS: &[(&str, u32)] = &[
    ("ACCESS_LOCAL_WRITE", 1),
    ("ACCESS_REMOTE_WRITE", 2),
    ("ACCESS_REMOTE_READ", 4),
    ("ACCESS_REMOTE_ATOMIC", 8),
    ("ACCESS_MW_BIND", 16),
    ("ACCESS_ZERO_BASED", 32),
    ("ACCESS_ON_DEMAND", 64),
    ("ACCESS_HUGETLB", 128),
    ("ACCESS_FLUSH_GLOBAL", 256),
    ("ACCESS_FLUSH_PERSISTENT", 512),
    ("ACCESS_RELAXED_ORDERING", 1 << 20),
];

macro_rules! fields {
    ($($names:expr, $attr:ident, $bits:literal, $($path:ident).+, $words:expr;)+) => {
        &[$(Field {
            names: &$names,
            attr: AttrMask::$attr,
            bits: $bits,
            // The value fits: `Values::lay_out` hands on nothing wider than `bits`.
            set: |v, n| v.$($path).+ = n as _,
            linux_only: false,
            words: $words,
        }),+]
    };
}

/// The port of an address vector: `ah_attr.port_num`, `alt_ah_attr.port_num`.
const fn address_port(names: &'static [&'static str], attr: AttrMask) -> Field {
    Field { names, attr, bits: 8, set: |_, _| (), linux_only: true, words: &[] }
}

/// All fields that can be given.
pub static FIELDS: &[&[Field]] = &[
    OWN,
    &[
        address_port(&["ah_attr.port_num", "ah_port_num"], AttrMask::AV),
        address_port(&["alt_ah_attr.port_num", "alt_ah_port_num"], AttrMask::ALT_PATH),
    ],
];

const OWN: &[Field] = fields! {
    ["en_sqd_async_notify"], EN_SQD_ASYNC_NOTIFY, 8, en_sqd_async_notify, &[];
    ["qp_access_flags", "access_flags"], ACCESS_FLAGS, 32, access_flags, ACCESS;
    ["pkey_index"], PKEY_INDEX, 16, pkey_index, &[];
    ["port_num", "port"], PORT, 8, port, &[];
    ["qkey"], QKEY, 32, qkey, &[];
    ["is_global"], AV, 8, av.is_global, &[];
    ["sgid_index", "gid_index"], AV, 8, av.sgid_index, &[];
    ["hop_limit"], AV, 8, av.hop_limit, &[];
    ["traffic_class"], AV, 8, av.traffic_class, &[];
    ["dlid"], AV, 16, av.dlid, &[];
    ["sl"], AV, 8, av.sl, &[];
    ["static_rate"], AV, 8, av.static_rate, &[];
    ["path_mtu"], PATH_MTU, 8, path_mtu, MTUS;
    ["timeout"], TIMEOUT, 8, timeout, &[];
    ["retry_cnt", "retry_count"], RETRY_CNT, 8, retry_cnt, &[];
    ["rnr_retry", "rnr_retry_count"], RNR_RETRY, 8, rnr_retry, &[];
    ["rq_psn"], RQ_PSN, 32, rq_psn, &[];
    ["max_rd_atomic", "max_qp_rd_atomic"], MAX_QP_RD_ATOMIC, 8, max_qp_rd_atomic, &[];
    ["alt_is_global"], ALT_PATH, 8, alt_av.is_global, &[];
    ["alt_sgid_index"], ALT_PATH, 8, alt_av.sgid_index, &[];
    ["alt_hop_limit"], ALT_PATH, 8, alt_av.hop_limit, &[];
    ["alt_traffic_class"], ALT_PATH, 8, alt_av.traffic_class, &[];
    ["alt_dlid"], ALT_PATH, 16, alt_av.dlid, &[];
    ["alt_sl"], ALT_PATH, 8, alt_av.sl, &[];
    ["alt_static_rate"], ALT_PATH, 8, alt_av.static_rate, &[];
    ["alt_pkey_index"], ALT_PATH, 16, alt_pkey_index, &[];
    ["alt_port_num", "alt_port"], ALT_PATH, 8, alt_port, &[];
    ["alt_timeout"], ALT_PATH, 8, alt_timeout, &[];
    ["min_rnr_timer"], MIN_RNR_TIMER, 8, min_rnr_timer, &[];
    ["sq_psn"], SQ_PSN, 32, sq_psn, &[];
    ["max_dest_rd_atomic"], MAX_DEST_RD_ATOMIC, 8, max_dest_rd_atomic, &[];
    ["path_mig_state"], PATH_MIG_STATE, 8, path_mig_state, MIGRATION;
    ["dest_qp_num", "dest_qpn"], DEST_QPN, 32, dest_qpn, &[];
};

/// Fields of the struct that no table and no check of values here has a use for.
const UNJUDGED: &[&str] = &[
    "src_path_bits",
    "flow_label",
    "dgid",
    "sq_draining",
    "rate_limit",
    "max_send_wr",
    "max_recv_wr",
    "max_send_sge",
    "max_recv_sge",
    "max_inline_data",
];

/// The name of a field that the struct has and nothing here judges, also with its path
/// (`ah_attr.grh.dgid`, `cap.max_send_wr`).
pub fn unjudged(name: &str) -> Option<&'static str> {
    let lower = name.trim().to_ascii_lowercase().replace("->", ".");
    let last = lower.rsplit('.').next().unwrap_or("");
    UNJUDGED.iter().copied().find(|f| *f == last)
}

impl Field {
    /// The field of that name; `ah_attr.grh.sgid_index` and `alt_ah_attr.dlid` are understood.
    pub fn named(name: &str) -> Result<&'static Field, InputError> {
        let lower = name.trim().to_ascii_lowercase().replace("->", ".");
        let last = lower.rsplit('.').next().unwrap_or("");
        let bare = match (lower.contains("ah_attr."), lower.contains("alt_ah_attr.")) {
            // Not the port of the QP or of the alternate path, which have names of their own.
            (true, false) if last == "port_num" => "ah_attr.port_num".to_string(),
            (true, true) if last == "port_num" => "alt_ah_attr.port_num".to_string(),
            (_, true) => format!("alt_{last}"),
            (_, false) => last.to_string(),
        };
        let every = || FIELDS.iter().copied().flatten();
        let all = || every().flat_map(|f| f.names.iter().copied());
        every().find(|f| f.names.contains(&bare.as_str())).ok_or_else(|| {
            InputError(match bare.as_str() {
                "qp_state" | "state" => {
                    format!(
                        "`{name}` is the target state, not a value: it may repeat what `to` says, which decides"
                    )
                }
                "cur_qp_state" | "cur_state" => {
                    format!(
                        "`{name}` is a state, not a value; give it as `cur_state` (--cur-state)"
                    )
                }
                _ => format!(
                    "`{name}` is not a value of struct ibv_qp_attr{}",
                    did_you_mean(&bare, all())
                ),
            })
        })
    }

    /// A number, or one of the field's own names (`IBV_MTU_1024`; flags joined by `|`).
    pub fn parse(&self, text: &str) -> Result<i128, InputError> {
        if let Some(n) = names::number(text) {
            return Ok(n);
        }
        let words: Vec<String> = text
            .split('|')
            .map(|w| w.trim().to_ascii_uppercase().replace("IBV_", "").replace("IB_", ""))
            .collect();
        let find = |w: &String| {
            let named = |n: &str| n == w || n.strip_prefix("ACCESS_") == Some(w);
            let word = self.words.iter().find(|(n, _)| named(n));
            word.map(|(_, n)| i128::from(*n)).or_else(|| names::number(w))
        };
        match words.iter().map(find).collect::<Option<Vec<i128>>>() {
            Some(found) if found.len() == 1 || self.attr == AttrMask::ACCESS_FLAGS => {
                Ok(found.iter().fold(0, |all, n| all | n))
            }
            _ => Err(InputError(format!(
                "{}: `{text}` is not a value; expected a number{}{}",
                self.names[0],
                if self.words.is_empty() {
                    String::new()
                } else {
                    let known: Vec<&str> = self.words.iter().map(|(n, _)| *n).collect();
                    format!(" or IBV_ with one of {}", known.join(", "))
                },
                did_you_mean(words.first().map_or("", |w| w), self.words.iter().map(|(n, _)| *n))
            ))),
        }
    }

    /// For a field of enum numbers: the name that a byte count or the like stands for.
    pub fn meant(&self, value: i128) -> Option<String> {
        let word = |n: &str| n.rsplit('_').next().and_then(names::number) == Some(value);
        self.words
            .iter()
            .find(|(n, _)| self.attr == AttrMask::PATH_MTU && word(n))
            .map(|(n, e)| format!("IBV_{n} = {e}"))
    }

    /// The largest number that the field of the struct holds.
    pub const fn holds(&self) -> u32 {
        u32::MAX >> (32 - self.bits)
    }
}

/// One value as it was given: wider than the field if the caller wrote so.
#[derive(Clone, Copy)]
pub struct Given {
    /// Name of the field.
    pub field: &'static Field,
    /// Value.
    pub value: i128,
}

impl Given {
    /// Does the field of the struct hold it? Otherwise C would have cut it silently.
    pub fn fits(&self) -> bool {
        (0..=i128::from(self.field.holds())).contains(&self.value)
    }
}

/// Values that pass every check: what stands in for the attributes of which nothing is known.
pub fn harmless() -> AttrValues {
    let mut v = AttrValues::default();
    for (name, n) in [
        ("port_num", 1),
        ("alt_port_num", 1),
        ("path_mtu", 1),
        ("is_global", 1),
        ("alt_is_global", 1),
        ("path_mig_state", 2),
    ] {
        for f in OWN.iter().filter(|f| f.names[0] == name) {
            (f.set)(&mut v, n);
        }
    }
    v
}

/// The values given, over [`harmless`] ones. A value too wide for its field becomes the
/// field's largest: it must be reported by the caller, see [`Given::fits`].
pub fn lay_out(given: &[Given]) -> AttrValues {
    let mut v = harmless();
    for g in given {
        let n = g.value.clamp(0, i128::from(g.field.holds()));
        (g.field.set)(&mut v, u32::try_from(n).unwrap_or(g.field.holds()));
    }
    v
}
