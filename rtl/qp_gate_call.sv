// SPDX-License-Identifier: Apache-2.0
//
// First step of the gate: what a call of MODIFY_QP says of itself, whatever QP it is for.
//
// Purely combinational. The real state is not known, so the call is judged against all seven;
// nor is the transport, so the mask is held against every row for all three.
//
// Latency: none. Throughput: one call per clock.
module qp_gate_call
  import rnic_pkg::*;
  import qp_gate_pkg::*;
(
    input  straps_t     straps_i,          // policies
    input  logic [31:0] mask_i,            // attr_mask of the call
    input  logic [7:0]  target_i,          // judged with the STATE bit only
    input  logic [7:0]  cur_state_i,       // judged with the CUR_STATE bit only
    input  logic [7:0]  path_mig_state_i,  // value of that attribute
    input  attr_mask_t  range_bad_i,       // attributes whose value is out of range
    output call_t       call_o             // what it says
);

  // The codes 0 to 6.
  function automatic logic is_state(logic [7:0] code);
    return code[7:3] == '0 && code[2:0] != '1;
  endfunction

  attr_mask_t attrs;
  assign attrs = mask_i[NUM_ATTR-1:0];

  logic has_state, has_cur;
  assign has_state = mask_i[A_STATE];
  assign has_cur   = mask_i[A_CUR_STATE];

  // An attribute at a time, with the table turned into constants: the simulator would work it out
  // anew in each clock.
  rows_t misfit_by[NUM_ATTR];
  for (genvar a = 0; a < NUM_ATTR; a++) begin : g_attr
    localparam rows_t Given = misfits(a, 1'b1);
    localparam rows_t LeftOut = misfits(a, 1'b0);
    assign misfit_by[a] = attrs[a] ? Given : LeftOut;
  end

  logic [2:0] cur;
  logic       cur_live, overrides;
  assign cur       = cur_state_i[2:0];
  assign cur_live  = cur inside {QPS_RTR, QPS_RTS, QPS_SQD, QPS_SQE};
  assign overrides = has_cur && straps_i.cur_state_override;

  // Against each real state: the row of the real pair, and the row that judges the mask. Without
  // the STATE bit the target is the state itself.
  by_state_t  real_row, row;
  row_t [7:0] judged;  // from each state; 7 is none
  always_comb begin
    real_row = RowsTo[target_i[2:0]];
    if (!has_state) for (int unsigned s = 0; s < NumState; s++) real_row[s] = RowsTo[s][s];
    row    = real_row;
    judged = {row_t'('0), RowsTo[target_i[2:0]]};
    if (overrides) row = has_state ? {NumState{judged[cur]}} : RowsFrom[cur];
  end

  rows_t   misfit;
  states_t in_table, by_sqe_rts, bad_cur, to_rts, to_live;
  always_comb begin
    misfit = '0;
    for (int unsigned a = 0; a < NUM_ATTR; a++) misfit |= misfit_by[a];

    for (int unsigned s = 0; s < NumState; s++) begin
      logic [2:0] to;
      to            = has_state ? target_i[2:0] : 3'(s);
      in_table[s]   = real_row[s] != '0 && row[s] != '0
                      && !(3'(s) == QPS_RESET && to == QPS_ERR && straps_i.refuse_reset_to_err);
      by_sqe_rts[s] = real_row[s].sqe_rts || row[s].sqe_rts;
      bad_cur[s]    = has_cur && (!cur_live || (!straps_i.cur_state_override && cur != 3'(s)));
      to_rts[s]     = to == QPS_RTS;
      to_live[s]    = to inside {QPS_RTS, QPS_SQD};
    end
  end

  // In one go: the simulator writes into a part of a wide record bit by bit.
  assign call_o = '{
      mask: mask_i,
      target: target_i[2:0],
      bad_encoding: (has_state && !is_state(target_i)) || (has_cur && !is_state(cur_state_i)),
      bad_cur: bad_cur,
      in_table: in_table,
      by_sqe_rts: by_sqe_rts,
      row: row,
      nameless: |mask_i[31:NUM_ATTR],
      misfit: misfit,
      to_rts: to_rts,
      to_live: to_live,
      rearm: mask_i[A_PATH_MIG_STATE] && path_mig_state_i == 8'd1,
      migrated: mask_i[A_PATH_MIG_STATE] && path_mig_state_i == 8'd0,
      range_bad: attrs & range_bad_i
  };

endmodule
