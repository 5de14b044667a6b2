//! The records cross the bridge bit by bit unchanged: each field of the C header is the field
//! of the same name in the packed struct of the RTL package.
//!
//! The loopback device (testbench/rtl/abi_loopback.sv) names every field in SystemVerilog,
//! this file names them in C, in the same order. Where either side misplaces a field, another
//! one answers.

use rnic_cosim::hw::abi::*;
use rnic_cosim::hw::{Dut, Rtl};

use crate::rtl_support::all_ready;

/// One field: how to get at it in its record `R`, and its width in bits.
struct Field<R> {
    name: &'static str,
    width: u32,
    set: fn(&mut R, u32),
}

/// A C integer, or an array of reserved bytes.
trait Word: Copy {
    const WIDTH: u32;
    fn of(value: u32) -> Self;
}

impl Word for u32 {
    const WIDTH: u32 = 32;
    fn of(value: u32) -> Self {
        value
    }
}

impl Word for u16 {
    const WIDTH: u32 = 16;
    fn of(value: u32) -> Self {
        value as u16
    }
}

impl Word for u8 {
    const WIDTH: u32 = 8;
    fn of(value: u32) -> Self {
        value as u8
    }
}

impl<const N: usize> Word for [u8; N] {
    const WIDTH: u32 = 8 * N as u32;
    fn of(value: u32) -> Self {
        let bytes = value.to_le_bytes();
        std::array::from_fn(|i| bytes[i])
    }
}

fn width_of<R, W: Word>(_: fn(&R) -> W) -> u32 {
    W::WIDTH
}

macro_rules! fields {
    ($record:ty: $($($part:ident).+),+ $(,)?) => {
        vec![$(Field::<$record> {
            name: stringify!($($part).+),
            width: width_of(|r: &$record| r.$($part).+),
            set: |r, value| r.$($part).+ = Word::of(value),
        }),+]
    };
}

#[rustfmt::skip]
fn input_fields() -> Vec<Field<rnic_stim>> {
    fields![rnic_stim:
        cmd.tag, cmd.qpn, cmd.cqn, cmd.recv_cqn, cmd.depth, cmd.sq_ceiling,
        cmd.rq_ceiling, cmd.attr_mask, cmd.op, cmd.transport, cmd.sq_sig_all,
        cmd.ignore_overrun, cmd.fault, cmd.qp_state, cmd.cur_qp_state, cmd.reserved,
        cmd.attr.access_flags, cmd.attr.qkey, cmd.attr.rq_psn, cmd.attr.sq_psn,
        cmd.attr.dest_qpn, cmd.attr.av.is_global, cmd.attr.av.sgid_index,
        cmd.attr.av.hop_limit, cmd.attr.av.traffic_class, cmd.attr.av.dlid,
        cmd.attr.av.sl, cmd.attr.av.static_rate, cmd.attr.alt_av.is_global,
        cmd.attr.alt_av.sgid_index, cmd.attr.alt_av.hop_limit,
        cmd.attr.alt_av.traffic_class, cmd.attr.alt_av.dlid, cmd.attr.alt_av.sl,
        cmd.attr.alt_av.static_rate, cmd.attr.pkey_index, cmd.attr.alt_pkey_index,
        cmd.attr.en_sqd_async_notify, cmd.attr.port, cmd.attr.path_mtu,
        cmd.attr.timeout, cmd.attr.retry_cnt, cmd.attr.rnr_retry,
        cmd.attr.max_qp_rd_atomic, cmd.attr.min_rnr_timer, cmd.attr.max_dest_rd_atomic,
        cmd.attr.path_mig_state, cmd.attr.alt_port, cmd.attr.alt_timeout, post.tag,
        post.qpn, post.ctrl.opcode, post.ctrl.sq_ds, post.ctrl.flags, post.ctrl.misc,
        post.payload_len, post.recv_index, post.op, post.flags, wire.tag, wire.qpn,
        wire.byte_count, wire.imm, wire.epoch, wire.slot, wire.queue, wire.status,
        wire.opcode, wire.wc_flags, wire.solicited, wire.reserved, cqdb.tag, cqdb.cqn,
        cqdb.index, cqdb.op, cqdb.solicited_only, cqdb.reserved,
        cmd.region.lkey, cmd.region.access, cmd.region.base_lo, cmd.region.base_hi,
        cmd.region.length_lo, cmd.region.length_hi, wqe.tag, wqe.qpn, wqe.first_block,
        wqe.ring_log2, wqe.transport, wqe.flags, wqe.reserved, unit.word0, unit.word1,
        unit.word2, unit.word3,
    ]
}

