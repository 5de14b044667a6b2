//! Operations and effects of the model ⇄ records of the ABI.
//!
//! Predictions are turned into records and compared as records, so a number that the model
//! has no name for is a difference like any other.

use crate::hw::abi;
use crate::model::{
    AccessFlags, AddressVector, Answer, AttrMask, AttrValues, Channel, Complete, Cqe, CqeEffect,
    CurState, Effects, Event, Issue, LinkLayer, Lkey, Modify, Operation, Policy, PostSend, PostWqe,
    Queue, Sqd, WqeCheck, WqeFormat,
};
use crate::model::{CqFull, CqScope};

/// The channel on which an operation enters.
pub fn channel(op: &Operation) -> Channel {
    use Operation::*;
    match op {
        CreateCq { .. } | DestroyCq { .. } | QueryCq { .. } | SetCqFault { .. } => Channel::Cmd,
        CreateQp { .. } | DestroyQp { .. } | ModifyQp(_) | QueryQp { .. } => Channel::Cmd,
        RegKey { .. } | DeregKey { .. } => Channel::Cmd,
        // The summary of a walk entered as a WQE.
        PostWqe(_) | PostSend(crate::model::PostSend { walked_as: Some(_), .. }) => Channel::Wqe,
        PostSend(_) | PostRecv { .. } => Channel::Post,
        Complete(_) => Channel::Wire,
        Consume { .. } | Arm { .. } => Channel::Cqdb,
        Issue { .. } | Flush { .. } | Cascade { .. } => Channel::Internal,
        Unknown { channel, .. } => *channel,
    }
}

/// The operation code that `rsp` and `retire` show.
pub fn code(op: &Operation) -> u8 {
    use Operation::*;
    let code = match op {
        CreateCq { .. } => abi::RNIC_OP_CREATE_CQ,
        DestroyCq { .. } => abi::RNIC_OP_DESTROY_CQ,
        QueryCq { .. } => abi::RNIC_OP_QUERY_CQ,
        SetCqFault { .. } => abi::RNIC_OP_SET_CQ_FAULT,
        CreateQp { .. } => abi::RNIC_OP_CREATE_QP,
        DestroyQp { .. } => abi::RNIC_OP_DESTROY_QP,
        ModifyQp(_) => abi::RNIC_OP_MODIFY_QP,
        QueryQp { .. } => abi::RNIC_OP_QUERY_QP,
        RegKey { .. } => abi::RNIC_OP_REG_KEY,
        DeregKey { .. } => abi::RNIC_OP_DEREG_KEY,
        PostSend(_) | PostWqe(_) => abi::RNIC_OP_POST_SEND,
        PostRecv { .. } => abi::RNIC_OP_POST_RECV,
        Complete(_) => abi::RNIC_OP_COMPLETE,
        Consume { .. } => abi::RNIC_OP_CONSUME,
        Arm { .. } => abi::RNIC_OP_ARM,
        Issue { .. } => abi::RNIC_OP_ISSUE,
        Flush { .. } => abi::RNIC_OP_FLUSH,
        Cascade { .. } => abi::RNIC_OP_CASCADE,
        Unknown { code, .. } => return *code,
    };
    code as u8
}

/// The CQ that an operation names by itself; of CREATE_QP the send CQ.
pub fn named_cq(op: &Operation) -> Option<u32> {
    match *op {
        Operation::CreateQp { send_cqn, .. } => Some(send_cqn),
        _ => op.cqn(),
    }
}

// ---- towards the hardware ----------------------------------------------------------------

/// Offers an operation on its channel: the record is written, the valid bit rises.
///
/// # Panics
/// If the operation is one of the hardware's own steps.
pub fn put(tag: u32, op: &Operation, stim: &mut abi::rnic_stim) {
    let valid = match channel(op) {
        Channel::Cmd => {
            write_cmd(tag, op, &mut stim.cmd);
            &mut stim.cmd_valid
        }
        Channel::Post => {
            write_post(tag, op, &mut stim.post);
            &mut stim.post_valid
        }
        Channel::Wire => {
            write_wire(tag, op, &mut stim.wire);
            &mut stim.wire_valid
        }
        Channel::Cqdb => {
            write_cqdb(tag, op, &mut stim.cqdb);
            &mut stim.cqdb_valid
        }
        Channel::Wqe | Channel::Internal => {
            let Operation::PostWqe(wqe) = op else { panic!("{op:?} enters by no channel") };
            write_wqe(tag, wqe, &mut stim.wqe);
            &mut stim.wqe_valid
        }
    };
    *valid = 1;
}

