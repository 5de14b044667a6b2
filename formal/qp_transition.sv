// SPDX-License-Identifier: Apache-2.0
//
// The gate of MODIFY_QP against the public table, for every mask, transport, state, value and
// policy at once.
//
// `qp_table_pkg` is written by tools/formal_tables.py from testbench/data/qp_transitions.csv,
// so the sets here have another source than those of the RTL. The order of the layers is
// written as a list of objections, of which the first one answers.
//
// The gate takes a call in three clocks; here it is whole, and each part is given in its clock.
module qp_transition_fv
  import rnic_pkg::*;
(
    input logic        clk_i,
    input straps_t     straps_i,
    input logic        exists_i,
    input logic [1:0]  transport_i,
    input logic [3:0]  state_i,
    input logic        draining_i,
    input logic        mig_armed_i,
    input logic [31:0] mask_i,
    input logic [7:0]  target_i,
    input logic [7:0]  cur_state_i,
    input logic [7:0]  path_mig_state_i,
    input attr_mask_t  range_bad_i
);

  // What was asked one, two and three clocks ago.
  typedef struct packed {
    logic        exists;
    logic [1:0]  transport;
    logic [3:0]  state;
    logic        draining;
    logic        mig_armed;
    logic [31:0] mask;
    logic [7:0]  target;
    logic [7:0]  cur_state;
    logic [7:0]  path_mig_state;
    attr_mask_t  range_bad;
  } question_t;
  question_t asked, ago1_q, ago2_q, ago3_q;
  logic [2:0] full_q = '0;  // there was a call so many clocks ago
  straps_t straps_q;
  assign asked = '{exists: exists_i, transport: transport_i, state: state_i, draining: draining_i,
                   mig_armed: mig_armed_i, mask: mask_i, target: target_i, cur_state: cur_state_i,
                   path_mig_state: path_mig_state_i, range_bad: range_bad_i};
  always_ff @(posedge clk_i) begin
    ago1_q   <= asked;
    ago2_q   <= ago1_q;
    ago3_q   <= ago2_q;
    full_q   <= {full_q[1:0], 1'b1};
    straps_q <= straps_i;
    // Straps stand still while calls are under way.
    assume (full_q == '0 || straps_q == straps_i);
  end

  logic        accepts, accept;
  layer_e      layer;
  logic [31:0] missing, extra, bad_values;
  attr_mask_t  bad;
  qp_state_e   chosen, target;
  assign bad_values = {11'd0, bad};

  qp_transition u_gate (
      .clk_i,
      .straps_i,
      .mask_i,
      .target_i,
      .cur_state_i,
      .path_mig_state_i,
      .range_bad_i,
      .transport_i (ago1_q.transport),
      .exists_i    (ago2_q.exists),
      .state_i     (ago2_q.state),
      .draining_i  (ago2_q.draining),
      .mig_armed_i (ago2_q.mig_armed),
      .accept_o    (accepts),
      .target_o    (chosen),
      .layer_o     (layer),
      .missing_o   (missing),
      .extra_o     (extra),
      .bad_values_o(bad)
  );

  // With the reasons, a clock later.
  always_ff @(posedge clk_i) begin
    accept <= accepts;
    target <= chosen;
  end

  // ---- the expected verdict

  logic with_state, with_cur;
  assign with_state = ago3_q.mask[0];
  assign with_cur   = ago3_q.mask[1];

  logic [7:0] goal, row_of;
  assign goal   = with_state ? ago3_q.target : {4'd0, ago3_q.state};
  assign row_of = (with_cur && straps_i.cur_state_override) ? ago3_q.cur_state : {4'd0, ago3_q.state};

  // Two policies change rows of the public table.
  function automatic qp_table_pkg::entry_t policy_row(straps_t straps, logic [1:0] transport,
                                                      logic [7:0] from, logic [7:0] to);
    policy_row = qp_table_pkg::entry(transport, from, to);
    if (from == 8'd0 && to == 8'd6 && transport != 2'd3) begin
      policy_row.legal = !straps.refuse_reset_to_err;
    end
    if (from == 8'd5 && to == 8'd3 && transport == 2'd0) begin
      policy_row.legal = straps.rc_sqe_row;
    end
  endfunction

  qp_table_pkg::entry_t real_row, judge_row;
  assign real_row  = policy_row(straps_i, ago3_q.transport, {4'd0, ago3_q.state}, goal);
  assign judge_row = policy_row(straps_i, ago3_q.transport, row_of, goal);

  logic [31:0] want_missing, want_extra, want_bad;
  assign want_missing = judge_row.required & ~ago3_q.mask;
  assign want_extra   = ago3_q.mask & ~32'd1 & ~judge_row.required & ~judge_row.optional;

  logic mig_wrong;
  always_comb begin
    case (ago3_q.path_mig_state)
      8'd0: mig_wrong = goal != 8'd3 && goal != 8'd4;
      8'd1: mig_wrong = goal != 8'd3 || ago3_q.mig_armed;
      default: mig_wrong = 1'b0;
    endcase
    want_bad = ago3_q.mask & {11'd0, ago3_q.range_bad};
    if (mig_wrong) want_bad[18] = ago3_q.mask[18];
  end

  // objection[n]: layer n objects.
  logic [7:1] objection;
  always_comb begin
    objection[1] = !ago3_q.exists;
    objection[2] = ago3_q.transport == 2'd3 || ago3_q.state > 4'd6 || (with_state && ago3_q.target > 8'd6)
                   || (with_cur && ago3_q.cur_state > 8'd6);
    objection[3] = with_cur && (ago3_q.cur_state < 8'd2 || ago3_q.cur_state > 8'd5
                                || (!straps_i.cur_state_override
                                    && ago3_q.cur_state != {4'd0, ago3_q.state}));
    objection[4] = !real_row.legal || !judge_row.legal;
    objection[5] = want_missing != '0 || want_extra != '0;
    objection[6] = want_bad != '0;
    objection[7] = ago3_q.state == 4'd4 && ago3_q.draining && !straps_i.allow_leave_draining
                   && (goal == 8'd3 || goal == 8'd4);
  end

  logic [7:0] want_layer;
  always_comb begin
    want_layer = 8'd0;
    for (int n = 7; n >= 1; n--) if (objection[n]) want_layer = 8'(n);
  end

  always_ff @(posedge clk_i) if (full_q[2]) begin
    LayerIsFirstObjection_A: assert (layer == want_layer)
      else $error("the gate answers on layer %0d, the table on %0d", layer, want_layer);
    AcceptIffNoLayer_A: assert (accept == (layer == LAYER_NONE))
      else $error("accepted and refused at once, or neither");
    MissingIsOfTable_A: assert (missing == (want_layer == 8'd5 ? want_missing : '0))
      else $error("missing attributes %h, the table says %h", missing, want_missing);
    ExtraIsOfTable_A: assert (extra == (want_layer == 8'd5 ? want_extra : '0))
      else $error("extra attributes %h, the table says %h", extra, want_extra);
    BadValuesAreNamed_A: assert (bad_values == (want_layer == 8'd6 ? want_bad : '0))
      else $error("bad values %h, expected %h", bad_values, want_bad);
    TargetIsAsked_A: assert (!accept || {5'd0, target} == goal)
      else $error("the next state is not the one asked for");
    // Said once more without the table.
    ErrLeavesOnlyToReset_A: assert (!accept || ago3_q.state != QPS_ERR
                                    || target inside {QPS_ERR, QPS_RESET})
      else $error("ERR left other than to RESET");
    NobodyIsSentToSqe_A: assert (!(accept && with_state) || target != QPS_SQE)
      else $error("software moved a QP into SQE");
    RefusedShowsAReason_A: assert (accept || layer != LAYER_MASK || missing != '0 || extra != '0)
      else $error("refused for its mask, with nothing named");

    AcceptedRc_C: cover (accept && ago3_q.transport == RC && target == QPS_RTS);
    AcceptedUc_C: cover (accept && ago3_q.transport == UC && target == QPS_RTR);
    AcceptedUd_C: cover (accept && ago3_q.transport == UD && target == QPS_SQD);
    OverriddenRow_C: cover (accept && row_of != {4'd0, ago3_q.state});
    MaskRefused_C: cover (layer == LAYER_MASK && missing != '0 && extra != '0);
    ValueRefused_C: cover (layer == LAYER_VALUE);
    DrainRefused_C: cover (layer == LAYER_DRAIN);
    LeftErr_C: cover (accept && ago3_q.state == QPS_ERR && target == QPS_RESET);
  end

endmodule