#[rustfmt::skip]
fn policy_fields() -> Vec<Field<rnic_policy>> {
    fields![rnic_policy:
        refuse_reset_to_err, cur_state_override, rc_sqe_row,
        allow_leave_draining, sqd_hold_unstarted,
        wqe_check_in_pipeline, cq_overwrite, cq_scope,
        link_infiniband, reserved, max_inline,
    ]
}

#[rustfmt::skip]
fn output_fields() -> Vec<Field<rnic_resp>> {
    let mut all = fields![rnic_resp:
        rsp.tag, rsp.channel, rsp.op, rsp.outcome, rsp.layer, rsp.missing, rsp.extra,
        rsp.bad_values, rsp.wqe_errors, rsp.slot, rsp.epoch, rsp.cq_exceeds,
        rsp.qp_state, rsp.transport, rsp.sq_sig_all, rsp.drain, rsp.event_owed,
        rsp.qp_fatal_raised, rsp.reserved, rsp.sq_head, rsp.send_cqn, rsp.recv_cqn,
        rsp.sq_ceiling, rsp.rq_ceiling, rsp.sq_queued, rsp.sq_issued, rsp.sq_flush_owed,
        rsp.sq_reads, rsp.rq_head, rsp.rq_queued, rsp.send_epoch, rsp.recv_epoch,
        rsp.attr_set, rsp.stale, rsp.attr.access_flags, rsp.attr.qkey, rsp.attr.rq_psn,
        rsp.attr.sq_psn, rsp.attr.dest_qpn, rsp.attr.av.is_global,
        rsp.attr.av.sgid_index, rsp.attr.av.hop_limit, rsp.attr.av.traffic_class,
        rsp.attr.av.dlid, rsp.attr.av.sl, rsp.attr.av.static_rate,
        rsp.attr.alt_av.is_global, rsp.attr.alt_av.sgid_index,
        rsp.attr.alt_av.hop_limit, rsp.attr.alt_av.traffic_class, rsp.attr.alt_av.dlid,
        rsp.attr.alt_av.sl, rsp.attr.alt_av.static_rate, rsp.attr.pkey_index,
        rsp.attr.alt_pkey_index, rsp.attr.en_sqd_async_notify, rsp.attr.port,
        rsp.attr.path_mtu, rsp.attr.timeout, rsp.attr.retry_cnt, rsp.attr.rnr_retry,
        rsp.attr.max_qp_rd_atomic, rsp.attr.min_rnr_timer, rsp.attr.max_dest_rd_atomic,
        rsp.attr.path_mig_state, rsp.attr.alt_port, rsp.attr.alt_timeout, rsp.depth,
        rsp.producer, rsp.consumer, rsp.occupancy, rsp.lost, rsp.ceiling_sum,
        rsp.attached, rsp.arm, rsp.ignore_overrun, rsp.fault,
    ];
    // bindgen gives bit fields setters instead of members.
    all.push(Field { name: "rsp.in_error", width: 1, set: |r, v| r.rsp.set_in_error(v as u8) });
    all.push(Field { name: "rsp.cq_err_raised", width: 1, set: |r, v| r.rsp.set_cq_err_raised(v as u8) });
    all.push(Field { name: "rsp.reserved2", width: 6, set: |r, v| r.rsp.set_reserved2(v as u8 & 63) });
    all.extend(fields![rnic_resp:
        issue.qpn, issue.length, issue.packets, issue.response_packets, issue.misc,
        issue.epoch, issue.slot, issue.wqe_index, issue.opcode, issue.headers,
        issue.solicited, issue.inline_data, issue.segments, issue.reserved, cqe.cqn,
        cqe.index, cqe.cqe.qpn, cqe.cqe.byte_count, cqe.cqe.imm, cqe.cqe.wqe_index,
        cqe.cqe.status, cqe.cqe.opcode, cqe.cqe.queue, cqe.cqe.wc_flags,
        cqe.cqe.reserved, cqe.cqe.phase, event.qpn, event.cqn, event.kinds,
        event.has_qp, event.has_cq, event.reserved, retire.tag, retire.qpn, retire.cqn,
        retire.channel, retire.op, retire.outcome, retire.layer, retire.state_before,
        retire.state_after, retire.wire_room, retire.cqe, retire.event_kinds,
        retire.queue, retire.key_version, fetch.tag, fetch.qpn, fetch.unit,
    ]);
    all
}

