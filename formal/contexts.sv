// SPDX-License-Identifier: Apache-2.0
//
// What operations make of contexts, for all times: the assertions of rtl/rnic_checks.sv that speak
// of the execute stage, around the step relation of two QPs and two CQs (containment_world.sv),
// from reset, every operation and every stored WQE free, and visits of a QP that see it as it was. With them goes what they rest on: in
// which states a QP can have what outstanding, that a CQ counts those who post into it, and what
// a state says of the attributes that were given.
//
// That the pipeline of rnic_top hands this stage the newest contexts is for all times too:
// pipeline.sv.
module contexts_fv
  import rnic_pkg::*;
  import stage_pkg::*;
(
    input logic        clk_i,
    input straps_t     straps_i,  // chosen once
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
    input key_shadow_t key_i
);

  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;

  straps_t straps_q;
  always_ff @(posedge clk_i) if (!started_q) straps_q <= straps_i;

  logic        second, retires, issues, untaken;
  qp_ctx_t     qp[2];
  cq_ctx_t     cq[2];
  cq_posters_t posters[2];
  record_t     record;
  issue_t      unused_issue;
  attr_mask_t  attr_we;

  containment_world u_world (
      .clk_i, .rst_ni(started_q), .straps_i(straps_q), .valid_i, .op_i, .cmd_i, .wire_i, .cqdb_i,
      .seen_queue_i, .seen_slot_i, .sq_meta_i, .rq_meta_i, .decoded_i, .range_bad_i, .key_i,
      .second_o(second), .qp_o(qp), .cq_o(cq), .posters_o(posters), .retires_o(retires),
      .record_o(record), .issues_o(issues), .issue_o(unused_issue), .attr_we_o(attr_we),
      .untaken_o(untaken)
  );

  rnic_checks u_checks (
      .clk_i,
      .rst_ni       (started_q),
      .straps_q,
      .init_busy    (1'b0),
      .ex_valid_q   (u_world.valid),
      .ex_op_q      (u_world.op),
      .ex_qp_q      (u_world.qp),
      .ex_qp_we     (u_world.qp_we),
      .ex_qp_next   (u_world.qp_next),
      .ex_cq        (u_world.cq),
      .ex_cq_we     (u_world.cq_we),
      .ex_cq_next   (u_world.cq_next),
      .ex_attr_we   (attr_we),
      .ex_issue_push(issues),
      .ex_retires   (retires),
      .ex_record    (record),
      .ex_push_flush(u_world.u_execute.push_flush_o),
      .ex_push_issue(u_world.u_execute.push_issue_o),
      .touches      (untaken),
      .touched      (u_world.u_execute.touched),
      .settled      (u_world.u_execute.settled),
      .outcome      (u_world.u_execute.outcome),
      .attempt      (u_world.u_execute.attempt),
      .failed       (u_world.u_execute.failed),
      .written      (u_world.u_execute.written),
      .issue_meta   (u_world.u_execute.issue_meta),
      .now_runnable (u_world.u_execute.now_runnable),
      .now_owes     (u_world.u_execute.now_owes),
      // What is around the stage is not here; proofs.toml leaves its assertions out.
      .credits_q    ('0),
      .out_valid_q  (1'b0),
      .wqe_valid_i  (1'b0),
      .wqe_ready_o  (1'b0),
      .key_busy_q   (1'b0),
      .key_applied  (1'b0),
      .keys_hold    (1'b0),
      .record_room  (1'b1),
      .issue_room   (1'b1),
      .issue_credits('0)
  );

  // ---- the launch arbiter makes no second beats of its own, and takes both numbers from the command

  always_ff @(posedge clk_i) begin
    assume (straps_i.cq_scope <= SCOPE_CASCADE);
    assume (op_i.kind <= K_BAD_OP && !(op_i.kind inside {K_CREATE_QP_2, K_DESTROY_QP_2}));
    assume (op_i.kind != K_CREATE_QP || op_i.cqn == cmd_i.cqn);
  end

  // ---- between the two beats of CREATE_QP and DESTROY_QP

  logic half_made, half_gone, beat_qp;
  assign half_made = second && u_world.op_q.kind == K_CREATE_QP
                     && u_world.first_q.retire.outcome == OUT_OK;
  assign half_gone = second && u_world.op_q.kind == K_DESTROY_QP
                     && u_world.first_q.retire.outcome == OUT_OK;
  assign beat_qp   = u_world.op_q.qpn[0];

  // ---- who is attached

  logic [31:0] attached[2];
  always_comb begin
    for (int c = 0; c < 2; c++) begin
      attached[c] = '0;
      for (int q = 0; q < 2; q++) begin
        if (qp[q].exists && qp[q].send_cqn[0] == 1'(c)) attached[c] = attached[c] + 1;
        if (qp[q].exists && qp[q].recv_cqn[0] == 1'(c)
            && !(half_made && beat_qp == 1'(q))) attached[c] = attached[c] + 1;
        if (half_gone && beat_qp == 1'(q)
            && qp[q].recv_cqn[0] == 1'(c)) attached[c] = attached[c] + 1;
      end
    end
  end

  for (genvar q = 0; q < 2; q++) begin : g_qp
    logic lives;
    assign lives = started_q && qp[q].exists;
    always_ff @(posedge clk_i) if (started_q && !qp[q].exists) begin
      // What is left of a QP is its epochs and its place on a list.
      GoneIsReset_A: assert (qp[q].state == QPS_RESET && qp[q].drain == DRAIN_NONE
                             && qp[q].blocked == BLOCK_NO && !qp[q].event_owed && !qp[q].fatal
                             && {qp[q].sq_queued, qp[q].sq_issued, qp[q].sq_reads,
                                 qp[q].sq_flush_owed, qp[q].rq_queued} == '0)
        else $error("something of a QP outlives it");
    end
    always_ff @(posedge clk_i) if (lives) begin
      StateIsOne_A: assert (qp[q].state <= QPS_ERR && qp[q].transport <= 2'd2)
        else $error("a QP in no state, or of no transport");
      CqsInRange_A: assert (qp[q].send_cqn < 16'd2 && qp[q].recv_cqn < 16'd2)
        else $error("a QP at a CQ that cannot be");
      CqsExist_A: assert (cq[qp[q].send_cqn[0]].exists && cq[qp[q].recv_cqn[0]].exists)
        else $error("a QP at a CQ that does not exist");
      RcHoldsNoSqe_A: assert (!(qp[q].transport == RC && qp[q].state == QPS_SQE))
        else $error("an RC QP in SQE");
      CountsAreOrdered_A: assert (qp[q].sq_issued <= qp[q].sq_queued
                                  && qp[q].sq_flush_owed <= qp[q].sq_queued
                                  && qp[q].sq_queued <= qp[q].sq_ceiling
                                  && qp[q].rq_queued <= qp[q].rq_ceiling)
        else $error("the counts of a QP contradict each other");
      IssuedOnlyWhereSent_A: assert (qp[q].sq_issued == '0
                                     || qp[q].state inside {QPS_RTS, QPS_SQD})
        else $error("a QP has WQEs on the wire in a state that sends nothing");
      OwedAreNotIssued_A: assert (qp[q].sq_flush_owed == '0
                                  || (qp[q].sq_issued == '0
                                      && qp[q].state inside {QPS_RTS, QPS_SQD}))
        else $error("a QP owes flushes of an SQE that it left, and sends");
      NothingPostedEarly_A: assert (!(qp[q].state inside {QPS_RESET, QPS_INIT, QPS_RTR})
                                    || (qp[q].sq_queued == '0
                                        && (qp[q].state != QPS_RESET || qp[q].rq_queued == '0)))
        else $error("a QP has work queued in a state that takes none");
      DrainInSqd_A: assert (qp[q].state == QPS_SQD
                            ? qp[q].drain != DRAIN_NONE
                            : qp[q].drain == DRAIN_NONE && !qp[q].event_owed)
        else $error("a QP drains outside SQD, or does not in it");
      DrainingHasWork_A: assert (qp[q].drain != DRAINING
                                 || (straps_q.sqd_hold_unstarted ? qp[q].sq_issued
                                                                 : qp[q].sq_queued) != '0)
        else $error("a QP drains that has nothing left to finish");
      DrainedOwesNoEvent_A: assert (qp[q].drain != DRAINED || !qp[q].event_owed)
        else $error("a drained QP still owes its event");
      DrainedIsIdle_A: assert (qp[q].drain != DRAINED
                               || (straps_q.sqd_hold_unstarted ? qp[q].sq_issued
                                                               : qp[q].sq_queued) == '0)
        else $error("a drained QP has WQEs on the wire");
      FatalIsInErr_A: assert (!qp[q].fatal || qp[q].state == QPS_ERR)
        else $error("a QP that raised QP_FATAL is not in ERR");
      RequiredWereGiven_A: assert (straps_q.cur_state_override
                                   || (given(qp[q].transport, qp[q].state)
                                       & ~{11'd0, qp[q].attr_set}) == '0)
        else $error("a QP is in a state without what that state requires");
    end
  end

  for (genvar c = 0; c < 2; c++) begin : g_cq
    logic [RingW:0] gap;
    assign gap = (cq[c].producer >= cq[c].consumer)
                 ? {1'b0, cq[c].producer} - {1'b0, cq[c].consumer}
                 : {1'b0, cq[c].producer} + {cq[c].depth, 1'b0} - {1'b0, cq[c].consumer};
    always_ff @(posedge clk_i) if (started_q) begin
      AttachedAreCounted_A: assert (posters[c].attached == attached[c])
        else $error("a CQ does not know how many queues post into it");
      AttachedKeepsIt_A: assert (posters[c].attached == '0 || cq[c].exists)
        else $error("a CQ that queues post into does not exist");
      if (cq[c].exists) begin
        DepthIsOneOfThese_A: assert (cq[c].depth != '0 && cq[c].depth <= 17'd4)
          else $error("a CQ of no depth, or of too much");
        IndicesInRange_A: assert ({1'b0, cq[c].producer} < {cq[c].depth, 1'b0}
                                  && {1'b0, cq[c].consumer} < {cq[c].depth, 1'b0})
          else $error("an index is not below twice the depth");
        OccupancyIsTheGap_A: assert (gap == {1'b0, cq[c].occupancy}
                                     && cq[c].occupancy <= cq[c].depth)
          else $error("the occupancy is not what lies between the indices");
        ErrorWasRaised_A: assert (!cq[c].in_error || cq[c].cq_err_raised)
          else $error("a CQ in error that never raised CQ_ERR");
      end
    end
  end

  // ---- between the beats

  always_ff @(posedge clk_i) if (started_q) begin
    SecondOfTwo_A: assert (!second || u_world.op_q.kind inside {K_CREATE_QP, K_DESTROY_QP})
      else $error("a second beat of an operation that has one");
    HalfMadeExists_A: assert (!half_made
                              || (qp[beat_qp].exists && u_world.op_q.qpn < 32'd2
                                  && qp[beat_qp].recv_cqn == u_world.cmd_q.recv_cqn[15:0]
                                  && u_world.cmd_q.recv_cqn < 32'd2))
      else $error("the second beat of CREATE_QP finds another QP");
    HalfGoneIsGone_A: assert (!half_gone
                              || (!qp[beat_qp].exists && u_world.op_q.qpn < 32'd2
                                  && qp[beat_qp].recv_cqn < 16'd2
                                  && cq[qp[beat_qp].recv_cqn[0]].exists))
      else $error("the second beat of DESTROY_QP finds a QP");
  end

  // ---- what an operation may write

  logic modify, refused;
  assign modify  = u_world.valid && u_world.op.kind == K_MODIFY_QP;
  assign refused = modify && u_world.u_execute.outcome != OUT_OK;

  qp_ctx_t before_op, after_op;
  always_comb begin
    before_op          = u_world.u_execute.touched;
    after_op           = u_world.qp_next;
    before_op.on_flush = 1'b0;
    before_op.on_issue = 1'b0;
    after_op.on_flush  = 1'b0;
    after_op.on_issue  = 1'b0;
  end

  logic failed, cq_err, qp_fatal, drained;
  assign failed   = u_world.valid && u_world.u_execute.failed;
  assign cq_err   = retires && record.retire.kinds.cq_err;
  assign qp_fatal = retires && record.retire.kinds.qp_fatal;
  assign drained  = retires && record.retire.kinds.sq_drained;

  always_ff @(posedge clk_i) if (started_q) begin
    ModifyLeavesCqs_A: assert (!modify || (!u_world.cq_we && !u_world.posters_we))
      else $error("MODIFY_QP writes into a CQ");
    RefusedModifyIsNone_A: assert (!refused || (attr_we == '0 && before_op == after_op))
      else $error("a refused MODIFY_QP changed its QP");
    OnlyItsQp_A: assert (!u_world.qp_we || u_world.op.qpn < 32'd2)
      else $error("a QP number out of range wrote into a QP");
    CqNumbersStand_A: assert (!u_world.qp_we || u_world.op.kind == K_CREATE_QP
                              || (u_world.qp_next.send_cqn == u_world.qp.send_cqn
                                  && u_world.qp_next.recv_cqn == u_world.qp.recv_cqn
                                  && u_world.qp_next.transport == u_world.qp.transport))
      else $error("a QP moved to another CQ, or to another transport");
    // Overflow: the QP that hit it is in ERR with this very operation, and the events are there.
    FailureIsErrNow_A: assert (!failed
                               || (u_world.qp_we && u_world.qp_next.state == QPS_ERR
                                   && u_world.qp_next.fatal))
      else $error("a completion found no room and its QP lives on");
    FailureIsTold_A: assert (!failed
                             || ((cq_err || u_world.cq.cq_err_raised)
                                 && (qp_fatal || u_world.u_execute.judged.fatal)
                                 && u_world.cq_we && u_world.cq_next.cq_err_raised))
      else $error("a failure without its events");
    CqErrOnlyOnce_A: assert (!cq_err || second || (failed && !u_world.cq.cq_err_raised))
      else $error("CQ_ERR of a CQ for the second time, or for nothing");
    CqErrStaysRaised_A: assert (!(u_world.cq_we && u_world.cq.exists && u_world.cq.cq_err_raised)
                                || u_world.op.kind == K_DESTROY_CQ
                                || u_world.cq_next.cq_err_raised)
      else $error("a CQ forgot that it raised CQ_ERR");
    FatalStaysRaised_A: assert (!(u_world.qp_we && u_world.qp.exists && u_world.qp.fatal)
                                || u_world.qp_next.fatal || u_world.qp_next.state == QPS_RESET)
      else $error("a QP forgot that it raised QP_FATAL");
    // Cascade: whoever touches a QP after its CQ failed finds it in ERR.
    CascadeReachesAll_A: assert (!(u_world.qp_we && u_world.qp_next.exists && untaken)
                                 || u_world.qp_next.state == QPS_ERR
                                 || (modify && u_world.qp_next.state == QPS_RESET))
      else $error("a QP of a failed CQ lives on");
    DrainEventWasOwed_A: assert (!drained || second
                                 || (u_world.u_execute.touched.state == QPS_SQD
                                     && u_world.u_execute.touched.drain == DRAINING
                                     && u_world.u_execute.touched.event_owed)
                                 || (modify && u_world.u_execute.touched.state == QPS_RTS))
      else $error("SQ_DRAINED that nobody asked for");
    DrainEventAfterLast_A: assert (!drained || second
                                   || (straps_q.sqd_hold_unstarted ? u_world.qp_next.sq_issued
                                                                   : u_world.qp_next.sq_queued) == '0)
      else $error("SQ_DRAINED before the last completion");

    Drained_C: cover (drained);
    Overflowed_C: cover (failed && !u_world.u_execute.written && cq_err);
    Cascaded_C: cover (untaken && u_world.op.kind == K_PROBE_CASCADE);
    RefusedInRtr_C: cover (refused && u_world.qp.state == QPS_RTR);
    HalfMade_C: cover (half_made);
  end

endmodule
