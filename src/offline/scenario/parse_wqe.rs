//! Reading `post_wqe`: a send WQE as it lies in its send queue.

use super::fields::{Node, Result};
use super::file::Action;
use super::names;
use super::parse::Scope;
use super::parse_step::read_opcode;
use super::problem::Problem;
use crate::model::{
    AccessFlags, ControlSegment, OpClass, PostWqe, Transport, WQE_UNITS, WqeFormat,
};

const U32: std::ops::RangeInclusive<u64> = 0..=u32::MAX as u64;
const U64: std::ops::RangeInclusive<u64> = 0..=u64::MAX;

/// A list of `ibv_access_flags` names.
pub(super) fn access(n: &Node<'_>) -> Result<AccessFlags> {
    let choices = [
        ("LOCAL_WRITE", AccessFlags::LOCAL_WRITE),
        ("REMOTE_WRITE", AccessFlags::REMOTE_WRITE),
        ("REMOTE_READ", AccessFlags::REMOTE_READ),
        ("REMOTE_ATOMIC", AccessFlags::REMOTE_ATOMIC),
    ];
    n.list()?.iter().try_fold(AccessFlags::EMPTY, |all, one| {
        Ok(all | one.one_of_verbs("access flag", "IBV_ACCESS_", &choices)?)
    })
}

impl Scope {
    pub(super) fn post_wqe(&self, node: &Node<'_>) -> Result<Action> {
        let f = node.fields(&[
            "qp",
            "format",
            "transport",
            "block",
            "ring_blocks",
            "units",
            "opcode",
            "signaled",
            "fence",
            "solicited",
            "index",
            "imm",
            "ds",
            "remote",
            "sge",
            "inline",
        ])?;
        let qpn = self.first_qpn(&f.need("qp")?)?;
        let format = f.get("format").map_or(Ok(WqeFormat::Mlx5), |n| {
            n.one_of("WQE format", &[("book", WqeFormat::Book), ("mlx5", WqeFormat::Mlx5)])
        })?;
        let own = self.transport_of(&f.need("qp")?, qpn);
        let transport = f.get("transport").map_or(Ok(own), |n| {
            n.one_of_verbs(
                "transport",
                "IBV_QPT_",
                &[("RC", Transport::Rc), ("UC", Transport::Uc), ("UD", Transport::Ud)],
            )
        })?;
        let ring_log2 = f.get("ring_blocks").map_or(Ok(4), |n| {
            let blocks = n.uint(2..=65_536)?;
            if blocks.is_power_of_two() {
                Ok(blocks.ilog2() as u8)
            } else {
                Err(n.problem(
                    format!("a send queue of {blocks} blocks"),
                    "expected a power of two from 2 to 65536",
                ))
            }
        })?;
        let mut wqe = PostWqe {
            qpn,
            transport,
            format,
            first_block: f.uint_or("block", U32, 0)? as u32,
            ring_log2,
            units: [[0; 4]; WQE_UNITS],
        };
        let mut remarks = Vec::new();
        let blocks = 1u32 << ring_log2;
        if wqe.first_block >= blocks {
            let (block, same) = (wqe.first_block, wqe.first_block % blocks);
            remarks.push(format!("block {block} of a ring of {blocks} blocks is its block {same}"));
        }
        if let Some(n) = f.get("units") {
            for key in ["opcode", "signaled", "fence", "solicited", "imm", "ds", "remote", "sge"] {
                f.not_both("units", key)?;
            }
            f.not_both("units", "inline")?;
            let units = n.list()?;
            if units.is_empty() || units.len() > WQE_UNITS {
                return Err(n.problem(
                    format!("{} units", units.len()),
                    format!("expected 1 to {WQE_UNITS} units of four words"),
                ));
            }
            for (to, unit) in wqe.units.iter_mut().zip(&units) {
                let words = unit.list()?;
                if words.len() != 4 {
                    return Err(unit.problem(
                        format!("a unit of {} words", words.len()),
                        "expected four 32-bit words, big-endian in memory",
                    ));
                }
                for (to, word) in to.iter_mut().zip(&words) {
                    *to = word.uint(U32)? as u32;
                }
            }
            return Ok(Action::PostWqe {
                first: Some((wqe.units[0][0] >> 8) as u16),
                wqe: Box::new(wqe),
                remarks,
            });
        }
        let opcode = read_opcode(&f)?;
        let class = OpClass::from_mlx5(opcode);
        let fixed = class.map_or(1, |c| c.fixed_units(transport));
        let name = names::wqe_opcode_name(opcode);
        let remote = class.is_some_and(|c| !c.is_send());
        if remote && f.get("remote").is_none() {
            remarks.push(format!("{name} without `remote`: its address and rkey are 0"));
        }
        if let Some(n) = f.get("imm").filter(|_| class.is_some_and(|c| !c.uses_misc())) {
            let imm = n.uint(U32)?;
            remarks.push(format!("imm {imm:#x} has no effect because {name} carries none"));
        }
        if let Some(n) = f.get("remote") {
            if !remote {
                return Err(Problem::new(
                    f.key_span("remote"),
                    format!("{name} has no segment for `remote`"),
                    "leave it out; `units` says every bit",
                ));
            }
            let r = n.fields(&["addr", "rkey"])?;
            let addr = r.need("addr")?.uint(U64)?;
            let rkey = r.need("rkey")?.uint(U32)? as u32;
            wqe.units[1] = [(addr >> 32) as u32, addr as u32, rkey, 0];
        }
        let mut at = usize::from(fixed);
        let mut inline = false;
        if let Some(n) = f.get("inline") {
            f.not_both("inline", "sge")?;
            let most = 16 * (WQE_UNITS - at) as u64 - 4;
            let bytes = n.uint(0..=most)? as u32;
            wqe.units[at][0] = 1 << 31 | bytes;
            at += (bytes + 4).div_ceil(16) as usize;
            inline = true;
        }
        if let Some(n) = f.get("sge") {
            let list = n.list()?;
            if list.len() > WQE_UNITS - at {
                return Err(n.problem(
                    format!("{} elements", list.len()),
                    format!("expected at most {} with this opcode", WQE_UNITS - at),
                ));
            }
            for one in list {
                let e = one.fields(&["addr", "length", "lkey"])?;
                let addr = e.need("addr")?.uint(U64)?;
                wqe.units[at] = [
                    e.need("length")?.uint(0..=0x7fff_ffff)? as u32,
                    e.need("lkey")?.uint(U32)? as u32,
                    (addr >> 32) as u32,
                    addr as u32,
                ];
                at += 1;
            }
        }
        let segments = at as u8 - fixed;
        let right = if format == WqeFormat::Mlx5 { fixed + segments } else { segments };
        let control = ControlSegment {
            opcode,
            sqn: qpn & 0xff_ffff,
            ds: f.uint_or("ds", 0..=63, right.into())? as u8,
            fence_mode: if f.bool_or("fence", false)? { 4 } else { 0 },
            inline: inline && format == WqeFormat::Book,
            completion_mode: if f.bool_or("signaled", true)? { 2 } else { 0 },
            solicited: f.bool_or("solicited", false)?,
            misc: f.uint_or("imm", U32, 0)? as u32,
            ..ControlSegment::default()
        };
        wqe.units[0] = control.pack().expect("every field was read within its range");
        let first = f.get("index").map(|n| n.uint(0..=0xffff)).transpose()?.map(|n| n as u16);
        Ok(Action::PostWqe { wqe: Box::new(wqe), first, remarks })
    }
}
