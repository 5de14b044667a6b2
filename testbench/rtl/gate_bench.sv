// SPDX-License-Identifier: Apache-2.0
//
// Many instances of the gate of MODIFY_QP behind one check of the attribute values.
//
// Instance `i` judges the mask with `i` in bits 5..2, so the fixed price of an evaluation is
// paid once for sixteen verdicts; STATE and CUR_STATE (bits 0 and 1) come from the stimulus.
module gate_bench
  import rnic_pkg::*;
#(
    localparam int unsigned LowW = 4,
    localparam int unsigned N    = 1 << LowW
) (
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

  qp_attr_t   attr;
  attr_mask_t range_bad;
  assign attr = qp_attr_t'(stim_i[15:3]);

  qp_attr_values u_values (
      .straps_i(straps),
      .attr_i  (attr),
      .bad_o   (range_bad)
  );

  for (genvar i = 0; i < N; i++) begin : g_gate
    logic      accept;
    layer_e    layer;
    qp_state_e target;

    qp_transition u_gate (
        .straps_i        (straps),
        .exists_i        (stim_i[1][26]),
        .transport_i     (stim_i[1][25:24]),
        .state_i         (stim_i[1][3:0]),
        .draining_i      (stim_i[1][27]),
        .mig_armed_i     (stim_i[1][28]),
        .mask_i          ({stim_i[0][31:LowW+2], LowW'(i), stim_i[0][1:0]}),
        .target_i        (stim_i[1][15:8]),
        .cur_state_i     (stim_i[1][23:16]),
        .path_mig_state_i(attr.path_mig_state),
        .range_bad_i     (range_bad),
        .accept_o        (accept),
        .layer_o         (layer),
        .missing_o       (resp_o[4*i+1]),
        .extra_o         (resp_o[4*i+2]),
        .bad_values_o    (resp_o[4*i+3]),
        .target_o        (target)
    );
    assign resp_o[4*i] = {15'd0, accept, 5'd0, target, layer};
  end

endmodule
