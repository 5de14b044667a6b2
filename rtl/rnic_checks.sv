// SPDX-License-Identifier: Apache-2.0
//
// What the pipeline promises about every clock, as assertions. Bound into rnic_top; clocked
// immediate assertions, so that simulators and proof tools read the same file.
module rnic_checks
  import rnic_pkg::*;
#(
    parameter int unsigned RECORD_DEPTH = 8,
    parameter int unsigned ISSUE_DEPTH  = 4
) (
    input logic         clk_i,
    input logic         rst_ni,
    input straps_t      straps_q,
    input logic         init_busy,
    input logic         ex_valid_q,
    input slot_op_t     ex_op_q,
    input qp_ctx_t      ex_qp_q,
    input logic         ex_qp_we,
    input qp_ctx_t      ex_qp_next,
    input cq_ctx_t      ex_cq,
    input logic         ex_cq_we,
    input cq_ctx_t      ex_cq_next,
    input attr_mask_t   ex_attr_we,
    input logic         ex_issue_push,
    input logic         ex_retires,
    input record_t      ex_record,
    input logic         ex_push_flush,
    input logic         ex_push_issue,
    input logic [$clog2(RECORD_DEPTH+1)-1:0] credits_q,
    input logic         out_valid_q,
    // Insides of the execute stage
    input logic         touches,
    input qp_ctx_t      touched,
    input qp_ctx_t      settled,
    input outcome_e     outcome,
    input logic         attempt,
    input logic         failed,
    input logic         written,
    input sq_meta_t     issue_meta,
    input logic         now_runnable,
    input logic         now_owes,
    // The walk before the pipeline
    input logic         wqe_valid_i,
    input logic         wqe_ready_o,
    input logic         key_busy_q,
    input logic         key_applied,
    input logic         keys_hold,
    // Queues guarded by credits
    input logic         record_room,
    input logic         issue_room,
    input logic [$clog2(ISSUE_DEPTH+1)-1:0] issue_credits
);

  logic active;
  assign active = rst_ni && !init_busy && ex_valid_q;

  // List membership aside, does the operation leave the QP as the touch left it?
  qp_ctx_t before_op, after_op;
  always_comb begin
    before_op          = touched;
    after_op           = settled;
    before_op.on_flush = 1'b0;
    before_op.on_issue = 1'b0;
    after_op.on_flush  = 1'b0;
    after_op.on_issue  = 1'b0;
  end

  logic in_qp, refused;
  assign in_qp   = ex_qp_we && ex_qp_next.exists;
  assign refused = outcome >= OUT_NO_QP || outcome == OUT_STALE;

  logic [RingW:0] ring_gap;
  assign ring_gap = (ex_cq_next.producer >= ex_cq_next.consumer)
                    ? {1'b0, ex_cq_next.producer} - {1'b0, ex_cq_next.consumer}
                    : {1'b0, ex_cq_next.producer} + {ex_cq_next.depth, 1'b0}
                      - {1'b0, ex_cq_next.consumer};

  always_ff @(posedge clk_i) begin
    if (active) begin
      // ---- queue pairs
      RcNeverHoldsSqe_A: assert (!(in_qp && ex_qp_next.transport == RC
                                   && ex_qp_next.state == QPS_SQE))
        else $error("an RC QP has no send queue error state: QP %0d", ex_op_q.qpn);
      ErrLeavesOnlyToReset_A: assert (!(in_qp && touched.exists && touched.state == QPS_ERR
                                        && ex_op_q.kind != K_CREATE_QP)
                                      || ex_qp_next.state inside {QPS_ERR, QPS_RESET})
        else $error("QP %0d left ERR other than to RESET", ex_op_q.qpn);
      RefusedChangesNothing_A: assert (!refused || before_op == after_op)
        else $error("a refused or stale operation changed QP %0d", ex_op_q.qpn);
      RefusedStoresNothing_A: assert (!refused || ex_attr_we == '0)
        else $error("a refused modify stores attributes of QP %0d", ex_op_q.qpn);
      IssuedWithinQueued_A: assert (!in_qp || ex_qp_next.sq_issued <= ex_qp_next.sq_queued)
        else $error("QP %0d has more issued than queued sends", ex_op_q.qpn);
      QueuedWithinCeiling_A: assert (!in_qp || (ex_qp_next.sq_queued <= ex_qp_next.sq_ceiling
                                                && ex_qp_next.rq_queued <= ex_qp_next.rq_ceiling))
        else $error("QP %0d holds more WQEs than its ceiling", ex_op_q.qpn);
      FlushOwedWithinQueued_A: assert (!in_qp
                                       || ex_qp_next.sq_flush_owed <= ex_qp_next.sq_queued)
        else $error("QP %0d owes more flushes than it has sends", ex_op_q.qpn);
      DrainOnlyInSqd_A: assert (!in_qp || ex_qp_next.state == QPS_SQD
                                || (ex_qp_next.drain == DRAIN_NONE && !ex_qp_next.event_owed))
        else $error("QP %0d drains outside SQD", ex_op_q.qpn);
      DrainEventFromSqd_A: assert (!ex_record.retire.kinds.sq_drained || !ex_retires
                                   || (ex_qp_next.state == QPS_SQD && ex_qp_next.drain == DRAINED
                                       && !ex_qp_next.event_owed))
        else $error("SQ_DRAINED of QP %0d, which is not drained", ex_op_q.qpn);
      FailedAttemptMeansErr_A: assert (!failed || ex_qp_next.state == QPS_ERR)
        else $error("QP %0d lives on after a failed completion attempt", ex_op_q.qpn);
      FatalOnlyOnce_A: assert (!(ex_retires && ex_record.retire.kinds.qp_fatal && ex_qp_q.fatal
                                 && !(ex_op_q.kind inside {K_CREATE_QP_2, K_DESTROY_QP_2})))
        else $error("QP_FATAL of QP %0d for the second time since RESET", ex_op_q.qpn);
      TouchGoesToErr_A: assert (!touches || touched.state == QPS_ERR)
        else $error("QP %0d was touched by a CQ error and is not in ERR", ex_op_q.qpn);

      // ---- the wire
      IssueOnlyWhereSendsAllowed_A: assert (!ex_issue_push || touched.state == QPS_RTS
                                            || (touched.state == QPS_SQD
                                                && !straps_q.sqd_hold_unstarted))
        else $error("QP %0d may not send and issued a WQE", ex_op_q.qpn);
      NoBadWqeOnTheWire_A: assert (!ex_issue_push || issue_meta.errors == '0)
        else $error("a WQE with an error was released: QP %0d", ex_op_q.qpn);
      FenceHolds_A: assert (!ex_issue_push || !issue_meta.fence || touched.sq_reads == '0)
        else $error("a fenced WQE of QP %0d overtook a READ or atomic", ex_op_q.qpn);

      // ---- completion queues
      OccupancyWithinDepth_A: assert (!ex_cq_we || ex_cq_next.occupancy <= ex_cq_next.depth)
        else $error("more entries than the ring has slots");
      IndicesMatchOccupancy_A: assert (!ex_cq_we || ring_gap == {1'b0, ex_cq_next.occupancy})
        else $error("producer - consumer is not the occupancy");
      UnreadIsKept_A: assert (!written || ex_cq.occupancy != ex_cq.depth
                              || straps_q.cq_overwrite || ex_cq.ignore_overrun)
        else $error("an unread entry is overwritten though the policy keeps it");
      NothingIntoFaultyCq_A: assert (!written || !ex_cq.fault)
        else $error("an entry is written into an inaccessible CQ");
      AttemptOnExistingCq_A: assert (!attempt || ex_cq.exists)
        else $error("a completion goes to a CQ that does not exist: QP %0d", ex_op_q.qpn);

      // ---- work lists: no lost wake-up
      RunnableIsListed_A: assert (!ex_qp_we || !now_runnable || ex_qp_next.on_issue)
        else $error("QP %0d can issue and is on no list", ex_op_q.qpn);
      OwingIsListed_A: assert (!ex_qp_we || !now_owes || ex_qp_next.on_flush)
        else $error("QP %0d owes a flush and is on no list", ex_op_q.qpn);
      PushedOnce_A: assert (!(ex_push_flush && settled.on_flush)
                            && !(ex_push_issue && settled.on_issue))
        else $error("QP %0d is pushed onto a list it is on", ex_op_q.qpn);
    end
    if (rst_ni && !init_busy) begin
      KeysStandStill_A: assert (!(key_applied && keys_hold))
        else $error("the key table changes in the middle of a walk");
      WalkBeginsBetweenChanges_A: assert (!(wqe_valid_i && wqe_ready_o && key_busy_q))
        else $error("a walk begins while a change of the key table is under way");
      CreditsInRange_A: assert (32'(credits_q) <= RECORD_DEPTH)
        else $error("more record credits than entries");
      RecordHasRoom_A: assert (!out_valid_q || record_room)
        else $error("a retired operation finds no room: a credit was lost");
      IssueHasRoom_A: assert (!ex_issue_push || issue_room)
        else $error("a released WQE finds no room: a credit was lost");
      IssueCreditsInRange_A: assert (32'(issue_credits) <= ISSUE_DEPTH)
        else $error("more issue credits than entries");
    end
  end

endmodule

// formal/contexts.sv puts them around the execute stage itself.
`ifndef RNIC_CHECKS_BY_HAND
bind rnic_top rnic_checks #(
    .RECORD_DEPTH(RECORD_DEPTH),
    .ISSUE_DEPTH (ISSUE_DEPTH)
) u_checks (
    .touches      (u_execute.untaken),
    .touched      (u_execute.touched),
    .settled      (u_execute.settled),
    .outcome      (u_execute.outcome),
    .attempt      (u_execute.attempt),
    .failed       (u_execute.failed),
    .written      (u_execute.written),
    .issue_meta   (u_execute.issue_meta),
    .now_runnable (u_execute.now_runnable),
    .now_owes     (u_execute.now_owes),
    .record_room  (u_records.room),
    .issue_room   (u_issue_queue.room),
    .issue_credits(u_issue_queue.credits_q),
    .*
);
`endif
