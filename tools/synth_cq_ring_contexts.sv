// SPDX-License-Identifier: Apache-2.0
//
// For `make synth` only: what a completion queue costs. The ring with the memory of its
// contexts, as rnic_top holds them: read, verdict, write back, one operation per clock.
module cq_ring_contexts
  import rnic_pkg::*;
#(
    parameter int unsigned NUM_CQ = 64,
    localparam int unsigned CqA = $clog2(NUM_CQ)
) (
    input  logic           clk_i,
    input  straps_t        straps_i,
    input  logic           attempt_i,
    input  logic           event_worthy_i,
    input  logic           consume_i,
    input  logic [31:0]    index_i,
    input  logic [CqA-1:0] cqn_i,
    input  logic           create_i,
    input  ring_t          depth_i,
    output logic           failed_o,
    output logic           written_o,
    output ring_t          slot_o,
    output logic           phase_o,
    output logic           fires_o,
    output logic           raises_cq_err_o,
    output logic           consume_ok_o
);

  // The operation, while its context is read.
  straps_t        straps_q;
  logic           attempt_q, worthy_q, consume_q, create_q;
  logic [31:0]    index_q;
  logic [CqA-1:0] cqn_q;
  ring_t          depth_q;
  always_ff @(posedge clk_i) begin
    straps_q  <= straps_i;
    attempt_q <= attempt_i;
    worthy_q  <= event_worthy_i;
    consume_q <= consume_i;
    create_q  <= create_i;
    index_q   <= index_i;
    cqn_q     <= cqn_i;
    depth_q   <= depth_i;
  end

  cq_ctx_t cq, cq_next, cq_written;
  always_comb begin
    cq_written = cq_next;
    if (create_q) begin
      cq_written        = '0;
      cq_written.exists = 1'b1;
      cq_written.depth  = depth_q;
    end
  end

  ram_1r1w #(
      .Width($bits(cq_ctx_t)),
      .Depth(NUM_CQ)
  ) u_cq (
      .clk_i,
      .raddr_i (cqn_i),
      .rdata_o (cq),
      .we_i    (attempt_q || consume_q || create_q),
      .wlanes_i(1'b1),
      .waddr_i (cqn_q),
      .wdata_i (cq_written)
  );

  logic  failed, written, phase, fires, raises, consume_ok;
  ring_t slot;
  cq_ring u_ring (
      .straps_i       (straps_q),
      .cq_i           (cq),
      .attempt_i      (attempt_q),
      .event_worthy_i (worthy_q),
      .failed_o       (failed),
      .written_o      (written),
      .slot_o         (slot),
      .phase_o        (phase),
      .fires_o        (fires),
      .raises_cq_err_o(raises),
      .consume_i      (consume_q),
      .index_i        (index_q),
      .consume_ok_o   (consume_ok),
      .cq_o           (cq_next)
  );

  always_ff @(posedge clk_i) begin
    failed_o        <= failed;
    written_o       <= written;
    slot_o          <= slot;
    phase_o         <= phase;
    fires_o         <= fires;
    raises_cq_err_o <= raises;
    consume_ok_o    <= consume_ok;
  end

endmodule
