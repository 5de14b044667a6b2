// SPDX-License-Identifier: Apache-2.0
//
// The gate of MODIFY_QP: is this call legal, and if not, on which layer and why?
//
// Judges in the order of the verbs text: existence, encoding, CUR_STATE, transition, mask,
// value, drain; the first layer that objects gives the answer and shows everything that is
// wrong on that layer. Four steps with a register after each of the first three; a QP's state
// is asked for as late as can be, so that calls in a row may be for the same QP. The pipeline
// of rnic_top has the same steps in its own stages.
//
//   clock 0  the call alone (qp_gate_call)
//   clock 1  against each state, with the transport (qp_gate_states)
//   clock 2  legal or not, with the state (qp_gate_verdict)
//   clock 3  if not, why (qp_gate_answer)
//
// Latency: 2 clocks from the call to the verdict, 3 to the reasons. Throughput: one call per clock.
module qp_transition
  import rnic_pkg::*;
  import qp_gate_pkg::*;
(
    input  logic        clk_i,
    input  straps_t     straps_i,          // policies, constant

    // Clock 0
    input  logic [31:0] mask_i,            // attr_mask of the call
    input  logic [7:0]  target_i,          // judged with the STATE bit only
    input  logic [7:0]  cur_state_i,       // judged with the CUR_STATE bit only
    input  logic [7:0]  path_mig_state_i,  // value of that attribute
    input  attr_mask_t  range_bad_i,       // attributes whose value is out of range

    // Clock 1
    input  logic [1:0]  transport_i,       // transport_e; 3 is refused

    // Clock 2
    input  logic        exists_i,          // there is such a QP
    input  logic [3:0]  state_i,           // real state; 7 and above never accepted
    input  logic        draining_i,        // in SQD, not yet drained
    input  logic        mig_armed_i,       // PATH_MIG_STATE is set to ARMED
    output logic        accept_o,          // the call is legal
    output qp_state_e   target_o,          // next state of an accepted call

    // Clock 3
    output layer_e      layer_o,           // the first that objects
    output logic [31:0] missing_o,         // layer mask: required, not given
    output logic [31:0] extra_o,           // layer mask: given, not allowed
    output attr_mask_t  bad_values_o       // layer value: attributes
);

  call_t call, call_q;
  qp_gate_call u_call (
      .straps_i,
      .mask_i,
      .target_i,
      .cur_state_i,
      .path_mig_state_i,
      .range_bad_i,
      .call_o(call)
  );

  verdicts_t verdicts, verdicts_q;
  qp_gate_states u_states (
      .straps_i,
      .call_i    (call_q),
      .transport_i,
      .verdicts_o(verdicts)
  );

  grounds_t grounds, grounds_q;
  qp_gate_verdict u_verdict (
      .verdicts_i(verdicts_q),
      .exists_i,
      .state_i,
      .draining_i,
      .mig_armed_i,
      .accept_o,
      .target_o,
      .grounds_o (grounds)
  );

  qp_gate_answer u_answer (
      .grounds_i(grounds_q),
      .layer_o,
      .missing_o,
      .extra_o,
      .bad_values_o
  );

  always_ff @(posedge clk_i) begin
    call_q     <= call;
    verdicts_q <= verdicts;
    grounds_q  <= grounds;
  end

endmodule