/// Writes an operation of the `cmd` channel into its record. As with the other channels, fields
/// that do not belong to it keep what earlier operations left there: the hardware must not care.
///
/// # Panics
/// If the operation belongs to another channel.
pub fn write_cmd(tag: u32, op: &Operation, r: &mut abi::rnic_cmd) {
    (r.tag, r.op) = (tag, code(op));
    match *op {
        Operation::CreateCq { cqn, depth, ignore_overrun } => {
            r.cqn = cqn;
            r.depth = depth;
            r.ignore_overrun = ignore_overrun.into();
        }
        Operation::DestroyCq { cqn } | Operation::QueryCq { cqn } => r.cqn = cqn,
        Operation::SetCqFault { cqn, inaccessible } => {
            r.cqn = cqn;
            r.fault = inaccessible.into();
        }
        Operation::CreateQp {
            qpn,
            transport,
            send_cqn,
            recv_cqn,
            sq_ceiling,
            rq_ceiling,
            sq_sig_all,
        } => {
            r.qpn = qpn;
            r.transport = transport;
            r.cqn = send_cqn;
            r.recv_cqn = recv_cqn;
            r.sq_ceiling = sq_ceiling;
            r.rq_ceiling = rq_ceiling;
            r.sq_sig_all = sq_sig_all.into();
        }
        Operation::DestroyQp { qpn } | Operation::QueryQp { qpn } => r.qpn = qpn,
        Operation::ModifyQp(m) => {
            r.qpn = m.qpn;
            r.attr_mask = m.attr_mask.0;
            r.qp_state = m.qp_state;
            r.cur_qp_state = m.cur_qp_state;
            r.attr = attr_record(&m.values);
        }
        Operation::RegKey { lkey, base, length, access } => {
            let (low, high) = (|wide: u64| wide as u32, |wide: u64| (wide >> 32) as u32);
            r.region = abi::rnic_region {
                lkey: lkey.0,
                access: access.0,
                base_lo: low(base),
                base_hi: high(base),
                length_lo: low(length),
                length_hi: high(length),
            };
        }
        Operation::DeregKey { lkey } => r.region.lkey = lkey.0,
        Operation::Unknown { .. } => {}
        _ => unreachable!("{op:?} does not enter by cmd"),
    }
}

/// Writes an operation of the `post` channel into its record.
///
/// # Panics
/// If the operation belongs to another channel.
pub fn write_post(tag: u32, op: &Operation, r: &mut abi::rnic_post) {
    (r.tag, r.op) = (tag, code(op));
    match *op {
        Operation::PostSend(p) => {
            r.qpn = p.qpn;
            let [opcode, sq_ds, flags, misc] = p.ctrl;
            r.ctrl = abi::rnic_wqe_ctrl { opcode, sq_ds, flags, misc };
            r.payload_len = p.payload_len;
            r.flags = flag(p.format == WqeFormat::Mlx5, abi::RNIC_POST_MLX5)
                | flag(p.inline, abi::RNIC_POST_INLINE)
                | flag(p.walk_format, abi::RNIC_POST_WALK_FORMAT)
                | flag(p.walk_length, abi::RNIC_POST_WALK_LENGTH)
                | flag(p.walk_key, abi::RNIC_POST_WALK_KEY);
        }
        Operation::PostRecv { qpn, wqe_index } => {
            r.qpn = qpn;
            r.recv_index = wqe_index;
        }
        Operation::Unknown { .. } => {}
        _ => unreachable!("{op:?} does not enter by post"),
    }
}

/// Writes the doorbell of a WQE.
pub fn write_wqe(tag: u32, wqe: &PostWqe, r: &mut abi::rnic_wqe) {
    *r = abi::rnic_wqe {
        tag,
        qpn: wqe.qpn,
        first_block: wqe.first_block,
        ring_log2: wqe.ring_log2,
        transport: wqe.transport.number(),
        flags: flag(wqe.format == WqeFormat::Mlx5, abi::RNIC_POST_MLX5),
        reserved: 0,
    };
}

fn flag(set: bool, bit: u32) -> u8 {
    if set { bit as u8 } else { 0 }
}

