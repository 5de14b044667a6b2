// SPDX-License-Identifier: Apache-2.0
//
// Third step of the gate: the verdict on a call, now that the state of its QP is known.
//
// Purely combinational, and short: it chooses one of seven verdicts.
//
// Latency: none. Throughput: one call per clock.
module qp_gate_verdict
  import rnic_pkg::*;
  import qp_gate_pkg::*;
(
    input  verdicts_t  verdicts_i,   // on the call, against each state
    input  logic       exists_i,     // there is such a QP
    input  logic [3:0] state_i,      // real state; 7 and above never accepted
    input  logic       draining_i,   // in SQD, not yet drained
    input  logic       mig_armed_i,  // PATH_MIG_STATE is set to ARMED
    output logic       accept_o,     // the call is legal
    output qp_state_e  target_o,     // next state of an accepted call
    output grounds_t   grounds_o     // what the answer is made of
);

  // One verdict by the state; a state that there is not has none.
  function automatic logic of_state(states_t by_state, logic [2:0] at);
    logic [7:0] all;
    all = {1'b0, by_state};
    return all[at];
  endfunction

  logic [2:0] state;
  logic       no_state;
  assign state    = state_i[2:0];
  assign no_state = state_i > 4'd6;

  // REARM only once.
  logic rearmed, bad_mig, undrained;
  assign rearmed   = verdicts_i.rearm && mig_armed_i;
  assign bad_mig   = rearmed || of_state(verdicts_i.bad_mig, state);
  assign undrained = verdicts_i.leaves_sqd && draining_i && state_i == 4'(QPS_SQD);

  assign accept_o = exists_i && !no_state
                    && !of_state(verdicts_i.barred | verdicts_i.misfit, state)
                    && !verdicts_i.spoiled && !rearmed && !undrained;

  // Judged as 0..6 by then; a refused call does not use it.
  assign target_o = qp_state_e'(verdicts_i.mask[A_STATE] ? verdicts_i.target : state);

  // The order of the layers, as far as the masks of the answer follow from it.
  logic    well_formed;
  states_t misfit;
  assign well_formed = exists_i && !no_state && !verdicts_i.bad_encoding;
  assign misfit      = verdicts_i.misfit | {NumState{verdicts_i.nameless}};

  always_comb begin
    grounds_o.exists       = exists_i;
    grounds_o.bad_encoding = verdicts_i.bad_encoding || no_state;
    grounds_o.bad_cur      = of_state(verdicts_i.bad_cur, state);
    grounds_o.illegal      = of_state(verdicts_i.illegal, state);
    grounds_o.at_mask      = well_formed && of_state(~verdicts_i.no_row & misfit, state);
    grounds_o.at_value     = well_formed && of_state(~verdicts_i.no_row & ~misfit, state)
                             && (verdicts_i.any_range_bad || bad_mig);
    grounds_o.undrained    = undrained;
    grounds_o.row          = '0;
    grounds_o.transport    = verdicts_i.transport;
    grounds_o.mask         = verdicts_i.mask;
    grounds_o.bad_values   = verdicts_i.range_bad | (bad_mig ? MigState : '0);
    for (int unsigned s = 0; s < NumState; s++) begin
      if (state == 3'(s)) grounds_o.row |= verdicts_i.row[s];
    end
  end

endmodule
