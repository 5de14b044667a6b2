// SPDX-License-Identifier: Apache-2.0
//
// The pipeline of rnic_top around its execute stage, for all times, every input free: whatever the
// stage works on is the newest there is (contexts, attributes, stored WQEs, keys), it belongs
// to the operation, every QP that waits is on its list or being visited, every QP of a failed
// CQ is still to be probed, and no credit is lost or made. Contexts are written down a second
// time here, as the stage writes them, without memories, forwarding or stages.
//
// What the stage makes of contexts is the other half: contexts.sv.
module pipeline_fv
  import rnic_pkg::*;
  import stage_pkg::*;
  import qp_gate_pkg::*;
(
    input logic       clk_i,
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
    input logic       retire_ready_i,
    input logic       watch_qp_i,    // these three are chosen once
    input logic       watch_slot_i,
    input logic       watch_key_i
);

  localparam int unsigned Records = 2;
  localparam int unsigned Issues  = 2;

  logic started_q = 1'b0;
  logic watch_qp_q, watch_slot_q, watch_key_q;
  always_ff @(posedge clk_i) begin
    started_q <= 1'b1;
    if (!started_q) begin
      watch_qp_q   <= watch_qp_i;
      watch_slot_q <= watch_slot_i;
      watch_key_q  <= watch_key_i;
    end
  end

  rnic_top #(
      .NUM_QP      (2),
      .NUM_CQ      (2),
      .SQ_DEPTH    (2),
      .RQ_DEPTH    (2),
      .CQ_DEPTH_MAX(2),
      .NUM_KEY     (2),
      .ISSUE_DEPTH (Issues),
      .RECORD_DEPTH(Records)
  ) u_top (
      .clk_i,
      .rst_ni(started_q),
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
  logic [1:0] init;
  assign rd_valid = u_top.rd_valid_q;
  assign ex_valid = u_top.ex_valid_q;
  assign rd_op    = u_top.rd_op_q;
  assign ex_op    = u_top.ex_op_q;
  assign init     = u_top.init_q;
  assign enabled  = !u_top.init_busy;

  // ------------------------------------------------------------------ as the execute stage left it

  qp_ctx_t     qp_q      [2];
  cq_ctx_t     cq_q      [2];
  cq_posters_t posters_q [2];
  for (genvar n = 0; n < 2; n++) begin : g_now
    always_ff @(posedge clk_i) begin
      if (!started_q) begin
        qp_q[n]      <= '0;
        cq_q[n]      <= '0;
        posters_q[n] <= '0;
      end else begin
        if (u_top.ex_qp_we && ex_op.qpn == n) qp_q[n] <= u_top.ex_qp_next;
        if (u_top.ex_cq_we && u_top.ex_cq_q == 1'(n)) cq_q[n] <= u_top.ex_cq_next;
        if (u_top.ex_posters_we && u_top.ex_cq_q == 1'(n)) posters_q[n] <= u_top.ex_posters_next;
      end
    end
  end

  // One stored WQE of each kind, the attributes and STALE count of one QP, one key.
  logic        sq_stored_q, rq_stored_q;
  sq_meta_t    sq_meta_q;
  rq_meta_t    rq_meta_q;
  qp_attr_t    attr_q;
  logic [31:0] stale_q;
  key_shadow_t key_q;
  logic        ex_watched;
  assign ex_watched = ex_valid && ex_op.qpn == 32'(watch_qp_q);
  always_ff @(posedge clk_i) begin
    if (!started_q) begin
      sq_stored_q <= 1'b0;
      rq_stored_q <= 1'b0;
      stale_q     <= '0;
      key_q       <= '0;
    end else begin
      if (u_top.ex_sq_meta_we && ex_watched && u_top.ex_meta_slot[0] == watch_slot_q) begin
        sq_stored_q <= 1'b1;
        sq_meta_q   <= u_top.ex_decoded.meta;
      end
      if (u_top.ex_rq_meta_we && ex_watched && u_top.ex_meta_slot[0] == watch_slot_q) begin
        rq_stored_q         <= 1'b1;
        rq_meta_q.wqe_index <= u_top.ex_recv_index_q;
      end
      if (ex_watched && u_top.ex_stale_clear) stale_q <= '0;
      else if (ex_watched && u_top.ex_stale_inc && stale_q != '1) stale_q <= stale_q + 1;
      if (u_top.ex_key_we && u_top.ex_key_change.index[0] == watch_key_q) begin
        key_q <= '{exists: u_top.ex_key_change.entry.exists,
                   variant: u_top.ex_key_change.entry.variant};
      end
    end
    if (ex_watched) attr_q <= (attr_q & ~belongs(u_top.ex_attr_we))
                              | (u_top.ex_cmd_q.attr & belongs(u_top.ex_attr_we));
  end

  // Which fields of the record belong to an attribute. Written down by hand once more: the top
  // has lanes of memories instead.
  function automatic qp_attr_t belongs(attr_mask_t mask);
    belongs = '0;
    for (int a = 0; a < NUM_ATTR; a++) begin
      if (mask[a]) begin
        case (a)
          A_EN_SQD_NOTIFY: belongs.en_sqd_async_notify = '1;
          A_ACCESS_FLAGS: belongs.access_flags = '1;
          A_PKEY_INDEX: belongs.pkey_index = '1;
          A_PORT: belongs.port = '1;
          A_QKEY: belongs.qkey = '1;
          A_AV: belongs.av = '1;
          A_PATH_MTU: belongs.path_mtu = '1;
          A_TIMEOUT: belongs.timeout = '1;
          A_RETRY_CNT: belongs.retry_cnt = '1;
          A_RNR_RETRY: belongs.rnr_retry = '1;
          A_RQ_PSN: belongs.rq_psn = '1;
          A_MAX_QP_RD_ATOMIC: belongs.max_qp_rd_atomic = '1;
          A_ALT_PATH: begin
            belongs.alt_av         = '1;
            belongs.alt_port       = '1;
            belongs.alt_timeout    = '1;
            belongs.alt_pkey_index = '1;
          end
          A_MIN_RNR_TIMER: belongs.min_rnr_timer = '1;
          A_SQ_PSN: belongs.sq_psn = '1;
          A_MAX_DEST_RD_ATOMIC: belongs.max_dest_rd_atomic = '1;
          A_PATH_MIG_STATE: belongs.path_mig_state = '1;
          A_DEST_QPN: belongs.dest_qpn = '1;
          default: ;  // no field
        endcase
      end
    end
  endfunction

  // ------------------------------------------------------------------ contexts in memories

  for (genvar n = 0; n < 2; n++) begin : g_kept
    always_ff @(posedge clk_i) begin
      if (started_q && 2'(n) >= init) begin
        NothingYet_A: assert ({qp_q[n], cq_q[n], posters_q[n]} == '0)
          else $error("a QP or a CQ before its memory is there");
      end
      if (started_q && 2'(n) < init) begin
        QpIsKept_A: assert (u_top.u_qp.g_lane[0].mem[n] == qp_q[n])
          else $error("the memory of QPs holds another QP");
        CqIsKept_A: assert (u_top.u_cq.g_lane[0].mem[n] == cq_q[n]
                            && u_top.u_posters.g_lane[0].mem[n] == posters_q[n]
                            && u_top.u_shadow.g_lane[0].mem[n] == {cq_q[n].exists, cq_q[n].in_error})
          else $error("the memories of CQs hold another CQ");
      end
      if (started_q && rd_valid && rd_op.qpn == n) begin
        QpIsReadWhole_A: assert (u_top.rd_qp_raw == qp_q[n])
          else $error("stage RD has not got the QP as it was left");
      end
      if (started_q && ex_valid && ex_op.qpn == n) begin
        QpIsNewest_A: assert (u_top.ex_qp_q == qp_q[n])
          else $error("an operation works on an old QP");
      end
      if (started_q && ex_valid && u_top.ex_cq_q == 1'(n)) begin
        CqIsNewest_A: assert (u_top.ex_cq == cq_q[n] && u_top.ex_posters == posters_q[n])
          else $error("an operation works on an old CQ");
      end
      if (started_q && ex_valid && other_q == 1'(n)) begin
        OtherCqIsNewest_A: assert (u_top.ex_other == {cq_q[n].exists, cq_q[n].in_error})
          else $error("an operation judges by an old verdict on its other CQ");
      end
    end
  end

  // ------------------------------------------------------------------ what belongs to the operation

  // What RD chose or had, when the operation went on from it.
  logic       other_q;
  logic [2:0] path_mtu_q;
  cmd_t       first_cmd_q;
  slot_op_t   first_op_q;
  always_ff @(posedge clk_i) begin
    if (rd_valid) begin
      other_q    <= u_top.rd_other;
      path_mtu_q <= u_top.rd_qp_raw.path_mtu;
    end
    if (ex_valid && first_kind(ex_op.kind)) begin
      first_cmd_q <= u_top.ex_cmd_q;
      first_op_q  <= ex_op;
    end
  end

  slot_facts_t facts;
  slot_facts #(
      .NUM_QP      (2),
      .NUM_CQ      (2),
      .SQ_DEPTH    (2),
      .RQ_DEPTH    (2),
      .CQ_DEPTH_MAX(2),
      .NUM_KEY     (2)
  ) u_facts (
      .op_i   (ex_op),
      .cmd_i  (u_top.ex_cmd_q),
      .wire_i (u_top.ex_wire_q),
      .facts_o(facts)
  );

  attr_mask_t range_bad;
  qp_attr_values #(
      .NUM_PORTS    (2),
      .PKEY_LEN     (128),
      .MAX_MTU      (5),
      .MAX_RD_ATOMIC(16)
  ) u_values (
      .straps_i(u_top.straps_q),
      .attr_i  (u_top.ex_cmd_q.attr),
      .bad_o   (range_bad)
  );
  call_t     call;
  verdicts_t verdicts;
  qp_gate_call u_call (
      .straps_i        (u_top.straps_q),
      .mask_i          (u_top.ex_cmd_q.attr_mask),
      .target_i        (u_top.ex_cmd_q.qp_state),
      .cur_state_i     (u_top.ex_cmd_q.cur_qp_state),
      .path_mig_state_i(u_top.ex_cmd_q.attr.path_mig_state),
      .range_bad_i     (range_bad),
      .call_o          (call)
  );
  qp_gate_states u_states (
      .straps_i   (u_top.straps_q),
      .call_i     (call),
      .transport_i(u_top.ex_qp_q.transport),
      .verdicts_o (verdicts)
  );

  // Which CQs an operation works on, said of the QP as it is.
  logic on_rq, right_cq, right_other, has_other;
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

  logic on_cq_or_qp, exists, visits;
  assign on_cq_or_qp = facts.on_qp ? facts.qp_in_range
                                   : !(ex_op.kind inside {K_REG_KEY, K_DEREG_KEY, K_BAD_OP});
  assign exists      = facts.on_qp && facts.qp_in_range && u_top.ex_qp_q.exists;
  assign visits      = ex_op.kind inside {K_VISIT_FLUSH, K_VISIT_ISSUE};

  for (genvar s = 0; s < 2; s++) begin : g_stage
    logic     valid;
    slot_op_t op;
    assign valid = (s == 0) ? rd_valid : ex_valid;
    assign op    = (s == 0) ? rd_op : ex_op;
    always_ff @(posedge clk_i) if (started_q && valid) begin
      ByItsChannel_A: assert (op.kind == K_BAD_OP || channel_fits(op.kind, op.channel))
        else $error("an operation that came by another channel");
      VisitsHaveRoom_A: assert (op.kind != K_VISIT_ISSUE || op.room)
        else $error("a QP is visited that has no room on the wire");
      RoomIsForSends_A: assert (!op.room || op.kind inside {K_VISIT_ISSUE, K_POST_SEND})
        else $error("room on the wire for what sends nothing");
      VisitsAreOfQps_A: assert (!(op.kind inside {K_VISIT_FLUSH, K_VISIT_ISSUE, K_PROBE_CASCADE})
                                || op.qpn <= 32'd1)
        else $error("a visit of a number that is no QP");
    end
  end

  always_ff @(posedge clk_i) begin
    if (started_q) begin
      QuietWhileInit_A: assert (enabled || !(rd_valid || ex_valid || u_top.u_arbiter.second_q))
        else $error("an operation before the contexts are there");
      OneSourceAtATime_A: assert ($onehot(u_top.u_arbiter.last_q))
        else $error("the round robin has lost its place");
      InitInRange_A: assert (init <= 2'd2) else $error("the init walk went too far");
      // The two beats of CREATE_QP and DESTROY_QP are neighbours and share tag, QP and command.
      FirstHasSecond_A: assert ((rd_valid && first_kind(rd_op.kind)) == u_top.u_arbiter.second_q
                                && (!u_top.u_arbiter.second_q || u_top.u_arbiter.first_op_q == rd_op))
        else $error("a first beat without its second");
      SecondFollowsFirst_A: assert ((ex_valid && first_kind(ex_op.kind))
                                    == (rd_valid && second_kind(rd_op.kind)))
        else $error("something between the two beats of an operation");
      SecondIsOfFirst_A: assert (!(ex_valid && first_kind(ex_op.kind))
                                 || (rd_op.kind == second_of(ex_op.kind) && rd_op.qpn == ex_op.qpn
                                     && rd_op.tag == ex_op.tag && rd_op.room == ex_op.room
                                     && rd_op.channel == ex_op.channel
                                     && u_top.rd_cmd == u_top.ex_cmd_q))
        else $error("the second beat is of another operation");
      SecondHasItsCommand_A: assert (!(ex_valid && second_kind(ex_op.kind))
                                     || (u_top.ex_cmd_q == first_cmd_q
                                         && ex_op.kind == second_of(first_op_q.kind)
                                         && ex_op.qpn == first_op_q.qpn
                                         && ex_op.tag == first_op_q.tag))
        else $error("the second beat has another command");
    end
    if (started_q && ex_valid) begin
      RightCq_A: assert (!on_cq_or_qp || u_top.ex_cq_q == right_cq)
        else $error("an operation works on the wrong CQ");
      RightOtherCq_A: assert (!on_cq_or_qp || !has_other || !(exists || ex_op.kind == K_CREATE_QP)
                              || other_q == right_other)
        else $error("an operation looks at the wrong CQ beside its own");
      RightQueue_A: assert (ex_op.kind == K_VISIT_FLUSH
                            || on_rq == (ex_op.kind == K_COMPLETE && u_top.ex_wire_q.queue != '0))
        else $error("an operation works on the wrong queue");
      CommandIsJudged_A: assert (ex_op.channel != CH_CMD
                                 || (u_top.ex_facts_q.recv_in_range == facts.recv_in_range
                                     && u_top.ex_facts_q.bad_depth == facts.bad_depth
                                     && u_top.ex_facts_q.bad_ceiling == facts.bad_ceiling
                                     && u_top.ex_facts_q.key_in_range == facts.key_in_range
                                     && u_top.ex_facts_q.bad_region == facts.bad_region
                                     && u_top.ex_facts_q.bad_access == facts.bad_access
                                     && u_top.ex_facts_q.region_last == facts.region_last))
        else $error("a command is judged by what another says");
      CompletionIsJudged_A: assert (ex_op.channel != CH_WIRE
                                    || u_top.ex_facts_q.wc_error == facts.wc_error)
        else $error("a completion is judged by the status of another");
      NumbersAreJudged_A: assert (u_top.ex_facts_q.on_qp == facts.on_qp
                                  && u_top.ex_facts_q.qp_in_range == facts.qp_in_range
                                  && u_top.ex_facts_q.cq_in_range == facts.cq_in_range)
        else $error("an operation is judged by the numbers of another");
      GateJudgesThisCall_A: assert (ex_op.kind != K_MODIFY_QP || !exists
                                    || u_top.ex_verdicts_q == verdicts)
        else $error("a MODIFY_QP is judged by another call");
      // Decoded with the path MTU that RD read, and that must be the QP's by now, too.
      DecodedForThisQp_A: assert (ex_op.kind != K_POST_SEND || !exists
                                  || !(u_top.ex_qp_q.state inside {QPS_RTS, QPS_SQD, QPS_SQE})
                                  || path_mtu_q == u_top.ex_qp_q.path_mtu)
        else $error("a WQE was decoded for an old path MTU");
    end
  end

  // ------------------------------------------------------------------ stored WQEs, attributes, keys

  logic [1:0] where;
  assign where = {watch_qp_q, watch_slot_q};
  logic       out_watched, query_out;
  assign out_watched = u_top.out_qpa_q == watch_qp_q;
  assign query_out   = u_top.out_valid_q && u_top.out_query_q && out_watched;
  qp_ctx_t    told;
  assign told = qp_ctx_t'(u_top.out_record_q.detail[$bits(qp_ctx_t)-1:0]);
  // Which list it is on is nobody's business outside.
  qp_ctx_t    as_told, as_left;
  always_comb begin
    as_told          = told;
    as_left          = qp_q[watch_qp_q];
    as_told.on_flush = 1'b0;
    as_told.on_issue = 1'b0;
    as_left.on_flush = 1'b0;
    as_left.on_issue = 1'b0;
  end
  logic [31:0] stale_kept;
  assign stale_kept = u_top.u_stale.g_lane[0].mem[watch_qp_q];
  qp_attr_t   attr_kept;
  for (genvar w = 0; w < 9; w++) begin : g_words
    assign attr_kept[32*w +: 32] = u_top.u_attr_words.g_lane[w].mem[watch_qp_q];
  end
  for (genvar b = 0; b < int'($bits(qp_attr_t) / 8) - 36; b++) begin : g_bytes
    assign attr_kept[288 + 8*b +: 8] = u_top.u_attr_bytes.g_lane[b].mem[watch_qp_q];
  end

  always_ff @(posedge clk_i) begin
    if (started_q) begin
      SendIsKept_A: assert (!sq_stored_q || u_top.u_sq_meta.g_lane[0].mem[where] == sq_meta_q)
        else $error("the memory of sends holds another");
      RecvIsKept_A: assert (!rq_stored_q || u_top.u_rq_meta.g_lane[0].mem[where] == rq_meta_q)
        else $error("the memory of receives holds another");
      SendIsTheOneStored_A: assert (!(sq_stored_q && ex_watched && !on_rq
                                      && u_top.ex_slot_q[0] == watch_slot_q)
                                    || u_top.ex_sq_meta == sq_meta_q)
        else $error("another send than the one that was stored");
      RecvIsTheOneStored_A: assert (!(rq_stored_q && ex_watched && on_rq
                                      && u_top.ex_slot_q[0] == watch_slot_q)
                                    || u_top.ex_rq_meta == rq_meta_q)
        else $error("another receive than the one that was stored");
      KeyIsKept_A: assert (2'(watch_key_q) >= init ? key_q == '0
                           : u_top.u_key_shadow.g_lane[0].mem[watch_key_q] == key_q)
        else $error("the memory of keys holds another");
      KeyIsNewest_A: assert (!(ex_valid && ex_op.kind inside {K_REG_KEY, K_DEREG_KEY}
                               && u_top.ex_cmd_q.region.lkey[8] == watch_key_q)
                             || u_top.ex_key == key_q)
        else $error("a key is judged as it was");
      AttrsAreKept_A: assert (((attr_kept ^ attr_q) & belongs(qp_q[watch_qp_q].attr_set)) == '0)
        else $error("the memory of attributes holds other values");
      AttrsAreRead_A: assert (!query_out
                              || ((u_top.out_attr ^ attr_q) & belongs(told.attr_set)) == '0)
        else $error("a query reads old attributes");
      AttrsAreTold_A: assert (!query_out
                              || u_top.out_record.attr == (attr_q & belongs(told.attr_set)))
        else $error("a query tells other attributes than were given");
      QueryTellsTheQp_A: assert (!query_out || as_told == as_left)
        else $error("a query tells of an old QP");
      StaleIsKept_A: assert (2'(watch_qp_q) >= init ? stale_q == '0
                             : (out_watched && (u_top.out_stale_clear_q || u_top.out_stale_inc_q)
                                 ? (u_top.stale_we ? u_top.stale_next : stale_kept) == stale_q
                                   && u_top.out_stale == stale_kept
                                 : stale_kept == stale_q))
        else $error("the memory of STALE counts holds another");
      StaleIsTold_A: assert (!query_out || u_top.out_record.stale == stale_q)
        else $error("a query tells an old STALE count");
      NoStaleWhileInit_A: assert (enabled
                                  || !(u_top.out_stale_clear_q || u_top.out_stale_inc_q
                                       || u_top.out_valid_q))
        else $error("a retirement before the contexts are there");
    end
  end

  // ------------------------------------------------------------------ lists

  // Times that a QP is on a list: both QPs fit into the registers in front of its memory.
  function automatic logic [2:0] times(logic n, qpn_t front[4], logic [1:0] at, logic [2:0] count);
    times = '0;
    for (int i = 0; i < 4; i++) begin
      if (3'(i) < count && front[at + 2'(i)] == qpn_t'(n)) times = times + 1;
    end
  endfunction

  for (genvar n = 0; n < 2; n++) begin : g_list
    logic [2:0] flushes, issues;
    assign flushes = times(1'(n), u_top.u_flush_list.front_q, u_top.u_flush_list.frptr_q,
                           u_top.u_flush_list.front_cnt_q)
                     + 3'(rd_valid && rd_op.kind == K_VISIT_FLUSH && rd_op.qpn == n)
                     + 3'(ex_valid && ex_op.kind == K_VISIT_FLUSH && ex_op.qpn == n);
    assign issues  = times(1'(n), u_top.u_issue_list.front_q, u_top.u_issue_list.frptr_q,
                           u_top.u_issue_list.front_cnt_q)
                     + 3'(rd_valid && rd_op.kind == K_VISIT_ISSUE && rd_op.qpn == n)
                     + 3'(ex_valid && ex_op.kind == K_VISIT_ISSUE && ex_op.qpn == n);
    // Still to be probed by the walk, or being probed.
    logic untaken, probed;
    logic [1:0] distance;
    assign distance = {1'b0, 1'(n) ^ u_top.u_walk.qpn_q[0]};
    assign probed   = u_top.u_walk.remaining_q > distance
                      || (rd_valid && rd_op.kind == K_PROBE_CASCADE && rd_op.qpn == n)
                      || (ex_valid && ex_op.kind == K_PROBE_CASCADE && ex_op.qpn == n);
    assign untaken  = qp_q[n].exists && u_top.straps_q.cq_scope == SCOPE_CASCADE
                      && ((cq_q[qp_q[n].send_cqn[0]].in_error && !qp_q[n].taken_s)
                          || (cq_q[qp_q[n].recv_cqn[0]].in_error && !qp_q[n].taken_r));
    always_ff @(posedge clk_i) if (started_q) begin
      OnFlushListOnce_A: assert (flushes == 3'(qp_q[n].on_flush))
        else $error("a QP is not on the flush list as its word says");
      OnIssueListOnce_A: assert (issues == 3'(qp_q[n].on_issue))
        else $error("a QP is not on the issue list as its word says");
      CascadeStillComes_A: assert (!untaken || probed)
        else $error("the walk has passed a QP of a failed CQ");
    end
  end

  logic [3:0] fronts_ok;
  assign fronts_ok = {u_top.u_flush_list.body_q == '0 && !u_top.u_flush_list.fetch_q,
                      u_top.u_issue_list.body_q == '0 && !u_top.u_issue_list.fetch_q,
                      u_top.u_flush_list.fwptr_q
                      == u_top.u_flush_list.frptr_q + u_top.u_flush_list.front_cnt_q[1:0],
                      u_top.u_issue_list.fwptr_q
                      == u_top.u_issue_list.frptr_q + u_top.u_issue_list.front_cnt_q[1:0]};

  function automatic logic only_qps(qpn_t front[4], logic [1:0] at, logic [2:0] count);
    only_qps = 1'b1;
    for (int i = 0; i < 4; i++) begin
      if (3'(i) < count && front[at + 2'(i)] > qpn_t'(1)) only_qps = 1'b0;
    end
  endfunction

  always_ff @(posedge clk_i) if (started_q) begin
    ListsFitTheFront_A: assert (fronts_ok == '1 && u_top.u_flush_list.front_cnt_q <= 3'd2
                                && u_top.u_issue_list.front_cnt_q <= 3'd2)
      else $error("a list holds more than there are QPs");
    ListsHoldQps_A: assert (only_qps(u_top.u_flush_list.front_q, u_top.u_flush_list.frptr_q,
                                     u_top.u_flush_list.front_cnt_q)
                            && only_qps(u_top.u_issue_list.front_q, u_top.u_issue_list.frptr_q,
                                        u_top.u_issue_list.front_cnt_q))
      else $error("a list holds a number that is no QP");
    WalkInRange_A: assert (u_top.u_walk.remaining_q <= 2'd2 && u_top.u_walk.qpn_q <= qpn_t'(1))
      else $error("the cascade walk leaves the QPs");
  end

  // ------------------------------------------------------------------ credits

  logic [3:0] records, rooms;
  assign records = 4'(u_top.credits_q) + 4'(rd_valid && !second_kind(rd_op.kind)) + 4'(ex_valid)
                   + 4'(u_top.out_valid_q) + 4'(u_top.u_records.u_records.count_q);
  assign rooms   = 4'(u_top.u_issue_queue.credits_q) + 4'(rd_valid && rd_op.room)
                   + 4'(ex_valid && ex_op.room) + 4'(u_top.u_issue_queue.u_fifo.count_q);
  always_ff @(posedge clk_i) if (started_q) begin
    RecordsAddUp_A: assert (records == 4'(Records))
      else $error("a record credit was lost or made");
    IssueCreditsAddUp_A: assert (rooms == 4'(Issues))
      else $error("an issue credit was lost or made");

    SecondBeat_C: cover (ex_valid && ex_op.kind == K_CREATE_QP_2 && u_top.ex_qp_q.exists);
    Forwarded_C: cover (rd_valid && u_top.ex_qp_we && rd_op.qpn == ex_op.qpn
                        && rd_op.kind == K_MODIFY_QP && u_top.ex_qp_next.state == QPS_INIT);
    Queried_C: cover (query_out && told.exists);
  end

endmodule