/// Writes an operation of the `wire` channel into its record.
///
/// # Panics
/// If the operation belongs to another channel.
pub fn write_wire(tag: u32, op: &Operation, r: &mut abi::rnic_wire) {
    let Operation::Complete(c) = *op else { unreachable!("{op:?} does not enter by wire") };
    *r = abi::rnic_wire {
        tag,
        qpn: c.qpn,
        byte_count: c.byte_count,
        imm: c.imm,
        epoch: c.epoch,
        slot: c.slot,
        queue: c.queue.number(),
        status: c.status,
        opcode: c.opcode,
        wc_flags: c.wc_flags,
        solicited: c.solicited.into(),
        ..Default::default()
    };
}

/// Writes an operation of the `cqdb` channel into its record.
///
/// # Panics
/// If the operation belongs to another channel.
pub fn write_cqdb(tag: u32, op: &Operation, r: &mut abi::rnic_cqdb) {
    (r.tag, r.op) = (tag, code(op));
    match *op {
        Operation::Consume { cqn, index } => {
            r.cqn = cqn;
            r.index = index;
        }
        Operation::Arm { cqn, solicited_only } => {
            r.cqn = cqn;
            r.solicited_only = solicited_only.into();
        }
        Operation::Unknown { .. } => {}
        _ => unreachable!("{op:?} does not enter by cqdb"),
    }
}

/// Straps of the RTL.
pub fn policy_record(p: &Policy) -> abi::rnic_policy {
    abi::rnic_policy {
        refuse_reset_to_err: p.refuse_reset_to_err.into(),
        cur_state_override: (p.cur_state == CurState::Override).into(),
        rc_sqe_row: p.rc_sqe_row.into(),
        allow_leave_draining: p.allow_leave_draining.into(),
        sqd_hold_unstarted: (p.sqd == Sqd::HoldUnstarted).into(),
        wqe_check_in_pipeline: (p.wqe_check == WqeCheck::InPipeline).into(),
        cq_overwrite: (p.cq_full == CqFull::Overwrite).into(),
        cq_scope: match p.cq_scope {
            CqScope::Affected => abi::RNIC_SCOPE_AFFECTED as u8,
            CqScope::Sticky => abi::RNIC_SCOPE_STICKY as u8,
            CqScope::Cascade => abi::RNIC_SCOPE_CASCADE as u8,
        },
        link_infiniband: (p.link_layer == LinkLayer::Infiniband).into(),
        reserved: [0; 3],
        max_inline: p.max_inline,
    }
}

fn attr_record(v: &AttrValues) -> abi::rnic_qp_attr {
    abi::rnic_qp_attr {
        access_flags: v.access_flags,
        qkey: v.qkey,
        rq_psn: v.rq_psn,
        sq_psn: v.sq_psn,
        dest_qpn: v.dest_qpn,
        av: av_record(&v.av),
        alt_av: av_record(&v.alt_av),
        pkey_index: v.pkey_index,
        alt_pkey_index: v.alt_pkey_index,
        en_sqd_async_notify: v.en_sqd_async_notify,
        port: v.port,
        path_mtu: v.path_mtu,
        timeout: v.timeout,
        retry_cnt: v.retry_cnt,
        rnr_retry: v.rnr_retry,
        max_qp_rd_atomic: v.max_qp_rd_atomic,
        min_rnr_timer: v.min_rnr_timer,
        max_dest_rd_atomic: v.max_dest_rd_atomic,
        path_mig_state: v.path_mig_state,
        alt_port: v.alt_port,
        alt_timeout: v.alt_timeout,
    }
}

fn av_record(a: &AddressVector) -> abi::rnic_av {
    abi::rnic_av {
        is_global: a.is_global,
        sgid_index: a.sgid_index,
        hop_limit: a.hop_limit,
        traffic_class: a.traffic_class,
        dlid: a.dlid,
        sl: a.sl,
        static_rate: a.static_rate,
    }
}

// ---- what the hardware must show ----------------------------------------------------------

/// The `retire` record that these effects must show.
///
/// `key_version` is what a walked WQE shows; other operations show 0.
pub fn retire_record(
    tag: u32,
    op: &Operation,
    e: &Effects,
    wire_room: bool,
    key_version: u16,
) -> abi::rnic_retire {
    let state =
        |s: Option<crate::model::QpState>| s.map_or(abi::RNIC_QPS_NONE as u8, |s| s.number());
    abi::rnic_retire {
        tag,
        qpn: op.qpn().unwrap_or(0),
        cqn: e.retire_cqn,
        channel: channel(op).number(),
        op: code(op),
        outcome: e.outcome.number(),
        layer: match e.answer {
            Answer::Modify(v) => v.layer.number(),
            _ => 0,
        },
        state_before: state(e.state_before),
        state_after: state(e.state_after),
        wire_room: wire_room.into(),
        cqe: match e.cqe {
            None => abi::RNIC_CQE_NONE as u8,
            Some(CqeEffect { written: Some(_), .. }) => abi::RNIC_CQE_WRITTEN as u8,
            Some(CqeEffect { written: None, .. }) => abi::RNIC_CQE_LOST as u8,
        },
        event_kinds: e.event.map_or(0, |e| e.kinds.0),
        queue: match op {
            Operation::Flush { queue, .. } | Operation::Complete(Complete { queue, .. }) => {
                queue.number()
            }
            _ => 0,
        },
        key_version: if channel(op) == Channel::Wqe { key_version } else { 0 },
    }
}

