//! Operations and policies as the records of the bridge, there and back.

use rnic_cosim::cosim::convert::*;
use rnic_cosim::hw::abi;
use rnic_cosim::model::{Channel, Operation, Policy};

fn round_trip(op: Operation) -> Operation {
    match channel(&op) {
        Channel::Cmd => {
            let mut r = Default::default();
            write_cmd(7, &op, &mut r);
            assert_eq!(r.tag, 7);
            read_cmd(&r)
        }
        Channel::Post => {
            let mut r = Default::default();
            write_post(7, &op, &mut r);
            read_post(&r)
        }
        Channel::Wire => {
            let mut r = Default::default();
            write_wire(7, &op, &mut r);
            read_wire(&r)
        }
        Channel::Cqdb => {
            let mut r = Default::default();
            write_cqdb(7, &op, &mut r);
            read_cqdb(&r)
        }
        Channel::Wqe | Channel::Internal => op,
    }
}

/// Random bytes as records: what a record asks for survives the way there and back.
#[test]
fn operations_survive_the_records() {
    let mut rng = fastrand::Rng::with_seed(1);
    for i in 0..20_000u32 {
        let cmd = abi::rnic_cmd {
            op: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 200][i as usize % 12],
            qpn: rng.u32(..),
            cqn: rng.u32(..),
            recv_cqn: rng.u32(..),
            depth: rng.u32(..),
            sq_ceiling: rng.u32(..),
            rq_ceiling: rng.u32(..),
            attr_mask: rng.u32(..),
            transport: rng.u8(..),
            sq_sig_all: rng.u8(..),
            ignore_overrun: rng.u8(..),
            fault: rng.u8(..),
            qp_state: rng.u8(..),
            cur_qp_state: rng.u8(..),
            attr: abi::rnic_qp_attr {
                access_flags: rng.u32(..),
                qkey: rng.u32(..),
                rq_psn: rng.u32(..),
                sq_psn: rng.u32(..),
                dest_qpn: rng.u32(..),
                av: abi::rnic_av { is_global: rng.u8(..), dlid: rng.u16(..), ..Default::default() },
                alt_av: abi::rnic_av {
                    sl: rng.u8(..),
                    hop_limit: rng.u8(..),
                    ..Default::default()
                },
                pkey_index: rng.u16(..),
                alt_pkey_index: rng.u16(..),
                alt_timeout: rng.u8(..),
                port: rng.u8(..),
                ..Default::default()
            },
            region: abi::rnic_region {
                lkey: rng.u32(..),
                access: rng.u32(..),
                base_lo: rng.u32(..),
                base_hi: rng.u32(..),
                length_lo: rng.u32(..),
                length_hi: rng.u32(..),
            },
            ..Default::default()
        };
        let op = read_cmd(&cmd);
        assert_eq!(round_trip(op), op);
        let post = abi::rnic_post {
            op: [16, 17, 99][i as usize % 3],
            qpn: rng.u32(..),
            payload_len: rng.u32(..),
            recv_index: rng.u16(..),
            flags: rng.u8(..),
            ctrl: abi::rnic_wqe_ctrl {
                opcode: rng.u32(..),
                sq_ds: rng.u32(..),
                flags: rng.u32(..),
                misc: rng.u32(..),
            },
            ..Default::default()
        };
        let op = read_post(&post);
        assert_eq!(round_trip(op), op);
        let wire = abi::rnic_wire {
            qpn: rng.u32(..),
            epoch: rng.u16(..),
            slot: rng.u16(..),
            queue: rng.u8(..2),
            status: rng.u8(..),
            opcode: rng.u8(..),
            wc_flags: rng.u8(..),
            solicited: rng.u8(..),
            byte_count: rng.u32(..),
            imm: rng.u32(..),
            ..Default::default()
        };
        let op = read_wire(&wire);
        assert_eq!(round_trip(op), op);
        let cqdb = abi::rnic_cqdb {
            op: [20, 21, 77][i as usize % 3],
            cqn: rng.u32(..),
            index: rng.u32(..),
            solicited_only: rng.u8(..),
            ..Default::default()
        };
        let op = read_cqdb(&cqdb);
        assert_eq!(round_trip(op), op);
    }
}

#[test]
fn straps_survive_the_record() {
    for p in [Policy::BOOK, Policy::LINUX] {
        assert_eq!(read_policy(&policy_record(&p)), p);
    }
}
