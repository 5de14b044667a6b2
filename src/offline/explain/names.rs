//! Names as people write them: `IBV_QP_AV`, `av`, `QP_AV`, `IBV_QPS_INIT`, `rc`, `7`.

use super::source::{InputError, did_you_mean};
use crate::model::{AttrMask, LinkLayer, QpState, Transport};

/// Takes off the prefixes of verbs and kernel headers and the letter case.
fn bare(word: &str, prefixes: &[&str]) -> String {
    let mut w = word.trim().to_ascii_uppercase().replace('-', "_");
    for p in prefixes {
        if let Some(rest) = w.strip_prefix(p) {
            w = rest.to_string();
        }
    }
    w
}

/// A number in decimal, `0x` or `0b`; `_` and a sign are allowed.
pub fn number(word: &str) -> Option<i128> {
    let w = word.trim().replace('_', "").to_ascii_lowercase();
    let (sign, digits) = match w.strip_prefix('-') {
        Some(d) => (-1, d),
        None => (1, w.as_str()),
    };
    let (digits, radix) = match (digits.strip_prefix("0x"), digits.strip_prefix("0b")) {
        (Some(d), _) => (d, 16),
        (_, Some(d)) => (d, 2),
        _ => (digits, 10),
    };
    if digits.is_empty() || !digits.chars().all(|c| c.is_digit(radix)) {
        return None;
    }
    // Anything longer than i128 is far out of every range, which is all that matters of it.
    Some(i128::from_str_radix(digits, radix).map_or(sign * i128::MAX, |n| sign * n))
}

/// QP types that Linux has and this hardware has not, with the rows that come nearest
/// (`qp_state_table` of drivers/infiniband/core/verbs.c).
const OTHER_TRANSPORTS: &[(&[&str], &str)] = &[
    (
        &["XRC_INI", "XRC_SEND", "XRC"],
        "the sending end of XRC has the rows of RC, but INIT to RTR takes no MAX_DEST_RD_ATOMIC and no MIN_RNR_TIMER",
    ),
    (
        &["XRC_TGT", "XRC_RECV"],
        "the receiving end of XRC has the rows of RC, but RTR to RTS takes no RETRY_CNT, RNR_RETRY and MAX_QP_RD_ATOMIC",
    ),
    (
        &["RAW_PACKET", "RAW_ETHERTYPE", "RAW_IPV6"],
        "a raw packet QP needs PORT for RESET to INIT and no attribute later",
    ),
    (&["GSI", "SMI"], "QP 0 and QP 1 have the rows of UD without PORT"),
    (
        &["DC", "DCI", "DCT", "DRIVER", "SRD"],
        "that is a QP type of the driver's own, whose rows are in the driver",
    ),
];

/// A transport by name.
pub fn transport(word: &str) -> Result<Transport, InputError> {
    let w = bare(word, &["IBV_", "IB_", "QPT_"]);
    Transport::ALL.iter().copied().find(|t| t.name() == w).ok_or_else(|| {
        InputError(format!(
            "`{word}` is not a transport of this hardware; expected RC, UC or UD{}",
            match OTHER_TRANSPORTS.iter().find(|(names, _)| names.contains(&w.as_str())) {
                Some((_, near)) => format!("; {near}"),
                None => did_you_mean(&w, Transport::ALL.iter().map(|t| t.name())),
            }
        ))
    })
}

/// A state by name, or any number 0..255: the gate must be asked about 7 and above too.
pub fn state(word: &str) -> Result<u8, InputError> {
    if let Some(n) = number(word) {
        return u8::try_from(n).map_err(|_| {
            InputError(format!("state number {word} does not fit the 8-bit field; states are 0..6"))
        });
    }
    let w = bare(word, &["IBV_", "IB_", "QPS_"]);
    let w = if w == "ERROR" { "ERR" } else { w.as_str() };
    QpState::ALL.iter().find(|s| s.name() == w).map(|s| s.number()).ok_or_else(|| {
        InputError(format!(
            "`{word}` is not a QP state; expected RESET, INIT, RTR, RTS, SQD, SQE, ERR or a number{}",
            did_you_mean(w, QpState::ALL.iter().map(|s| s.name()))
        ))
    })
}