/// The answer that these effects must bring on `rsp`; `None` for operations without answer.
pub fn rsp_record(tag: u32, op: &Operation, e: &Effects) -> Option<abi::rnic_rsp> {
    let mut r = abi::rnic_rsp {
        tag,
        channel: channel(op).number(),
        op: code(op),
        outcome: e.outcome.number(),
        ..Default::default()
    };
    match e.answer {
        Answer::Silent => return None,
        Answer::Plain => {}
        Answer::Modify(v) => {
            r.layer = v.layer.number();
            r.missing = v.missing.0;
            r.extra = v.extra.0;
            r.bad_values = v.bad_values.0;
        }
        Answer::Posted { slot, epoch } => {
            r.slot = slot;
            r.epoch = epoch;
        }
        Answer::BadWqe(errors) => r.wqe_errors = errors.0,
        Answer::CreatedQp { send_exceeds, recv_exceeds } => {
            r.cq_exceeds = u8::from(send_exceeds) | u8::from(recv_exceeds) << 1;
        }
        Answer::QueryQp(q) => {
            r.qp_state = q.state.number();
            r.transport = q.transport.number();
            r.sq_sig_all = q.sq_sig_all.into();
            r.drain = q.drain.number();
            r.event_owed = q.event_owed.into();
            r.qp_fatal_raised = q.qp_fatal_raised.into();
            r.sq_head = q.sq_head;
            r.send_cqn = q.send_cqn;
            r.recv_cqn = q.recv_cqn;
            r.sq_ceiling = q.sq_ceiling;
            r.rq_ceiling = q.rq_ceiling;
            r.sq_queued = q.sq_queued;
            r.sq_issued = q.sq_issued;
            r.sq_flush_owed = q.sq_flush_owed;
            r.sq_reads = q.sq_reads;
            r.rq_head = q.rq_head;
            r.rq_queued = q.rq_queued;
            r.send_epoch = q.send_epoch;
            r.recv_epoch = q.recv_epoch;
            r.attr_set = q.attr_set.0;
            r.stale = q.stale;
            r.attr = attr_record(&q.attr);
        }
        Answer::QueryCq(c) => {
            r.depth = c.depth;
            r.producer = c.producer;
            r.consumer = c.consumer;
            r.occupancy = c.occupancy;
            r.lost = c.lost;
            r.ceiling_sum = c.ceiling_sum;
            r.attached = c.attached;
            r.arm = c.arm.number();
            r.ignore_overrun = c.ignore_overrun.into();
            r.fault = c.fault.into();
            r.set_in_error(c.in_error.into());
            r.set_cq_err_raised(c.cq_err_raised.into());
            r.cq_exceeds = c.exceeds.into();
        }
    }
    Some(r)
}

/// The `issue` record of a released WQE.
pub fn issue_record(i: &Issue) -> abi::rnic_issue {
    abi::rnic_issue {
        qpn: i.qpn,
        length: i.length,
        packets: i.packets,
        response_packets: i.response_packets,
        misc: i.misc,
        epoch: i.epoch,
        slot: i.slot,
        wqe_index: i.wqe_index,
        opcode: i.opcode,
        headers: i.headers.0,
        solicited: i.solicited.into(),
        inline_data: i.inline_data.into(),
        segments: i.segments,
        reserved: 0,
    }
}

/// The `cqe` record of a completion attempt; `None` if nothing is written.
pub fn cqe_record(c: &CqeEffect) -> Option<abi::rnic_cqe_write> {
    let (index, cqe) = c.written?;
    Some(abi::rnic_cqe_write {
        cqn: c.cqn,
        index,
        cqe: abi::rnic_cqe {
            qpn: cqe.qpn,
            byte_count: cqe.byte_count,
            imm: cqe.imm,
            wqe_index: cqe.wqe_index,
            status: cqe.status,
            opcode: cqe.opcode,
            queue: cqe.queue.number(),
            wc_flags: cqe.wc_flags,
            reserved: 0,
            phase: cqe.phase.into(),
        },
    })
}

