// SPDX-License-Identifier: Apache-2.0
//
// Containment as non-interference. Two worlds get the same operations for QP 0 and CQ 0 and
// entirely different ones, or none, for everything else, overflows, errors and refused calls
// included. As long as nobody else is attached to CQ 0, QP 0 and CQ 0 are the same in both
// worlds for all times, and so is everything that their operations put out.
//
// Numbers that are out of range (QP 2, CQ 6) count as "else": a number whose low bits name
// the observed object must not reach it.
module containment_fv
  import rnic_pkg::*;
(
    input logic        clk_i,
    input straps_t     straps_i,    // chosen once
    input logic        observed_i,  // this clock is for QP 0 or CQ 0
    // The first world, and both in an observed clock
    input logic        valid_i,
    input slot_op_t    op_i,
    input cmd_t        cmd_i,
    input wire_t       wire_i,
    input cqdb_t       cqdb_i,
    input queue_e      seen_queue_i,
    input slot_t       seen_slot_i,
    input sq_meta_t    sq_meta_i,
    input rq_meta_t    rq_meta_i,
    input sq_meta_t    decoded_i,
    input attr_mask_t  range_bad_i,
    input key_shadow_t key_i,
    // The second world elsewhere
    input logic        else_valid_i,
    input slot_op_t    else_op_i,
    input cmd_t        else_cmd_i,
    input wire_t       else_wire_i,
    input cqdb_t       else_cqdb_i,
    input queue_e      else_seen_queue_i,
    input slot_t       else_seen_slot_i,
    input sq_meta_t    else_sq_meta_i,
    input rq_meta_t    else_rq_meta_i,
    input sq_meta_t    else_decoded_i,
    input attr_mask_t  else_range_bad_i
);

  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;

  straps_t straps_q;
  always_ff @(posedge clk_i) if (!started_q) straps_q <= straps_i;

  logic       second_a, second_b, retires_a, retires_b, issues_a, issues_b, untaken_a, untaken_b;
  qp_ctx_t    qp_a[2], qp_b[2];
  cq_ctx_t    cq_a[2], cq_b[2];
  cq_posters_t posters_a[2], posters_b[2];
  record_t    record_a, record_b;
  issue_t     issue_a, issue_b;
  attr_mask_t attr_a, attr_b;

  containment_world u_a (
      .clk_i, .rst_ni(started_q), .straps_i(straps_q), .valid_i, .op_i, .cmd_i, .wire_i, .cqdb_i,
      .seen_queue_i, .seen_slot_i, .sq_meta_i, .rq_meta_i, .decoded_i, .range_bad_i, .key_i,
      .second_o(second_a), .qp_o(qp_a), .cq_o(cq_a), .posters_o(posters_a), .retires_o(retires_a), .record_o(record_a),
      .issues_o(issues_a), .issue_o(issue_a), .attr_we_o(attr_a), .untaken_o(untaken_a)
  );
  containment_world u_b (
      .clk_i, .rst_ni(started_q), .straps_i(straps_q),
      .valid_i    (observed_i ? valid_i : else_valid_i),
      .op_i       (observed_i ? op_i : else_op_i),
      .cmd_i      (observed_i ? cmd_i : else_cmd_i),
      .wire_i     (observed_i ? wire_i : else_wire_i),
      .cqdb_i     (observed_i ? cqdb_i : else_cqdb_i),
      .seen_queue_i(observed_i ? seen_queue_i : else_seen_queue_i),
      .seen_slot_i(observed_i ? seen_slot_i : else_seen_slot_i),
      .sq_meta_i  (observed_i ? sq_meta_i : else_sq_meta_i),
      .rq_meta_i  (observed_i ? rq_meta_i : else_rq_meta_i),
      .decoded_i  (observed_i ? decoded_i : else_decoded_i),
      .range_bad_i(observed_i ? range_bad_i : else_range_bad_i),
      .key_i,
      .second_o(second_b), .qp_o(qp_b), .cq_o(cq_b), .posters_o(posters_b), .retires_o(retires_b), .record_o(record_b),
      .issues_o(issues_b), .issue_o(issue_b), .attr_we_o(attr_b), .untaken_o(untaken_b)
  );

  function automatic logic on_qp(kind_e kind);
    return kind inside {K_CREATE_QP, K_DESTROY_QP, K_MODIFY_QP, K_QUERY_QP, K_POST_SEND,
                        K_POST_RECV, K_COMPLETE, K_VISIT_ISSUE, K_VISIT_FLUSH, K_PROBE_CASCADE};
  endfunction
  function automatic logic on_cq(kind_e kind);
    return kind inside {K_CREATE_CQ, K_DESTROY_CQ, K_QUERY_CQ, K_SET_CQ_FAULT, K_CONSUME, K_ARM};
  endfunction
  // The launch arbiter makes no second beats of its own.
  function automatic logic launches(kind_e kind);
    return kind <= K_BAD_OP && !(kind inside {K_CREATE_QP_2, K_DESTROY_QP_2});
  endfunction
  function automatic logic elsewhere(slot_op_t op, cmd_t cmd);
    return !(on_qp(op.kind) && op.qpn == '0) && !(on_cq(op.kind) && op.cqn == '0)
           && !(op.kind == K_CREATE_QP && (cmd.cqn == '0 || cmd.recv_cqn == '0));
  endfunction
  function automatic logic here(slot_op_t op, cmd_t cmd);
    return (on_qp(op.kind) && op.qpn == '0
            && !(op.kind == K_CREATE_QP && (cmd.cqn != '0 || cmd.recv_cqn != '0)))
           || (on_cq(op.kind) && op.cqn == '0);
  endfunction

  function automatic logic beat_elsewhere(slot_op_t op, cmd_t cmd, record_t first, qp_ctx_t qp);
    return elsewhere(op, cmd)
           && (first.retire.outcome != OUT_OK
               || (op.qpn == 32'd1 && (op.kind == K_CREATE_QP ? cmd.recv_cqn == 32'd1
                                                              : qp.recv_cqn == 16'd1)));
  endfunction

  logic observed_q;  // the second beat belongs to the first
  always_ff @(posedge clk_i) observed_q <= observed_i;

  logic looks;
  assign looks = observed_i && (valid_i || second_a);

  always_ff @(posedge clk_i) begin
    assume (straps_i.cq_scope <= SCOPE_CASCADE);
    if (started_q) begin
      assume (launches(op_i.kind) && launches(else_op_i.kind));
      // The arbiter takes both numbers from the command.
      assume (op_i.kind != K_CREATE_QP || op_i.cqn == cmd_i.cqn);
      assume (else_op_i.kind != K_CREATE_QP || else_op_i.cqn == else_cmd_i.cqn);
      assume (observed_i ? here(op_i, cmd_i) : elsewhere(op_i, cmd_i));
      assume (elsewhere(else_op_i, else_cmd_i));
      // Two adjacent slots, as the launch arbiter gives them; nothing else starts meanwhile.
      if (second_a || second_b) assume (observed_i == observed_q);
    end
  end

  always_ff @(posedge clk_i) begin
    if (started_q) begin
      SameQp_A: assert (qp_a[0] == qp_b[0]) else $error("what others did shows in QP 0");
      SameCq_A: assert (cq_a[0] == cq_b[0] && posters_a[0] == posters_b[0]) else $error("what others did shows in CQ 0");
      OwnCqOnly_A: assert (qp_a[0].send_cqn == '0 && qp_a[0].recv_cqn == '0)
        else $error("QP 0 is attached to a CQ that it did not name");
      OthersStayOut_A: assert (!qp_a[1].exists
                               || (qp_a[1].send_cqn == 16'd1 && qp_a[1].recv_cqn == 16'd1
                                   ))
        else $error("QP 1 is attached to a CQ that it did not name");
      OthersStayOutToo_A: assert (!qp_b[1].exists
                               || (qp_b[1].send_cqn == 16'd1 && qp_b[1].recv_cqn == 16'd1))
        else $error("QP 1 is attached to a CQ that it did not name");
      // The operation between its two beats.
      SameSecondBeat_A: assert (!(observed_q && second_a)
                                || (u_a.op_q == u_b.op_q && u_a.cmd_q == u_b.cmd_q
                                    && u_a.first_q == u_b.first_q && u_a.op_q.qpn == '0
                                    && here(u_a.op_q, u_a.cmd_q)))
        else $error("the worlds are at different operations");
      BeatsElsewhere_A: assert (observed_q
                                || ((!second_a || beat_elsewhere(u_a.op_q, u_a.cmd_q, u_a.first_q, qp_a[1]))
                                    && (!second_b || beat_elsewhere(u_b.op_q, u_b.cmd_q, u_b.first_q, qp_b[1]))))
        else $error("a second beat of others works on QP 0 or CQ 0");
      OnlyTwoBeats_A: assert ((!second_a || u_a.op_q.kind inside {K_CREATE_QP, K_DESTROY_QP})
                              && (!second_b || u_b.op_q.kind inside {K_CREATE_QP, K_DESTROY_QP}))
        else $error("a second beat of an operation that has one");
      SameBeat_A: assert (!observed_q || second_a == second_b)
        else $error("the worlds are at different beats of one operation");
      SameRecord_A: assert (!looks || (retires_a == retires_b
                                       && (!retires_a || record_a == record_b)))
        else $error("what others did shows in a record of QP 0 or CQ 0");
      SameIssue_A: assert (!looks || (issues_a == issues_b && (!issues_a || issue_a == issue_b)))
        else $error("what others did shows in a WQE of QP 0 on the wire");
      SameAttributes_A: assert (!looks || attr_a == attr_b)
        else $error("what others did shows in the attributes that QP 0 stores");
      IdleProbeIsIdle_A: assert (!(looks && !second_a && op_i.kind == K_PROBE_CASCADE
                                   && !cq_a[0].in_error) || (!retires_a && !untaken_a))
        else $error("a walk touched a QP none of whose CQs is in error");

      OthersOverflow_C: cover (cq_a[1].in_error && !cq_b[1].in_error && qp_a[0].exists);
      ObservedLives_C: cover (qp_a[0].state == QPS_INIT && qp_a[1].state == QPS_ERR);
    end
  end

endmodule
