// SPDX-License-Identifier: Apache-2.0
//
// Memory regions by local key: index in bits 31:8 of an lkey, variant in bits 7:0.
//
// A walk sees one table from its first to its last look-up: a change that arrives in the
// meantime waits until `hold_i` falls. Memory without reset: after it every entry is
// invalidated once, one per clock.
//
// Latency: one clock from look-up to answer. Throughput: one look-up and one change per clock.
module key_table
  import rnic_pkg::*;
#(
    parameter int unsigned NUM_KEY = 64
) (
    input  logic        clk_i,
    input  logic        rst_ni,
    output logic        ready_o,         // entries are initialised, no change waits
    input  logic        hold_i,          // a walk is under way
    // One change at a time
    input  logic        change_valid_i,  // register or deregister
    input  key_change_t change_i,        // index, and its new entry
    output logic        applied_o,       // in this clock
    output logic [15:0] version_o,       // changes applied since reset
    // Look-up
    input  logic        lookup_i,        // resolve an lkey
    input  sge_t        sge_i,           // lkey, address and byte count
    input  logic        writes_i,        // the operation writes local memory
    output logic        done_o,          // one clock later
    output logic        resolves_o       // with done_o: the bytes may be used
);

  localparam int unsigned KeyA = (NUM_KEY > 1) ? $clog2(NUM_KEY) : 1;

  // ---- init

  localparam int unsigned InitW = $clog2(NUM_KEY + 1);
  logic [InitW-1:0] init_q;
  logic             init_busy;
  assign init_busy = init_q != InitW'(NUM_KEY);
  always_ff @(posedge clk_i) begin
    if (!rst_ni) init_q <= '0;
    else if (init_busy) init_q <= init_q + 1'b1;
  end

  // ---- changes

  logic        pending_q;
  key_change_t change_q;
  assign applied_o = pending_q && !hold_i && !init_busy;
  assign ready_o   = !init_busy && !pending_q && !change_valid_i;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      pending_q <= 1'b0;
      version_o <= '0;
    end else begin
      pending_q <= change_valid_i || (pending_q && !applied_o);
      version_o <= version_o + 16'(applied_o);
    end
    if (change_valid_i) change_q <= change_i;
  end

  // ---- look-up

  key_entry_t found;
  ram_1r1w #(
      .Width($bits(key_entry_t)),
      .Depth(NUM_KEY)
  ) u_keys (
      .clk_i,
      .raddr_i (sge_i.lkey[8 +: KeyA]),
      .rdata_o (found),
      .we_i    (init_busy || applied_o),
      .wlanes_i(1'b1),
      .waddr_i (init_busy ? KeyA'(init_q) : change_q.index[KeyA-1:0]),
      .wdata_i (init_busy ? '0 : change_q.entry)
  );

  logic        in_range_q, writes_q;
  logic [7:0]  variant_q;
  logic [64:0] first_q, last_q;  // of the element's bytes; a wrap shows in bit 64
  always_ff @(posedge clk_i) begin
    done_o <= rst_ni && lookup_i;
    if (lookup_i) begin
      in_range_q <= 32'(sge_i.lkey[31:8]) < NUM_KEY;
      variant_q  <= sge_i.lkey[7:0];
      writes_q   <= writes_i;
      first_q    <= {1'b0, sge_i.addr};
      last_q     <= {1'b0, sge_i.addr} + 65'(sge_i.bytes) - 65'd1;
    end
  end

  assign resolves_o = in_range_q && found.exists && found.variant == variant_q
                      && (found.local_write || !writes_q)
                      && first_q >= {1'b0, found.base} && last_q <= {1'b0, found.last};

endmodule
