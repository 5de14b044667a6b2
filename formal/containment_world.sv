// SPDX-License-Identifier: Apache-2.0
//
// The execute stage with the contexts of two QPs and two CQs around it: the step relation of
// the control plane, one operation per clock and no pipeline. Which CQ an operation works on
// is chosen as stage RD of rnic_top chooses it; that rnic_top as a whole does what this does is
// proved in pipeline.sv.
module containment_world
  import rnic_pkg::*;
  import qp_gate_pkg::*;
(
    input  logic       clk_i,
    input  logic       rst_ni,
    input  straps_t    straps_i,
    input  logic       valid_i,
    input  slot_op_t   op_i,
    input  cmd_t       cmd_i,
    input  wire_t      wire_i,
    input  cqdb_t      cqdb_i,
    // What stage RD saw of a QP that is visited, perhaps before the last operation on it.
    input  queue_e     seen_queue_i,
    input  slot_t      seen_slot_i,
    input  sq_meta_t   sq_meta_i,
    input  rq_meta_t   rq_meta_i,
    input  sq_meta_t   decoded_i,
    input  attr_mask_t range_bad_i,
    input  key_shadow_t key_i,
    output logic       second_o,     // this clock is the second beat of the last operation
    output qp_ctx_t    qp_o     [2],
    output cq_ctx_t    cq_o     [2],
    output cq_posters_t posters_o [2],
    output logic       retires_o,
    output record_t    record_o,
    output logic       issues_o,
    output issue_t     issue_o,
    output attr_mask_t attr_we_o,
    output logic       untaken_o
);

  qp_ctx_t qp_q[2], qp, qp_next;
  cq_ctx_t cq_q[2], cq, cq_next;
  cq_posters_t posters_q[2], posters_next;
  logic posters_we;
  assign posters_o = posters_q;
  assign qp_o = qp_q;
  assign cq_o = cq_q;

  logic     second_q;
  slot_op_t op_q, op;
  cmd_t     cmd_q, cmd;
  record_t  first_q, first;
  assign second_o = second_q;
  always_comb begin
    op  = op_i;
    cmd = cmd_i;
    if (second_q) begin
      op      = op_q;
      op.kind = (op_q.kind == K_CREATE_QP) ? K_CREATE_QP_2 : K_DESTROY_QP_2;
      cmd     = cmd_q;
    end
  end

  assign qp = qp_q[op.qpn[0]];

  queue_e seen_queue;
  logic   at_cq, other_at;
  always_comb begin
    seen_queue = SQ;
    if (op.kind == K_COMPLETE && wire_i.queue != '0) seen_queue = RQ;
    if (op.kind == K_VISIT_FLUSH) seen_queue = seen_queue_i;
    at_cq    = (seen_queue == RQ) ? qp.recv_cqn[0] : qp.send_cqn[0];
    other_at = (seen_queue == RQ) ? qp.send_cqn[0] : qp.recv_cqn[0];
    case (op.kind)
      K_CREATE_CQ, K_DESTROY_CQ, K_QUERY_CQ, K_SET_CQ_FAULT, K_CONSUME, K_ARM: at_cq = op.cqn[0];
      K_CREATE_QP: begin
        at_cq    = cmd.cqn[0];
        other_at = cmd.recv_cqn[0];
      end
      K_CREATE_QP_2: at_cq = cmd.recv_cqn[0];
      K_DESTROY_QP_2: at_cq = qp.recv_cqn[0];
      default: ;
    endcase
  end
  assign cq = cq_q[at_cq];

  logic qp_we, cq_we, valid;
  assign valid = rst_ni && (valid_i || second_q);
  slot_facts_t facts;
  slot_facts #(
      .NUM_QP      (2),
      .NUM_CQ      (2),
      .SQ_DEPTH    (4),
      .RQ_DEPTH    (4),
      .CQ_DEPTH_MAX(4),
      .NUM_KEY     (2)
  ) u_facts (
      .op_i   (op),
      .cmd_i  (cmd),
      .wire_i,
      .facts_o(facts)
  );

  call_t     call;
  verdicts_t verdicts;
  qp_gate_call u_call (
      .straps_i,
      .mask_i          (cmd.attr_mask),
      .target_i        (cmd.qp_state),
      .cur_state_i     (cmd.cur_qp_state),
      .path_mig_state_i(cmd.attr.path_mig_state),
      .range_bad_i,
      .call_o          (call)
  );
  qp_gate_states u_states (
      .straps_i,
      .call_i     (call),
      .transport_i(qp.transport),
      .verdicts_o (verdicts)
  );

  rnic_execute #(
      .SQ_DEPTH(4),
      .RQ_DEPTH(4)
  ) u_execute (
      .straps_i,
      .valid_i        (valid),
      .op_i           (op),
      .facts_i        (facts),
      .cmd_i          (cmd),
      .wire_i,
      .cqdb_i,
      .qp_i           (qp),
      .cq_i           (cq),
      .posters_i      (posters_q[at_cq]),
      .other_i        ('{exists: cq_q[other_at].exists, in_error: cq_q[other_at].in_error}),
      .sq_meta_i,
      .rq_meta_i,
      .seen_queue_i   (seen_queue),
      .seen_slot_i,
      .decoded_i,
      .verdicts_i     (verdicts),
      .key_i,
      .key_version_i  ('0),
      .qp_we_o        (qp_we),
      .qp_o           (qp_next),
      .cq_we_o        (cq_we),
      .cq_o           (cq_next),
      .posters_we_o   (posters_we),
      .posters_o      (posters_next),
      .sq_meta_we_o   (),
      .rq_meta_we_o   (),
      .meta_slot_o    (),
      .attr_we_o,
      .stale_inc_o    (),
      .stale_clear_o  (),
      .key_we_o       (),
      .key_change_o   (),
      .push_flush_o   (),
      .push_issue_o   (),
      .cq_fails_o     (),
      .issue_push_o   (issues_o),
      .issue_release_o(),
      .issue_o,
      .retires_o,
      .record_o,
      .query_qp_o     (),
      .modify_o       (),
      .first_i        (first_q),
      .first_o        (first)
  );
  assign untaken_o = u_execute.untaken;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      second_q <= 1'b0;
      qp_q[0]  <= '0;
      qp_q[1]  <= '0;
      cq_q[0]  <= '0;
      cq_q[1]  <= '0;
      posters_q[0] <= '0;
      posters_q[1] <= '0;
    end else begin
      second_q <= valid && op.kind inside {K_CREATE_QP, K_DESTROY_QP};
      if (qp_we) qp_q[op.qpn[0]] <= qp_next;
      if (cq_we) cq_q[at_cq] <= cq_next;
      if (posters_we) posters_q[at_cq] <= posters_next;
    end
    op_q    <= op;
    cmd_q   <= cmd;
    first_q <= first;
  end

endmodule
