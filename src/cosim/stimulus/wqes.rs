//! WQEs that lie in their send queue, and the keys that they name.

use super::Generator;
use crate::cosim::engine::View;
use crate::model::{
    AccessFlags, ControlSegment, Lkey, OpClass, Operation, PostWqe, QpState, Region, Transport,
    WQE_UNITS, WqeFormat,
};

impl Generator {
    /// REG_KEY or DEREG_KEY on one of a few indices.
    pub(super) fn key(&mut self, view: &mut View<'_>) -> Operation {
        let indices = self.config.num_key.min(6);
        let odd = self.chance(30);
        let index = if odd {
            let limit = self.config.num_key;
            self.pick(&[limit, limit - 1, limit + 1, 0xff_ffff])
        } else {
            self.rng.u32(..indices)
        };
        let lkey = Lkey::of(index, self.rng.u8(..3));
        let registered: Vec<Lkey> = view.machine().keys().iter().map(|(key, _)| key).collect();
        if !registered.is_empty() && self.rng.u32(..8) < registered.len() as u32 {
            let lkey = if self.chance(100) { lkey } else { self.pick(&registered) };
            return Operation::DeregKey { lkey };
        }
        let base = match self.rng.u8(..6) {
            0 => 0,
            1 => u64::MAX - self.rng.u64(..9000),
            2 => u64::from(u32::MAX) - self.rng.u64(..9000),
            _ => self.rng.u64(..),
        };
        let any = self.rng.u64(1..20_000);
        let length = match self.rng.u8(..8) {
            0 => 0u64.wrapping_sub(base),
            1 => 0u64.wrapping_sub(base).wrapping_add(1),
            2 => self.pick(&[0, 1, 1 << 31, 1 << 33, u64::MAX]),
            _ => any,
        };
        // Mostly legal: remote writes need local ones.
        let mut access = self.rng.u32(..16);
        if access & 0b1010 != 0 && !self.chance(100) {
            access |= 1;
        }
        if self.chance(20) {
            access |= 1 << self.rng.u32(4..32);
        }
        Operation::RegKey { lkey, base, length, access: AccessFlags(access) }
    }

    /// A doorbell for a WQE of at most [`WQE_UNITS`] units.
    pub(super) fn wqe(&mut self, view: &mut View<'_>) -> Option<Operation> {
        if !self.chance(self.profile.walked) {
            return None;
        }
        // Now and then a number that is none, in all of its bits: the walk must hand it on whole.
        let wild = self.chance(10);
        let qpn = if wild { self.rng.u32(..) } else { self.some_qp() };
        let qp = view.machine().qp(qpn);
        if !wild
            && qp.as_ref().is_none_or(|qp| {
                qp.sq_queued >= qp.sq_ceiling
                    || matches!(qp.state, QpState::Reset | QpState::Init | QpState::Rtr)
            })
            && !self.chance(50)
        {
            return None;
        }
        let own = qp.as_ref().map_or(Transport::Rc, |qp| qp.transport);
        let mtu = qp.map_or(1, |qp| qp.attr.path_mtu);
        let transport = if self.chance(10) {
            self.pick(&[Transport::Rc, Transport::Uc, Transport::Ud])
        } else {
            own
        };
        self.next_wqe = self.next_wqe.wrapping_add(1);
        let send = self.send(qpn, own, mtu);
        let mut control = ControlSegment::unpack(&send.ctrl);
        let class = OpClass::from_mlx5(control.opcode);
        let fixed = class.map_or(1, |class| class.fixed_units(transport));
        let regions: Vec<(Lkey, Region)> =
            view.machine().keys().iter().map(|(key, region)| (key, *region)).collect();
        let mut units = [[0; 4]; WQE_UNITS];
        for unit in &mut units {
            *unit = [self.rng.u32(..), self.rng.u32(..), self.rng.u32(..), self.rng.u32(..)];
        }
        let room = WQE_UNITS - usize::from(fixed);
        let inline = class.is_some_and(OpClass::carries_payload) && self.rng.u8(..3) == 0;
        let segments = if class.is_some_and(OpClass::is_atomic) {
            1
        } else if inline {
            let bytes = self.rng.u32(..=16 * room as u32 - 4);
            let bytes = if self.chance(50) { bytes + 16 } else { bytes };
            units[usize::from(fixed)][0] = 1 << 31 | bytes;
            ((bytes + 4).div_ceil(16) as usize).min(room)
        } else {
            self.rng.usize(usize::from(class == Some(OpClass::Read))..=room)
        };
        if !inline {
            for unit in &mut units[usize::from(fixed)..] {
                let bytes = if class.is_some_and(OpClass::is_atomic) { Some(8) } else { None };
                *unit = self.pointer(&regions, bytes);
            }
        }
        if self.chance(self.profile.bad_wqe) && segments > 0 {
            let at = usize::from(fixed) + self.rng.usize(..segments);
            let bit = self.pick(&[31, 31, 30, 10, 9, 0]);
            units[at][self.rng.usize(..2)] ^= 1 << bit;
        }
        // One bit away from a legal opcode.
        if self.chance(self.profile.bad_wqe / 2) {
            control.opcode ^= 1 << self.rng.u32(..8);
        }
        control.inline = send.format == WqeFormat::Book && (inline || self.chance(100));
        // Now and then the count says something else than what lies there.
        if !self.chance(self.profile.bad_wqe / 2) {
            control.ds = match send.format {
                WqeFormat::Book => segments as u8,
                WqeFormat::Mlx5 => fixed + segments as u8,
            };
        }
        units[0] = control.pack().expect("every field was drawn within its width");
        Some(Operation::PostWqe(PostWqe {
            qpn,
            transport,
            format: send.format,
            first_block: self.rng.u32(..),
            ring_log2: self.pick(&[1, 1, 2, 3, 6, 13, 16]),
            units,
        }))
    }

    /// A pointer segment, mostly into one of the regions.
    fn pointer(&mut self, regions: &[(Lkey, Region)], bytes: Option<u32>) -> [u32; 4] {
        let any = Lkey::of(self.rng.u32(..8), self.rng.u8(..3));
        let (mut lkey, region) = match regions {
            [] => (any, None),
            _ => {
                let (lkey, region) = regions[self.rng.usize(..regions.len())];
                (lkey, Some(region))
            }
        };
        let length = region.map_or(64, |r| r.length().min(1 << 20)) as u32;
        let bytes = bytes.unwrap_or_else(|| match self.rng.u8(..12) {
            0 => 0,
            1 => length,
            2 => length.saturating_add(1),
            _ => self.rng.u32(..=length.min(600)),
        });
        let room = region.map_or(0, |r| r.length().saturating_sub(bytes.into()));
        let base: u64 = region.map_or(0, |r| r.base());
        let offset = match self.rng.u8(..4) {
            0 => 0,
            1 => room,
            _ if room == u64::MAX => 0,
            _ => self.rng.u64(..=room),
        };
        let mut address = base.wrapping_add(offset);
        if self.chance(8) {
            address = address.wrapping_sub(1);
        }
        if self.chance(8) {
            address = address.wrapping_add(room.wrapping_add(1));
        }
        if self.chance(8) {
            lkey = any;
        }
        [bytes & 0x7fff_ffff, lkey.0, (address >> 32) as u32, address as u32]
    }
}
