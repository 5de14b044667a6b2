// SPDX-License-Identifier: Apache-2.0
//
// The ring of one completion queue: pointer arithmetic and the full verdict.
//
// Purely combinational: the context comes in, the next context goes out. Indices count
// modulo 2 x depth for any depth, so every slot is usable and full is told from empty
// without an extra bit. Either an attempt or a consume in one clock, never both.
//
// Latency: none. Throughput: one attempt or one consume per clock.
module cq_ring
  import rnic_pkg::*;
(
    input  straps_t straps_i,        // policies
    input  cq_ctx_t cq_i,            // context before

    // Completion attempt
    input  logic    attempt_i,       // a completion wants a slot
    input  logic    event_worthy_i,  // solicited receive or error: fires a solicited-only arm
    output logic    failed_o,        // C9-218, C9-225: the QP goes to ERR
    output logic    written_o,       // its entry is written
    output ring_t   slot_o,          // where, 0..depth - 1
    output logic    phase_o,         // of that entry
    output logic    fires_o,         // the armed completion event
    output logic    raises_cq_err_o, // first failure since the CQ was created

    // Doorbell
    input  logic        consume_i,     // a consumer index arrives
    input  logic [31:0] index_i,       // modulo 2 x depth
    output logic        consume_ok_o,  // it is within the occupancy

    output cq_ctx_t cq_o  // context after
);

  function automatic ring_t step(ring_t index, ring_t depth);
    logic [RingW:0] next;
    next = {1'b0, index} + 1'b1;
    return (next == {depth, 1'b0}) ? '0 : next[RingW-1:0];
  endfunction

  logic full, refused_full;
  assign full         = cq_i.occupancy == cq_i.depth;
  assign refused_full = full && !cq_i.ignore_overrun;

  assign failed_o  = attempt_i && (refused_full || cq_i.fault || cq_i.in_error);
  assign written_o = attempt_i && !cq_i.fault && (!failed_o || straps_i.cq_overwrite);
  assign phase_o   = cq_i.producer < cq_i.depth;
  assign slot_o    = phase_o ? cq_i.producer : cq_i.producer - cq_i.depth;

  assign fires_o = written_o && (cq_i.arm == ARM_NEXT
                                 || (cq_i.arm == ARM_SOLICITED && event_worthy_i));
  assign raises_cq_err_o = failed_o && !cq_i.cq_err_raised;

  logic [RingW:0] distance;
  logic           index_ok;
  assign index_ok = index_i < {14'd0, cq_i.depth, 1'b0};
  assign distance = (index_i[RingW-1:0] >= cq_i.consumer)
                    ? {1'b0, index_i[RingW-1:0]} - {1'b0, cq_i.consumer}
                    : {1'b0, index_i[RingW-1:0]} + {cq_i.depth, 1'b0} - {1'b0, cq_i.consumer};
  assign consume_ok_o = index_ok && distance <= {1'b0, cq_i.occupancy};

  always_comb begin
    cq_o = cq_i;
    if (written_o) begin
      cq_o.producer = step(cq_i.producer, cq_i.depth);
      if (full) cq_o.consumer = step(cq_i.consumer, cq_i.depth);
      else cq_o.occupancy = cq_i.occupancy + 1'b1;
    end
    if (fires_o) cq_o.arm = ARM_NONE;
    if (failed_o) begin
      cq_o.cq_err_raised = 1'b1;
      if (straps_i.cq_scope != SCOPE_AFFECTED) cq_o.in_error = 1'b1;
      if (!written_o && cq_i.lost != '1) cq_o.lost = cq_i.lost + 1'b1;
    end
    if (consume_i && consume_ok_o) begin
      cq_o.consumer  = index_i[RingW-1:0];
      cq_o.occupancy = cq_i.occupancy - distance[RingW-1:0];
    end
  end

endmodule
