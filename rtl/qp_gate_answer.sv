// SPDX-License-Identifier: Apache-2.0
//
// Last step of the gate: which layer objects, and everything that is wrong on it. Nothing but
// the answer to the caller waits for it.
//
// Purely combinational. The order of the layers is that of the verbs text: existence, encoding,
// CUR_STATE, transition, mask, value, drain; the first one that objects gives the answer.
//
// Latency: none. Throughput: one call per clock.
module qp_gate_answer
  import rnic_pkg::*;
  import qp_gate_pkg::*;
(
    input  grounds_t    grounds_i,    // of the verdict
    output layer_e      layer_o,      // the first that objects
    output logic [31:0] missing_o,    // layer mask: required, not given
    output logic [31:0] extra_o,      // layer mask: given, not allowed
    output attr_mask_t  bad_values_o  // layer value: attributes
);

  always_comb begin
    if (!grounds_i.exists) layer_o = LAYER_QP;
    else if (grounds_i.bad_encoding) layer_o = LAYER_ENCODING;
    else if (grounds_i.bad_cur) layer_o = LAYER_CUR_STATE;
    else if (grounds_i.illegal) layer_o = LAYER_TRANSITION;
    else if (grounds_i.at_mask) layer_o = LAYER_MASK;
    else if (grounds_i.at_value) layer_o = LAYER_VALUE;
    else if (grounds_i.undrained) layer_o = LAYER_DRAIN;
    else layer_o = LAYER_NONE;
  end

  sets_t sets;
  assign sets = sets_of(grounds_i.row, grounds_i.transport);

  always_comb begin
    missing_o    = '0;
    extra_o      = '0;
    bad_values_o = '0;
    if (grounds_i.at_mask) begin
      missing_o = {11'd0, sets.required} & ~grounds_i.mask;
      extra_o   = grounds_i.mask & ~{11'd0, sets.required | sets.optional | State};
    end
    if (grounds_i.at_value) bad_values_o = grounds_i.bad_values;
  end

endmodule
