// SPDX-License-Identifier: Apache-2.0
//
// The decoder of send WQEs between words. An answer shows two steps after its question, whose
// transport and path MTU wait here for their clock.
module decoder_bench
  import rnic_pkg::*;
(
    input  logic              clk_i,
    input  logic [6:0][31:0]  stim_i,
    output logic [9:0][31:0]  resp_o
);

  logic [4:0] of_qp_q;
  always_ff @(posedge clk_i) of_qp_q <= stim_i[6][12:8];

  wqe_decoded_t d;

  wqe_ctrl_decoder u_decoder (
      .clk_i,
      .ctrl_i       (wqe_ctrl_t'(stim_i[3:0])),
      .flags_i      (post_flags_t'(stim_i[6][7:0])),
      .payload_len_i(stim_i[4]),
      .max_inline_i (stim_i[5]),
      .transport_i  (of_qp_q[1:0]),
      .path_mtu_i   (of_qp_q[4:2]),
      .misread_i    (1'b0),
      .dec_o        (d)
  );

  always_comb begin
    resp_o = '0;
    resp_o[0] = {d.meta.opcode, d.meta.wc_opcode, d.meta.wqe_index};
    resp_o[1][8:0]   = d.meta.errors;
    resp_o[1][9]     = d.meta.is_read;
    resp_o[1][10]    = d.meta.fence;
    resp_o[1][11]    = d.meta.signal;
    resp_o[1][12]    = d.meta.solicited;
    resp_o[1][13]    = d.meta.inline_data;
    resp_o[1][14]    = d.known;
    resp_o[1][15]    = d.solicit_requested;
    resp_o[1][16]    = d.inline_requested;
    resp_o[1][17]    = d.consumes_receive;
    resp_o[1][23:20] = d.meta.headers;
    resp_o[2] = 32'(d.meta.segments);
    resp_o[3] = d.meta.length;
    resp_o[4] = d.meta.packets;
    resp_o[5] = d.meta.response_packets;
    resp_o[6] = d.meta.misc;
    resp_o[7] = 32'(d.wqe_bytes);
    resp_o[8] = 32'(d.wqe_blocks);
    resp_o[9] = 32'(d.bytes_before_inline);
  end

endmodule
