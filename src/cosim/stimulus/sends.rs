//! Operations of the `post` channel.

use super::Generator;
use crate::cosim::engine::View;
use crate::model::{
    Channel, ControlSegment, OpClass, Operation, PostSend, QpState, Transport, WqeFormat, mtu_bytes,
};

impl Generator {
    pub(super) fn post(&mut self, view: &mut View<'_>) -> Option<Operation> {
        if self.chance(self.profile.unknown) {
            let code = self.pick(&[0, 15, 18, 20, 255]);
            return Some(Operation::Unknown { channel: Channel::Post, code });
        }
        if let Some(qpn) = self.reborn.take() {
            self.next_wqe = self.next_wqe.wrapping_add(1);
            return Some(Operation::PostRecv { qpn, wqe_index: self.next_wqe });
        }
        let qpn = self.some_qp();
        let Some(qp) = view.machine().qp(qpn) else {
            let wqe_index = self.rng.u16(..);
            return self.chance(30).then_some(Operation::PostRecv { qpn, wqe_index });
        };
        // Refusals by state are all alike; a few are enough.
        let refused = |recv: bool| match qp.state {
            QpState::Reset => true,
            QpState::Init | QpState::Rtr => !recv,
            _ => false,
        };
        self.next_wqe = self.next_wqe.wrapping_add(1);
        if self.chance(self.profile.recv) {
            if (qp.rq_queued >= qp.rq_ceiling || refused(true)) && !self.chance(50) {
                return None;
            }
            return Some(Operation::PostRecv { qpn, wqe_index: self.next_wqe });
        }
        if (qp.sq_queued >= qp.sq_ceiling || refused(false)) && !self.chance(50) {
            return None;
        }
        Some(Operation::PostSend(self.send(qpn, qp.transport, qp.attr.path_mtu)))
    }

    pub(super) fn send(&mut self, qpn: u32, transport: Transport, path_mtu: u8) -> PostSend {
        let format = if self.rng.bool() { WqeFormat::Book } else { WqeFormat::Mlx5 };
        let class = self.class(transport);
        let port_mtu = mtu_bytes(self.config.max_mtu);
        let mtu = match transport {
            Transport::Ud => port_mtu,
            _ => mtu_bytes(path_mtu.clamp(1, self.config.max_mtu)),
        };
        let mut payload_len = if class.is_atomic() {
            8
        } else {
            let any = self.rng.u32(..=4 * mtu);
            let max = longest(transport, port_mtu);
            self.pick(&[0, 1, 28, 29, mtu - 1, mtu, mtu + 1, 2 * mtu, 3 * mtu + 1, any, max])
                .min(max)
        };
        let (least, most) = match (format, class) {
            (WqeFormat::Book, c) if c.is_atomic() => (1, 1),
            (WqeFormat::Book, OpClass::Read) => (1, 63),
            (WqeFormat::Book, _) => (0, 63),
            (WqeFormat::Mlx5, c) => (c.fixed_units(transport), 63),
        };
        let ds = match self.rng.u8(..4) {
            0 => least,
            1 => most,
            _ => self.rng.u8(least..=most),
        };
        let fence_mode =
            if self.chance(self.profile.fence) { self.rng.u8(2..5) } else { self.rng.u8(..2) };
        let mut c = ControlSegment {
            opmod: self.rng.u8(..),
            wqe_index: self.next_wqe,
            opcode: class.mlx5(),
            sqn: self.rng.u32(..1 << 24),
            ds,
            signature: self.rng.u8(..),
            stream: self.rng.u16(..),
            fence_mode,
            inline: format == WqeFormat::Book && self.rng.u8(..4) == 0,
            completion_mode: self.rng.u8(..4),
            solicited: self.rng.u8(..3) == 0,
            misc: self.rng.u32(..),
            ..Default::default()
        };
        let mut p = PostSend { qpn, format, inline: self.rng.u8(..4) == 0, ..Default::default() };
        if self.chance(self.profile.bad_wqe) {
            let any = self.rng.u8(..);
            match self.rng.u8(..11) {
                0 => c.opcode = self.pick(&[0, 2, 7, 12, 13, 14, 15, 19, 32, any]),
                1 => c.opcode = self.pick(&[1, 16, 17, 18, 8, 9]),
                2 => c.reserved_ds = self.rng.u8(1..4),
                3 => c.reserved_flag = true,
                4 => c.fence_mode = self.rng.u8(5..8),
                5 => c.ds = self.pick(&[0, 1, 2, 3, 63]),
                6 => p.walk_format = true,
                7 => {
                    let past_port = port_mtu + 1;
                    payload_len = self.pick(&[7, 9, past_port, 0x8000_0000, 0x8000_0001, u32::MAX]);
                }
                8 => p.walk_length = true,
                9 => p.walk_key = true,
                _ => c.inline = true,
            }
        }
        if p.walk_format || p.walk_length {
            // A second thing that the walker found.
            p.walk_key = self.rng.u8(..4) == 0;
        }
        p.ctrl = c.pack().expect("every field was drawn within its width");
        p.payload_len = payload_len;
        p
    }

    /// One of the transport's own operations.
    fn class(&mut self, transport: Transport) -> OpClass {
        let reads = self.chance(self.profile.reads);
        loop {
            let opcode = if reads && transport == Transport::Rc {
                self.pick(&[16, 17, 18, 16])
            } else {
                self.pick(&[10, 11, 1, 8, 9, 10])
            };
            let class = OpClass::from_mlx5(opcode).expect("one of the eight");
            if class.on(transport) {
                return class;
            }
        }
    }
}

/// The longest payload of a legal message.
fn longest(transport: Transport, port_mtu: u32) -> u32 {
    match transport {
        Transport::Ud => port_mtu,
        _ => 0x8000_0000,
    }
}
