// SPDX-License-Identifier: Apache-2.0
//
// What nobody will look at: for registers and memories of rnic_top, which of their bits are
// without effect while the rest is as it is. A CQE in a record of an operation that has none, the
// value of an attribute that was never given, the command of an operation that is none.
//
// Nothing in here is a property of the hardware, and nothing has to be believed. It is a guess
// for whoever compares a mutant with the healthy machine, at the sizes of states.sv: two machines
// that differ in such bits alone show the same and go on differing in such bits alone. That is
// what a proof then has to find true.
module unseen_fv
  import rnic_pkg::*;
  import qp_gate_pkg::*;
  import stage_pkg::*;
#(
    localparam int unsigned NUM_QP   = 4,
    localparam int unsigned SQ_DEPTH = 4,
    localparam int unsigned RQ_DEPTH = 4,
    localparam int unsigned NUM_KEY  = 8
) (
    input logic       clk_i,
    input logic       rst_ni,
    input policy_t    policy_i,
    input logic [2:0] hold_internal_i,
    input logic       cmd_valid_i,
    input cmd_t       cmd_i,
    input logic       post_valid_i,
    input post_t      post_i,
    input logic       wire_valid_i,
    input wire_t      wire_i,
    input logic       cqdb_valid_i,
    input cqdb_t      cqdb_i,
    input logic       wqe_valid_i,
    input wqe_t       wqe_i,
    input logic       fetch_ready_i,
    input logic       unit_valid_i,
    input unit_t      unit_i,
    input logic       rsp_ready_i,
    input logic       issue_ready_i,
    input logic       cqe_ready_i,
    input logic       event_ready_i,
    input logic       retire_ready_i
);

  localparam int unsigned Records = 8;
  localparam int unsigned Issues  = 4;

  states_fv u_states (.*);

  // ------------------------------------------------------------------ attributes

  // Which lanes of the attribute memories belong to the attributes of a mask.
  function automatic logic [AttrWords-1:0] given_words(attr_mask_t set);
    return {{2{set[A_ALT_PATH]}}, {2{set[A_AV]}}, set[A_DEST_QPN], set[A_SQ_PSN], set[A_RQ_PSN],
            set[A_QKEY], set[A_ACCESS_FLAGS]};
  endfunction

  function automatic logic [AttrBytes-1:0] given_bytes(attr_mask_t set);
    return {{2{set[A_ALT_PATH]}}, set[A_PATH_MIG_STATE], set[A_MAX_DEST_RD_ATOMIC],
            set[A_MIN_RNR_TIMER], set[A_MAX_QP_RD_ATOMIC], set[A_RNR_RETRY], set[A_RETRY_CNT],
            set[A_TIMEOUT], set[A_PATH_MTU], set[A_PORT], set[A_EN_SQD_NOTIFY],
            {2{set[A_ALT_PATH]}}, {2{set[A_PKEY_INDEX]}}};
  endfunction

  // ------------------------------------------------------------------ records

  // The details of an answer that the port shows.
  function automatic logic [DetailW-1:0] shown_detail(logic [2:0] channel, logic [7:0] op,
                                                      outcome_e outcome);
    post_detail_t post;
    qp_ctx_t      qp;
    cq_detail_t   cq;
    shown_detail = '0;
    if (channel inside {CH_POST[2:0], CH_WQE[2:0]}) begin
      post = '0;
      if (outcome == OUT_OK) begin
        post.slot  = '1;
        post.epoch = '1;
      end else if (outcome == OUT_BAD_WQE) begin
        post.errors = '1;
      end
      shown_detail = DetailW'(post);
    end else if (channel == CH_CMD[2:0]) begin
      if (op == OP_MODIFY_QP) shown_detail[$bits(modify_detail_t)-1:0] = '1;
      if (op == OP_QUERY_QP && outcome == OUT_OK) begin
        qp           = '1;
        qp.exists    = 1'b0;
        qp.blocked   = BLOCK_NO;
        qp.taken_s   = 1'b0;
        qp.taken_r   = 1'b0;
        qp.on_flush  = 1'b0;
        qp.on_issue  = 1'b0;
        qp.path_mtu  = '0;
        qp.mig_armed = 1'b0;
        shown_detail = DetailW'(qp);
      end
      if (op == OP_QUERY_CQ && outcome == OUT_OK) begin
        cq             = '1;
        cq.ring.exists = 1'b0;
        shown_detail   = DetailW'(cq);
      end
    end
  endfunction

  function automatic logic shows_attr(logic [2:0] channel, logic [7:0] op, outcome_e outcome);
    return channel == CH_CMD[2:0] && op == OP_QUERY_QP && outcome == OUT_OK;
  endfunction

  function automatic record_t of_record(record_t r);
    of_record = '0;
    if (r.retire.cqe != CQE_WRITTEN) of_record.cqe = '1;
    of_record.detail = r.has_rsp ? ~shown_detail(r.retire.channel, r.retire.op, r.retire.outcome)
                                 : '1;
    if (!r.has_rsp) of_record.cq_exceeds = '1;
    if (!(r.has_rsp && shows_attr(r.retire.channel, r.retire.op, r.retire.outcome))) begin
      of_record.stale = '1;
      of_record.attr  = '1;
    end
  endfunction

  function automatic rsp_core_t of_rsp(rsp_core_t r);
    of_rsp        = '0;
    of_rsp.detail = ~shown_detail(r.channel, r.op, r.outcome);
    if (!shows_attr(r.channel, r.op, r.outcome)) begin
      of_rsp.stale = '1;
      of_rsp.attr  = '1;
    end
  endfunction

  function automatic event_core_t of_event(event_core_t e);
    of_event = '0;
    if (!(e.kinds.cq_err || e.kinds.qp_fatal || e.kinds.sq_drained)) of_event.qpn = '1;
    if (!(e.kinds.cq_err || e.kinds.qp_fatal || e.kinds.completion)) of_event.cqn = '1;
  endfunction

  for (genvar i = 0; i < Records; i++) begin : g_records
    logic [2:0] behind;
    record_t    unseen;
    assign behind = 3'(i) - u_states.u_top.u_records.u_records.rptr_q;
    assign unseen = (4'(behind) < u_states.u_top.u_records.u_records.count_q)
                    ? of_record(u_states.u_top.u_records.u_records.mem[i]) : '1;
  end

  for (genvar i = 0; i < 2; i++) begin : g_rsp
    logic      behind;
    rsp_core_t unseen;
    assign behind = 1'(i) - u_states.u_top.u_records.u_rsp.rptr_q;
    assign unseen = (2'(behind) < u_states.u_top.u_records.u_rsp.count_q)
                    ? of_rsp(u_states.u_top.u_records.u_rsp.mem[i]) : '1;
  end

  for (genvar i = 0; i < 2; i++) begin : g_event
    logic        behind;
    event_core_t unseen;
    assign behind = 1'(i) - u_states.u_top.u_records.u_event.rptr_q;
    assign unseen = (2'(behind) < u_states.u_top.u_records.u_event.count_q)
                    ? of_event(u_states.u_top.u_records.u_event.mem[i]) : '1;
  end

  for (genvar i = 0; i < 2; i++) begin : g_retire
    logic         behind;
    retire_core_t unseen;
    assign behind = 1'(i) - u_states.u_top.u_records.u_retire.rptr_q;
    assign unseen = (2'(behind) < u_states.u_top.u_records.u_retire.count_q) ? '0 : '1;
  end

  for (genvar i = 0; i < Issues; i++) begin : g_issue
    logic [1:0] behind;
    issue_t     unseen;
    assign behind = 2'(i) - u_states.u_top.u_issue_queue.u_fifo.rptr_q;
    assign unseen = (3'(behind) < u_states.u_top.u_issue_queue.u_fifo.count_q) ? '0 : '1;
  end

  // ------------------------------------------------------------------ OUT

  // The grounds that an answer is made of: the first layer that objects is told, and no other.
  function automatic grounds_t of_grounds(grounds_t g);
    logic objected;
    of_grounds              = '0;
    objected                = !g.exists;
    of_grounds.bad_encoding = objected;
    objected                = objected || g.bad_encoding;
    of_grounds.bad_cur      = objected;
    objected                = objected || g.bad_cur;
    of_grounds.illegal      = objected;
    objected                = objected || g.illegal || g.at_mask || g.at_value;
    of_grounds.undrained    = objected;
    if (!g.at_mask) begin
      of_grounds.row       = '1;
      of_grounds.transport = '1;
      of_grounds.mask      = '1;
    end
    if (!g.at_value) of_grounds.bad_values = '1;
  endfunction

  record_t out_record, unseen_out_record;
  logic    out_valid, out_query;
  qp_ctx_t out_qp;
  assign out_record = u_states.u_top.out_record_q;
  assign out_valid  = u_states.u_top.out_valid_q;
  assign out_query  = out_valid && u_states.u_top.out_query_q;
  assign out_qp     = qp_ctx_t'(out_record.detail[$bits(qp_ctx_t)-1:0]);
  always_comb begin
    unseen_out_record = of_record(out_record);
    // What is joined here.
    if (u_states.u_top.out_query_q) begin
      unseen_out_record.attr  = '1;
      unseen_out_record.stale = '1;
    end
    // The grounds are not the answer yet.
    if (u_states.u_top.out_modify_q) begin
      unseen_out_record.detail                       = '1;
      unseen_out_record.detail[$bits(grounds_t)-1:0] =
          of_grounds(grounds_t'(out_record.detail[$bits(grounds_t)-1:0]));
      unseen_out_record.retire.layer                 = layer_e'('1);
    end
    if (!out_valid) unseen_out_record = '1;
  end
  logic unseen_out_query, unseen_out_modify;
  assign unseen_out_query  = !out_valid || !shows_attr(out_record.retire.channel,
                                                       out_record.retire.op,
                                                       out_record.retire.outcome);
  assign unseen_out_modify = !out_valid;

  logic [1:0] unseen_out_qpa;
  assign unseen_out_qpa = {2{!(u_states.u_top.out_stale_inc_q || u_states.u_top.out_stale_clear_q)}};

  // ------------------------------------------------------------------ RD and EX

  logic     rd_valid, ex_valid;
  slot_op_t rd_op, ex_op;
  qp_ctx_t  ex_qp;
  logic     ex_exists, ex_on_rq;
  assign rd_valid  = u_states.u_top.rd_valid_q;
  assign ex_valid  = u_states.u_top.ex_valid_q;
  assign rd_op     = u_states.u_top.rd_op_q;
  assign ex_op     = u_states.u_top.ex_op_q;
  assign ex_qp     = u_states.u_top.ex_qp_q;
  assign ex_on_rq  = u_states.u_top.ex_queue_q == RQ;
  assign ex_exists = u_states.u_top.ex_facts_q.on_qp && u_states.u_top.ex_facts_q.qp_in_range
                     && ex_qp.exists;

  verdicts_t verdicts, unseen_verdicts;
  states_t   other_state, judged_by_value;
  logic      no_row, refused;
  assign verdicts = u_states.u_top.ex_verdicts_q;

  function automatic logic on_qp(kind_e kind);
    return !(kind inside {K_CREATE_CQ, K_DESTROY_CQ, K_QUERY_CQ, K_SET_CQ_FAULT, K_CONSUME, K_ARM,
                          K_REG_KEY, K_DEREG_KEY, K_BAD_OP});
  endfunction

  // The bits of a number that is too great without them.
  function automatic logic [31:0] of_beyond(logic [31:0] number, logic [31:0] greatest);
    for (int i = 0; i < 32; i++) of_beyond[i] = (number & ~(32'd1 << i)) > greatest;
  endfunction

  // A second beat gives what the first one kept; the other numbers are of other operations.
  function automatic slot_op_t of_op(kind_e kind, logic [31:0] qpn);
    of_op = '0;
    if (second_kind(kind)) begin
      of_op.op  = '1;
      of_op.tag = '1;
      of_op.qpn = of_beyond(qpn, NUM_QP - 1);
    end
    if (!on_qp(kind)) of_op.qpn = '1;
    if (on_qp(kind) ? kind != K_CREATE_QP
                    : kind inside {K_REG_KEY, K_DEREG_KEY, K_BAD_OP}) of_op.cqn = '1;
  endfunction

  slot_op_t unseen_rd_op, unseen_ex_op, unseen_first_op;
  assign unseen_rd_op    = rd_valid ? of_op(rd_op.kind, rd_op.qpn) : '1;
  assign unseen_ex_op    = ex_valid ? of_op(ex_op.kind, ex_op.qpn) : '1;
  // What is kept is of a first beat.
  slot_op_t first_op;
  assign first_op        = u_states.u_top.u_arbiter.first_op_q;
  assign unseen_first_op = !u_states.u_top.u_arbiter.second_q ? '1
                           : first_kind(first_op.kind) ? of_op(second_of(first_op.kind), first_op.qpn)
                           : '0;

  // Of a port, as in qp_attr_values.
  localparam int unsigned Pkeys = 128;

  // Values that a call does not give.
  function automatic qp_attr_t of_attr(attr_mask_t given);
    of_attr = '1;
    for (int l = 0; l < AttrWords; l++) if (given_words(given)[l]) of_attr[32*l +: 32] = '0;
    for (int l = 0; l < AttrBytes; l++) begin
      if (given_bytes(given)[l]) of_attr[32*AttrWords + 8*l +: 8] = '0;
    end
  endfunction

  // What an operation looks at of its command. Code, tag and numbers travel by themselves.
  function automatic cmd_t of_cmd(kind_e kind, cmd_t cmd);
    of_cmd = '1;
    case (kind)
      K_CREATE_CQ: begin
        of_cmd.depth          = of_beyond(cmd.depth, 32'd65536);
        of_cmd.ignore_overrun = '0;
      end
      K_SET_CQ_FAULT: of_cmd.fault = '0;
      K_CREATE_QP, K_CREATE_QP_2: begin
        of_cmd.transport  = '0;
        of_cmd.sq_sig_all = '0;
        of_cmd.sq_ceiling = '0;
        of_cmd.rq_ceiling = '0;
        of_cmd.cqn        = '0;
        of_cmd.recv_cqn   = '0;
      end
      K_MODIFY_QP: begin
        of_cmd.attr_mask    = '0;
        of_cmd.qp_state     = '0;
        of_cmd.cur_qp_state = cmd.attr_mask[A_CUR_STATE] ? '0 : '1;
        of_cmd.attr         = of_attr(cmd.attr_mask[NUM_ATTR-1:0]);
        if (cmd.attr_mask[A_PKEY_INDEX]) begin
          of_cmd.attr.pkey_index = 16'(of_beyond(32'(cmd.attr.pkey_index), Pkeys - 1));
        end
      end
      K_REG_KEY, K_DEREG_KEY: of_cmd.region = '0;
      default: ;
    endcase
  endfunction

  cmd_t unseen_rd_cmd, unseen_ex_cmd;
  assign unseen_rd_cmd = rd_valid ? of_cmd(rd_op.kind, u_states.u_top.rd_cmd) : '1;
  always_comb begin
    unseen_ex_cmd = ex_valid ? of_cmd(ex_op.kind, u_states.u_top.ex_cmd_q) : '1;
    // The gate has judged it: only who accepts looks at the call itself.
    if (ex_valid && ex_op.kind == K_MODIFY_QP && (!ex_exists || verdicts.spoiled || refused)) begin
      unseen_ex_cmd = '1;
    end
    // A depth that is too great has lost its upper bits here.
    if (ex_valid && ex_op.kind == K_CREATE_CQ) begin
      unseen_ex_cmd.depth = {32{u_states.u_top.ex_facts_q.bad_depth}};
    end
  end

  function automatic wire_t of_wire(kind_e kind);
    of_wire = '1;
    if (kind == K_COMPLETE) begin
      of_wire          = '0;
      of_wire.tag      = '1;
      of_wire.qpn      = '1;
      of_wire.reserved = '1;
    end
  endfunction

  wire_t unseen_rd_wire, unseen_ex_wire;
  assign unseen_rd_wire = rd_valid ? of_wire(rd_op.kind) : '1;
  assign unseen_ex_wire = ex_valid ? of_wire(ex_op.kind) : '1;

  function automatic cqdb_t of_cqdb(kind_e kind);
    of_cqdb = '1;
    if (kind == K_CONSUME) of_cqdb.index = '0;
    if (kind == K_ARM) of_cqdb.solicited_only = '0;
  endfunction

  cqdb_t unseen_rd_cqdb, unseen_ex_cqdb;
  assign unseen_rd_cqdb = rd_valid ? of_cqdb(rd_op.kind) : '1;
  assign unseen_ex_cqdb = ex_valid ? of_cqdb(ex_op.kind) : '1;

  logic [15:0] unseen_rd_recv_index, unseen_ex_recv_index, unseen_rd_key_version,
               unseen_ex_key_version;
  logic [7:0]  unseen_rd_walk_transport;
  assign unseen_rd_recv_index     = (rd_valid && rd_op.channel == CH_POST) ? '0 : '1;
  assign unseen_ex_recv_index     = (ex_valid && ex_op.channel == CH_POST) ? '0 : '1;
  assign unseen_rd_key_version    = (rd_valid && rd_op.channel == CH_WQE) ? '0 : '1;
  // Beyond the two bits of a transport it is none, whatever else is set.
  always_comb begin
    unseen_rd_walk_transport = '1;
    if (rd_valid && rd_op.channel == CH_WQE) begin
      unseen_rd_walk_transport = 8'(of_beyond(32'(u_states.u_top.rd_walk_transport), 32'd3));
    end
  end
  assign unseen_ex_key_version    = (ex_valid && !second_kind(ex_op.kind)) ? '0 : '1;

  qp_ctx_t unseen_ex_qp;
  assign unseen_ex_qp = (ex_valid && u_states.u_top.ex_facts_q.on_qp
                         && u_states.u_top.ex_facts_q.qp_in_range) ? '0 : '1;

  slot_facts_t facts, unseen_facts;
  assign facts = u_states.u_top.ex_facts_q;
  always_comb begin
    unseen_facts = '1;
    if (ex_valid) begin
      unseen_facts.on_qp         = 1'b0;
      unseen_facts.qp_in_range   = !facts.on_qp;
      unseen_facts.cq_in_range   = on_qp(ex_op.kind) ? ex_op.kind != K_CREATE_QP
                                                     : ex_op.kind inside {K_REG_KEY, K_DEREG_KEY,
                                                                          K_BAD_OP};
      unseen_facts.recv_in_range = ex_op.kind != K_CREATE_QP;
      unseen_facts.bad_depth     = ex_op.kind != K_CREATE_CQ;
      unseen_facts.bad_ceiling   = ex_op.kind != K_CREATE_QP;
      unseen_facts.wc_error      = ex_op.kind != K_COMPLETE;
      unseen_facts.key_in_range  = !(ex_op.kind inside {K_REG_KEY, K_DEREG_KEY});
      unseen_facts.bad_region    = ex_op.kind != K_REG_KEY;
      unseen_facts.bad_access    = ex_op.kind != K_REG_KEY;
      unseen_facts.region_last   = (ex_op.kind == K_REG_KEY) ? '0 : '1;
    end
  end

  record_t unseen_first;
  assign unseen_first = (ex_valid && second_kind(ex_op.kind))
                        ? of_record(u_states.u_top.ex_first_q) : '1;

  // The gate looks at what was judged for the state that the QP is in, or falls to.
  always_comb begin
    no_row          = 1'b0;
    refused         = 1'b0;
    judged_by_value = '0;
    for (int s = 0; s < NumState; s++) begin
      other_state[s] = !(ex_qp.state == 3'(s) || 3'(s) == QPS_ERR);
    end
    unseen_verdicts = '1;
    if (ex_valid && ex_op.kind == K_MODIFY_QP && ex_exists) begin
      unseen_verdicts         = '0;
      unseen_verdicts.illegal = other_state;
      unseen_verdicts.no_row  = other_state;
      unseen_verdicts.misfit  = other_state;
      unseen_verdicts.bad_mig = other_state;
      unseen_verdicts.barred  = other_state;
      for (int s = 0; s < NumState; s++) begin
        if (!other_state[s]) begin
          no_row                     = verdicts.bad_encoding || verdicts.no_row[s];
          unseen_verdicts.illegal[s] = verdicts.bad_encoding || verdicts.bad_cur[s];
          unseen_verdicts.no_row[s]  = verdicts.bad_encoding;
          unseen_verdicts.misfit[s]  = no_row || verdicts.nameless;
          unseen_verdicts.bad_mig[s] = no_row || verdicts.nameless || verdicts.misfit[s];
          unseen_verdicts.barred[s]  = verdicts.spoiled || verdicts.misfit[s];
        end
        if (other_state[s] || verdicts.bad_encoding || verdicts.no_row[s]
            || !(verdicts.misfit[s] || verdicts.nameless)) begin
          unseen_verdicts.row[s] = '1;
        end
      end
      refused                   = &(other_state | verdicts.barred | verdicts.misfit);
      unseen_verdicts.spoiled   = refused;
      unseen_verdicts.target    = (verdicts.spoiled || refused || !verdicts.mask[A_STATE]) ? '1 : '0;
      unseen_verdicts.bad_cur   = other_state | {NumState{verdicts.bad_encoding}};
      judged_by_value           = ~(other_state | verdicts.no_row | verdicts.misfit);
      if (verdicts.bad_encoding || verdicts.nameless || judged_by_value == '0) begin
        unseen_verdicts.range_bad     = '1;
        unseen_verdicts.any_range_bad = 1'b1;
      end
      if (verdicts.bad_encoding || (verdicts.spoiled && judged_by_value == '0)) begin
        unseen_verdicts.rearm = 1'b1;
      end
    end
  end

  // Wider than the registers, whose types are the decoder's own.
  logic [511:0] unseen_decoder_wqe, unseen_decoder_judged;
  assign unseen_decoder_wqe    = (rd_valid && rd_op.kind == K_POST_SEND) ? '0 : '1;
  // Segments are counted in the answer; what is judged holds a place for them.
  localparam int unsigned BehindMeta = 44;
  sq_meta_t counted_later;
  always_comb begin
    counted_later          = '0;
    counted_later.segments = '1;
    unseen_decoder_judged  = 512'(counted_later) << BehindMeta;
    if (!(ex_valid && ex_op.kind == K_POST_SEND)) unseen_decoder_judged = '1;
  end

  slot_t  unseen_ex_slot;
  logic   unseen_ex_queue, unseen_ex_cqn;
  assign unseen_ex_slot  = (ex_valid && ex_op.kind inside {K_VISIT_ISSUE, K_VISIT_FLUSH}) ? '0 : '1;
  assign unseen_ex_queue = !ex_valid;
  assign unseen_ex_cqn   = !ex_valid;

  // ------------------------------------------------------------------ memories

  // Whether anybody looks at what was read. The bypass holds the word or the memory does.
  // In a send queue it must be of a slot that is queued: whoever comes for another one is late.
  logic [1:0] sq_behind;
  assign sq_behind = u_states.u_top.ex_slot_q[1:0] - ex_qp.sq_head[1:0];
  logic cq_read, posters_read, other_read, sq_read, rq_read, key_read, stale_read, entry_read;
  assign cq_read      = ex_valid && !(ex_op.kind inside {K_REG_KEY, K_DEREG_KEY, K_BAD_OP});
  assign posters_read = ex_valid && (ex_op.kind inside {K_DESTROY_CQ, K_QUERY_CQ}
                                     || first_kind(ex_op.kind) || second_kind(ex_op.kind));
  assign other_read   = ex_valid && on_qp(ex_op.kind)
                        && !second_kind(ex_op.kind);
  assign sq_read      = ex_exists && ex_valid && !ex_on_rq && count_t'(sq_behind) < ex_qp.sq_queued
                        && ex_op.kind inside {K_COMPLETE, K_VISIT_ISSUE, K_VISIT_FLUSH};
  assign rq_read      = ex_exists && ex_valid && ex_on_rq
                        && ex_op.kind inside {K_COMPLETE, K_VISIT_FLUSH};
  assign key_read     = ex_valid && ex_op.kind inside {K_REG_KEY, K_DEREG_KEY};
  assign stale_read   = out_query || u_states.u_top.out_stale_inc_q;
  assign entry_read   = u_states.u_top.u_keys.done_o;

  qp_ctx_t unseen_qp_rdata, unseen_qp_wdata;
  logic    unseen_qp_hit;
  assign unseen_qp_hit   = !rd_valid;
  assign unseen_qp_rdata = (rd_valid && !u_states.u_top.u_qp.g_lane[0].hit_q) ? '0 : '1;
  assign unseen_qp_wdata = (rd_valid && u_states.u_top.u_qp.g_lane[0].hit_q) ? '0 : '1;

  cq_ctx_t unseen_cq_rdata, unseen_cq_wdata;
  logic    unseen_cq_hit;
  assign unseen_cq_hit   = !cq_read;
  assign unseen_cq_rdata = (cq_read && !u_states.u_top.u_cq.g_lane[0].hit_q) ? '0 : '1;
  assign unseen_cq_wdata = (cq_read && u_states.u_top.u_cq.g_lane[0].hit_q) ? '0 : '1;

  cq_posters_t unseen_posters_rdata, unseen_posters_wdata;
  logic        unseen_posters_hit;
  assign unseen_posters_hit   = !posters_read;
  assign unseen_posters_rdata = (posters_read && !u_states.u_top.u_posters.g_lane[0].hit_q) ? '0 : '1;
  assign unseen_posters_wdata = (posters_read && u_states.u_top.u_posters.g_lane[0].hit_q) ? '0 : '1;

  cq_shadow_t unseen_shadow_rdata, unseen_shadow_wdata;
  logic       unseen_shadow_hit;
  assign unseen_shadow_hit   = !other_read;
  assign unseen_shadow_rdata = (other_read && !u_states.u_top.u_shadow.g_lane[0].hit_q) ? '0 : '1;
  assign unseen_shadow_wdata = (other_read && u_states.u_top.u_shadow.g_lane[0].hit_q) ? '0 : '1;

  // A WQE with errors is never issued: it completes, or is flushed.
  function automatic sq_meta_t of_sq(sq_meta_t m);
    of_sq = '0;
    if (m.errors != '0) begin
      of_sq.segments         = '1;
      of_sq.packets          = '1;
      of_sq.response_packets = '1;
    end
  endfunction

  sq_meta_t unseen_sq_rdata, unseen_sq_wdata, sq_rdata, sq_wdata;
  logic     unseen_sq_hit;
  assign sq_rdata        = u_states.u_top.u_sq_meta.g_lane[0].rdata_q;
  assign sq_wdata        = u_states.u_top.u_sq_meta.g_lane[0].wdata_q;
  assign unseen_sq_hit   = !sq_read;
  assign unseen_sq_rdata = (sq_read && !u_states.u_top.u_sq_meta.g_lane[0].hit_q) ? of_sq(sq_rdata)
                                                                                  : '1;
  assign unseen_sq_wdata = (sq_read && u_states.u_top.u_sq_meta.g_lane[0].hit_q) ? of_sq(sq_wdata)
                                                                                 : '1;

  rq_meta_t unseen_rq_rdata, unseen_rq_wdata;
  logic     unseen_rq_hit;
  assign unseen_rq_hit   = !rq_read;
  assign unseen_rq_rdata = (rq_read && !u_states.u_top.u_rq_meta.g_lane[0].hit_q) ? '0 : '1;
  assign unseen_rq_wdata = (rq_read && u_states.u_top.u_rq_meta.g_lane[0].hit_q) ? '0 : '1;

  key_shadow_t unseen_key_rdata, unseen_key_wdata;
  logic        unseen_key_hit;
  assign unseen_key_hit   = !key_read;
  assign unseen_key_rdata = (key_read && !u_states.u_top.u_key_shadow.g_lane[0].hit_q) ? '0 : '1;
  assign unseen_key_wdata = (key_read && u_states.u_top.u_key_shadow.g_lane[0].hit_q) ? '0 : '1;

  logic [31:0] unseen_stale_rdata, unseen_stale_wdata;
  logic        unseen_stale_hit;
  assign unseen_stale_hit   = !stale_read;
  assign unseen_stale_rdata = (stale_read && !u_states.u_top.u_stale.g_lane[0].hit_q) ? '0 : '1;
  assign unseen_stale_wdata = (stale_read && u_states.u_top.u_stale.g_lane[0].hit_q) ? '0 : '1;

  key_entry_t unseen_entry_rdata, unseen_entry_wdata;
  logic       unseen_entry_hit;
  assign unseen_entry_hit   = !entry_read;
  assign unseen_entry_rdata = (entry_read && !u_states.u_top.u_keys.u_keys.g_lane[0].hit_q) ? '0 : '1;
  assign unseen_entry_wdata = (entry_read && u_states.u_top.u_keys.u_keys.g_lane[0].hit_q) ? '0 : '1;

  // Words of what is queued.
  for (genvar q = 0; q < NUM_QP; q++) begin : g_sq
    for (genvar s = 0; s < SQ_DEPTH; s++) begin : g_slot
      logic [1:0] behind;
      sq_meta_t   word, unseen;
      assign behind = 2'(s) - u_states.qp[q].sq_head[1:0];
      assign word   = u_states.u_top.u_sq_meta.g_lane[0].mem[q * SQ_DEPTH + s];
      assign unseen = (count_t'(behind) < u_states.qp[q].sq_queued) ? of_sq(word) : '1;
    end
  end
  for (genvar q = 0; q < NUM_QP; q++) begin : g_rq
    for (genvar s = 0; s < RQ_DEPTH; s++) begin : g_slot
      logic [1:0] behind;
      rq_meta_t   unseen;
      assign behind = 2'(s) - u_states.qp[q].rq_head[1:0];
      assign unseen = (count_t'(behind) < u_states.qp[q].rq_queued) ? '0 : '1;
    end
  end

  // Attributes that were given.
  for (genvar q = 0; q < NUM_QP; q++) begin : g_attr
    logic [AttrWords-1:0] words;
    logic [AttrBytes-1:0] bytes;
    assign words = given_words(u_states.qp[q].attr_set);
    assign bytes = given_bytes(u_states.qp[q].attr_set);
    for (genvar l = 0; l < AttrWords; l++) begin : g_word
      logic [31:0] unseen;
      assign unseen = {32{!words[l]}};
    end
    for (genvar l = 0; l < AttrBytes; l++) begin : g_byte
      logic [7:0] unseen;
      assign unseen = {8{!bytes[l]}};
    end
  end

  logic [AttrWords-1:0] asked_words;
  logic [AttrBytes-1:0] asked_bytes;
  assign asked_words = out_query ? given_words(out_qp.attr_set) : '0;
  assign asked_bytes = out_query ? given_bytes(out_qp.attr_set) : '0;
  for (genvar l = 0; l < AttrWords; l++) begin : g_words_port
    logic [31:0] unseen_rdata, unseen_wdata;
    logic        unseen_hit;
    assign unseen_hit   = !asked_words[l];
    assign unseen_rdata = {32{!(asked_words[l] && !u_states.u_top.u_attr_words.g_lane[l].hit_q)}};
    assign unseen_wdata = {32{!(asked_words[l] && u_states.u_top.u_attr_words.g_lane[l].hit_q)}};
  end
  for (genvar l = 0; l < AttrBytes; l++) begin : g_bytes_port
    logic [7:0] unseen_rdata, unseen_wdata;
    logic       unseen_hit;
    assign unseen_hit   = !asked_bytes[l];
    assign unseen_rdata = {8{!(asked_bytes[l] && !u_states.u_top.u_attr_bytes.g_lane[l].hit_q)}};
    assign unseen_wdata = {8{!(asked_bytes[l] && u_states.u_top.u_attr_bytes.g_lane[l].hit_q)}};
  end

  // Counters of QPs that are there. A new QP's is cleared a clock after it is made.
  for (genvar q = 0; q < NUM_QP; q++) begin : g_stale
    logic [31:0] unseen;
    assign unseen = {32{!u_states.qp[q].exists
                        || (u_states.u_top.out_stale_clear_q && u_states.u_top.out_qpa_q == 2'(q))}};
  end

  // Keys that are registered.
  for (genvar n = 0; n < NUM_KEY; n++) begin : g_entry
    key_entry_t entry, unseen;
    assign entry = key_entry_t'(u_states.u_top.u_keys.u_keys.g_lane[0].mem[n]);
    always_comb begin
      unseen        = entry.exists ? '0 : '1;
      unseen.exists = 1'b0;
    end
  end

  key_change_t change, unseen_change;
  assign change = u_states.u_top.u_keys.change_q;
  always_comb begin
    unseen_change = '1;
    if (u_states.u_top.u_keys.pending_q) begin
      unseen_change.index        = '0;
      unseen_change.entry        = change.entry.exists ? '0 : '1;
      unseen_change.entry.exists = 1'b0;
    end
  end

  logic        unseen_lookup_bit;
  logic [7:0]  unseen_lookup_variant;
  logic [64:0] unseen_lookup_bound;
  assign unseen_lookup_bit     = !entry_read;
  assign unseen_lookup_variant = {8{!entry_read}};
  assign unseen_lookup_bound   = {65{!entry_read}};

  // ------------------------------------------------------------------ init, lists, walker

  // The eighth word is the last: which turn of the counter it is does not matter before.
  logic [3:0] unseen_init;
  assign unseen_init = (u_states.init[2:0] != '0) ? 4'b1000 : '0;

  // With four QPs the front of a list is all of it.
  logic [1:0]  unseen_list_index;
  logic [15:0] unseen_list_word;
  logic        unseen_list_bit;
  assign unseen_list_bit   = u_states.u_top.u_flush_list.body_q == '0
                             && !u_states.u_top.u_flush_list.fetch_q
                             && u_states.u_top.u_issue_list.body_q == '0
                             && !u_states.u_top.u_issue_list.fetch_q;
  assign unseen_list_index = {2{unseen_list_bit}};
  assign unseen_list_word  = {16{unseen_list_bit}};

  for (genvar i = 0; i < 4; i++) begin : g_front
    logic [1:0]  behind_flush, behind_issue;
    logic [15:0] unseen_flush, unseen_issue;
    assign behind_flush = 2'(i) - u_states.u_top.u_flush_list.frptr_q;
    assign behind_issue = 2'(i) - u_states.u_top.u_issue_list.frptr_q;
    assign unseen_flush = {16{3'(behind_flush) >= u_states.u_top.u_flush_list.front_cnt_q}};
    assign unseen_issue = {16{3'(behind_issue) >= u_states.u_top.u_issue_list.front_cnt_q}};
  end

  // All of it is set in IDLE; W_IDLE, CONTROL, BODY, KEYS, DONE are 0 to 4.
  logic [2:0] walk;
  logic       idle, begun;
  assign walk  = u_states.u_top.u_walker.state_q;
  assign idle  = walk == 3'd0;
  assign begun = walk inside {3'd2, 3'd3};
  logic [$bits(wqe_t)-1:0]      unseen_walk_wqe;
  logic [$bits(wqe_ctrl_t)-1:0] unseen_walk_ctrl;
  logic [15:0]                  unseen_walk_version;
  logic [37:0]                  unseen_walk_length;
  logic [6:0]                   unseen_walk_total, unseen_walk_count;
  logic                         unseen_walk_flag;
  assign unseen_walk_wqe     = idle ? '1 : '0;
  assign unseen_walk_ctrl    = (idle || walk == 3'd1) ? '1 : '0;
  assign unseen_walk_version = idle ? '1 : '0;
  assign unseen_walk_length  = idle ? '1 : '0;
  assign unseen_walk_total   = begun ? '0 : '1;
  assign unseen_walk_count   = (begun || walk == 3'd1) ? '0 : '1;
  assign unseen_walk_flag    = idle;

endmodule
