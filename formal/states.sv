// SPDX-License-Identifier: Apache-2.0
//
// Which states rnic_top can be in, at the sizes of the mutants: what its registers and memories
// have to do with each other in every clock behind a reset. Proved like any other assertion, and
// then known to whoever compares a mutant with the healthy machine: what differs only where
// the machine cannot be is no difference.
//
// Unlike in pipeline.sv nothing is written down beside the machine: assertions are of its own
// registers in the very clock, and reset may come again at any time.
module states_fv
  import rnic_pkg::*;
  import qp_gate_pkg::*;
  import stage_pkg::*;
#(
    parameter int unsigned NUM_QP   = 4,
    parameter int unsigned NUM_CQ   = 2,
    parameter int unsigned SQ_DEPTH = 4,
    parameter int unsigned RQ_DEPTH = 4,
    parameter int unsigned NUM_KEY  = 8
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
  localparam int unsigned QpA     = $clog2(NUM_QP);
  localparam int unsigned SlotA   = $clog2(SQ_DEPTH);

  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;
  always_comb assume (started_q || !rst_ni);

  rnic_top #(
      .NUM_QP      (NUM_QP),
      .NUM_CQ      (NUM_CQ),
      .SQ_DEPTH    (SQ_DEPTH),
      .RQ_DEPTH    (RQ_DEPTH),
      .NUM_KEY     (NUM_KEY),
      .ISSUE_DEPTH (Issues),
      .RECORD_DEPTH(Records)
  ) u_top (
      .clk_i,
      .rst_ni,
      .policy_i,
      .hold_internal_i,
      .cmd_valid_i,
      .cmd_ready_o(),
      .cmd_i,
      .post_valid_i,
      .post_ready_o(),
      .post_i,
      .wire_valid_i,
      .wire_ready_o(),
      .wire_i,
      .cqdb_valid_i,
      .cqdb_ready_o(),
      .cqdb_i,
      .wqe_valid_i,
      .wqe_ready_o(),
      .wqe_i,
      .fetch_valid_o(),
      .fetch_ready_i,
      .fetch_o(),
      .unit_valid_i,
      .unit_ready_o(),
      .unit_i,
      .rsp_valid_o(),
      .rsp_ready_i,
      .rsp_o(),
      .issue_valid_o(),
      .issue_ready_i,
      .issue_o(),
      .cqe_valid_o(),
      .cqe_ready_i,
      .cqe_o(),
      .event_valid_o(),
      .event_ready_i,
      .event_o(),
      .retire_valid_o(),
      .retire_ready_i,
      .retire_o(),
      .slot_kind_o()
  );

  logic       rd_valid, ex_valid, enabled;
  slot_op_t   rd_op, ex_op;
  straps_t    straps;
  logic [3:0] init;
  assign rd_valid = u_top.rd_valid_q;
  assign ex_valid = u_top.ex_valid_q;
  assign rd_op    = u_top.rd_op_q;
  assign ex_op    = u_top.ex_op_q;
  assign straps   = u_top.straps_q;
  assign init     = u_top.init_q;
  assign enabled  = init == 4'(NUM_KEY);

  // ------------------------------------------------------------------ contexts

  qp_ctx_t     qp      [NUM_QP];
  cq_ctx_t     cq      [NUM_CQ];
  cq_posters_t posters [NUM_CQ];
  cq_shadow_t  shadow  [NUM_CQ];
  key_shadow_t key     [NUM_KEY];
  for (genvar n = 0; n < NUM_QP; n++) begin : g_qp_word
    assign qp[n] = (4'(n) < init) ? qp_ctx_t'(u_top.u_qp.g_lane[0].mem[n]) : '0;
  end
  for (genvar n = 0; n < NUM_CQ; n++) begin : g_cq_word
    assign cq[n]      = (4'(n) < init) ? cq_ctx_t'(u_top.u_cq.g_lane[0].mem[n]) : '0;
    assign posters[n] = (4'(n) < init) ? cq_posters_t'(u_top.u_posters.g_lane[0].mem[n]) : '0;
    assign shadow[n]  = (4'(n) < init) ? cq_shadow_t'(u_top.u_shadow.g_lane[0].mem[n]) : '0;
  end
  for (genvar n = 0; n < NUM_KEY; n++) begin : g_key_word
    assign key[n] = (4'(n) < init) ? key_shadow_t'(u_top.u_key_shadow.g_lane[0].mem[n]) : '0;
  end

  // The second beat of an operation whose first was accepted.
  logic half_made, half_gone;
  logic [QpA-1:0] beat_qp;
  assign half_made = ex_valid && ex_op.kind == K_CREATE_QP_2
                     && u_top.ex_first_q.retire.outcome == OUT_OK;
  assign half_gone = ex_valid && ex_op.kind == K_DESTROY_QP_2
                     && u_top.ex_first_q.retire.outcome == OUT_OK;
  assign beat_qp   = ex_op.qpn[QpA-1:0];

  logic [31:0] attached [NUM_CQ];
  logic [31:0] ceilings [NUM_CQ];
  always_comb begin
    for (int c = 0; c < NUM_CQ; c++) begin
      attached[c] = '0;
      ceilings[c] = '0;
      for (int q = 0; q < NUM_QP; q++) begin
        if (qp[q].exists && qp[q].send_cqn[0] == 1'(c)) begin
          attached[c] = attached[c] + 1;
          ceilings[c] = ceilings[c] + 32'(qp[q].sq_ceiling);
        end
        if (qp[q].recv_cqn[0] == 1'(c)
            && (qp[q].exists ? !(half_made && beat_qp == QpA'(q))
                             : half_gone && beat_qp == QpA'(q))) begin
          attached[c] = attached[c] + 1;
          ceilings[c] = ceilings[c] + 32'(qp[q].rq_ceiling);
        end
      end
    end
  end

  for (genvar q = 0; q < NUM_QP; q++) begin : g_qp
    // READs and atomics among those on the wire.
    logic [2:0] reads;
    logic [SQ_DEPTH-1:0] is_read;
    for (genvar s = 0; s < SQ_DEPTH; s++) begin : g_is_read
      sq_meta_t meta;
      assign meta       = u_top.u_sq_meta.g_lane[0].mem[q * SQ_DEPTH + s];
      assign is_read[s] = meta.is_read;
    end
    always_comb begin
      reads = '0;
      for (int i = 0; i < SQ_DEPTH; i++) begin
        if (count_t'(i) < qp[q].sq_issued && is_read[SlotA'(qp[q].sq_head + slot_t'(i))]) begin
          reads = reads + 1;
        end
      end
    end
    always_comb if (started_q && qp[q].exists) begin
      ReadsAreCounted_A: assert (qp[q].sq_reads == count_t'(reads));
    end
    always_comb if (started_q) begin
      QpAfterInit_A: assert (enabled || qp[q] == '0);
    end
    always_comb if (started_q && !qp[q].exists) begin
      GoneIsReset_A: assert (qp[q].state == QPS_RESET && qp[q].drain == DRAIN_NONE
                             && qp[q].blocked == BLOCK_NO && !qp[q].event_owed && !qp[q].fatal
                             && {qp[q].sq_queued, qp[q].sq_issued, qp[q].sq_reads, qp[q].sq_head,
                                 qp[q].sq_flush_owed, qp[q].rq_queued, qp[q].rq_head,
                                 qp[q].path_mtu, qp[q].mig_armed, qp[q].attr_set} == '0);
      GoneInRange_A: assert (qp[q].transport <= 2'd2
                             && qp[q].send_cqn < 16'(NUM_CQ) && qp[q].recv_cqn < 16'(NUM_CQ)
                             && qp[q].sq_ceiling <= count_t'(SQ_DEPTH)
                             && qp[q].rq_ceiling <= count_t'(RQ_DEPTH));
    end
    always_comb if (started_q && qp[q].exists) begin
      StateIsOne_A: assert (qp[q].state <= QPS_ERR && qp[q].transport <= 2'd2);
      CqsInRange_A: assert (qp[q].send_cqn < 16'(NUM_CQ) && qp[q].recv_cqn < 16'(NUM_CQ)
                            && cq[qp[q].send_cqn[0]].exists && cq[qp[q].recv_cqn[0]].exists);
      RcHoldsNoSqe_A: assert (!(qp[q].transport == RC && qp[q].state == QPS_SQE));
      CountsAreOrdered_A: assert (qp[q].sq_issued <= qp[q].sq_queued
                                  && qp[q].sq_reads <= qp[q].sq_issued
                                  && qp[q].sq_flush_owed <= qp[q].sq_queued
                                  && qp[q].sq_queued <= qp[q].sq_ceiling
                                  && qp[q].rq_queued <= qp[q].rq_ceiling
                                  && qp[q].sq_ceiling <= count_t'(SQ_DEPTH)
                                  && qp[q].rq_ceiling <= count_t'(RQ_DEPTH)
                                  && qp[q].sq_ceiling != '0 && qp[q].rq_ceiling != '0
                                  && qp[q].sq_head < slot_t'(SQ_DEPTH)
                                  && qp[q].rq_head < slot_t'(RQ_DEPTH));
      IssuedOnlyWhereSent_A: assert (qp[q].state inside {QPS_RTS, QPS_SQD}
                                     || (qp[q].sq_issued == '0 && qp[q].blocked == BLOCK_NO));
      OwedAreNotIssued_A: assert (qp[q].sq_flush_owed == '0
                                  || (qp[q].sq_issued == '0
                                      && qp[q].state inside {QPS_RTS, QPS_SQD}));
      NothingPostedEarly_A: assert (!(qp[q].state inside {QPS_RESET, QPS_INIT, QPS_RTR})
                                    || (qp[q].sq_queued == '0
                                        && (qp[q].state != QPS_RESET || qp[q].rq_queued == '0)));
      DrainInSqd_A: assert (qp[q].state == QPS_SQD
                            ? qp[q].drain inside {DRAINING, DRAINED}
                            : qp[q].drain == DRAIN_NONE && !qp[q].event_owed);
      DrainingHasWork_A: assert (qp[q].drain != DRAINING
                                 || (straps.sqd_hold_unstarted ? qp[q].sq_issued
                                                               : qp[q].sq_queued) != '0);
      DrainedOwesNoEvent_A: assert (qp[q].drain != DRAINED || !qp[q].event_owed);
      DrainedIsIdle_A: assert (qp[q].drain != DRAINED
                               || (straps.sqd_hold_unstarted ? qp[q].sq_issued
                                                             : qp[q].sq_queued) == '0);
      FatalIsInErr_A: assert (!qp[q].fatal || qp[q].state == QPS_ERR);
      BlockedWaits_A: assert (qp[q].blocked == BLOCK_NO
                              || (qp[q].sq_queued != qp[q].sq_issued
                                  && (qp[q].blocked == BLOCK_FENCE ? qp[q].sq_reads != '0
                                                                   : qp[q].blocked == BLOCK_ORDER
                                                                     && qp[q].sq_issued != '0)));
      TakenIsCascade_A: assert ((!qp[q].taken_s || cq[qp[q].send_cqn[0]].in_error)
                                && (!qp[q].taken_r || cq[qp[q].recv_cqn[0]].in_error));
      MtuInRange_A: assert (qp[q].path_mtu <= 3'd5
                            && (!qp[q].attr_set[A_PATH_MTU] ? qp[q].path_mtu == '0
                                                            : qp[q].path_mtu != '0));
      SetInReset_A: assert ((qp[q].state != QPS_RESET
                             || (qp[q].attr_set == '0 && !qp[q].mig_armed && qp[q].sq_head == '0
                                 && qp[q].rq_head == '0))
                            && qp[q].attr_set[1:0] == '0);
      RequiredWereGiven_A: assert (straps.cur_state_override
                                   || (given(qp[q].transport, qp[q].state)
                                       & ~{11'd0, qp[q].attr_set}) == '0);
      RunnableIsListed_A: assert (!(qp[q].sq_queued != qp[q].sq_issued && qp[q].sq_flush_owed == '0
                                    && qp[q].blocked == BLOCK_NO
                                    && (qp[q].state == QPS_RTS
                                        || (qp[q].state == QPS_SQD && !straps.sqd_hold_unstarted)))
                                  || qp[q].on_issue);
      OwingIsListed_A: assert (!((qp[q].state == QPS_ERR
                                  && (qp[q].sq_queued != '0 || qp[q].rq_queued != '0))
                                 || (qp[q].state == QPS_SQE && qp[q].sq_queued != '0)
                                 || qp[q].sq_flush_owed != '0)
                               || qp[q].on_flush);
    end
  end

  // Attributes that were given are in range.
  for (genvar q = 0; q < NUM_QP; q++) begin : g_attr
    qp_attr_t   attr;
    attr_mask_t bad;
    for (genvar l = 0; l < AttrWords; l++) begin : g_word
      assign attr[32*l +: 32] = u_top.u_attr_words.g_lane[l].mem[q];
    end
    for (genvar l = 0; l < AttrBytes; l++) begin : g_byte
      assign attr[32*AttrWords + 8*l +: 8] = u_top.u_attr_bytes.g_lane[l].mem[q];
    end
    qp_attr_values u_values (
        .straps_i(straps),
        .attr_i  (attr),
        .bad_o   (bad)
    );
    always_comb if (started_q) begin
      AttributesInRange_A: assert ((bad & qp[q].attr_set) == '0);
    end
  end

  for (genvar c = 0; c < NUM_CQ; c++) begin : g_cq
    logic [RingW:0] gap;
    assign gap = (cq[c].producer >= cq[c].consumer)
                 ? {1'b0, cq[c].producer} - {1'b0, cq[c].consumer}
                 : {1'b0, cq[c].producer} + {cq[c].depth, 1'b0} - {1'b0, cq[c].consumer};
    always_comb if (started_q) begin
      CqAfterInit_A: assert (enabled || {cq[c], posters[c], shadow[c]} == '0);
      AttachedAreCounted_A: assert (posters[c].attached == attached[c]
                                    && posters[c].ceiling_sum == ceilings[c]);
      ShadowIsSame_A: assert (shadow[c] == {cq[c].exists, cq[c].in_error});
      GoneIsNothing_A: assert (cq[c].exists || {cq[c], posters[c]} == '0);
      AttachedKeepsIt_A: assert (posters[c].attached == '0 || cq[c].exists);
      if (cq[c].exists) begin
        DepthInRange_A: assert (cq[c].depth != '0 && cq[c].depth <= 17'd65536);
        IndicesInRange_A: assert ({1'b0, cq[c].producer} < {cq[c].depth, 1'b0}
                                  && {1'b0, cq[c].consumer} < {cq[c].depth, 1'b0});
        OccupancyIsTheGap_A: assert (gap == {1'b0, cq[c].occupancy}
                                     && cq[c].occupancy <= cq[c].depth);
        ErrorWasRaised_A: assert (!cq[c].in_error
                                  || (cq[c].cq_err_raised && straps.cq_scope != SCOPE_AFFECTED));
        ArmIsOne_A: assert (cq[c].arm inside {ARM_NONE, ARM_SOLICITED, ARM_NEXT});
      end
    end
  end

  // ------------------------------------------------------------------ what belongs to the operation

  slot_facts_t facts;
  slot_facts #(
      .NUM_QP  (NUM_QP),
      .NUM_CQ  (NUM_CQ),
      .SQ_DEPTH(SQ_DEPTH),
      .RQ_DEPTH(RQ_DEPTH),
      .NUM_KEY (NUM_KEY)
  ) u_facts (
      .op_i   (ex_op),
      .cmd_i  (u_top.ex_cmd_q),
      .wire_i (u_top.ex_wire_q),
      .facts_o(facts)
  );

  attr_mask_t range_bad;
  qp_attr_values u_values (
      .straps_i(straps),
      .attr_i  (u_top.ex_cmd_q.attr),
      .bad_o   (range_bad)
  );
  call_t     call;
  verdicts_t verdicts;
  qp_gate_call u_call (
      .straps_i        (straps),
      .mask_i          (u_top.ex_cmd_q.attr_mask),
      .target_i        (u_top.ex_cmd_q.qp_state),
      .cur_state_i     (u_top.ex_cmd_q.cur_qp_state),
      .path_mig_state_i(u_top.ex_cmd_q.attr.path_mig_state),
      .range_bad_i     (range_bad),
      .call_o          (call)
  );
  qp_gate_states u_states (
      .straps_i   (straps),
      .call_i     (call),
      .transport_i(u_top.ex_qp_q.transport),
      .verdicts_o (verdicts)
  );

  logic on_rq, right_cq, right_other, has_other, exists, owing_s, on_cq_or_qp;
  assign on_rq = u_top.ex_queue_q == RQ;
  always_comb begin
    right_cq    = on_rq ? u_top.ex_qp_q.recv_cqn[0] : u_top.ex_qp_q.send_cqn[0];
    right_other = on_rq ? u_top.ex_qp_q.send_cqn[0] : u_top.ex_qp_q.recv_cqn[0];
    has_other   = 1'b1;
    case (ex_op.kind)
      K_CREATE_CQ, K_DESTROY_CQ, K_QUERY_CQ, K_SET_CQ_FAULT, K_CONSUME, K_ARM: begin
        right_cq  = ex_op.cqn[0];
        has_other = 1'b0;
      end
      K_CREATE_QP: begin
        right_cq    = u_top.ex_cmd_q.cqn[0];
        right_other = u_top.ex_cmd_q.recv_cqn[0];
      end
      K_CREATE_QP_2: begin
        right_cq  = u_top.ex_cmd_q.recv_cqn[0];
        has_other = 1'b0;
      end
      K_DESTROY_QP_2: begin
        right_cq  = u_top.ex_qp_q.recv_cqn[0];
        has_other = 1'b0;
      end
      default: ;
    endcase
  end
  assign on_cq_or_qp = facts.on_qp ? facts.qp_in_range
                                   : !(ex_op.kind inside {K_REG_KEY, K_DEREG_KEY, K_BAD_OP});
  assign exists      = facts.on_qp && facts.qp_in_range && u_top.ex_qp_q.exists;
  assign owing_s     = u_top.ex_qp_q.state inside {QPS_SQE, QPS_ERR}
                       || u_top.ex_qp_q.sq_flush_owed != '0;

  for (genvar s = 0; s < 2; s++) begin : g_stage
    logic     valid;
    slot_op_t op;
    assign valid = (s == 0) ? rd_valid : ex_valid;
    assign op    = (s == 0) ? rd_op : ex_op;
    always_comb if (started_q && valid) begin
      ByItsChannel_A: assert (op.kind == K_BAD_OP ? op.channel inside {CH_CMD, CH_POST, CH_CQDB}
                              : op.kind <= K_BAD_OP && channel_fits(op.kind, op.channel));
      CodeIsOfKind_A: assert (code_fits(op.kind, op.channel, op.op));
      VisitsHaveRoom_A: assert (op.kind != K_VISIT_ISSUE || op.room);
      RoomIsForSends_A: assert (!op.room || op.kind inside {K_VISIT_ISSUE, K_POST_SEND});
      VisitsAreOfQps_A: assert (!(op.kind inside {K_VISIT_FLUSH, K_VISIT_ISSUE, K_PROBE_CASCADE})
                                || op.qpn < NUM_QP);
      NumbersOfTheOther_A: assert ((op.channel == CH_CMD || op.channel == CH_CQDB || op.cqn == '0)
                                   && (op.channel != CH_CQDB || op.qpn == '0)
                                   && (op.channel != CH_INTERNAL || op.tag == '0));
    end
  end

  for (genvar n = 0; n < NUM_QP; n++) begin : g_qp_seen
    always_comb if (started_q) begin
      QpIsReadWhole_A: assert (!(rd_valid && rd_op.qpn[QpA-1:0] == QpA'(n))
                               || u_top.rd_qp_raw == qp[n]);
      QpIsNewest_A: assert (!(ex_valid && ex_op.qpn == n) || u_top.ex_qp_q == qp[n]);
    end
  end
  for (genvar n = 0; n < NUM_CQ; n++) begin : g_cq_seen
    always_comb if (started_q) begin
      CqIsNewest_A: assert (!(ex_valid && u_top.ex_cq_q == 1'(n))
                            || (u_top.ex_cq == cq[n] && u_top.ex_posters == posters[n]));
      OtherCqIsNewest_A: assert (!(ex_valid && on_cq_or_qp && has_other
                                   && (exists || ex_op.kind == K_CREATE_QP) && right_other == 1'(n))
                                 || u_top.ex_other == {cq[n].exists, cq[n].in_error});
    end
  end

  always_comb if (started_q) begin
    QuietWhileInit_A: assert (enabled || !(rd_valid || ex_valid || u_top.u_arbiter.second_q
                                           || u_top.out_valid_q || u_top.out_stale_inc_q
                                           || u_top.out_stale_clear_q));
    OneSourceAtATime_A: assert ($onehot(u_top.u_arbiter.last_q));
    InitInRange_A: assert (init <= 4'(NUM_KEY));
    StrapsInRange_A: assert (straps.cq_scope <= SCOPE_CASCADE);
    FirstHasSecond_A: assert ((rd_valid && first_kind(rd_op.kind)) == u_top.u_arbiter.second_q
                              && (!u_top.u_arbiter.second_q || u_top.u_arbiter.first_op_q == rd_op));
    SecondFollowsFirst_A: assert ((ex_valid && first_kind(ex_op.kind))
                                  == (rd_valid && second_kind(rd_op.kind)));
    SecondIsOfFirst_A: assert (!(ex_valid && first_kind(ex_op.kind))
                               || (rd_op.kind == second_of(ex_op.kind)
                                   && rd_op.qpn == ex_op.qpn && rd_op.cqn == ex_op.cqn
                                   && rd_op.tag == ex_op.tag && rd_op.room == ex_op.room
                                   && rd_op.op == ex_op.op
                                   && rd_op.channel == ex_op.channel
                                   && u_top.rd_cmd == u_top.ex_cmd_q));
    HalfMadeExists_A: assert (!half_made
                              || (qp[beat_qp].exists && ex_op.qpn < NUM_QP
                                  && qp[beat_qp].state == QPS_RESET
                                  && 32'(qp[beat_qp].recv_cqn) == u_top.ex_cmd_q.recv_cqn
                                  && 32'(qp[beat_qp].rq_ceiling) == u_top.ex_cmd_q.rq_ceiling));
    HalfGoneIsGone_A: assert (!half_gone
                              || (!qp[beat_qp].exists && ex_op.qpn < NUM_QP
                                  && qp[beat_qp].recv_cqn < 16'(NUM_CQ)
                                  && cq[qp[beat_qp].recv_cqn[0]].exists));
    if (rd_valid && rd_op.kind == K_CREATE_QP) begin
      CommandWaits_A: assert (rd_op.cqn == u_top.rd_cmd.cqn);
    end
    if (ex_valid) begin
      // Also of a QP that was read in place of one that there is not.
      DrainHasWorkHere_A: assert (u_top.ex_qp_q.drain != DRAINING
                                  || (straps.sqd_hold_unstarted ? u_top.ex_qp_q.sq_issued
                                                                : u_top.ex_qp_q.sq_queued) != '0);
      HereInRange_A: assert (u_top.ex_qp_q.state <= QPS_ERR && u_top.ex_qp_q.transport <= 2'd2
                             && u_top.ex_qp_q.send_cqn < 16'(NUM_CQ)
                             && u_top.ex_qp_q.recv_cqn < 16'(NUM_CQ)
                             && u_top.ex_qp_q.sq_ceiling <= count_t'(SQ_DEPTH)
                             && u_top.ex_qp_q.rq_ceiling <= count_t'(RQ_DEPTH)
                             && u_top.ex_qp_q.sq_queued <= u_top.ex_qp_q.sq_ceiling
                             && u_top.ex_qp_q.rq_queued <= u_top.ex_qp_q.rq_ceiling
                             && u_top.ex_qp_q.sq_issued <= u_top.ex_qp_q.sq_queued
                             && u_top.ex_qp_q.sq_reads <= u_top.ex_qp_q.sq_issued
                             && u_top.ex_qp_q.sq_flush_owed <= u_top.ex_qp_q.sq_queued
                             && u_top.ex_qp_q.sq_head < slot_t'(SQ_DEPTH)
                             && u_top.ex_qp_q.rq_head < slot_t'(RQ_DEPTH));
      CommandIsHere_A: assert (!(ex_op.kind inside {K_CREATE_QP, K_CREATE_QP_2})
                               || ex_op.cqn == u_top.ex_cmd_q.cqn);
      RightCq_A: assert (!on_cq_or_qp || u_top.ex_cq_q == right_cq);
      RightQueue_A: assert (ex_op.kind == K_VISIT_FLUSH
                            || on_rq == (ex_op.kind == K_COMPLETE && u_top.ex_wire_q.queue != '0));
      RightSlot_A: assert (ex_op.kind != K_COMPLETE
                           || u_top.ex_slot_q == u_top.ex_wire_q.slot[SlotW-1:0]);
      CommandIsJudged_A: assert (ex_op.channel != CH_CMD
                                 || (u_top.ex_facts_q.recv_in_range == facts.recv_in_range
                                     && u_top.ex_facts_q.bad_depth == facts.bad_depth
                                     && u_top.ex_facts_q.bad_ceiling == facts.bad_ceiling
                                     && u_top.ex_facts_q.key_in_range == facts.key_in_range
                                     && u_top.ex_facts_q.bad_region == facts.bad_region
                                     && u_top.ex_facts_q.bad_access == facts.bad_access
                                     && u_top.ex_facts_q.region_last == facts.region_last));
      CompletionIsJudged_A: assert (ex_op.channel != CH_WIRE
                                    || u_top.ex_facts_q.wc_error == facts.wc_error);
      NumbersAreJudged_A: assert (u_top.ex_facts_q.on_qp == facts.on_qp
                                  && u_top.ex_facts_q.qp_in_range == facts.qp_in_range
                                  && u_top.ex_facts_q.cq_in_range == facts.cq_in_range);
      GateJudgesThisCall_A: assert (ex_op.kind != K_MODIFY_QP || !exists
                                    || u_top.ex_verdicts_q == verdicts);
      KeyIsNewest_A: assert (!(ex_op.kind inside {K_REG_KEY, K_DEREG_KEY})
                             || u_top.ex_key == key[u_top.ex_cmd_q.region.lkey[10:8]]);
      SendIsTheOneStored_A: assert (on_rq || u_top.ex_sq_meta
                                             == u_top.u_sq_meta.g_lane[0].mem[{beat_qp, u_top.ex_slot_q[SlotA-1:0]}]);
      RecvIsTheOneStored_A: assert (!on_rq || u_top.ex_rq_meta
                                              == u_top.u_rq_meta.g_lane[0].mem[{beat_qp, u_top.ex_slot_q[SlotA-1:0]}]);
      // Nothing but the visit itself takes from a queue that is flushed.
      FlushSeesTheHead_A: assert (!(ex_op.kind == K_VISIT_FLUSH && exists && !on_rq && owing_s)
                                  || (u_top.ex_qp_q.sq_queued != '0
                                      && u_top.ex_slot_q == u_top.ex_qp_q.sq_head));
      ShortWqeIsRefused_A: assert (!(u_top.u_decoder.judged_q.mlx5
                                     && u_top.u_decoder.judged_q.short_ds)
                                   || u_top.u_decoder.judged_q.meta.errors != '0);
      NoVersionOfOthers_A: assert (ex_op.channel == CH_WQE || u_top.ex_key_version_q == '0);
    end
  end

  // ------------------------------------------------------------------ records

  record_t    out;
  qp_ctx_t    out_qp;
  grounds_t   grounds;
  attr_mask_t out_bad;
  logic       out_fits;
  logic [AttrWords+AttrBytes-1:0] attr_forwarded;
  assign out     = u_top.out_record_q;
  assign out_qp  = qp_ctx_t'(out.detail[$bits(qp_ctx_t)-1:0]);
  assign grounds = grounds_t'(out.detail[$bits(grounds_t)-1:0]);
  for (genvar l = 0; l < AttrWords; l++) begin : g_word_forwarded
    assign attr_forwarded[l] = u_top.u_attr_words.g_lane[l].hit_q;
  end
  for (genvar l = 0; l < AttrBytes; l++) begin : g_byte_forwarded
    assign attr_forwarded[AttrWords+l] = u_top.u_attr_bytes.g_lane[l].hit_q;
  end
  record_shape #(
      .NUM_QP  (NUM_QP),
      .NUM_CQ  (NUM_CQ),
      .SQ_DEPTH(SQ_DEPTH),
      .RQ_DEPTH(RQ_DEPTH)
  ) u_out_shape (
      .straps_i(straps),
      .record_i(out),
      .layer_i (!u_top.out_modify_q),
      .joined_i(1'b0),
      .fits_o  (out_fits)
  );
  qp_attr_values u_out_values (
      .straps_i(straps),
      .attr_i  (u_top.out_attr),
      .bad_o   (out_bad)
  );
  always_comb if (started_q && u_top.out_valid_q) begin
    JoinsAttributes_A: assert (u_top.out_query_q == (out.retire.channel == CH_CMD[2:0]
                                                     && out.retire.op == OP_QUERY_QP
                                                     && out.retire.outcome == OUT_OK));
    JoinsAnswer_A: assert (u_top.out_modify_q == (out.retire.channel == CH_CMD[2:0]
                                                  && out.retire.op == OP_MODIFY_QP));
    AnswersCalls_A: assert (out.has_rsp == calls(out.retire.channel));
    RecordFits_A: assert (out_fits && {out.stale, out.attr} == '0
                          && (!u_top.out_query_q || (out_bad & out_qp.attr_set) == '0));
    GroundsFit_A: assert (!u_top.out_modify_q
                          || (!(grounds.at_mask && grounds.at_value)
                              && (!grounds.at_value || grounds.bad_values[1:0] == '0)
                              && (!grounds.at_mask || (grounds.transport <= 2'd2
                                                       && $onehot0(grounds.row)))));
    NothingForwarded_A: assert (!u_top.out_query_q || attr_forwarded == '0);
  end

  for (genvar i = 0; i < Records; i++) begin : g_record
    logic [2:0] behind;
    logic       fits;
    assign behind = 3'(i) - u_top.u_records.u_records.rptr_q;
    record_shape #(
        .NUM_QP  (NUM_QP),
        .NUM_CQ  (NUM_CQ),
        .SQ_DEPTH(SQ_DEPTH),
        .RQ_DEPTH(RQ_DEPTH)
    ) u_shape (
        .straps_i(straps),
        .record_i(u_top.u_records.u_records.mem[i]),
        .layer_i (1'b1),
        .joined_i(1'b1),
        .fits_o  (fits)
    );
    always_comb if (started_q && 4'(behind) < u_top.u_records.u_records.count_q) begin
      QueuedFits_A: assert (fits);
    end
  end

  for (genvar i = 0; i < 2; i++) begin : g_out
    logic      fits;
    rsp_core_t rsp;
    assign rsp = u_top.u_records.u_rsp.mem[i];
    answer_shape #(
        .NUM_QP  (NUM_QP),
        .NUM_CQ  (NUM_CQ),
        .SQ_DEPTH(SQ_DEPTH),
        .RQ_DEPTH(RQ_DEPTH)
    ) u_answer (
        .straps_i (straps),
        .channel_i(rsp.channel),
        .op_i     (rsp.op),
        .outcome_i(rsp.outcome),
        .detail_i (rsp.detail),
        .attr_i   (rsp.attr),
        .joined_i (1'b1),
        .fits_o   (fits)
    );
    event_core_t evt;
    assign evt = u_top.u_records.u_event.mem[i];
    retire_core_t retire;
    logic         retire_fits;
    assign retire = u_top.u_records.u_retire.mem[i];
    retire_shape #(
        .NUM_QP(NUM_QP),
        .NUM_CQ(NUM_CQ)
    ) u_shape (
        .retire_i(retire),
        .layer_i (1'b1),
        .fits_o  (retire_fits)
    );
    logic rsp_behind, event_behind, retire_behind, rsp_there, event_there, retire_there;
    assign rsp_behind    = 1'(i) - u_top.u_records.u_rsp.rptr_q;
    assign event_behind  = 1'(i) - u_top.u_records.u_event.rptr_q;
    assign retire_behind = 1'(i) - u_top.u_records.u_retire.rptr_q;
    assign rsp_there     = 2'(rsp_behind) < u_top.u_records.u_rsp.count_q;
    assign event_there   = 2'(event_behind) < u_top.u_records.u_event.count_q;
    assign retire_there  = 2'(retire_behind) < u_top.u_records.u_retire.count_q;
    always_comb if (started_q) begin
      AnswerFits_A: assert (!rsp_there || (fits && calls(rsp.channel)));
      RetiredFits_A: assert (!retire_there || retire_fits);
      EventFits_A: assert (!event_there
                           || (evt.kinds != '0
                               && (!(evt.kinds.cq_err || evt.kinds.qp_fatal || evt.kinds.sq_drained)
                                   || evt.qpn < NUM_QP)
                               && (!(evt.kinds.cq_err || evt.kinds.qp_fatal || evt.kinds.completion)
                                   || evt.cqn < NUM_CQ)));
    end
  end

  // What the first beat left, for the second.
  logic first_fits;
  retire_shape #(
      .NUM_QP(NUM_QP),
      .NUM_CQ(NUM_CQ)
  ) u_first_shape (
      .retire_i(u_top.ex_first_q.retire),
      .layer_i (1'b1),
      .fits_o  (first_fits)
  );
  always_comb if (started_q && ex_valid && second_kind(ex_op.kind)) begin
    FirstIsOfThisOne_A: assert (u_top.ex_first_q.has_rsp
                                && u_top.ex_first_q.retire.channel == CH_CMD[2:0]
                                && u_top.ex_first_q.retire.op == ex_op.op
                                && u_top.ex_first_q.retire.cqe == CQE_NONE
                                && {u_top.ex_first_q.retire.kinds.cq_err,
                                    u_top.ex_first_q.retire.kinds.sq_drained,
                                    u_top.ex_first_q.retire.kinds.completion} == '0
                                && u_top.ex_first_q.retire.layer == LAYER_NONE
                                && u_top.ex_first_q.retire.key_version == '0 && first_fits
                                && !u_top.ex_first_q.cq_exceeds[1]
                                && {u_top.ex_first_q.detail, u_top.ex_first_q.stale,
                                    u_top.ex_first_q.attr} == '0);
  end

  // ------------------------------------------------------------------ keys, one change at a time

  for (genvar n = 0; n < NUM_KEY; n++) begin : g_key
    always_comb if (started_q) begin
      KeyAfterInit_A: assert (enabled || key[n] == '0);
    end
  end

  logic in_rd, in_ex;
  assign in_rd = rd_valid && rd_op.kind inside {K_REG_KEY, K_DEREG_KEY};
  assign in_ex = ex_valid && ex_op.kind inside {K_REG_KEY, K_DEREG_KEY};
  always_comb if (started_q) begin
    OneKeyChange_A: assert (2'(in_rd) + 2'(in_ex) + 2'(u_top.u_keys.pending_q)
                            == 2'(u_top.key_busy_q));
    KeysInitTogether_A: assert (u_top.u_keys.init_q == init);
  end

  for (genvar n = 0; n < NUM_KEY; n++) begin : g_entry
    key_entry_t entry;
    assign entry = u_top.u_keys.u_keys.g_lane[0].mem[n];
    always_comb if (started_q && 4'(n) < init && entry.exists) begin
      RegionInRange_A: assert (entry.last >= entry.base);
    end
  end
  key_change_t change;
  assign change = u_top.u_keys.change_q;
  always_comb if (started_q) begin
    ChangeInRange_A: assert (!u_top.u_keys.pending_q
                             || (change.index < 24'(NUM_KEY)
                                 && (!change.entry.exists
                                     || change.entry.last >= change.entry.base)));
  end

  // ------------------------------------------------------------------ a walk through a WQE

  // W_IDLE, CONTROL, BODY, KEYS, DONE are 0 to 4.
  logic [2:0]  walk;
  logic [7:0]  opcode;
  logic        known_send, known_remote, known_atomic;
  logic [6:0]  fixed, ds, total, units_read, units_asked, data_read;
  logic [37:0] most;
  assign walk         = u_top.u_walker.state_q;
  assign opcode       = u_top.u_walker.ctrl_q.opcode[7:0];
  assign ds           = 7'(u_top.u_walker.ctrl_q.sq_ds[5:0]);
  assign known_send   = opcode inside {WQE_SEND, WQE_SEND_IMM, WQE_SEND_INVAL};
  assign known_remote = opcode inside {WQE_RDMA_WRITE, WQE_RDMA_WRITE_IMM, WQE_RDMA_READ};
  assign known_atomic = opcode inside {WQE_ATOMIC_CS, WQE_ATOMIC_FA};
  assign total        = u_top.u_walker.total_q;
  assign units_read   = u_top.u_walker.read_q;
  assign units_asked  = u_top.u_walker.asked_q;
  assign data_read    = (units_read > fixed) ? units_read - fixed : '0;
  assign most         = {data_read, 31'd0};
  always_comb begin
    fixed = 7'd2;
    if (known_send) fixed = (u_top.u_walker.wqe_q.transport == 8'(UD)) ? 7'd4 : 7'd1;
    if (known_atomic) fixed = 7'd3;
  end
  always_comb if (started_q) begin
    WalkIsOne_A: assert (walk <= 3'd4 && (walk == 3'd0 || enabled));
    LookupIsOfAWalk_A: assert (!u_top.u_keys.done_o
                               || (walk inside {3'd2, 3'd3} && u_top.u_walker.seen_pointer_q
                                   && !u_top.u_keys.u_keys.g_lane[0].hit_q
                                   && u_top.u_keys.last_q >= u_top.u_keys.first_q
                                   && u_top.u_keys.last_q - u_top.u_keys.first_q < 65'h8000_0000
                                   && !u_top.u_keys.first_q[64]
                                   && u_top.u_keys.writes_q
                                      == (known_atomic || opcode == WQE_RDMA_READ)));
    if (walk == 3'd1) begin
      NothingReadYet_A: assert (units_asked <= 7'd1 && units_read == '0);
    end
    if (walk inside {3'd1, 3'd4} && !u_top.u_walker.seen_segment_q) begin
      NothingFoundYet_A: assert (u_top.u_walker.length_q == '0 && !u_top.u_walker.bad_format_q
                                 && !u_top.u_walker.bad_key_q);
    end
    if (walk == 3'd1) begin
      NoSegmentYet_A: assert (!u_top.u_walker.seen_segment_q
                              && u_top.u_walker.inline_left_q == '0);
    end
    if (walk != 3'd0) begin
      SegmentIsOneOfTwo_A: assert (u_top.u_walker.seen_segment_q
                                   == (u_top.u_walker.seen_inline_q
                                       || u_top.u_walker.seen_pointer_q));
    end
    if (walk inside {3'd2, 3'd3}) begin
      ClassIsKnown_A: assert (known_send || known_remote || known_atomic);
      UnitsAreCounted_A: assert (u_top.u_walker.fixed_q == fixed && total > 7'd1
                                 && (u_top.u_walker.mlx5 ? total == ds && ds >= fixed
                                                         : total == fixed + ds)
                                 && units_asked <= total
                                 && units_read != '0
                                 && (walk == 3'd2 ? units_read < total : units_read == total));
      SegmentsComeLast_A: assert (units_read > fixed
                                  || (!u_top.u_walker.seen_segment_q
                                      && u_top.u_walker.inline_left_q == '0
                                      && u_top.u_walker.length_q == '0
                                      && !u_top.u_walker.bad_format_q
                                      && !u_top.u_walker.bad_key_q));
      SegmentIsSeen_A: assert ((units_read > fixed) == u_top.u_walker.seen_segment_q);
      LengthIsOfWhatWasRead_A: assert (u_top.u_walker.length_q <= most);
      InlineWasSeen_A: assert (u_top.u_walker.seen_inline_q
                               || u_top.u_walker.inline_left_q == '0);
      InlineInRange_A: assert (u_top.u_walker.inline_left_q <= 7'd64);
      FormatIsJudged_A: assert (u_top.u_walker.bad_format_q
                                || (!(u_top.u_walker.seen_inline_q && u_top.u_walker.seen_pointer_q)
                                    && !(u_top.u_walker.seen_inline_q
                                         && !(known_send || opcode inside {WQE_RDMA_WRITE,
                                                                           WQE_RDMA_WRITE_IMM}))
                                    && !(u_top.u_walker.seen_inline_q && !u_top.u_walker.mlx5
                                         && !u_top.u_walker.ctrl_q.flags[4])
                                    && u_top.u_walker.inline_left_q <= total - units_read));
      KeysAreOfPointers_A: assert (!u_top.u_walker.bad_key_q || u_top.u_walker.seen_pointer_q);
    end
  end

  // ------------------------------------------------------------------ lists, walk, credits

  function automatic logic [2:0] times(logic [QpA-1:0] n, qpn_t front[4], logic [1:0] at,
                                       logic [2:0] count);
    times = '0;
    for (int i = 0; i < 4; i++) begin
      if (3'(i) < count && front[at + 2'(i)] == qpn_t'(n)) times = times + 1;
    end
  endfunction

  for (genvar n = 0; n < NUM_QP; n++) begin : g_list
    logic [2:0] flushes, issues;
    assign flushes = times(QpA'(n), u_top.u_flush_list.front_q, u_top.u_flush_list.frptr_q,
                           u_top.u_flush_list.front_cnt_q)
                     + 3'(rd_valid && rd_op.kind == K_VISIT_FLUSH && rd_op.qpn == n)
                     + 3'(ex_valid && ex_op.kind == K_VISIT_FLUSH && ex_op.qpn == n);
    assign issues  = times(QpA'(n), u_top.u_issue_list.front_q, u_top.u_issue_list.frptr_q,
                           u_top.u_issue_list.front_cnt_q)
                     + 3'(rd_valid && rd_op.kind == K_VISIT_ISSUE && rd_op.qpn == n)
                     + 3'(ex_valid && ex_op.kind == K_VISIT_ISSUE && ex_op.qpn == n);
    logic untaken, probed;
    logic [QpA-1:0] distance;
    assign distance = QpA'(n) - u_top.u_walk.qpn_q[QpA-1:0];
    assign probed   = u_top.u_walk.remaining_q > 3'(distance)
                      || (rd_valid && rd_op.kind == K_PROBE_CASCADE && rd_op.qpn == n)
                      || (ex_valid && ex_op.kind == K_PROBE_CASCADE && ex_op.qpn == n);
    assign untaken  = qp[n].exists && straps.cq_scope == SCOPE_CASCADE
                      && ((cq[qp[n].send_cqn[0]].in_error && !qp[n].taken_s)
                          || (cq[qp[n].recv_cqn[0]].in_error && !qp[n].taken_r));
    always_comb if (started_q && enabled) begin
      OnFlushListOnce_A: assert (flushes == 3'(qp[n].on_flush));
      OnIssueListOnce_A: assert (issues == 3'(qp[n].on_issue));
      CascadeStillComes_A: assert (!untaken || probed);
    end
  end

  function automatic logic only_qps(qpn_t front[4], logic [1:0] at, logic [2:0] count);
    only_qps = 1'b1;
    for (int i = 0; i < 4; i++) begin
      if (3'(i) < count && front[at + 2'(i)] >= qpn_t'(NUM_QP)) only_qps = 1'b0;
    end
  endfunction

  // Entries of the FIFOs lie between their pointers.
  logic [2:0] records_behind;
  logic [1:0] issues_behind;
  assign records_behind = u_top.u_records.u_records.wptr_q - u_top.u_records.u_records.rptr_q;
  assign issues_behind  = u_top.u_issue_queue.u_fifo.wptr_q - u_top.u_issue_queue.u_fifo.rptr_q;
  always_comb if (started_q) begin
    RecordsLieBetween_A: assert (u_top.u_records.u_records.count_q <= 4'd8
                                 && records_behind == u_top.u_records.u_records.count_q[2:0]);
    IssuesLieBetween_A: assert (u_top.u_issue_queue.u_fifo.count_q <= 3'd4
                                && issues_behind == u_top.u_issue_queue.u_fifo.count_q[1:0]);
    AnswersLieBetween_A: assert (u_top.u_records.u_rsp.count_q <= 2'd2
                                 && (u_top.u_records.u_rsp.wptr_q ^ u_top.u_records.u_rsp.rptr_q)
                                    == u_top.u_records.u_rsp.count_q[0]);
    EventsLieBetween_A: assert (u_top.u_records.u_event.count_q <= 2'd2
                                && (u_top.u_records.u_event.wptr_q ^ u_top.u_records.u_event.rptr_q)
                                   == u_top.u_records.u_event.count_q[0]);
    RetiredLieBetween_A: assert (u_top.u_records.u_retire.count_q <= 2'd2
                                 && (u_top.u_records.u_retire.wptr_q
                                     ^ u_top.u_records.u_retire.rptr_q)
                                    == u_top.u_records.u_retire.count_q[0]);
  end

  logic [4:0] records, rooms;
  assign records = 5'(u_top.credits_q) + 5'(rd_valid && !second_kind(rd_op.kind)) + 5'(ex_valid)
                   + 5'(u_top.out_valid_q) + 5'(u_top.u_records.u_records.count_q);
  assign rooms   = 5'(u_top.u_issue_queue.credits_q) + 5'(rd_valid && rd_op.room)
                   + 5'(ex_valid && ex_op.room) + 5'(u_top.u_issue_queue.u_fifo.count_q);

  for (genvar l = 0; l < 2; l++) begin : g_lists
    logic [2:0] count;
    assign count = (l == 0) ? u_top.u_flush_list.front_cnt_q : u_top.u_issue_list.front_cnt_q;
    logic [1:0] behind;
    assign behind = (l == 0) ? u_top.u_flush_list.fwptr_q - u_top.u_flush_list.frptr_q
                             : u_top.u_issue_list.fwptr_q - u_top.u_issue_list.frptr_q;
    always_comb if (started_q) begin
      FrontIsAll_A: assert (count <= 3'd4 && behind == count[1:0]
                            && (l == 0 ? u_top.u_flush_list.body_q == '0 && !u_top.u_flush_list.fetch_q
                                       : u_top.u_issue_list.body_q == '0 && !u_top.u_issue_list.fetch_q));
      EmptyWhileInit_A: assert (enabled || count == '0);
      BodyUntouched_A: assert (l == 0 ? {u_top.u_flush_list.wptr_q, u_top.u_flush_list.rptr_q} == '0
                                      : {u_top.u_issue_list.wptr_q, u_top.u_issue_list.rptr_q} == '0);
    end
  end

  always_comb if (started_q) begin
    ListsHoldQps_A: assert (only_qps(u_top.u_flush_list.front_q, u_top.u_flush_list.frptr_q,
                                     u_top.u_flush_list.front_cnt_q)
                            && only_qps(u_top.u_issue_list.front_q, u_top.u_issue_list.frptr_q,
                                        u_top.u_issue_list.front_cnt_q));
    WalkInRange_A: assert (u_top.u_walk.remaining_q <= 3'(NUM_QP)
                           && u_top.u_walk.qpn_q < qpn_t'(NUM_QP)
                           && (enabled || u_top.u_walk.remaining_q == '0));
    RecordsAddUp_A: assert (records == 5'(Records));
    IssueCreditsAddUp_A: assert (rooms == 5'(Issues));
  end

  always_comb if (started_q) begin
    Linked_C: cover (ex_valid && ex_op.kind == K_MODIFY_QP && u_top.ex_qp_q.state == QPS_INIT);
  end

endmodule