/// The `event` record of an event.
pub fn event_record(e: &Event) -> abi::rnic_event {
    abi::rnic_event {
        qpn: e.qpn.unwrap_or(0),
        cqn: e.cqn.unwrap_or(0),
        kinds: e.kinds.0,
        has_qp: e.qpn.is_some().into(),
        has_cq: e.cqn.is_some().into(),
        reserved: 0,
    }
}

/// A CQE as it lies in host memory; `None` if a number in it has no meaning.
pub fn cqe_from_record(c: &abi::rnic_cqe) -> Option<Cqe> {
    Some(Cqe {
        qpn: c.qpn,
        queue: Queue::from_number(c.queue)?,
        wqe_index: c.wqe_index,
        status: c.status,
        opcode: c.opcode,
        byte_count: c.byte_count,
        imm: c.imm,
        wc_flags: c.wc_flags,
        phase: match c.phase {
            0 => false,
            1 => true,
            _ => return None,
        },
    })
}

/// The internal step that a `retire` record claims.
pub fn internal_step(r: &abi::rnic_retire) -> Option<Operation> {
    match u32::from(r.op) {
        abi::RNIC_OP_ISSUE => Some(Operation::Issue { qpn: r.qpn }),
        abi::RNIC_OP_FLUSH => {
            Some(Operation::Flush { qpn: r.qpn, queue: Queue::from_number(r.queue)? })
        }
        abi::RNIC_OP_CASCADE => Some(Operation::Cascade { qpn: r.qpn }),
        _ => None,
    }
}

// ---- from the hardware's side: what a record asks for --------------------------------------

/// The operation of a `cmd` record.
pub fn read_cmd(r: &abi::rnic_cmd) -> Operation {
    match u32::from(r.op) {
        abi::RNIC_OP_CREATE_CQ => Operation::CreateCq {
            cqn: r.cqn,
            depth: r.depth,
            ignore_overrun: r.ignore_overrun != 0,
        },
        abi::RNIC_OP_DESTROY_CQ => Operation::DestroyCq { cqn: r.cqn },
        abi::RNIC_OP_QUERY_CQ => Operation::QueryCq { cqn: r.cqn },
        abi::RNIC_OP_SET_CQ_FAULT => {
            Operation::SetCqFault { cqn: r.cqn, inaccessible: r.fault != 0 }
        }
        abi::RNIC_OP_CREATE_QP => Operation::CreateQp {
            qpn: r.qpn,
            transport: r.transport,
            send_cqn: r.cqn,
            recv_cqn: r.recv_cqn,
            sq_ceiling: r.sq_ceiling,
            rq_ceiling: r.rq_ceiling,
            sq_sig_all: r.sq_sig_all != 0,
        },
        abi::RNIC_OP_DESTROY_QP => Operation::DestroyQp { qpn: r.qpn },
        abi::RNIC_OP_MODIFY_QP => Operation::ModifyQp(Modify {
            qpn: r.qpn,
            attr_mask: AttrMask(r.attr_mask),
            qp_state: r.qp_state,
            cur_qp_state: r.cur_qp_state,
            values: read_attr(&r.attr),
        }),
        abi::RNIC_OP_QUERY_QP => Operation::QueryQp { qpn: r.qpn },
        abi::RNIC_OP_REG_KEY => {
            let wide = |low, high| u64::from(high) << 32 | u64::from(low);
            let g = &r.region;
            Operation::RegKey {
                lkey: Lkey(g.lkey),
                base: wide(g.base_lo, g.base_hi),
                length: wide(g.length_lo, g.length_hi),
                access: AccessFlags(g.access),
            }
        }
        abi::RNIC_OP_DEREG_KEY => Operation::DeregKey { lkey: Lkey(r.region.lkey) },
        _ => Operation::Unknown { channel: Channel::Cmd, code: r.op },
    }
}

