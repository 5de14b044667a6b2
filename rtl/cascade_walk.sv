// SPDX-License-Identifier: Apache-2.0
//
// After a CQ error, the walk that visits every QP once. An error during a walk starts the
// count anew, since the walk may have passed a QP of the newly failed CQ already.
//
// Latency: one clock from the error to the first QP. Throughput: one QP per clock.
module cascade_walk #(
    parameter int unsigned NUM_QP = 64,
    parameter int unsigned QpnW   = 16 // bits of a QP number
) (
    input  logic            clk_i,
    input  logic            rst_ni,
    input  logic            start_i,   // a CQ error bit rises
    output logic            active_o,  // a walk is under way
    output logic [QpnW-1:0] qpn_o,     // QP to probe
    input  logic            step_i     // it is being probed
);

  localparam int unsigned CntW = $clog2(NUM_QP + 1);

  logic [CntW-1:0] remaining_q;
  logic [QpnW-1:0] qpn_q;

  assign active_o = remaining_q != '0;
  assign qpn_o    = qpn_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      remaining_q <= '0;
      qpn_q       <= '0;
    end else begin
      if (start_i) remaining_q <= CntW'(NUM_QP);
      else if (step_i) remaining_q <= remaining_q - 1'b1;
      if (step_i) qpn_q <= (32'(qpn_q) == NUM_QP - 1) ? '0 : qpn_q + 1'b1;
    end
  end

endmodule
