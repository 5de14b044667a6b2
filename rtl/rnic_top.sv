// SPDX-License-Identifier: Apache-2.0
//
// Control plane of an RDMA NIC: queue pairs, completion queues and what happens between
// them. One operation per clock, in one order.
//
//   ARB  pick one of eight sources, read the QP word
//   RD   CQ numbers and slots from the QP word, read CQ, shadow and WQE metadata; decode
//   EX   the operation (rnic_execute); every context is written here
//   OUT  attribute values and STALE count join a QUERY answer, reasons a refused MODIFY_QP; the
//        record is queued
//
// Before `post` stands the segment walker, with the key table: a WQE that lies in its send
// queue is read unit by unit and enters the pipeline as one more POST_SEND.
//
// Hazards. QP word: an operation in RD takes the word that the one in EX is writing
// (forward below); at distance two the memory's write-first bypass does it. CQ word,
// shadow and metadata: read in RD, written in EX, so the bypass covers distance one.
// Attributes and STALE count are read a stage later than they are written.
//
// Latency: an entry is offered 4 clocks after its operation was taken, answer, event and retire
// record after 5, a WQE on `issue` after 3, while nothing waits. Throughput: one operation per
// clock; CREATE_QP and DESTROY_QP take two.
module rnic_top
  import rnic_pkg::*;
  import qp_gate_pkg::*;
