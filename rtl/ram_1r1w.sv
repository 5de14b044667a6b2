// SPDX-License-Identifier: Apache-2.0
//
// The one memory of this design: one read and one write port, synchronous read, no reset.
// Write-first: a read of the address written in the same clock returns the new word.
//
// Latency: read data one clock after the address. Throughput: one read and one write per
// clock. Write lanes of `LaneW` bits; `LaneW = Width` for whole words.
module ram_1r1w #(
    parameter int unsigned Width = 32,                               // bits of a word
    parameter int unsigned Depth = 64,                               // words
    parameter int unsigned LaneW = Width,                            // bits of a write lane
    parameter int unsigned AddrW = (Depth > 1) ? $clog2(Depth) : 1,  // bits of an address
    localparam int unsigned Lanes = Width / LaneW
) (
    input  logic             clk_i,
    input  logic [AddrW-1:0] raddr_i,  // word to read
    output logic [Width-1:0] rdata_o,  // of the address one clock ago
    input  logic             we_i,     // write
    input  logic [Lanes-1:0] wlanes_i, // lanes to write
    input  logic [AddrW-1:0] waddr_i,  // word to write
    input  logic [Width-1:0] wdata_i   // what to write
);

  // One array per lane: a lane is written or not, never a part of a word.
  for (genvar l = 0; l < Lanes; l++) begin : g_lane
    // What is read of a word that is written in the same clock may be anything: the bypass stands
    // in for it. Synthesis is told so, or it would build a second one.
    (* no_rw_check *)
    logic [LaneW-1:0] mem [Depth];
    logic [LaneW-1:0] rdata_q, wdata_q;
    logic             we, hit_q;
    assign we = we_i && wlanes_i[l];

    // The bypass is a register beside the array, so block RAM keeps its own read port.
    always_ff @(posedge clk_i) begin
      rdata_q <= mem[raddr_i];
      hit_q   <= we && raddr_i == waddr_i;
      if (we) wdata_q <= wdata_i[l*LaneW +: LaneW];
      if (we) mem[waddr_i] <= wdata_i[l*LaneW +: LaneW];
    end
    assign rdata_o[l*LaneW +: LaneW] = hit_q ? wdata_q : rdata_q;
  end

endmodule
