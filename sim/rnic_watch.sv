// SPDX-License-Identifier: Apache-2.0
//
// What a person looks at in a waveform: the operation in each stage by name, what it did,
// and the contexts of the first queue pairs and completion queues. Bound into rnic_top for
// simulation; plain signals, so that every viewer shows the names of the enums.
module rnic_watch
  import rnic_pkg::*;
#(
    parameter int unsigned NUM_QP = 64,
    parameter int unsigned NUM_CQ = 16
) (
    input logic       clk_i,
    input logic       rst_ni,
    input logic       arb_valid,
    input slot_op_t   arb_op,
    input logic       rd_valid_q,
    input slot_op_t   rd_op_q,
    input logic       ex_valid_q,
    input slot_op_t   ex_op_q,
    input logic       ex_retires,
    input record_t    ex_record,
    input record_t    out_record,
    input logic       ex_qp_we,
    input qp_ctx_t    ex_qp_next,
    input logic       ex_cq_we,
    input cq_ctx_t    ex_cq_next,
    input logic [$clog2(NUM_CQ)-1:0] ex_cq_q,
    input logic       cqe_valid_o,
    input logic       cqe_ready_i,
    input cqe_write_t cqe_o,
    input logic       retire_valid_o,
    input logic       retire_ready_i,
    input retire_t    retire_o
);

  // ---- stages

  kind_e       arb_kind, rd_kind, ex_kind;
  logic [31:0] arb_qpn, rd_qpn, ex_qpn, ex_tag;
  assign arb_kind = arb_op.kind;
  assign rd_kind  = rd_op_q.kind;
  assign ex_kind  = ex_op_q.kind;
  assign arb_qpn  = arb_op.qpn;
  assign rd_qpn   = rd_op_q.qpn;
  assign ex_qpn   = ex_op_q.qpn;
  assign ex_tag   = ex_op_q.tag;

  // ---- what the operation in EX does, held until the next one

  qp_state_e    ex_state_before, ex_state_after;
  outcome_e     ex_outcome;
  cqe_fate_e    ex_cqe;
  event_kinds_t ex_event_kinds;
  assign ex_state_before = qp_state_e'(ex_record.retire.state_before[2:0]);
  assign ex_state_after  = qp_state_e'(ex_record.retire.state_after[2:0]);
  assign ex_outcome      = ex_record.retire.outcome;
  assign ex_cqe          = ex_record.retire.cqe;
  assign ex_event_kinds  = ex_record.retire.kinds;

  // A clock later: which layer of the gate refused it, if it is a modify.
  layer_e out_layer;
  assign out_layer = out_record.retire.layer;

  // ---- outputs

  logic        cqe_accepted, retired;
  logic [31:0] cqe_cqn, cqe_index, cqe_qpn, retired_qpn, retired_tag;
  logic [7:0]  cqe_status;
  logic        cqe_phase;
  channel_e    retired_channel;
  op_e         retired_op;
  outcome_e    retired_outcome;
  assign cqe_accepted    = cqe_valid_o && cqe_ready_i;
  assign cqe_cqn         = cqe_o.cqn;
  assign cqe_index       = cqe_o.index;
  assign cqe_qpn         = cqe_o.cqe.qpn;
  assign cqe_status      = cqe_o.cqe.status;
  assign cqe_phase       = cqe_o.cqe.phase[0];
  assign retired         = retire_valid_o && retire_ready_i;
  assign retired_channel = retire_o.channel;
  assign retired_op      = op_e'(retire_o.op);
  assign retired_outcome = retire_o.outcome;
  assign retired_qpn     = retire_o.qpn;
  assign retired_tag     = retire_o.tag;

  // ---- contexts of the first few

  localparam int unsigned ShownQps = (NUM_QP < 8) ? NUM_QP : 8;
  localparam int unsigned ShownCqs = (NUM_CQ < 4) ? NUM_CQ : 4;

  for (genvar q = 0; q < ShownQps; q++) begin : g_qp
    logic       exists;
    transport_e transport;
    qp_state_e  state;
    drain_e     drain;
    count_t     sq_queued, sq_issued, sq_flush_owed, rq_queued;
    slot_t      sq_head, rq_head;
    block_e     blocked;
    logic       fatal;
    attr_mask_t attr_set;
    always_ff @(posedge clk_i) begin
      if (!rst_ni) begin
        exists        <= 1'b0;
        transport     <= RC;
        state         <= QPS_RESET;
        drain         <= DRAIN_NONE;
        sq_queued     <= '0;
        sq_issued     <= '0;
        sq_flush_owed <= '0;
        rq_queued     <= '0;
        sq_head       <= '0;
        rq_head       <= '0;
        blocked       <= BLOCK_NO;
        fatal         <= 1'b0;
        attr_set      <= '0;
      end else if (ex_qp_we && ex_op_q.qpn == q) begin
        exists        <= ex_qp_next.exists;
        transport     <= transport_e'(ex_qp_next.transport);
        state         <= ex_qp_next.state;
        drain         <= ex_qp_next.drain;
        sq_queued     <= ex_qp_next.sq_queued;
        sq_issued     <= ex_qp_next.sq_issued;
        sq_flush_owed <= ex_qp_next.sq_flush_owed;
        rq_queued     <= ex_qp_next.rq_queued;
        sq_head       <= ex_qp_next.sq_head;
        rq_head       <= ex_qp_next.rq_head;
        blocked       <= ex_qp_next.blocked;
        fatal         <= ex_qp_next.fatal;
        attr_set      <= ex_qp_next.attr_set;
      end
    end
  end

  for (genvar c = 0; c < ShownCqs; c++) begin : g_cq
    logic        exists, in_error, fault;
    ring_t       depth, producer, consumer, occupancy;
    arm_e        arm;
    logic [31:0] lost;
    always_ff @(posedge clk_i) begin
      if (!rst_ni) begin
        exists    <= 1'b0;
        in_error  <= 1'b0;
        fault     <= 1'b0;
        depth     <= '0;
        producer  <= '0;
        consumer  <= '0;
        occupancy <= '0;
        arm       <= ARM_NONE;
        lost      <= '0;
      end else if (ex_cq_we && 32'(ex_cq_q) == c) begin
        exists    <= ex_cq_next.exists;
        in_error  <= ex_cq_next.in_error;
        fault     <= ex_cq_next.fault;
        depth     <= ex_cq_next.depth;
        producer  <= ex_cq_next.producer;
        consumer  <= ex_cq_next.consumer;
        occupancy <= ex_cq_next.occupancy;
        arm       <= ex_cq_next.arm;
        lost      <= ex_cq_next.lost;
      end
    end
  end

endmodule

bind rnic_top rnic_watch #(
    .NUM_QP(NUM_QP),
    .NUM_CQ(NUM_CQ)
) u_watch (.*);
