// SPDX-License-Identifier: Apache-2.0
//
// One completion queue: cq_ring with its context in a register. In a design with many queues
// the register is a memory, read before and written after.
module cq_ring_alone
  import rnic_pkg::*;
(
    input  logic        clk_i,
    input  logic        rst_ni,
    input  logic [16:0] depth_i,       // entries, sampled in reset
    input  logic        attempt_i,     // a completion wants a slot
    output logic        failed_o,
    output logic        written_o,
    output logic [16:0] slot_o,
    output logic        phase_o,
    input  logic        consume_i,     // a new consumer index, modulo 2 x depth
    input  logic [31:0] index_i,
    output logic        consume_ok_o,
    output logic [16:0] occupancy_o,
    output logic [31:0] lost_o
);

  // What was read too late is kept, and a queue that was full once stays usable.
  straps_t straps;
  always_comb begin
    straps              = '0;
    straps.cq_scope     = SCOPE_AFFECTED;
    straps.cq_overwrite = 1'b0;
  end

  cq_ctx_t cq_q, cq_d;
  logic    unused_fires, unused_raises;

  cq_ring u_ring (
      .straps_i       (straps),
      .cq_i           (cq_q),
      .attempt_i,
      .event_worthy_i (1'b0),
      .failed_o,
      .written_o,
      .slot_o,
      .phase_o,
      .fires_o        (unused_fires),
      .raises_cq_err_o(unused_raises),
      .consume_i,
      .index_i,
      .consume_ok_o,
      .cq_o           (cq_d)
  );

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      cq_q        <= '0;
      cq_q.exists <= 1'b1;
      cq_q.depth  <= depth_i;
    end else begin
      cq_q <= cq_d;
    end
  end

  assign occupancy_o = cq_q.occupancy;
  assign lost_o      = cq_q.lost;

endmodule