#(
    parameter int unsigned NUM_QP        = 64,     // queue pairs, at most 65,536
    parameter int unsigned NUM_CQ        = 16,     // completion queues, at most 65,536
    parameter int unsigned SQ_DEPTH      = 64,     // power of two, 2 to 1,024
    parameter int unsigned RQ_DEPTH      = 64,     // power of two, 2 to 1,024
    parameter int unsigned CQ_DEPTH_MAX  = 65536,  // at most 65,536
    parameter int unsigned NUM_PORTS     = 2,      // ports: PORT is 1..NUM_PORTS
    parameter int unsigned PKEY_LEN      = 128,    // P_Keys: PKEY_INDEX is below
    parameter int unsigned MAX_MTU       = 5,      // ibv_mtu number of the port
    parameter int unsigned MAX_RD_ATOMIC = 16,     // limit of both RD_ATOMIC attributes
    parameter int unsigned NUM_KEY       = 64,     // memory regions
    parameter int unsigned ISSUE_DEPTH   = 4,      // WQEs released, not yet taken by the wire: at least 2
    parameter int unsigned RECORD_DEPTH  = 8       // operations in flight and not yet taken
) (
    input  logic       clk_i,
    input  logic       rst_ni,           // synchronous, active low
    input  policy_t    policy_i,         // straps: sampled while reset is active
    input  logic [2:0] hold_internal_i,  // test only: hold the flush, issue, cascade source

    input  logic       cmd_valid_i,      // commands on QPs and CQs
    output logic       cmd_ready_o,
    input  cmd_t       cmd_i,
    input  logic       post_valid_i,     // work requests
    output logic       post_ready_o,
    input  post_t      post_i,
    input  logic       wire_valid_i,     // completions from the transport engine
    output logic       wire_ready_o,
    input  wire_t      wire_i,
    input  logic       cqdb_valid_i,     // CQ doorbells
    output logic       cqdb_ready_o,
    input  cqdb_t      cqdb_i,

    input  logic       wqe_valid_i,      // send WQEs that lie in their send queue
    output logic       wqe_ready_o,
    input  wqe_t       wqe_i,
    output logic       fetch_valid_o,    // its unit that is wanted next
    input  logic       fetch_ready_i,
    output fetch_t     fetch_o,
    input  logic       unit_valid_i,     // units, in the order in which they were wanted
    output logic       unit_ready_o,
    input  unit_t      unit_i,

    output logic       rsp_valid_o,      // answers to cmd, post, cqdb, wqe
    input  logic       rsp_ready_i,
    output rsp_t       rsp_o,
    output logic       issue_valid_o,    // WQEs released to the wire
    input  logic       issue_ready_i,
    output issue_t     issue_o,
    output logic       cqe_valid_o,      // writes into CQ rings
    input  logic       cqe_ready_i,
    output cqe_write_t cqe_o,
    output logic       event_valid_o,    // asynchronous and completion events
    input  logic       event_ready_i,
    output event_t     event_o,
    output logic       retire_valid_o,   // every operation, in the one order
    input  logic       retire_ready_i,
    output retire_t    retire_o,

    output slot_kind_e slot_kind_o       // what the execute stage does in this clock
);

  localparam int unsigned QpA = (NUM_QP > 1) ? $clog2(NUM_QP) : 1;
  localparam int unsigned CqA = (NUM_CQ > 1) ? $clog2(NUM_CQ) : 1;

  // ------------------------------------------------------------------ straps

  straps_t straps_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      straps_q.max_inline            <= policy_i.max_inline;
      straps_q.link_infiniband       <= policy_i.link_infiniband != '0;
      straps_q.cq_scope              <= (policy_i.cq_scope >= 8'(SCOPE_CASCADE))
                                        ? SCOPE_CASCADE : cq_scope_e'(policy_i.cq_scope[1:0]);
      straps_q.cq_overwrite          <= policy_i.cq_overwrite != '0;
      straps_q.wqe_check_in_pipeline <= policy_i.wqe_check_in_pipeline != '0;
      straps_q.sqd_hold_unstarted    <= policy_i.sqd_hold_unstarted != '0;
      straps_q.allow_leave_draining  <= policy_i.allow_leave_draining != '0;
      straps_q.rc_sqe_row            <= policy_i.rc_sqe_row != '0;
      straps_q.cur_state_override    <= policy_i.cur_state_override != '0;
      straps_q.refuse_reset_to_err   <= policy_i.refuse_reset_to_err != '0;
    end
  end

  // ------------------------------------------------------------------ init walk

  // Memories have no reset: after it, every context is written once.
  localparam int unsigned InitQc = (NUM_QP > NUM_CQ) ? NUM_QP : NUM_CQ;
  localparam int unsigned InitN = (InitQc > NUM_KEY) ? InitQc : NUM_KEY;
  localparam int unsigned InitW = $clog2(InitN + 1);
  logic [InitW-1:0] init_q;
  logic             init_busy;
  assign init_busy = init_q != InitW'(InitN);
  always_ff @(posedge clk_i) begin
    if (!rst_ni) init_q <= '0;
    else if (init_busy) init_q <= init_q + 1'b1;
  end

  // ------------------------------------------------------------------ walk

  logic        walked_valid, walked_ready;
  walked_t     walked;
  logic        keys_ready, keys_hold, key_applied, lookup, lookup_writes, lookup_done, resolves;
  logic [15:0] key_version;
  sge_t        sge;
  logic        unused_sge_valid;
  logic        ex_key_we;
  key_change_t ex_key_change;

  // One change of the key table at a time, from its launch until it is in the table. A walk
  // begins only in between, and like every other operation after the init walk.
  logic key_launch, key_busy_q, ex_key_refused;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) key_busy_q <= 1'b0;
    else if (key_launch) key_busy_q <= 1'b1;
    else if (ex_key_refused || key_applied) key_busy_q <= 1'b0;
  end

  // A WQE that waits goes before the next change: else changes without a pause, which take turns
  // only with operations that are there, would never let a walk begin.
  logic walk_first_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) walk_first_q <= 1'b0;
    else if (key_launch) walk_first_q <= 1'b1;
    else if (wqe_valid_i && wqe_ready_o) walk_first_q <= 1'b0;
  end

  wqe_segment_walker u_walker (
      .clk_i,
      .rst_ni,
      .wqe_valid_i,
      .wqe_ready_o,
      .wqe_i,
      .fetch_valid_o,
      .fetch_ready_i,
      .fetch_o,
      .unit_valid_i,
      .unit_ready_o,
      .unit_i,
      .keys_ready_i     (!init_busy && keys_ready && !key_busy_q && !key_launch),
      .keys_hold_o      (keys_hold),
      .keys_version_i   (key_version),
      .lookup_o         (lookup),
      .writes_o         (lookup_writes),
      .lookup_done_i    (lookup_done),
      .lookup_resolves_i(resolves),
      .sge_valid_o      (unused_sge_valid),
      .sge_o            (sge),
      .walked_valid_o   (walked_valid),
      .walked_ready_i   (walked_ready),
      .walked_o         (walked)
  );

  key_table #(
      .NUM_KEY(NUM_KEY)
  ) u_keys (
      .clk_i,
      .rst_ni,
      .ready_o       (keys_ready),
      .hold_i        (keys_hold),
      .change_valid_i(ex_key_we),
      .change_i      (ex_key_change),
      .applied_o     (key_applied),
      .version_o     (key_version),
      .lookup_i      (lookup),
      .sge_i         (sge),
      .writes_i      (lookup_writes),
      .done_o        (lookup_done),
      .resolves_o    (resolves)
  );

  // ------------------------------------------------------------------ ARB

  logic     arb_valid, arb_takes_credit, arb_reserve;
  slot_op_t arb_op;
  logic     flush_valid, flush_pop, issue_valid, issue_pop, walk_active, walk_step;
  qpn_t     flush_qpn, issue_qpn, walk_qpn;
  logic     post_room, visit_room;

  localparam int unsigned CreditW = $clog2(RECORD_DEPTH + 1);
  logic [CreditW-1:0] credits_q;
  logic               record_leaves, credit_back;

  launch_arbiter u_arbiter (
      .clk_i,
      .rst_ni,
      .enable_i      (!init_busy),
      .credit_i      (credits_q != '0),
      .cmd_valid_i,
      .cmd_ready_o,
      .cmd_i,
      .post_valid_i,
      .post_ready_o,
      .post_i,
      .wire_valid_i,
      .wire_ready_o,
      .wire_i,
      .cqdb_valid_i,
      .cqdb_ready_o,
      .cqdb_i,
      .walked_valid_i(walked_valid),
      .walked_ready_o(walked_ready),
      .walked_i      (walked),
      .flush_valid_i (flush_valid && !hold_internal_i[0]),
      .flush_qpn_i   (flush_qpn),
      .flush_pop_o   (flush_pop),
      .issue_valid_i (issue_valid && visit_room && !hold_internal_i[1]),
      .issue_qpn_i   (issue_qpn),
      .issue_pop_o   (issue_pop),
      .walk_valid_i  (walk_active && !hold_internal_i[2]),
      .walk_qpn_i    (walk_qpn),
      .walk_step_o   (walk_step),
      .key_free_i    (!key_busy_q && !(walk_first_q && wqe_valid_i)),
      .key_launch_o  (key_launch),
      .post_room_i   (post_room),
      .reserve_o     (arb_reserve),
      .valid_o       (arb_valid),
      .takes_credit_o(arb_takes_credit),
      .op_o          (arb_op)
  );

  // ------------------------------------------------------------------ RD

  // The record of each channel waits in a register of its own; what the operation in RD needs
  // of it is there.
  cmd_t        rd_cmd;
  post_t       arb_post;
  logic [15:0] rd_recv_index;
  wire_t       rd_wire;
  cqdb_t       rd_cqdb;
  logic [7:0]  rd_walk_transport;
  logic [15:0] rd_key_version;
  assign arb_post = walked_ready ? walked.post : post_i;
  always_ff @(posedge clk_i) begin
    if (cmd_ready_o) rd_cmd <= cmd_i;
    if (post_ready_o) rd_recv_index <= post_i.recv_index;
    if (walked_ready) begin
      rd_walk_transport <= walked.transport;
      rd_key_version    <= walked.key_version;
    end
    if (wire_ready_o) rd_wire <= wire_i;
    if (cqdb_ready_o) rd_cqdb <= cqdb_i;
  end

  // Registers of EX, whose operation RD looks at.
  logic           ex_valid_q;
  slot_op_t       ex_op_q;
  qp_ctx_t        ex_qp_q;
  logic [CqA-1:0] ex_cq_q;
  queue_e         ex_queue_q;
  slot_t          ex_slot_q;
  verdicts_t      ex_verdicts_q;
  slot_facts_t    ex_facts_q;
  record_t        ex_first_q;
  cmd_t           ex_cmd_q;
  wire_t          ex_wire_q;
  cqdb_t          ex_cqdb_q;
  logic [15:0]    ex_recv_index_q;
  logic [15:0]    ex_key_version_q;

  logic     rd_valid_q;
  slot_op_t rd_op_q;
  always_ff @(posedge clk_i) begin
    rd_valid_q <= rst_ni && arb_valid;
    if (arb_valid) rd_op_q <= arb_op;
  end

  qp_ctx_t rd_qp_raw, rd_qp, ex_qp_next;
  logic    ex_qp_we;
  logic    rd_walked;
  assign rd_walked = rd_op_q.channel == CH_WQE;

  // Forward at distance one.
  assign rd_qp = (ex_qp_we && ex_op_q.qpn == rd_op_q.qpn) ? ex_qp_next : rd_qp_raw;

  // What is taken from the QP word here comes from before the operation in EX. CQ numbers
  // cannot differ (only CREATE_QP changes them, and it takes two slots); queue and slot of
  // a list visit are compared in EX; path MTU and transport cannot differ for a send that
  // will be accepted.
  queue_e rd_queue;
  slot_t  rd_sq_slot, rd_rq_slot;
  always_comb begin
    rd_queue   = SQ;
    rd_sq_slot = rd_qp_raw.sq_head;
    rd_rq_slot = rd_qp_raw.rq_head;
    unique case (rd_op_q.kind)
      K_COMPLETE: begin
        rd_queue   = (rd_wire.queue != '0) ? RQ : SQ;
        rd_sq_slot = rd_wire.slot[SlotW-1:0];
        rd_rq_slot = rd_wire.slot[SlotW-1:0];
      end
      K_VISIT_ISSUE: begin
        rd_sq_slot = (rd_qp_raw.sq_head + rd_qp_raw.sq_issued[SlotW-1:0]) & slot_t'(SQ_DEPTH - 1);
      end
      K_VISIT_FLUSH: begin
        if (rd_qp_raw.sq_queued == '0
            || !(rd_qp_raw.state inside {QPS_SQE, QPS_ERR} || rd_qp_raw.sq_flush_owed != '0)) begin
          rd_queue = RQ;
        end
      end
      default: ;
    endcase
  end

  logic [CqA-1:0] rd_cq, rd_other;
  always_comb begin
    rd_cq    = (rd_queue == RQ) ? rd_qp_raw.recv_cqn[CqA-1:0] : rd_qp_raw.send_cqn[CqA-1:0];
    rd_other = (rd_queue == RQ) ? rd_qp_raw.send_cqn[CqA-1:0] : rd_qp_raw.recv_cqn[CqA-1:0];
    unique case (rd_op_q.kind)
      K_CREATE_CQ, K_DESTROY_CQ, K_QUERY_CQ, K_SET_CQ_FAULT, K_CONSUME, K_ARM: begin
        rd_cq = rd_op_q.cqn[CqA-1:0];
      end
      K_CREATE_QP: begin
        rd_cq    = rd_cmd.cqn[CqA-1:0];
        rd_other = rd_cmd.recv_cqn[CqA-1:0];
      end
      K_CREATE_QP_2: rd_cq = rd_cmd.recv_cqn[CqA-1:0];
      K_DESTROY_QP_2: rd_cq = rd_qp_raw.recv_cqn[CqA-1:0];
      default: ;
    endcase
  end

  // A walk that assumed another transport than the QP has took the wrong segments.
  logic rd_misread;
  assign rd_misread = rd_walked && rd_walk_transport != 8'(rd_qp_raw.transport);

  // Three stages: a WQE's own while it comes in, what its QP adds, and in EX the answer.
  wqe_decoded_t ex_decoded;
  wqe_ctrl_decoder #(
      .MAX_MTU(MAX_MTU)
  ) u_decoder (
      .clk_i,
      .ctrl_i       (arb_post.ctrl),
      .flags_i      (arb_post.flags),
      .payload_len_i(arb_post.payload_len),
      .max_inline_i (straps_q.max_inline),
      .transport_i  (rd_qp_raw.transport),
      .path_mtu_i   (rd_qp_raw.path_mtu),
      .misread_i    (rd_misread),
      .dec_o        (ex_decoded)
  );

  slot_facts_t rd_facts;
  slot_facts #(
      .NUM_QP      (NUM_QP),
      .NUM_CQ      (NUM_CQ),
      .SQ_DEPTH    (SQ_DEPTH),
      .RQ_DEPTH    (RQ_DEPTH),
      .CQ_DEPTH_MAX(CQ_DEPTH_MAX),
      .NUM_KEY     (NUM_KEY)
  ) u_facts (
      .op_i   (rd_op_q),
      .cmd_i  (rd_cmd),
      .wire_i (rd_wire),
      .facts_o(rd_facts)
  );

  // The first two steps of the gate.
  attr_mask_t rd_range_bad;
  qp_attr_values #(
      .NUM_PORTS    (NUM_PORTS),
      .PKEY_LEN     (PKEY_LEN),
      .MAX_MTU      (MAX_MTU),
      .MAX_RD_ATOMIC(MAX_RD_ATOMIC)
  ) u_values (
      .straps_i(straps_q),
      .attr_i  (rd_cmd.attr),
      .bad_o   (rd_range_bad)
  );

  call_t rd_call;
  qp_gate_call u_call (
      .straps_i        (straps_q),
      .mask_i          (rd_cmd.attr_mask),
      .target_i        (rd_cmd.qp_state),
      .cur_state_i     (rd_cmd.cur_qp_state),
      .path_mig_state_i(rd_cmd.attr.path_mig_state),
      .range_bad_i     (rd_range_bad),
      .call_o          (rd_call)
  );

  verdicts_t rd_verdicts;
  qp_gate_states u_states (
      .straps_i   (straps_q),
      .call_i     (rd_call),
      .transport_i(rd_qp_raw.transport),
      .verdicts_o (rd_verdicts)
  );

  // ------------------------------------------------------------------ EX

  always_ff @(posedge clk_i) begin
    ex_valid_q <= rst_ni && rd_valid_q;
    if (rd_valid_q) begin
      ex_op_q        <= rd_op_q;
      ex_qp_q        <= rd_qp;
      ex_cq_q        <= rd_cq;
      ex_queue_q     <= rd_queue;
      ex_slot_q      <= (rd_queue == RQ) ? rd_rq_slot : rd_sq_slot;
      ex_verdicts_q  <= rd_verdicts;
      ex_facts_q     <= rd_facts;
      ex_key_version_q <= rd_walked ? rd_key_version : '0;
      if (rd_op_q.channel == CH_CMD) ex_cmd_q <= rd_cmd;
      if (rd_op_q.channel == CH_POST) ex_recv_index_q <= rd_recv_index;
      if (rd_op_q.channel == CH_WIRE) ex_wire_q <= rd_wire;
      if (rd_op_q.channel == CH_CQDB) ex_cqdb_q <= rd_cqdb;
    end
  end

  cq_ctx_t    ex_cq, ex_cq_next;
  cq_posters_t ex_posters, ex_posters_next;
  logic       ex_posters_we;
  cq_shadow_t ex_other;
  sq_meta_t   ex_sq_meta;
  key_shadow_t ex_key;
  rq_meta_t   ex_rq_meta;
  logic       ex_cq_we, ex_sq_meta_we, ex_rq_meta_we, ex_stale_inc, ex_stale_clear;
  slot_t      ex_meta_slot;
  attr_mask_t ex_attr_we;
  logic       ex_push_flush, ex_push_issue, ex_cq_fails;
  logic       ex_issue_push, ex_issue_release, ex_retires, ex_query_qp, ex_modify;
  issue_t     ex_issue;
  record_t    ex_record, ex_first;

  rnic_execute #(
      .SQ_DEPTH(SQ_DEPTH),
      .RQ_DEPTH(RQ_DEPTH)
  ) u_execute (
      .straps_i       (straps_q),
      .valid_i        (ex_valid_q),
      .op_i           (ex_op_q),
      .facts_i        (ex_facts_q),
      .cmd_i          (ex_cmd_q),
      .wire_i         (ex_wire_q),
      .cqdb_i         (ex_cqdb_q),
      .qp_i           (ex_qp_q),
      .cq_i           (ex_cq),
      .posters_i      (ex_posters),
      .other_i        (ex_other),
      .sq_meta_i      (ex_sq_meta),
      .rq_meta_i      (ex_rq_meta),
      .seen_queue_i   (ex_queue_q),
      .seen_slot_i    (ex_slot_q),
      .decoded_i      (ex_decoded.meta),
      .verdicts_i     (ex_verdicts_q),
      .key_i          (ex_key),
      .key_version_i  (ex_key_version_q),
      .qp_we_o        (ex_qp_we),
      .qp_o           (ex_qp_next),
      .cq_we_o        (ex_cq_we),
      .cq_o           (ex_cq_next),
      .posters_we_o   (ex_posters_we),
      .posters_o      (ex_posters_next),
      .sq_meta_we_o   (ex_sq_meta_we),
      .rq_meta_we_o   (ex_rq_meta_we),
      .meta_slot_o    (ex_meta_slot),
      .attr_we_o      (ex_attr_we),
      .stale_inc_o    (ex_stale_inc),
      .stale_clear_o  (ex_stale_clear),
      .key_we_o       (ex_key_we),
      .key_change_o   (ex_key_change),
      .push_flush_o   (ex_push_flush),
      .push_issue_o   (ex_push_issue),
      .cq_fails_o     (ex_cq_fails),
      .issue_push_o   (ex_issue_push),
      .issue_release_o(ex_issue_release),
      .issue_o        (ex_issue),
      .retires_o      (ex_retires),
      .record_o       (ex_record),
      .query_qp_o     (ex_query_qp),
      .modify_o       (ex_modify),
      .first_i        (ex_first_q),
      .first_o        (ex_first)
  );

  assign ex_key_refused = ex_valid_q && ex_op_q.kind inside {K_REG_KEY, K_DEREG_KEY}
                          && !ex_key_we;

  logic ex_first_beat;
  assign ex_first_beat = ex_op_q.kind inside {K_CREATE_QP, K_DESTROY_QP};
  always_ff @(posedge clk_i) begin
    if (ex_valid_q && ex_first_beat) ex_first_q <= ex_first;
  end

  always_comb begin
    slot_kind_o = SLOT_EMPTY;
    if (ex_valid_q) begin
      if (ex_retires) slot_kind_o = SLOT_RETIRES;
      else if (ex_first_beat) slot_kind_o = SLOT_FIRST_BEAT;
      else if (ex_op_q.kind == K_PROBE_CASCADE) slot_kind_o = SLOT_IDLE_PROBE;
      else slot_kind_o = SLOT_IDLE_VISIT;
    end
  end

  // ------------------------------------------------------------------ contexts

  logic [QpA-1:0] ex_qpa;
  assign ex_qpa = ex_op_q.qpn[QpA-1:0];

  ram_1r1w #(
      .Width($bits(qp_ctx_t)),
      .Depth(NUM_QP)
  ) u_qp (
      .clk_i,
      .raddr_i (arb_op.qpn[QpA-1:0]),
      .rdata_o (rd_qp_raw),
      .we_i    (init_busy || ex_qp_we),
      .wlanes_i(1'b1),
      .waddr_i (init_busy ? QpA'(init_q) : ex_qpa),
      .wdata_i (init_busy ? '0 : ex_qp_next)
  );

  ram_1r1w #(
      .Width($bits(cq_ctx_t)),
      .Depth(NUM_CQ)
  ) u_cq (
      .clk_i,
      .raddr_i (rd_cq),
      .rdata_o (ex_cq),
      .we_i    (init_busy || ex_cq_we),
      .wlanes_i(1'b1),
      .waddr_i (init_busy ? CqA'(init_q) : ex_cq_q),
      .wdata_i (init_busy ? '0 : ex_cq_next)
  );

  ram_1r1w #(
      .Width($bits(cq_posters_t)),
      .Depth(NUM_CQ)
  ) u_posters (
      .clk_i,
      .raddr_i (rd_cq),
      .rdata_o (ex_posters),
      .we_i    (init_busy || ex_posters_we),
      .wlanes_i(1'b1),
      .waddr_i (init_busy ? CqA'(init_q) : ex_cq_q),
      .wdata_i (init_busy ? '0 : ex_posters_next)
  );

  cq_shadow_t ex_shadow_next;
  assign ex_shadow_next = '{exists: ex_cq_next.exists, in_error: ex_cq_next.in_error};

  ram_1r1w #(
      .Width($bits(cq_shadow_t)),
      .Depth(NUM_CQ)
  ) u_shadow (
      .clk_i,
      .raddr_i (rd_other),
      .rdata_o (ex_other),
      .we_i    (init_busy || ex_cq_we),
      .wlanes_i(1'b1),
      .waddr_i (init_busy ? CqA'(init_q) : ex_cq_q),
      .wdata_i (init_busy ? '0 : ex_shadow_next)
  );

  ram_1r1w #(
      .Width($bits(sq_meta_t)),
      .Depth(NUM_QP * SQ_DEPTH)
  ) u_sq_meta (
      .clk_i,
      .raddr_i ({rd_op_q.qpn[QpA-1:0], rd_sq_slot[$clog2(SQ_DEPTH)-1:0]}),
      .rdata_o (ex_sq_meta),
      .we_i    (ex_sq_meta_we),
      .wlanes_i(1'b1),
      .waddr_i ({ex_qpa, ex_meta_slot[$clog2(SQ_DEPTH)-1:0]}),
      .wdata_i (ex_decoded.meta)
  );

  localparam int unsigned KeyA = (NUM_KEY > 1) ? $clog2(NUM_KEY) : 1;
  key_shadow_t ex_key_next;
  assign ex_key_next = '{exists: ex_key_change.entry.exists, variant: ex_key_change.entry.variant};

  ram_1r1w #(
      .Width($bits(key_shadow_t)),
      .Depth(NUM_KEY)
  ) u_key_shadow (
      .clk_i,
      .raddr_i (rd_cmd.region.lkey[8 +: KeyA]),
      .rdata_o (ex_key),
      .we_i    (init_busy || ex_key_we),
      .wlanes_i(1'b1),
      .waddr_i (init_busy ? KeyA'(init_q) : ex_key_change.index[KeyA-1:0]),
      .wdata_i (init_busy ? '0 : ex_key_next)
  );

  ram_1r1w #(
      .Width($bits(rq_meta_t)),
      .Depth(NUM_QP * RQ_DEPTH)
  ) u_rq_meta (
      .clk_i,
      .raddr_i ({rd_op_q.qpn[QpA-1:0], rd_rq_slot[$clog2(RQ_DEPTH)-1:0]}),
      .rdata_o (ex_rq_meta),
      .we_i    (ex_rq_meta_we),
      .wlanes_i(1'b1),
      .waddr_i ({ex_qpa, ex_meta_slot[$clog2(RQ_DEPTH)-1:0]}),
      .wdata_i (ex_recv_index_q)
  );

  // The bytes of the attribute record that belong to the attributes of a mask.
  function automatic qp_attr_t attr_bytes(attr_mask_t mask);
    qp_attr_t b;
    b = '0;
    if (mask[A_EN_SQD_NOTIFY]) b.en_sqd_async_notify = '1;
    if (mask[A_ACCESS_FLAGS]) b.access_flags = '1;
    if (mask[A_PKEY_INDEX]) b.pkey_index = '1;
    if (mask[A_PORT]) b.port = '1;
    if (mask[A_QKEY]) b.qkey = '1;
    if (mask[A_AV]) b.av = '1;
    if (mask[A_PATH_MTU]) b.path_mtu = '1;
    if (mask[A_TIMEOUT]) b.timeout = '1;
    if (mask[A_RETRY_CNT]) b.retry_cnt = '1;
    if (mask[A_RNR_RETRY]) b.rnr_retry = '1;
    if (mask[A_RQ_PSN]) b.rq_psn = '1;
    if (mask[A_MAX_QP_RD_ATOMIC]) b.max_qp_rd_atomic = '1;
    if (mask[A_ALT_PATH]) begin
      b.alt_av         = '1;
      b.alt_pkey_index = '1;
      b.alt_port       = '1;
      b.alt_timeout    = '1;
    end
    if (mask[A_MIN_RNR_TIMER]) b.min_rnr_timer = '1;
    if (mask[A_SQ_PSN]) b.sq_psn = '1;
    if (mask[A_MAX_DEST_RD_ATOMIC]) b.max_dest_rd_atomic = '1;
    if (mask[A_PATH_MIG_STATE]) b.path_mig_state = '1;
    if (mask[A_DEST_QPN]) b.dest_qpn = '1;
    return b;
  endfunction

  // The first nine words of the record are written by words, the rest by bytes: no attribute
  // shares a lane with another. Lanes in the order of the record, its first field last.
  localparam int unsigned AttrW = $bits(qp_attr_t);
  localparam int unsigned AttrWords = 9;
  localparam int unsigned AttrBytes = AttrW / 8 - 4 * AttrWords;
  logic [AttrWords-1:0] ex_attr_words_we;
  logic [AttrBytes-1:0] ex_attr_bytes_we;
  assign ex_attr_words_we = {
    {2{ex_attr_we[A_ALT_PATH]}},
    {2{ex_attr_we[A_AV]}},
    ex_attr_we[A_DEST_QPN],
    ex_attr_we[A_SQ_PSN],
    ex_attr_we[A_RQ_PSN],
    ex_attr_we[A_QKEY],
    ex_attr_we[A_ACCESS_FLAGS]
  };
  assign ex_attr_bytes_we = {
    {2{ex_attr_we[A_ALT_PATH]}},  // timeout and port
    ex_attr_we[A_PATH_MIG_STATE],
    ex_attr_we[A_MAX_DEST_RD_ATOMIC],
    ex_attr_we[A_MIN_RNR_TIMER],
    ex_attr_we[A_MAX_QP_RD_ATOMIC],
    ex_attr_we[A_RNR_RETRY],
    ex_attr_we[A_RETRY_CNT],
    ex_attr_we[A_TIMEOUT],
    ex_attr_we[A_PATH_MTU],
    ex_attr_we[A_PORT],
    ex_attr_we[A_EN_SQD_NOTIFY],
    {2{ex_attr_we[A_ALT_PATH]}},  // P_Key index
    {2{ex_attr_we[A_PKEY_INDEX]}}
  };

  qp_attr_t out_attr;

  ram_1r1w #(
      .Width(32 * AttrWords),
      .Depth(NUM_QP),
      .LaneW(32)
  ) u_attr_words (
      .clk_i,
      .raddr_i (ex_qpa),
      .rdata_o (out_attr[32*AttrWords-1:0]),
      .we_i    (ex_attr_we != '0),
      .wlanes_i(ex_attr_words_we),
      .waddr_i (ex_qpa),
      .wdata_i (ex_cmd_q.attr[32*AttrWords-1:0])
  );

  ram_1r1w #(
      .Width(8 * AttrBytes),
      .Depth(NUM_QP),
      .LaneW(8)
  ) u_attr_bytes (
      .clk_i,
      .raddr_i (ex_qpa),
      .rdata_o (out_attr[AttrW-1:32*AttrWords]),
      .we_i    (ex_attr_we != '0),
      .wlanes_i(ex_attr_bytes_we),
      .waddr_i (ex_qpa),
      .wdata_i (ex_cmd_q.attr[AttrW-1:32*AttrWords])
  );

  // ------------------------------------------------------------------ OUT

  logic           out_valid_q, out_query_q, out_modify_q, out_stale_inc_q, out_stale_clear_q;
  logic [QpA-1:0] out_qpa_q;
  record_t        out_record_q, out_record;
  logic [31:0]    out_stale;
  always_ff @(posedge clk_i) begin
    out_valid_q       <= rst_ni && ex_retires;
    out_stale_inc_q   <= rst_ni && ex_stale_inc;
    out_stale_clear_q <= rst_ni && ex_stale_clear;
    out_qpa_q         <= ex_qpa;
    if (ex_retires) begin
      out_record_q <= ex_record;
      out_query_q  <= ex_query_qp;
      out_modify_q <= ex_modify;
    end
  end

  logic        stale_we;
  logic [31:0] stale_next;
  assign stale_we = out_stale_clear_q || (out_stale_inc_q && out_stale != '1);
  assign stale_next = out_stale_clear_q ? '0 : out_stale + 1'b1;

  ram_1r1w #(
      .Width(32),
      .Depth(NUM_QP)
  ) u_stale (
      .clk_i,
      .raddr_i (ex_qpa),
      .rdata_o (out_stale),
      .we_i    (init_busy || stale_we),
      .wlanes_i(1'b1),
      .waddr_i (init_busy ? QpA'(init_q) : out_qpa_q),
      .wdata_i (init_busy ? '0 : stale_next)
  );

  layer_e         out_layer;
  modify_detail_t out_detail;
  qp_gate_answer u_answer (
      .grounds_i   (grounds_t'(out_record_q.detail[$bits(grounds_t)-1:0])),
      .layer_o     (out_layer),
      .missing_o   (out_detail.missing),
      .extra_o     (out_detail.extra),
      .bad_values_o(out_detail.bad_values)
  );

  qp_ctx_t out_qp;
  assign out_qp = qp_ctx_t'(out_record_q.detail[$bits(qp_ctx_t)-1:0]);
  always_comb begin
    out_record = out_record_q;
    if (out_query_q) begin
      out_record.attr  = out_attr & attr_bytes(out_qp.attr_set);
      out_record.stale = out_stale;
    end
    if (out_modify_q) begin
      out_record.retire.layer = out_layer;
      out_record.detail       = DetailW'(out_detail);
    end
  end

  record_queue #(
      .Depth(RECORD_DEPTH)
  ) u_records (
      .clk_i,
      .rst_ni,
      .push_i  (out_valid_q),
      .record_i(out_record),
      .leaves_o(record_leaves),
      .cqe_valid_o,
      .cqe_ready_i,
      .cqe_o,
      .rsp_valid_o,
      .rsp_ready_i,
      .rsp_o,
      .event_valid_o,
      .event_ready_i,
      .event_o,
      .retire_valid_o,
      .retire_ready_i,
      .retire_o
  );

  // A slot that retires nothing gives its credit back in EX. The first beat of a two-beat
  // operation hands it to the second.
  assign credit_back = ex_valid_q && !ex_retires && !ex_first_beat;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) credits_q <= CreditW'(RECORD_DEPTH);
    else begin
      credits_q <= credits_q + CreditW'(record_leaves) + CreditW'(credit_back)
                   - CreditW'(arb_takes_credit);
    end
  end

  // ------------------------------------------------------------------ work lists, wire

  work_list #(
      .Width(QpnW),
      .Depth(NUM_QP)
  ) u_flush_list (
      .clk_i,
      .rst_ni,
      .push_i (ex_push_flush),
      .data_i (ex_op_q.qpn[QpnW-1:0]),
      .valid_o(flush_valid),
      .data_o (flush_qpn),
      .pop_i  (flush_pop)
  );

  work_list #(
      .Width(QpnW),
      .Depth(NUM_QP)
  ) u_issue_list (
      .clk_i,
      .rst_ni,
      .push_i (ex_push_issue),
      .data_i (ex_op_q.qpn[QpnW-1:0]),
      .valid_o(issue_valid),
      .data_o (issue_qpn),
      .pop_i  (issue_pop)
  );

  cascade_walk #(
      .NUM_QP(NUM_QP),
      .QpnW  (QpnW)
  ) u_walk (
      .clk_i,
      .rst_ni,
      .start_i (ex_cq_fails),
      .active_o(walk_active),
      .qpn_o   (walk_qpn),
      .step_i  (walk_step)
  );

  issue_queue #(
      .Depth(ISSUE_DEPTH)
  ) u_issue_queue (
      .clk_i,
      .rst_ni,
      .waiters_i   (issue_valid),
      .post_room_o (post_room),
      .visit_room_o(visit_room),
      .reserve_i   (arb_reserve),
      .release_i   (ex_issue_release),
      .push_i      (ex_issue_push),
      .push_data_i (ex_issue),
      .valid_o     (issue_valid_o),
      .ready_i     (issue_ready_i),
      .data_o      (issue_o)
  );

endmodule
