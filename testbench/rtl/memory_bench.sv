// SPDX-License-Identifier: Apache-2.0
//
// The memory and the list over it, each in several shapes on shared stimuli.
module memory_bench (
    input  logic              clk_i,
    input  logic [6:0][31:0]  stim_i,
    output logic [12:0][31:0] resp_o
);

  // ---- ram_1r1w. Word 0: raddr [7:0], waddr [15:8], we [16], lanes [27:20]; words 1 and 2:
  // write data. Each shape takes the low bits.

  logic [63:0] wdata;
  assign wdata = {stim_i[2], stim_i[1]};

  ram_1r1w #(
      .Width(64),
      .Depth(256)
  ) u_words (
      .clk_i,
      .raddr_i (stim_i[0][7:0]),
      .rdata_o (resp_o[1:0]),
      .we_i    (stim_i[0][16]),
      .wlanes_i(stim_i[0][20]),
      .waddr_i (stim_i[0][15:8]),
      .wdata_i (wdata)
  );

  ram_1r1w #(
      .Width(64),
      .Depth(8),
      .LaneW(8)
  ) u_bytes (
      .clk_i,
      .raddr_i (stim_i[0][2:0]),
      .rdata_o (resp_o[3:2]),
      .we_i    (stim_i[0][16]),
      .wlanes_i(stim_i[0][27:20]),
      .waddr_i (stim_i[0][10:8]),
      .wdata_i (wdata)
  );

  ram_1r1w #(
      .Width(48),
      .Depth(4),
      .LaneW(16)
  ) u_halves (
      .clk_i,
      .raddr_i (stim_i[0][1:0]),
      .rdata_o ({resp_o[5][15:0], resp_o[4]}),
      .we_i    (stim_i[0][16]),
      .wlanes_i(stim_i[0][22:20]),
      .waddr_i (stim_i[0][9:8]),
      .wdata_i (wdata[47:0])
  );
  assign resp_o[5][31:16] = '0;

  ram_1r1w #(
      .Width(32),
      .Depth(1)
  ) u_single (
      .clk_i,
      .raddr_i (1'b0),
      .rdata_o (resp_o[6]),
      .we_i    (stim_i[0][16]),
      .wlanes_i(stim_i[0][20]),
      .waddr_i (1'b0),
      .wdata_i (wdata[31:0])
  );

  // ---- work_list. Word 3: reset [0], and for list n push [8+n], pop [16+n]; words 4..6:
  // 16 bits of data per list.

  localparam int unsigned Lists = 6;
  localparam int unsigned Depths[Lists] = '{1, 2, 4, 5, 16, 64};

  logic [95:0] list_data;
  assign list_data = {stim_i[6], stim_i[5], stim_i[4]};

  for (genvar n = 0; n < Lists; n++) begin : g_list
    logic        valid;
    logic [15:0] data;
    work_list #(
        .Width(16),
        .Depth(Depths[n])
    ) u_list (
        .clk_i,
        .rst_ni (!stim_i[3][0]),
        .push_i (stim_i[3][8+n]),
        .data_i (list_data[16*n +: 16]),
        .valid_o(valid),
        .data_o (data),
        .pop_i  (stim_i[3][16+n] && valid)
    );
    assign resp_o[7+n] = {15'd0, valid, data};
  end

endmodule
