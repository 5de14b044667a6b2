// SPDX-License-Identifier: Apache-2.0
//
// The one memory of this design: one read and one write port, synchronous read, no reset.
// Write-first: a read of the address written in the same clock returns the new word.
//
// Latency: read data one clock after the address. Throughput: one read and one write per
// clock. Write lanes of `LaneW` bits; `LaneW = Width` for whole words.
module ram_1r1w #(
    parameter int unsigned Width = 32,
    parameter int unsigned Depth = 64,
    parameter int unsigned LaneW = Width,
    parameter int unsigned AddrW = (Depth > 1) ? $clog2(Depth) : 1,
    localparam int unsigned Lanes = Width / LaneW
) (
    input  logic             clk_i,
    input  logic [AddrW-1:0] raddr_i,
    output logic [Width-1:0] rdata_o,  // of the address one clock ago
    input  logic             we_i,
    input  logic [Lanes-1:0] wlanes_i,
    input  logic [AddrW-1:0] waddr_i,
    input  logic [Width-1:0] wdata_i
);

  logic [Width-1:0] mem [Depth];
  logic [Width-1:0] rdata_q;

  // The bypass is a register beside the array, so block RAM keeps its own read port.
  logic [Lanes-1:0] hit_d, hit_q;
  logic [Width-1:0] wdata_q;
  assign hit_d = (we_i && raddr_i == waddr_i) ? wlanes_i : '0;

  always_ff @(posedge clk_i) begin
    rdata_q <= mem[raddr_i];
    hit_q   <= hit_d;
    if (|hit_d) wdata_q <= wdata_i;
  end

  if (Lanes == 1) begin : g_word
    always_ff @(posedge clk_i) begin
      if (we_i && wlanes_i[0]) mem[waddr_i] <= wdata_i;
    end
    assign rdata_o = hit_q[0] ? wdata_q : rdata_q;
  end else begin : g_lanes
    always_ff @(posedge clk_i) begin
      if (we_i) for (int unsigned l = 0; l < Lanes; l++) begin
        if (wlanes_i[l]) mem[waddr_i][l*LaneW +: LaneW] <= wdata_i[l*LaneW +: LaneW];
      end
    end
    always_comb begin
      rdata_o = rdata_q;
      if (hit_q != '0) for (int unsigned l = 0; l < Lanes; l++) begin
        if (hit_q[l]) rdata_o[l*LaneW +: LaneW] = wdata_q[l*LaneW +: LaneW];
      end
    end
  end

endmodule
