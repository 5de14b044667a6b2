//! Which layer an errno of `ibv_modify_qp` usually comes from.

use super::names;
use super::source::{InputError, did_you_mean};

/// One errno and where it usually comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Errno {
    /// Its number, positive.
    pub number: u16,
    /// Name.
    pub name: &'static str,
    /// The layer in a few words.
    pub layer: &'static str,
    /// What to look at.
    pub advice: &'static str,
    /// Can the check of states and masks be where it came from?
    pub from_table: bool,
}

const fn e(
    number: u16,
    name: &'static str,
    from_table: bool,
    layer: &'static str,
    advice: &'static str,
) -> Errno {
    Errno { number, name, layer, advice, from_table }
}

/// Numbers of Linux.
const KNOWN: &[Errno] = &[
    e(
        1,
        "EPERM",
        false,
        "permission",
        "the process may not do this (locked memory, raw QP, a privileged Q_Key)",
    ),
    e(
        5,
        "EIO",
        false,
        "device: the command failed",
        "look at the kernel log for the firmware's syndrome",
    ),
    e(
        11,
        "EAGAIN",
        false,
        "device: busy or short of resources",
        "try again; look at the kernel log",
    ),
    e(
        12,
        "ENOMEM",
        false,
        "resources: memory, or at post time a full send or receive queue",
        "at ibv_post_send it is a full send queue (libmlx5 and libmlx4 give it for more SGEs than max_send_sge and for more inline bytes than max_inline_data, too), not an overflow of the CQ",
    ),
    e(13, "EACCES", false, "permission", "the process may not use this device or GID"),
    e(16, "EBUSY", false, "device: the object is in use", "something still hangs on the QP"),
    e(
        19,
        "ENODEV",
        false,
        "device: GID or port has no network device",
        "look at the GID table entry and whether its interface is up; on a bonded device at the port affinity",
    ),
    e(
        22,
        "EINVAL",
        true,
        "mask, value or address (check the mask first)",
        "the only number that the table check gives; drivers and the GID look-up give it too",
    ),
    e(
        95,
        "EOPNOTSUPP",
        false,
        "driver: not supported",
        "the driver or its firmware lacks this call or attribute",
    ),
    e(
        99,
        "EADDRNOTAVAIL",
        false,
        "address: the source GID has no address any more",
        "look at the GID table entry",
    ),
    e(
        101,
        "ENETUNREACH",
        false,
        "address: no route to the peer's network",
        "look at the routing table for the destination GID",
    ),
    e(
        110,
        "ETIMEDOUT",
        false,
        "address: neighbour or route not resolved, peer unreachable",
        "ping the peer's address from this interface; look at GID, VLAN and routes",
    ),
    e(
        113,
        "EHOSTUNREACH",
        false,
        "address: neighbour or route not resolved, peer unreachable",
        "look at the neighbour table for the destination",
    ),
    e(
        121,
        "EREMOTEIO",
        false,
        "device: firmware refused the command",
        "look at the kernel log for the firmware's syndrome; 0x3 is a bad parameter, that is a value",
    ),
];

/// The errno of that number (`22`, `-22`) or name (`EINVAL`).
pub fn lookup(word: &str) -> Result<Errno, InputError> {
    let name = word.trim().to_ascii_uppercase();
    if let Some(e) = KNOWN.iter().find(|e| e.name == name) {
        return Ok(*e);
    }
    let number = names::number(word).map(i128::abs);
    KNOWN.iter().find(|e| number == Some(i128::from(e.number))).copied().ok_or_else(|| {
        let known: Vec<String> = KNOWN.iter().map(|e| format!("{} {}", e.number, e.name)).collect();
        InputError(format!(
            "errno {word} is not one that ibv_modify_qp is known to give; known are {}{}",
            known.join(", "),
            did_you_mean(&name, KNOWN.iter().map(|e| e.name))
        ))
    })
}
