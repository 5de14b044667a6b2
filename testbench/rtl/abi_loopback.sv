// SPDX-License-Identifier: Apache-2.0
//
// A device with the ports of rnic_top that shows how the records arrive. In the k-th clock
// after reset it
//   - shows the k-th field of the input records in retire.tag, or
//   - with hold_internal_i[0] drives the k-th field of the output records with cmd.tag, all
//     others with 0, or
//   - with hold_internal_i[1] shows the k-th flag of cmd.tag, read as the packed structs of
//     single bits, in retire.tag.
// testbench/hardware/bridge_layout.rs names the same fields in the same order by their C names.
// It also fails on request: see the assertions at the end.
module abi_loopback
  import rnic_pkg::*;
(
    input  logic       clk_i,
    input  logic       rst_ni,
    input  policy_t    policy_i,
    input  logic [2:0] hold_internal_i,
    input  logic       cmd_valid_i,
    input  cmd_t       cmd_i,
    output logic       cmd_ready_o,
    input  logic       post_valid_i,
    input  post_t      post_i,
    output logic       post_ready_o,
    input  logic       wire_valid_i,
    input  wire_t      wire_i,
    output logic       wire_ready_o,
    input  logic       cqdb_valid_i,
    input  cqdb_t      cqdb_i,
    output logic       cqdb_ready_o,
    input  logic       wqe_valid_i,
    input  wqe_t       wqe_i,
    output logic       wqe_ready_o,
    output logic       fetch_valid_o,
    output fetch_t     fetch_o,
    input  logic       fetch_ready_i,
    input  logic       unit_valid_i,
    input  unit_t      unit_i,
    output logic       unit_ready_o,
    output logic       rsp_valid_o,
    output rsp_t       rsp_o,
    input  logic       rsp_ready_i,
    output logic       issue_valid_o,
    output issue_t     issue_o,
    input  logic       issue_ready_i,
    output logic       cqe_valid_o,
    output cqe_write_t cqe_o,
    input  logic       cqe_ready_i,
    output logic       event_valid_o,
    output event_t     event_o,
    input  logic       event_ready_i,
    output logic       retire_valid_o,
    output retire_t    retire_o,
    input  logic       retire_ready_i,
    output slot_kind_e slot_kind_o
);

  // Every handshake input comes back on the output of its own channel.
  assign cmd_ready_o    = cmd_valid_i;
  assign post_ready_o   = post_valid_i;
  assign wire_ready_o   = wire_valid_i;
  assign cqdb_ready_o   = cqdb_valid_i;
  assign wqe_ready_o    = wqe_valid_i;
  assign unit_ready_o   = unit_valid_i;
  assign fetch_valid_o  = fetch_ready_i;
  assign rsp_valid_o    = rsp_ready_i;
  assign issue_valid_o  = issue_ready_i;
  assign cqe_valid_o    = cqe_ready_i;
  assign event_valid_o  = event_ready_i;
  assign retire_valid_o = retire_ready_i;
  assign slot_kind_o    = slot_kind_e'(hold_internal_i);

  logic [7:0] k_q;
  qp_state_e  state_q;  // an enumeration to look at in a waveform
  logic [31:0] power_up_q;  // never reset: shows the seed

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      k_q     <= '0;
      state_q <= QPS_RESET;
    end else begin
      k_q     <= k_q + 8'd1;
      state_q <= (state_q == QPS_ERR) ? QPS_RESET : qp_state_e'(state_q + 3'd1);
      if (post_valid_i && post_i.tag == 32'h0000_5eed) power_up_q <= '0;
    end
  end

  logic [31:0] field;
  always_comb begin
    unique case (k_q)
      8'd0: field = 32'(cmd_i.tag);
      8'd1: field = 32'(cmd_i.qpn);
      8'd2: field = 32'(cmd_i.cqn);
      8'd3: field = 32'(cmd_i.recv_cqn);
      8'd4: field = 32'(cmd_i.depth);
      8'd5: field = 32'(cmd_i.sq_ceiling);
      8'd6: field = 32'(cmd_i.rq_ceiling);
      8'd7: field = 32'(cmd_i.attr_mask);
      8'd8: field = 32'(cmd_i.op);
      8'd9: field = 32'(cmd_i.transport);
      8'd10: field = 32'(cmd_i.sq_sig_all);
      8'd11: field = 32'(cmd_i.ignore_overrun);
      8'd12: field = 32'(cmd_i.fault);
      8'd13: field = 32'(cmd_i.qp_state);
      8'd14: field = 32'(cmd_i.cur_qp_state);
      8'd15: field = 32'(cmd_i.reserved);
      8'd16: field = 32'(cmd_i.attr.access_flags);
      8'd17: field = 32'(cmd_i.attr.qkey);
      8'd18: field = 32'(cmd_i.attr.rq_psn);
      8'd19: field = 32'(cmd_i.attr.sq_psn);
      8'd20: field = 32'(cmd_i.attr.dest_qpn);
      8'd21: field = 32'(cmd_i.attr.av.is_global);
      8'd22: field = 32'(cmd_i.attr.av.sgid_index);
      8'd23: field = 32'(cmd_i.attr.av.hop_limit);
      8'd24: field = 32'(cmd_i.attr.av.traffic_class);
      8'd25: field = 32'(cmd_i.attr.av.dlid);
      8'd26: field = 32'(cmd_i.attr.av.sl);
      8'd27: field = 32'(cmd_i.attr.av.static_rate);
      8'd28: field = 32'(cmd_i.attr.alt_av.is_global);
      8'd29: field = 32'(cmd_i.attr.alt_av.sgid_index);
      8'd30: field = 32'(cmd_i.attr.alt_av.hop_limit);
      8'd31: field = 32'(cmd_i.attr.alt_av.traffic_class);
      8'd32: field = 32'(cmd_i.attr.alt_av.dlid);
      8'd33: field = 32'(cmd_i.attr.alt_av.sl);
      8'd34: field = 32'(cmd_i.attr.alt_av.static_rate);
      8'd35: field = 32'(cmd_i.attr.pkey_index);
      8'd36: field = 32'(cmd_i.attr.alt_pkey_index);
      8'd37: field = 32'(cmd_i.attr.en_sqd_async_notify);
      8'd38: field = 32'(cmd_i.attr.port);
      8'd39: field = 32'(cmd_i.attr.path_mtu);
      8'd40: field = 32'(cmd_i.attr.timeout);
      8'd41: field = 32'(cmd_i.attr.retry_cnt);
      8'd42: field = 32'(cmd_i.attr.rnr_retry);
      8'd43: field = 32'(cmd_i.attr.max_qp_rd_atomic);
      8'd44: field = 32'(cmd_i.attr.min_rnr_timer);
      8'd45: field = 32'(cmd_i.attr.max_dest_rd_atomic);
      8'd46: field = 32'(cmd_i.attr.path_mig_state);
      8'd47: field = 32'(cmd_i.attr.alt_port);
      8'd48: field = 32'(cmd_i.attr.alt_timeout);
      8'd49: field = 32'(post_i.tag);
      8'd50: field = 32'(post_i.qpn);
      8'd51: field = 32'(post_i.ctrl.opcode);
      8'd52: field = 32'(post_i.ctrl.sq_ds);
      8'd53: field = 32'(post_i.ctrl.flags);
      8'd54: field = 32'(post_i.ctrl.misc);
      8'd55: field = 32'(post_i.payload_len);
      8'd56: field = 32'(post_i.recv_index);
      8'd57: field = 32'(post_i.op);
      8'd58: field = 32'(post_i.flags);
      8'd59: field = 32'(wire_i.tag);
      8'd60: field = 32'(wire_i.qpn);
      8'd61: field = 32'(wire_i.byte_count);
      8'd62: field = 32'(wire_i.imm);
      8'd63: field = 32'(wire_i.epoch);
      8'd64: field = 32'(wire_i.slot);
      8'd65: field = 32'(wire_i.queue);
      8'd66: field = 32'(wire_i.status);
      8'd67: field = 32'(wire_i.opcode);
      8'd68: field = 32'(wire_i.wc_flags);
      8'd69: field = 32'(wire_i.solicited);
      8'd70: field = 32'(wire_i.reserved);
      8'd71: field = 32'(cqdb_i.tag);
      8'd72: field = 32'(cqdb_i.cqn);
      8'd73: field = 32'(cqdb_i.index);
      8'd74: field = 32'(cqdb_i.op);
      8'd75: field = 32'(cqdb_i.solicited_only);
      8'd76: field = 32'(cqdb_i.reserved);
      8'd77: field = 32'(cmd_i.region.lkey);
      8'd78: field = 32'(cmd_i.region.access);
      8'd79: field = 32'(cmd_i.region.base[31:0]);
      8'd80: field = 32'(cmd_i.region.base[63:32]);
      8'd81: field = 32'(cmd_i.region.length[31:0]);
      8'd82: field = 32'(cmd_i.region.length[63:32]);
      8'd83: field = 32'(wqe_i.tag);
      8'd84: field = 32'(wqe_i.qpn);
      8'd85: field = 32'(wqe_i.first_block);
      8'd86: field = 32'(wqe_i.ring_log2);
      8'd87: field = 32'(wqe_i.transport);
      8'd88: field = 32'(wqe_i.flags);
      8'd89: field = 32'(wqe_i.reserved);
      8'd90: field = 32'(unit_i[31:0]);
      8'd91: field = 32'(unit_i[63:32]);
      8'd92: field = 32'(unit_i[95:64]);
      8'd93: field = 32'(unit_i[127:96]);
      8'd94: field = 32'(policy_i.refuse_reset_to_err);
      8'd95: field = 32'(policy_i.cur_state_override);
      8'd96: field = 32'(policy_i.rc_sqe_row);
      8'd97: field = 32'(policy_i.allow_leave_draining);
      8'd98: field = 32'(policy_i.sqd_hold_unstarted);
      8'd99: field = 32'(policy_i.wqe_check_in_pipeline);
      8'd100: field = 32'(policy_i.cq_overwrite);
      8'd101: field = 32'(policy_i.cq_scope);
      8'd102: field = 32'(policy_i.link_infiniband);
      8'd103: field = 32'(policy_i.reserved);
      8'd104: field = 32'(policy_i.max_inline);
      8'd105: field = 32'(hold_internal_i);
      8'd106: field = power_up_q;
      default: field = '0;
    endcase
  end

  // The flags of cmd.tag, read as each of the structs of single bits.
  post_flags_t post_flags;
  wqe_errors_t wqe_errors;
  event_kinds_t event_kinds;
  wire_headers_t wire_headers;
  assign post_flags = post_flags_t'(cmd_i.tag[$bits(post_flags_t)-1:0]);
  assign wqe_errors = wqe_errors_t'(cmd_i.tag[$bits(wqe_errors_t)-1:0]);
  assign event_kinds = event_kinds_t'(cmd_i.tag[$bits(event_kinds_t)-1:0]);
  assign wire_headers = wire_headers_t'(cmd_i.tag[$bits(wire_headers_t)-1:0]);

  logic flag;
  always_comb begin
    unique case (k_q)
      8'd0: flag = post_flags.mlx5;
      8'd1: flag = post_flags.inline_seg;
      8'd2: flag = post_flags.walk_format;
      8'd3: flag = post_flags.walk_length;
      8'd4: flag = post_flags.walk_key;
      8'd5: flag = wqe_errors.bad_opcode;
      8'd6: flag = wqe_errors.bad_transport;
      8'd7: flag = wqe_errors.reserved;
      8'd8: flag = wqe_errors.bad_fence;
      8'd9: flag = wqe_errors.bad_ds;
      8'd10: flag = wqe_errors.walk_format;
      8'd11: flag = wqe_errors.bad_length;
      8'd12: flag = wqe_errors.walk_length;
      8'd13: flag = wqe_errors.walk_key;
      8'd14: flag = event_kinds.cq_err;
      8'd15: flag = event_kinds.qp_fatal;
      8'd16: flag = event_kinds.sq_drained;
      8'd17: flag = event_kinds.completion;
      8'd18: flag = wire_headers.reth;
      8'd19: flag = wire_headers.immdt;
      8'd20: flag = wire_headers.ieth;
      8'd21: flag = wire_headers.atomiceth;
      default: flag = 1'b0;
    endcase
  end

  always_comb begin
    rsp_o    = '0;
    issue_o  = '0;
    cqe_o    = '0;
    event_o  = '0;
    retire_o = '0;
    fetch_o  = '0;
    if (hold_internal_i[0]) begin
      unique case (k_q)
        8'd0: rsp_o.tag = cmd_i.tag[31:0];
        8'd1: rsp_o.channel = channel_e'(cmd_i.tag[7:0]);
        8'd2: rsp_o.op = cmd_i.tag[7:0];
        8'd3: rsp_o.outcome = outcome_e'(cmd_i.tag[7:0]);
        8'd4: rsp_o.layer = layer_e'(cmd_i.tag[7:0]);
        8'd5: rsp_o.missing = cmd_i.tag[31:0];
        8'd6: rsp_o.extra = cmd_i.tag[31:0];
        8'd7: rsp_o.bad_values = cmd_i.tag[31:0];
        8'd8: rsp_o.wqe_errors = cmd_i.tag[15:0];
        8'd9: rsp_o.slot = cmd_i.tag[15:0];
        8'd10: rsp_o.epoch = cmd_i.tag[15:0];
        8'd11: rsp_o.cq_exceeds = cmd_i.tag[7:0];
        8'd12: rsp_o.qp_state = cmd_i.tag[7:0];
        8'd13: rsp_o.transport = cmd_i.tag[7:0];
        8'd14: rsp_o.sq_sig_all = cmd_i.tag[7:0];
        8'd15: rsp_o.drain = cmd_i.tag[7:0];
        8'd16: rsp_o.event_owed = cmd_i.tag[7:0];
        8'd17: rsp_o.qp_fatal_raised = cmd_i.tag[7:0];
        8'd18: rsp_o.reserved = cmd_i.tag[7:0];
        8'd19: rsp_o.sq_head = cmd_i.tag[15:0];
        8'd20: rsp_o.send_cqn = cmd_i.tag[31:0];
        8'd21: rsp_o.recv_cqn = cmd_i.tag[31:0];
        8'd22: rsp_o.sq_ceiling = cmd_i.tag[15:0];
        8'd23: rsp_o.rq_ceiling = cmd_i.tag[15:0];
        8'd24: rsp_o.sq_queued = cmd_i.tag[15:0];
        8'd25: rsp_o.sq_issued = cmd_i.tag[15:0];
        8'd26: rsp_o.sq_flush_owed = cmd_i.tag[15:0];
        8'd27: rsp_o.sq_reads = cmd_i.tag[15:0];
        8'd28: rsp_o.rq_head = cmd_i.tag[15:0];
        8'd29: rsp_o.rq_queued = cmd_i.tag[15:0];
        8'd30: rsp_o.send_epoch = cmd_i.tag[15:0];
        8'd31: rsp_o.recv_epoch = cmd_i.tag[15:0];
        8'd32: rsp_o.attr_set = cmd_i.tag[31:0];
        8'd33: rsp_o.stale = cmd_i.tag[31:0];
        8'd34: rsp_o.attr.access_flags = cmd_i.tag[31:0];
        8'd35: rsp_o.attr.qkey = cmd_i.tag[31:0];
        8'd36: rsp_o.attr.rq_psn = cmd_i.tag[31:0];
        8'd37: rsp_o.attr.sq_psn = cmd_i.tag[31:0];
        8'd38: rsp_o.attr.dest_qpn = cmd_i.tag[31:0];
        8'd39: rsp_o.attr.av.is_global = cmd_i.tag[7:0];
        8'd40: rsp_o.attr.av.sgid_index = cmd_i.tag[7:0];
        8'd41: rsp_o.attr.av.hop_limit = cmd_i.tag[7:0];
        8'd42: rsp_o.attr.av.traffic_class = cmd_i.tag[7:0];
        8'd43: rsp_o.attr.av.dlid = cmd_i.tag[15:0];
        8'd44: rsp_o.attr.av.sl = cmd_i.tag[7:0];
        8'd45: rsp_o.attr.av.static_rate = cmd_i.tag[7:0];
        8'd46: rsp_o.attr.alt_av.is_global = cmd_i.tag[7:0];
        8'd47: rsp_o.attr.alt_av.sgid_index = cmd_i.tag[7:0];
        8'd48: rsp_o.attr.alt_av.hop_limit = cmd_i.tag[7:0];
        8'd49: rsp_o.attr.alt_av.traffic_class = cmd_i.tag[7:0];
        8'd50: rsp_o.attr.alt_av.dlid = cmd_i.tag[15:0];
        8'd51: rsp_o.attr.alt_av.sl = cmd_i.tag[7:0];
        8'd52: rsp_o.attr.alt_av.static_rate = cmd_i.tag[7:0];
        8'd53: rsp_o.attr.pkey_index = cmd_i.tag[15:0];
        8'd54: rsp_o.attr.alt_pkey_index = cmd_i.tag[15:0];
        8'd55: rsp_o.attr.en_sqd_async_notify = cmd_i.tag[7:0];
        8'd56: rsp_o.attr.port = cmd_i.tag[7:0];
        8'd57: rsp_o.attr.path_mtu = cmd_i.tag[7:0];
        8'd58: rsp_o.attr.timeout = cmd_i.tag[7:0];
        8'd59: rsp_o.attr.retry_cnt = cmd_i.tag[7:0];
        8'd60: rsp_o.attr.rnr_retry = cmd_i.tag[7:0];
        8'd61: rsp_o.attr.max_qp_rd_atomic = cmd_i.tag[7:0];
        8'd62: rsp_o.attr.min_rnr_timer = cmd_i.tag[7:0];
        8'd63: rsp_o.attr.max_dest_rd_atomic = cmd_i.tag[7:0];
        8'd64: rsp_o.attr.path_mig_state = cmd_i.tag[7:0];
        8'd65: rsp_o.attr.alt_port = cmd_i.tag[7:0];
        8'd66: rsp_o.attr.alt_timeout = cmd_i.tag[7:0];
        8'd67: rsp_o.depth = cmd_i.tag[31:0];
        8'd68: rsp_o.producer = cmd_i.tag[31:0];
        8'd69: rsp_o.consumer = cmd_i.tag[31:0];
        8'd70: rsp_o.occupancy = cmd_i.tag[31:0];
        8'd71: rsp_o.lost = cmd_i.tag[31:0];
        8'd72: rsp_o.ceiling_sum = cmd_i.tag[31:0];
        8'd73: rsp_o.attached = cmd_i.tag[31:0];
        8'd74: rsp_o.arm = cmd_i.tag[7:0];
        8'd75: rsp_o.ignore_overrun = cmd_i.tag[7:0];
        8'd76: rsp_o.fault = cmd_i.tag[7:0];
        8'd77: rsp_o.in_error = cmd_i.tag[0];
        8'd78: rsp_o.cq_err_raised = cmd_i.tag[0];
        8'd79: rsp_o.reserved2 = cmd_i.tag[5:0];
        8'd80: issue_o.qpn = cmd_i.tag[31:0];
        8'd81: issue_o.length = cmd_i.tag[31:0];
        8'd82: issue_o.packets = cmd_i.tag[31:0];
        8'd83: issue_o.response_packets = cmd_i.tag[31:0];
        8'd84: issue_o.misc = cmd_i.tag[31:0];
        8'd85: issue_o.epoch = cmd_i.tag[15:0];
        8'd86: issue_o.slot = cmd_i.tag[15:0];
        8'd87: issue_o.wqe_index = cmd_i.tag[15:0];
        8'd88: issue_o.opcode = cmd_i.tag[7:0];
        8'd89: issue_o.headers = cmd_i.tag[7:0];
        8'd90: issue_o.solicited = cmd_i.tag[7:0];
        8'd91: issue_o.inline_data = cmd_i.tag[7:0];
        8'd92: issue_o.segments = cmd_i.tag[7:0];
        8'd93: issue_o.reserved = cmd_i.tag[7:0];
        8'd94: cqe_o.cqn = cmd_i.tag[31:0];
        8'd95: cqe_o.index = cmd_i.tag[31:0];
        8'd96: cqe_o.cqe.qpn = cmd_i.tag[31:0];
        8'd97: cqe_o.cqe.byte_count = cmd_i.tag[31:0];
        8'd98: cqe_o.cqe.imm = cmd_i.tag[31:0];
        8'd99: cqe_o.cqe.wqe_index = cmd_i.tag[15:0];
        8'd100: cqe_o.cqe.status = cmd_i.tag[7:0];
        8'd101: cqe_o.cqe.opcode = cmd_i.tag[7:0];
        8'd102: cqe_o.cqe.queue = cmd_i.tag[7:0];
        8'd103: cqe_o.cqe.wc_flags = cmd_i.tag[7:0];
        8'd104: cqe_o.cqe.reserved = cmd_i.tag[7:0];
        8'd105: cqe_o.cqe.phase = cmd_i.tag[7:0];
        8'd106: event_o.qpn = cmd_i.tag[31:0];
        8'd107: event_o.cqn = cmd_i.tag[31:0];
        8'd108: {event_o.reserved_kinds, event_o.kinds} = cmd_i.tag[7:0];
        8'd109: event_o.has_qp = cmd_i.tag[7:0];
        8'd110: event_o.has_cq = cmd_i.tag[7:0];
        8'd111: event_o.reserved = cmd_i.tag[7:0];
        8'd112: retire_o.tag = cmd_i.tag[31:0];
        8'd113: retire_o.qpn = cmd_i.tag[31:0];
        8'd114: retire_o.cqn = cmd_i.tag[31:0];
        8'd115: retire_o.channel = channel_e'(cmd_i.tag[7:0]);
        8'd116: retire_o.op = cmd_i.tag[7:0];
        8'd117: retire_o.outcome = outcome_e'(cmd_i.tag[7:0]);
        8'd118: retire_o.layer = layer_e'(cmd_i.tag[7:0]);
        8'd119: retire_o.state_before = cmd_i.tag[7:0];
        8'd120: retire_o.state_after = cmd_i.tag[7:0];
        8'd121: retire_o.wire_room = cmd_i.tag[7:0];
        8'd122: retire_o.cqe = cmd_i.tag[7:0];
        8'd123: {retire_o.reserved_kinds, retire_o.event_kinds} = cmd_i.tag[7:0];
        8'd124: retire_o.queue = cmd_i.tag[7:0];
        8'd125: retire_o.key_version = cmd_i.tag[15:0];
        8'd126: fetch_o.tag = cmd_i.tag[31:0];
        8'd127: fetch_o.qpn = cmd_i.tag[31:0];
        8'd128: fetch_o.unit = cmd_i.tag[31:0];
        default: ;
      endcase
    end else if (hold_internal_i[1]) begin
      retire_o.tag = 32'(flag);
    end else begin
      retire_o.tag = field;
    end
  end

  always_ff @(posedge clk_i) begin
    if (rst_ni && post_valid_i) begin
      a_on_request : assert (post_i.tag != 32'hdead_beef)
      else $error("asked to fail for QP %0d", post_i.qpn);
      if (post_i.tag == 32'hfa7a_1000) $fatal(1, "asked to end at QP %0d", post_i.qpn);
    end
  end

endmodule