/// The flags of post.flags, wqe_errors, event kinds and headers, in the loopback's order.
#[rustfmt::skip]
const FLAGS: &[u32] = &[
    RNIC_POST_MLX5, RNIC_POST_INLINE, RNIC_POST_WALK_FORMAT, RNIC_POST_WALK_LENGTH,
    RNIC_POST_WALK_KEY, RNIC_WQE_BAD_OPCODE, RNIC_WQE_BAD_TRANSPORT, RNIC_WQE_RESERVED,
    RNIC_WQE_BAD_FENCE, RNIC_WQE_BAD_DS, RNIC_WQE_WALK_FORMAT, RNIC_WQE_BAD_LENGTH,
    RNIC_WQE_WALK_LENGTH, RNIC_WQE_WALK_KEY, RNIC_EV_CQ_ERR, RNIC_EV_QP_FATAL,
    RNIC_EV_SQ_DRAINED, RNIC_EV_COMPLETION, RNIC_HDR_RETH, RNIC_HDR_IMMDT, RNIC_HDR_IETH,
    RNIC_HDR_ATOMICETH,
];

const SHOW_FLAGS: u8 = 2;
const DRIVE_OUTPUTS: u8 = 1;

fn loopback() -> Rtl {
    Rtl::loopback(1).expect("the loopback powers up")
}

fn all_valid() -> rnic_stim {
    rnic_stim {
        cmd_valid: 1,
        post_valid: 1,
        wire_valid: 1,
        cqdb_valid: 1,
        wqe_valid: 1,
        unit_valid: 1,
        fetch_ready: 1,
        ..all_ready()
    }
}

fn all_seen() -> rnic_resp {
    rnic_resp {
        slot_kind: DRIVE_OUTPUTS, // the loopback shows the test input there
        cmd_ready: 1,
        post_ready: 1,
        wire_ready: 1,
        cqdb_ready: 1,
        wqe_ready: 1,
        unit_ready: 1,
        fetch_valid: 1,
        rsp_valid: 1,
        issue_valid: 1,
        cqe_valid: 1,
        event_valid: 1,
        retire_valid: 1,
        ..Default::default()
    }
}

/// What each of the first `count` clocks after reset shows in retire.tag.
fn shown(dut: &mut Rtl, policy: &rnic_policy, stim: &rnic_stim, count: usize) -> Vec<u32> {
    dut.reset(policy).expect("reset");
    let stim = vec![*stim; count];
    let mut resp = vec![rnic_resp::default(); count];
    dut.run(&stim, &mut resp).expect("the loopback runs");
    resp.iter().map(|r| r.retire.tag).collect()
}

/// Single bits, and all of them at once.
fn patterns(width: u32) -> impl Iterator<Item = u32> {
    (0..width).map(|bit| 1 << bit).chain([u32::MAX >> (32 - width)])
}

#[test]
fn every_bit_of_every_input_field_arrives_in_the_field_of_the_same_name() {
    let inputs = input_fields();
    let policies = policy_fields();
    let count = inputs.len() + policies.len();
    let mut dut = loopback();
    let mut check = |name: &str, at: usize, value, policy: &rnic_policy, stim: &rnic_stim| {
        let mut expected = vec![0; count];
        expected[at] = value;
        let got = shown(&mut dut, policy, stim, count);
        assert_eq!(got, expected, "{name} = {value:#x}");
    };
    for (at, field) in inputs.iter().enumerate() {
        for value in patterns(field.width) {
            let mut stim = all_valid();
            (field.set)(&mut stim, value);
            check(field.name, at, value, &Default::default(), &stim);
        }
    }
    for (at, field) in policies.iter().enumerate() {
        for value in patterns(field.width) {
            let mut policy = rnic_policy::default();
            (field.set)(&mut policy, value);
            check(field.name, inputs.len() + at, value, &policy, &all_valid());
        }
    }
}

