//! What is public of devices other than mlx5: the vendor codes of bnxt_re, EFA and irdma, and
//! whose a line is that is not decoded.
//!
//! bnxt_re: `enum bnxt_re_req_wc_status` and its second numbering, `.._v3`, of Broadcom's
//! `bnxt_re-abi.h`; its library and the kernel's driver put the hardware's status into
//! `vendor_err`. EFA:
//! `enum efa_io_comp_status` of the kernel's `efa_io_defs.h`, and `to_ibv_status` of rdma-core's
//! `providers/efa/verbs.c`. irdma: `irdma_process_cqe` of `providers/irdma/uverbs.c`.

use super::words::has;

/// A device that is no mlx5.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Device {
    Mlx5,
    Bnxt,
    Efa,
    Irdma,
}

/// The device that a line names.
pub fn named(body: &str) -> Option<Device> {
    [
        ("mlx5", Device::Mlx5),
        ("bnxt_", Device::Bnxt),
        ("rdmap", Device::Efa),
        ("efa", Device::Efa),
        ("irdma", Device::Irdma),
    ]
    .into_iter()
    .find(|(name, _)| names_it(body, name))
    .map(|(_, d)| d)
}

/// At the start of a word: no address holds it by chance.
fn names_it(body: &str, name: &str) -> bool {
    body.match_indices(name).any(|(i, _)| {
        let before = body[..i].chars().next_back();
        let behind = body[i + name.len()..].chars().next();
        let ends = name.ends_with('_') || behind.is_none_or(|c| !c.is_ascii_lowercase());
        before.is_none_or(|c| !c.is_ascii_alphanumeric()) && ends
    })
}

/// Vendor code, its name there, and the verbs status that it goes with.
type Code = (u32, &'static str, u8);

const BNXT: &[Code] = &[
    (0x1, "BAD_RESP", 7),
    (0x2, "LOC_LEN", 1),
    (0x3, "LOC_QP_OP", 2),
    (0x4, "PROT", 4),
    (0x5, "MEM_OP", 6),
    (0x6, "REM_INVAL", 9),
    (0x7, "REM_ACC", 10),
    (0x8, "REM_OP", 11),
    (0x9, "RNR_NAK_XCED", 13),
    (0xa, "TRNSP_XCED", 12),
    (0xb, "WR_FLUSH", 5),
];

const BNXT_V3: &[Code] = &[
    (0x1, "BAD_RESP", 7),
    (0x2, "LOC_LEN", 1),
    (0x4, "LOC_QP_OP", 2),
    (0x5, "PROT", 4),
    (0x7, "MEM_OP", 6),
    (0x8, "REM_INVAL", 9),
    (0x9, "REM_ACC", 10),
    (0xa, "REM_OP", 11),
    (0xb, "RNR_NAK_XCED", 13),
    (0xc, "TRNSP_XCED", 12),
    (0xd, "WR_FLUSH", 5),
];

const EFA: &[Code] = &[
    (1, "FLUSHED", 5),
    (2, "LOCAL_ERROR_QP_INTERNAL_ERROR", 2),
    (3, "LOCAL_ERROR_UNSUPPORTED_OP", 2),
    (4, "LOCAL_ERROR_INVALID_AH", 2),
    (5, "LOCAL_ERROR_INVALID_LKEY", 4),
    (6, "LOCAL_ERROR_BAD_LENGTH", 1),
    (7, "REMOTE_ERROR_BAD_ADDRESS", 10),
    (8, "REMOTE_ERROR_ABORT", 16),
    (9, "REMOTE_ERROR_BAD_DEST_QPN", 15),
    (10, "REMOTE_ERROR_RNR", 13),
    (11, "REMOTE_ERROR_BAD_LENGTH", 9),
    (12, "REMOTE_ERROR_BAD_STATUS", 7),
    (13, "LOCAL_ERROR_UNRESP_REMOTE", 20),
    (14, "REMOTE_ERROR_UNKNOWN_PEER", 11),
    (15, "LOCAL_ERROR_UNREACH_REMOTE", 20),
    (18, "REMOTE_ERROR_FEATURE_MISMATCH", 9),
];

const TABLES: &[(Device, &str, &[Code])] = &[
    (Device::Bnxt, "bnxt_re", BNXT),
    (Device::Bnxt, "bnxt_re with the V3 interface", BNXT_V3),
    (Device::Efa, "EFA", EFA),
];

/// What a vendor code would be on the devices that have a public table: on the one that the line
/// names, else on each where the code goes with the status told.
pub fn vendor_code(code: u32, status: Option<u8>, device: Option<Device>) -> Option<String> {
    if device == Some(Device::Mlx5) {
        return None;
    }
    let mut parts: Vec<String> = TABLES
        .iter()
        .filter(|(d, ..)| device.is_none_or(|x| x == *d))
        .filter_map(|(_, name, codes)| {
            let fits = |s: u8| status.is_none_or(|x| x == s);
            let (_, what, _) = codes.iter().find(|(c, _, s)| *c == code && fits(*s))?;
            Some(format!("on {name} {what}"))
        })
        .collect();
    if code > 0xffff && device.is_none_or(|d| d == Device::Irdma) {
        parts.push(format!(
            "on irdma major code 0x{:x}, minor code 0x{:x}",
            code >> 16,
            code & 0xffff
        ));
    }
    (!parts.is_empty()).then(|| format!("the vendor code would be {}", parts.join(", ")))
}

/// Whose line about an error is it?
pub fn foreign(w: &[String]) -> Option<&'static str> {
    let any = |f: fn(&str) -> bool| w.iter().any(|x| f(x));
    if has(w, &["cq", "processed", "req"]) || has(w, &["with", "vendor", "status"]) {
        Some("bnxt_re")
    } else if has(w, &["abnormal", "ae_id"]) {
        Some("irdma")
    } else if has(w, &["moved", "to", "error", "state"]) && any(|x| x == "qp") {
        Some("rdma_rxe")
    } else if any(|x| x.starts_with("qelr_")) && any(|x| x.starts_with("rdma_cqe_")) {
        Some("qedr")
    } else if has(w, &["libfabric"]) && has(w, &["efa"]) && has(w, &["err"]) && has(w, &["message"])
    {
        Some("EFA")
    } else {
        None
    }
}