/// The name of a state number, also of one that is none.
pub fn state_name(number: u8) -> String {
    QpState::from_number(number).map_or_else(|| format!("state {number}"), |s| s.name().to_string())
}

/// Bits of `enum ibv_qp_attr_mask` and of older kernels beyond those of the tables, as
/// `include/rdma/ib_verbs.h` numbers them: they can be asked about and are always refused.
const UNLISTED: &[(u32, &str)] =
    &[(21, "SMAC"), (22, "ALT_SMAC"), (23, "VID"), (24, "ALT_VID"), (25, "RATE_LIMIT")];

/// The name of a bit that no table has.
pub fn unlisted(bit: AttrMask) -> Option<&'static str> {
    UNLISTED.iter().find(|(n, _)| AttrMask(1 << n) == bit).map(|(_, name)| *name)
}

/// One attribute bit by name. Names of the struct's fields are taken too (`port_num`).
pub fn attribute(word: &str) -> Result<AttrMask, InputError> {
    let w = bare(word, &["IBV_", "IB_", "QP_"]);
    let w = match w.as_str() {
        "MAX_RD_ATOMIC" | "RD_ATOMIC" => "MAX_QP_RD_ATOMIC",
        "DEST_QP_NUM" => "DEST_QPN",
        "PORT_NUM" => "PORT",
        "AH" | "AH_ATTR" => "AV",
        other => other,
    };
    let unlisted = || UNLISTED.iter().find(|(_, n)| *n == w).map(|(bit, _)| AttrMask(1 << bit));
    let named = AttrMask::NAMED.iter().find(|(_, n)| *n == w).map(|(b, _)| *b);
    named.or_else(unlisted).ok_or_else(|| {
        InputError(format!(
            "`{word}` is not a QP attribute{}",
            match did_you_mean(w, AttrMask::NAMED.iter().map(|(_, n)| *n)) {
                hint if hint.is_empty() => {
                    let known: Vec<&str> = AttrMask::NAMED.iter().map(|(_, n)| *n).collect();
                    format!("; expected one of {}", known.join(", "))
                }
                hint => hint,
            }
        ))
    })
}

/// Attribute names separated by comma, pipe, semicolon, plus or space.
pub fn attributes(list: &str) -> Result<AttrMask, InputError> {
    list.split(|c: char| c.is_whitespace() || ",|;+".contains(c))
        .filter(|w| !w.is_empty())
        .try_fold(AttrMask::EMPTY, |mask, w| Ok(mask | attribute(w)?))
}

/// A raw mask; bits without a name are kept, for the gate to refuse.
pub fn mask(n: i128) -> Result<AttrMask, InputError> {
    u32::try_from(n)
        .map(AttrMask)
        .map_err(|_| InputError(format!("mask {n} does not fit 32 bits; expected 0..0xffffffff")))
}

/// A link layer by name.
pub fn link_layer(word: &str) -> Result<LinkLayer, InputError> {
    match bare(word, &["IBV_", "IB_", "LINK_LAYER_"]).as_str() {
        "ROCE" | "ROCE_V2" | "ROCEV2" | "ETHERNET" | "ETH" => Ok(LinkLayer::Roce),
        "INFINIBAND" | "IB" => Ok(LinkLayer::Infiniband),
        _ => Err(InputError(format!(
            "`{word}` is not a link layer; expected roce (ethernet) or infiniband{}",
            did_you_mean(word, ["roce", "ethernet", "infiniband"])
        ))),
    }
}

/// Names of a mask's bits in bit order, joined.
pub fn list(mask: AttrMask) -> String {
    mask.names().join(", ")
}

/// `a`, `a and b`, `a, b and c`.
pub fn and(words: &[String]) -> String {
    match words {
        [] => "nothing".to_string(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}
