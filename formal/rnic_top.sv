// SPDX-License-Identifier: Apache-2.0
//
// The whole control plane from reset, with every input free: the assertions of
// rtl/rnic_checks.sv, bound as in simulation, and what can only be said of the retired order.
module rnic_top_fv
  import rnic_pkg::*;
#(
    parameter int unsigned NUM_QP = 2,
    parameter int unsigned NUM_CQ = 2,
    parameter int unsigned DEPTH  = 2
) (
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
    input logic       rsp_ready_i,
    input logic       issue_ready_i,
    input logic       cqe_ready_i,
    input logic       event_ready_i,
    input logic       retire_ready_i
);

  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;

  retire_t retire;
  logic    retire_valid;
  logic    cmd_ready, post_ready, wire_ready, cqdb_ready;

  rnic_top #(
      .NUM_QP      (NUM_QP),
      .NUM_CQ      (NUM_CQ),
      .SQ_DEPTH    (DEPTH),
      .RQ_DEPTH    (DEPTH),
      .CQ_DEPTH_MAX(DEPTH),
      .NUM_KEY     (2),
      .ISSUE_DEPTH (2),
      .RECORD_DEPTH(2)
  ) u_top (
      .clk_i,
      .rst_ni(started_q),
      .policy_i,
      .hold_internal_i,
      .cmd_valid_i,
      .cmd_ready_o(cmd_ready),
      .cmd_i,
      .post_valid_i,
      .post_ready_o(post_ready),
      .post_i,
      .wire_valid_i,
      .wire_ready_o(wire_ready),
      .wire_i,
      .cqdb_valid_i,
      .cqdb_ready_o(cqdb_ready),
      .cqdb_i,
      .wqe_valid_i(1'b0),
      .wqe_ready_o(),
      .wqe_i('0),
      .fetch_valid_o(),
      .fetch_ready_i(1'b0),
      .fetch_o(),
      .unit_valid_i(1'b0),
      .unit_ready_o(),
      .unit_i('0),
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
      .retire_valid_o(retire_valid),
      .retire_ready_i,
      .retire_o(retire),
      .slot_kind_o()
  );

  // ---- accepted and retired operations of the channels

  logic retires;
  assign retires = retire_valid && retire_ready_i && started_q;

  logic [7:0] accepted_q, retired_q;
  always_ff @(posedge clk_i) begin
    if (!started_q) begin
      accepted_q <= '0;
      retired_q  <= '0;
    end else begin
      accepted_q <= accepted_q + 8'(cmd_valid_i && cmd_ready) + 8'(post_valid_i && post_ready)
                    + 8'(wire_valid_i && wire_ready) + 8'(cqdb_valid_i && cqdb_ready);
      retired_q  <= retired_q + 8'(retires && retire.channel != CH_INTERNAL);
    end
  end

  // ---- what became of each CQ and QP since it was made, in retired order

  logic cq_err_q[NUM_CQ], qp_fatal_q[NUM_QP];
  for (genvar c = 0; c < NUM_CQ; c++) begin : g_cq
    always_ff @(posedge clk_i) begin
      if (!started_q) cq_err_q[c] <= 1'b0;
      else if (retires && retire.cqn == c && retire.event_kinds.cq_err) cq_err_q[c] <= 1'b1;
      else if (retires && retire.cqn == c && retire.op == OP_CREATE_CQ
               && retire.outcome == OUT_OK) cq_err_q[c] <= 1'b0;
      if (started_q && retires && retire.cqn == c) begin
        CqErrOnce_A: assert (!(retire.event_kinds.cq_err && cq_err_q[c]))
          else $error("CQ_ERR of a CQ for the second time");
      end
    end
  end
  for (genvar q = 0; q < NUM_QP; q++) begin : g_qp
    always_ff @(posedge clk_i) begin
      if (!started_q) qp_fatal_q[q] <= 1'b0;
      else if (retires && retire.qpn == q && retire.event_kinds.qp_fatal) qp_fatal_q[q] <= 1'b1;
      else if (retires && retire.qpn == q
               && (retire.state_after == QPS_RESET || retire.state_after == QPS_NONE)) begin
        qp_fatal_q[q] <= 1'b0;
      end
      if (started_q && retires && retire.qpn == q) begin
        QpFatalOnce_A: assert (!(retire.event_kinds.qp_fatal && qp_fatal_q[q]))
          else $error("QP_FATAL of a QP for the second time since RESET");
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (started_q) begin
      NothingRetiresTwice_A: assert (retired_q <= accepted_q)
        else $error("more operations retired than were accepted");
      LostMeansErr_A: assert (!(retires && retire.cqe == CQE_LOST) || retire.state_after == QPS_ERR)
        else $error("a completion was lost and its QP lives on");
      FatalMeansErr_A: assert (!(retires && retire.event_kinds.qp_fatal)
                               || retire.state_after == QPS_ERR)
        else $error("QP_FATAL of a QP that is not in ERR");
      ErrLeavesOnlyToReset_A: assert (!(retires && retire.state_before == QPS_ERR)
                                      || retire.state_after inside {QPS_ERR, QPS_RESET, QPS_NONE})
        else $error("a QP left ERR other than to RESET");

      Retired_C: cover (retired_q == 8'd2);
    end
  end

endmodule
