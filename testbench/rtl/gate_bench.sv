// SPDX-License-Identifier: Apache-2.0
//
// Four instances of the gate of MODIFY_QP behind one check of the attribute values.
//
// A step's stimulus is taken at its edge, and an answer shows three steps later: each part of the
// question waits here for its clock.
//
// Instance `i` judges the mask with `i` in bits 3..2, so the fixed price of an evaluation is
// paid once for four verdicts; STATE and CUR_STATE (bits 0 and 1) come from the stimulus. (More
// of them cost the compiler more than they gain the tests.)
module gate_bench
  import rnic_pkg::*;
#(
    localparam int unsigned LowW = 2,
    localparam int unsigned N    = 1 << LowW
) (
    input  logic              clk_i,
    input  logic [15:0][31:0] stim_i,
    // Four words per instance. Unpacked: Verilator would concatenate a packed one anew for
    // each word.
    output logic [31:0]       resp_o [4*N]
);

  straps_t straps;
  always_comb begin
    straps = '0;
    straps.refuse_reset_to_err  = stim_i[2][0];
    straps.cur_state_override   = stim_i[2][1];
    straps.rc_sqe_row           = stim_i[2][2];
    straps.allow_leave_draining = stim_i[2][3];
    straps.link_infiniband      = stim_i[2][4];
  end

  // The word of the QP, a clock and two clocks after the call.
  logic [31:0] qp_q, qp_qq;
  always_ff @(posedge clk_i) begin
    qp_q  <= stim_i[1];
    qp_qq <= qp_q;
  end

  qp_attr_t   attr;
  attr_mask_t range_bad;
  assign attr = qp_attr_t'(stim_i[15:3]);

  qp_attr_values u_values (
      .straps_i(straps),
      .attr_i  (attr),
      .bad_o   (range_bad)
  );

  for (genvar i = 0; i < N; i++) begin : g_gate
    logic      accept, accept_q;
    layer_e    layer;
    qp_state_e target, target_q;
    attr_mask_t bad_values;

    qp_transition u_gate (
        .clk_i,
        .straps_i        (straps),
        .mask_i          ({stim_i[0][31:LowW+2], LowW'(i), stim_i[0][1:0]}),
        .target_i        (stim_i[1][15:8]),
        .cur_state_i     (stim_i[1][23:16]),
        .path_mig_state_i(attr.path_mig_state),
        .range_bad_i     (range_bad),
        .transport_i     (qp_q[25:24]),
        .exists_i        (qp_qq[26]),
        .state_i         (qp_qq[3:0]),
        .draining_i      (qp_qq[27]),
        .mig_armed_i     (qp_qq[28]),
        .accept_o        (accept),
        .target_o        (target),
        .layer_o         (layer),
        .missing_o       (resp_o[4*i+1]),
        .extra_o         (resp_o[4*i+2]),
        .bad_values_o    (bad_values)
    );
    always_ff @(posedge clk_i) begin
      accept_q <= accept;
      target_q <= target;
    end
    assign resp_o[4*i]   = {15'd0, accept_q, 5'd0, target_q, layer};
    assign resp_o[4*i+3] = {11'd0, bad_values};
  end

endmodule
