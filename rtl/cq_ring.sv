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

  // a + 1 == b, without waiting for a carry: where all lower bits agree, the carry into a bit
  // is one iff the bit below it went from 1 to 0.
  function automatic logic precedes(ring_t a, ring_t b);
    return (a ^ b) == {a[RingW-2:0] & ~b[RingW-2:0], 1'b1};
  endfunction

  // The last index before 2 x depth is odd.
  function automatic logic is_last(ring_t at, ring_t depth);
    return at[0] && precedes({1'b0, at[RingW-1:1]}, depth);
  endfunction

  function automatic ring_t step(ring_t at, ring_t depth);
    return is_last(at, depth) ? '0 : at + 1'b1;
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

  // On the ring of 2 x depth indices a program may move its index anywhere between the present
  // one and the producer's. What is left unread is then the distance to the producer.
  ring_t          index, unread;
  logic           wraps, below_producer, above_consumer, in_ring;
  logic [RingW:0] gap;
  assign index          = index_i[RingW-1:0];
  assign wraps          = cq_i.producer < cq_i.consumer;
  assign above_consumer = index >= cq_i.consumer;
  assign in_ring        = {1'b0, index} < {cq_i.depth, 1'b0};
  assign gap            = {1'b0, cq_i.producer} - {1'b0, index};
  assign below_producer = !gap[RingW];
  assign unread = below_producer ? gap[RingW-1:0] : gap[RingW-1:0] + {cq_i.depth[RingW-2:0], 1'b0};
  assign consume_ok_o   = index_i[31:RingW] == '0
                          && (wraps ? below_producer || (above_consumer && in_ring)
                                    : below_producer && above_consumer);

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
    end
    // Added, not chosen: the carry chain takes the one, and no multiplexer stands behind it.
    cq_o.lost = cq_i.lost + 32'(failed_o && !written_o && cq_i.lost != '1);
    if (consume_i && consume_ok_o) begin
      cq_o.consumer  = index;
      cq_o.occupancy = unread;
    end
  end

endmodule