/// The operation of a `post` record.
pub fn read_post(r: &abi::rnic_post) -> Operation {
    let flag = |bit: u32| u32::from(r.flags) & bit != 0;
    match u32::from(r.op) {
        abi::RNIC_OP_POST_SEND => Operation::PostSend(PostSend {
            qpn: r.qpn,
            ctrl: [r.ctrl.opcode, r.ctrl.sq_ds, r.ctrl.flags, r.ctrl.misc],
            format: if flag(abi::RNIC_POST_MLX5) { WqeFormat::Mlx5 } else { WqeFormat::Book },
            payload_len: r.payload_len,
            inline: flag(abi::RNIC_POST_INLINE),
            walk_format: flag(abi::RNIC_POST_WALK_FORMAT),
            walk_length: flag(abi::RNIC_POST_WALK_LENGTH),
            walk_key: flag(abi::RNIC_POST_WALK_KEY),
            walked_as: None,
        }),
        abi::RNIC_OP_POST_RECV => Operation::PostRecv { qpn: r.qpn, wqe_index: r.recv_index },
        _ => Operation::Unknown { channel: Channel::Post, code: r.op },
    }
}

/// The operation of a `wire` record; any queue number but 0 counts as the receive queue.
pub fn read_wire(r: &abi::rnic_wire) -> Operation {
    Operation::Complete(Complete {
        qpn: r.qpn,
        queue: if r.queue == 0 { Queue::Send } else { Queue::Recv },
        epoch: r.epoch,
        slot: r.slot,
        status: r.status,
        byte_count: r.byte_count,
        opcode: r.opcode,
        imm: r.imm,
        wc_flags: r.wc_flags,
        solicited: r.solicited != 0,
    })
}

/// The operation of a `cqdb` record.
pub fn read_cqdb(r: &abi::rnic_cqdb) -> Operation {
    match u32::from(r.op) {
        abi::RNIC_OP_CONSUME => Operation::Consume { cqn: r.cqn, index: r.index },
        abi::RNIC_OP_ARM => Operation::Arm { cqn: r.cqn, solicited_only: r.solicited_only != 0 },
        _ => Operation::Unknown { channel: Channel::Cqdb, code: r.op },
    }
}

/// The policy that straps mean.
pub fn read_policy(r: &abi::rnic_policy) -> Policy {
    Policy {
        refuse_reset_to_err: r.refuse_reset_to_err != 0,
        cur_state: if r.cur_state_override != 0 { CurState::Override } else { CurState::Match },
        rc_sqe_row: r.rc_sqe_row != 0,
        allow_leave_draining: r.allow_leave_draining != 0,
        sqd: if r.sqd_hold_unstarted != 0 { Sqd::HoldUnstarted } else { Sqd::DrainPosted },
        wqe_check: if r.wqe_check_in_pipeline != 0 {
            WqeCheck::InPipeline
        } else {
            WqeCheck::AtPost
        },
        cq_full: if r.cq_overwrite != 0 { CqFull::Overwrite } else { CqFull::KeepUnread },
        cq_scope: match u32::from(r.cq_scope) {
            abi::RNIC_SCOPE_AFFECTED => CqScope::Affected,
            abi::RNIC_SCOPE_STICKY => CqScope::Sticky,
            _ => CqScope::Cascade,
        },
        max_inline: r.max_inline,
        link_layer: if r.link_infiniband != 0 { LinkLayer::Infiniband } else { LinkLayer::Roce },
    }
}

/// Attribute values as a query's answer carries them.
pub fn read_attr(v: &abi::rnic_qp_attr) -> AttrValues {
    AttrValues {
        access_flags: v.access_flags,
        qkey: v.qkey,
        rq_psn: v.rq_psn,
        sq_psn: v.sq_psn,
        dest_qpn: v.dest_qpn,
        av: read_av(&v.av),
        alt_av: read_av(&v.alt_av),
        pkey_index: v.pkey_index,
        alt_pkey_index: v.alt_pkey_index,
        en_sqd_async_notify: v.en_sqd_async_notify,
        port: v.port,
        path_mtu: v.path_mtu,
        timeout: v.timeout,
        retry_cnt: v.retry_cnt,
        rnr_retry: v.rnr_retry,
        max_qp_rd_atomic: v.max_qp_rd_atomic,
        min_rnr_timer: v.min_rnr_timer,
        max_dest_rd_atomic: v.max_dest_rd_atomic,
        path_mig_state: v.path_mig_state,
        alt_port: v.alt_port,
        alt_timeout: v.alt_timeout,
    }
}

fn read_av(a: &abi::rnic_av) -> AddressVector {
    AddressVector {
        is_global: a.is_global,
        sgid_index: a.sgid_index,
        hop_limit: a.hop_limit,
        traffic_class: a.traffic_class,
        dlid: a.dlid,
        sl: a.sl,
        static_rate: a.static_rate,
    }
}