#[test]
fn every_bit_of_every_output_field_leaves_from_the_field_of_the_same_name() {
    let fields = output_fields();
    let mut dut = loopback();
    let mut stim = rnic_stim { hold_internal: DRIVE_OUTPUTS, ..all_valid() };
    for value in patterns(32) {
        stim.cmd.tag = value;
        dut.reset(&Default::default()).expect("reset");
        for field in &fields {
            let mut expected = all_seen();
            (field.set)(&mut expected, value & (u32::MAX >> (32 - field.width)));
            let mut got = rnic_resp::default();
            dut.step(&stim, &mut got).expect("the loopback runs");
            assert_eq!(got, expected, "{} driven with {value:#x}", field.name);
        }
    }
}

#[test]
fn the_field_lists_cover_the_records() {
    let bits = |records: &[usize]| 8 * records.iter().sum::<usize>() as u32;
    let sum = |widths: Vec<u32>| widths.into_iter().sum::<u32>();
    assert_eq!(
        sum(input_fields().iter().map(|f| f.width).collect()),
        bits(&[
            size_of::<rnic_cmd>(),
            size_of::<rnic_post>(),
            size_of::<rnic_wire>(),
            size_of::<rnic_cqdb>(),
            size_of::<rnic_wqe>(),
            size_of::<rnic_unit>()
        ])
    );
    assert_eq!(
        sum(policy_fields().iter().map(|f| f.width).collect()),
        bits(&[size_of::<rnic_policy>()])
    );
    assert_eq!(
        sum(output_fields().iter().map(|f| f.width).collect()),
        bits(&[
            size_of::<rnic_rsp>(),
            size_of::<rnic_issue>(),
            size_of::<rnic_cqe_write>(),
            size_of::<rnic_event>(),
            size_of::<rnic_retire>(),
            size_of::<rnic_fetch>()
        ])
    );
}

#[test]
fn flags_are_the_bits_of_the_header() {
    let mut dut = loopback();
    for &flag in FLAGS {
        let mut stim = rnic_stim { hold_internal: SHOW_FLAGS, ..all_valid() };
        stim.cmd.tag = flag;
        let got = shown(&mut dut, &Default::default(), &stim, FLAGS.len());
        let expected: Vec<u32> = FLAGS.iter().map(|&f| u32::from(f == flag)).collect();
        assert_eq!(got, expected, "flag {flag:#x}");
    }
}

#[test]
fn handshakes_go_to_their_own_channel() {
    type Handshake = (fn(&mut rnic_stim), fn(&mut rnic_resp));
    let each: [Handshake; 12] = [
        (|s| s.cmd_valid = 1, |r| r.cmd_ready = 1),
        (|s| s.post_valid = 1, |r| r.post_ready = 1),
        (|s| s.wire_valid = 1, |r| r.wire_ready = 1),
        (|s| s.cqdb_valid = 1, |r| r.cqdb_ready = 1),
        (|s| s.wqe_valid = 1, |r| r.wqe_ready = 1),
        (|s| s.unit_valid = 1, |r| r.unit_ready = 1),
        (|s| s.fetch_ready = 1, |r| r.fetch_valid = 1),
        (|s| s.rsp_ready = 1, |r| r.rsp_valid = 1),
        (|s| s.issue_ready = 1, |r| r.issue_valid = 1),
        (|s| s.cqe_ready = 1, |r| r.cqe_valid = 1),
        (|s| s.event_ready = 1, |r| r.event_valid = 1),
        (|s| s.retire_ready = 1, |r| r.retire_valid = 1),
    ];
    let mut dut = loopback();
    dut.reset(&Default::default()).expect("reset");
    for (set, expect) in each {
        let (mut stim, mut expected, mut got) = Default::default();
        set(&mut stim);
        expect(&mut expected);
        dut.step(&stim, &mut got).expect("the loopback runs");
        assert_eq!(got, expected);
    }
}

#[test]
fn payloads_are_written_only_where_valid() {
    let mut dut = loopback();
    dut.reset(&Default::default()).expect("reset");
    let mut got = rnic_resp::default();
    got.rsp.tag = 7;
    got.retire.tag = 7;
    dut.step(&rnic_stim { retire_ready: 1, cmd_valid: 1, ..Default::default() }, &mut got)
        .expect("one clock");
    assert_eq!((got.rsp.tag, got.retire.tag), (7, 0));
}

#[test]
fn the_test_input_is_cut_to_its_width() {
    let mut dut = loopback();
    let at = input_fields().len() + policy_fields().len();
    let stim = rnic_stim { hold_internal: 0xfc, ..all_valid() };
    assert_eq!(shown(&mut dut, &Default::default(), &stim, at + 1)[at], 4);
}
