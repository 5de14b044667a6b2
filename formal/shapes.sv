// SPDX-License-Identifier: Apache-2.0
//
// What an answer and a record can look like, whatever the operation: which of their numbers are
// small, and which bits are never set. For states.sv, which asks it of all that are on their way.

// An answer, of one that retired with this outcome.
module answer_shape
  import rnic_pkg::*;
#(
    parameter int unsigned NUM_QP   = 4,
    parameter int unsigned NUM_CQ   = 2,
    parameter int unsigned SQ_DEPTH = 4,
    parameter int unsigned RQ_DEPTH = 4
) (
    input  straps_t            straps_i,
    input  logic [2:0]         channel_i,
    input  logic [7:0]         op_i,
    input  outcome_e           outcome_i,
    input  logic [DetailW-1:0] detail_i,
    input  qp_attr_t           attr_i,      // of QUERY_QP
    input  logic               joined_i,    // attr_i and the answer of MODIFY_QP are there
    output logic               fits_o
);

  qp_ctx_t        qp;
  cq_detail_t     cq;
  modify_detail_t modify;
  post_detail_t   post;
  assign qp     = qp_ctx_t'(detail_i[$bits(qp_ctx_t)-1:0]);
  assign cq     = cq_detail_t'(detail_i[$bits(cq_detail_t)-1:0]);
  assign modify = modify_detail_t'(detail_i[$bits(modify_detail_t)-1:0]);
  assign post   = post_detail_t'(detail_i[$bits(post_detail_t)-1:0]);

  attr_mask_t bad;
  qp_attr_values u_values (
      .straps_i,
      .attr_i,
      .bad_o(bad)
  );

  logic qp_fits, cq_fits;
  assign qp_fits = qp.exists && qp.state <= QPS_ERR && qp.transport <= 2'd2
                   && qp.drain <= DRAINED && qp.send_cqn < 16'(NUM_CQ) && qp.recv_cqn < 16'(NUM_CQ)
                   && qp.sq_head < slot_t'(SQ_DEPTH) && qp.rq_head < slot_t'(RQ_DEPTH)
                   && qp.sq_ceiling <= count_t'(SQ_DEPTH) && qp.rq_ceiling <= count_t'(RQ_DEPTH)
                   && qp.sq_queued <= qp.sq_ceiling && qp.rq_queued <= qp.rq_ceiling
                   && qp.sq_issued <= qp.sq_queued && qp.sq_reads <= qp.sq_issued
                   && qp.sq_flush_owed <= qp.sq_queued && qp.attr_set[1:0] == '0
                   && (!joined_i || (bad & qp.attr_set) == '0);
  assign cq_fits = cq.ring.exists && cq.ring.depth != '0 && cq.ring.depth <= 17'd65536
                   && {1'b0, cq.ring.producer} < {cq.ring.depth, 1'b0}
                   && {1'b0, cq.ring.consumer} < {cq.ring.depth, 1'b0}
                   && cq.ring.occupancy <= cq.ring.depth
                   && cq.ring.arm inside {ARM_NONE, ARM_SOLICITED, ARM_NEXT}
                   && cq.posters.attached <= 2 * NUM_QP
                   && cq.posters.ceiling_sum <= NUM_QP * (SQ_DEPTH + RQ_DEPTH);

  always_comb begin
    fits_o = 1'b1;
    if (channel_i inside {CH_POST[2:0], CH_WQE[2:0]}) begin
      if (outcome_i == OUT_OK) begin
        fits_o = post.slot < slot_t'((op_i == OP_POST_RECV) ? RQ_DEPTH : SQ_DEPTH);
      end
      if (outcome_i == OUT_BAD_WQE) fits_o = post.errors != '0;
    end else if (channel_i == CH_CMD[2:0]) begin
      if (op_i == OP_QUERY_QP && outcome_i == OUT_OK) fits_o = qp_fits;
      if (op_i == OP_QUERY_CQ && outcome_i == OUT_OK) fits_o = cq_fits;
      // STATE is no attribute that could be missing, superfluous or out of range.
      if (op_i == OP_MODIFY_QP && joined_i) begin
        fits_o = modify.missing[31:NUM_ATTR] == '0 && modify.missing[1:0] == '0 && !modify.extra[0]
                 && modify.bad_values[1:0] == '0;
      end
    end
  end

endmodule

// What retires with it.
module retire_shape
  import rnic_pkg::*;
#(
    parameter int unsigned NUM_QP = 4,
    parameter int unsigned NUM_CQ = 2
) (
    input  retire_core_t retire_i,
    input  logic         layer_i,   // that of MODIFY_QP is there
    output logic         fits_o
);

  logic names_qp, names_cq;
  assign names_qp = retire_i.kinds.cq_err || retire_i.kinds.qp_fatal || retire_i.kinds.sq_drained
                    || retire_i.cqe != CQE_NONE;
  assign names_cq = retire_i.kinds.cq_err || retire_i.kinds.qp_fatal || retire_i.kinds.completion
                    || retire_i.cqe != CQE_NONE;
  assign fits_o = (!names_qp || retire_i.qpn < NUM_QP) && (!names_cq || retire_i.cqn < NUM_CQ)
                  && (retire_i.state_before <= 4'd6 || retire_i.state_before == '1)
                  && (retire_i.state_after <= 4'd6 || retire_i.state_after == '1)
                  && retire_i.outcome <= OUT_BAD_ACCESS && retire_i.channel <= CH_WQE[2:0]
                  && retire_i.cqe inside {CQE_NONE, CQE_WRITTEN, CQE_LOST}
                  && (!layer_i || (retire_i.layer <= LAYER_DRAIN
                                   && (retire_i.layer == LAYER_NONE
                                       || retire_i.op == OP_MODIFY_QP)))
                  && (retire_i.channel == CH_WQE[2:0] || retire_i.key_version == '0)
                  && (retire_i.channel != CH_INTERNAL[2:0] || retire_i.tag == '0);

endmodule

// Both, and the entry.
module record_shape
  import rnic_pkg::*;
  import stage_pkg::*;
#(
    parameter int unsigned NUM_QP   = 4,
    parameter int unsigned NUM_CQ   = 2,
    parameter int unsigned SQ_DEPTH = 4,
    parameter int unsigned RQ_DEPTH = 4
) (
    input  straps_t straps_i,
    input  record_t record_i,
    input  logic    layer_i,   // that of MODIFY_QP is there
    input  logic    joined_i,  // attributes and the answer of MODIFY_QP are there
    output logic    fits_o
);

  logic retire_fits, answer_fits;
  retire_shape #(
      .NUM_QP(NUM_QP),
      .NUM_CQ(NUM_CQ)
  ) u_retire (
      .retire_i(record_i.retire),
      .layer_i,
      .fits_o  (retire_fits)
  );
  answer_shape #(
      .NUM_QP  (NUM_QP),
      .NUM_CQ  (NUM_CQ),
      .SQ_DEPTH(SQ_DEPTH),
      .RQ_DEPTH(RQ_DEPTH)
  ) u_answer (
      .straps_i,
      .channel_i(record_i.retire.channel),
      .op_i     (record_i.retire.op),
      .outcome_i(record_i.retire.outcome),
      .detail_i (record_i.detail),
      .attr_i   (record_i.attr),
      .joined_i,
      .fits_o   (answer_fits)
  );
  assign fits_o = retire_fits && (!record_i.has_rsp || answer_fits)
                  && record_i.has_rsp == calls(record_i.retire.channel)
                  && (record_i.retire.cqe != CQE_WRITTEN || record_i.cqe.index < 17'd65536);

endmodule
