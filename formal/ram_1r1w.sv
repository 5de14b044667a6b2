// SPDX-License-Identifier: Apache-2.0
//
// The memory: a read returns what was last written to that address and lane, the write of the
// same clock included. One arbitrary address is followed.
module ram_1r1w_fv (
    input logic       clk_i,
    input logic [1:0] address_i,  // chosen once
    input logic [1:0] raddr_i,
    input logic       we_i,
    input logic [1:0] wlanes_i,
    input logic [1:0] waddr_i,
    input logic [7:0] wdata_i
);

  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;

  logic [7:0] rdata;
  ram_1r1w #(
      .Width(8),
      .Depth(4),
      .LaneW(4)
  ) u_ram (
      .clk_i,
      .raddr_i,
      .rdata_o(rdata),
      .we_i,
      .wlanes_i,
      .waddr_i,
      .wdata_i
  );

  logic [1:0] address_q, known_q, next_known, was_known_q;
  logic [7:0] word_q, next_word;
  logic       asked_q;
  always_comb begin
    next_word  = word_q;
    next_known = known_q;
    for (int l = 0; l < 2; l++) begin
      if (we_i && waddr_i == address_q && wlanes_i[l]) begin
        next_word[4*l +: 4] = wdata_i[4*l +: 4];
        next_known[l]       = 1'b1;
      end
    end
  end
  always_ff @(posedge clk_i) begin
    if (!started_q) begin
      address_q   <= address_i;
      known_q     <= '0;
      was_known_q <= '0;
      asked_q     <= 1'b0;
    end else begin
      known_q     <= next_known;
      word_q      <= next_word;
      was_known_q <= next_known;
      asked_q     <= raddr_i == address_q;
    end
  end

  always_ff @(posedge clk_i) begin
    if (started_q) begin
      LowLaneIsLastWritten_A: assert (!(asked_q && was_known_q[0]) || rdata[3:0] == word_q[3:0])
        else $error("a read returned another word than the last one written");
      HighLaneIsLastWritten_A: assert (!(asked_q && was_known_q[1]) || rdata[7:4] == word_q[7:4])
        else $error("a read returned another word than the last one written");
      ReadBack_C: cover (asked_q && was_known_q == 2'b11 && rdata == 8'ha5);
    end
  end

endmodule
