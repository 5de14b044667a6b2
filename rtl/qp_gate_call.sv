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

  logic [2:0] cur;
  logic       cur_live, overrides;
  assign cur       = cur_state_i[2:0];
  assign cur_live  = cur inside {QPS_RTR, QPS_RTS, QPS_SQD, QPS_SQE};
  assign overrides = has_cur && straps_i.cur_state_override;

  always_comb begin
    call_o              = '0;
    call_o.mask         = mask_i;
    call_o.target       = target_i[2:0];
    call_o.bad_encoding = (has_state && !is_state(target_i))
                          || (has_cur && !is_state(cur_state_i));
    call_o.rearm        = mask_i[A_PATH_MIG_STATE] && path_mig_state_i == 8'd1;
    call_o.migrated     = mask_i[A_PATH_MIG_STATE] && path_mig_state_i == 8'd0;
    call_o.range_bad    = attrs & range_bad_i;
    call_o.nameless     = |mask_i[31:NUM_ATTR];

    for (int unsigned s = 0; s < NumState; s++) begin
      logic [2:0] from, to;
      row_t       real_row;
      from     = overrides ? cur : 3'(s);
      to       = has_state ? target_i[2:0] : 3'(s);
      real_row = row_of(3'(s), to);
      call_o.row[s]        = row_of(from, to);
      call_o.in_table[s]   = real_row != '0 && call_o.row[s] != '0
                             && !(3'(s) == QPS_RESET && to == QPS_ERR
                                  && straps_i.refuse_reset_to_err);
      call_o.by_sqe_rts[s] = real_row.sqe_rts || call_o.row[s].sqe_rts;
      call_o.bad_cur[s]    = has_cur
                             && (!cur_live || (!straps_i.cur_state_override && cur != 3'(s)));
      call_o.to_rts[s]     = to == QPS_RTS;
      call_o.to_live[s]    = to inside {QPS_RTS, QPS_SQD};
    end

    for (int unsigned t = 0; t < 3; t++) begin
      for (int unsigned r = 0; r < NumRow; r++) begin
        sets_t sets;
        sets = sets_of(row_t'(NumRow'(1) << r), 2'(t));
        call_o.misfit[t][r] =
            |(sets.required & ~attrs) || |(attrs & ~(sets.required | sets.optional | State));
      end
    end
  end

endmodule
