// SPDX-License-Identifier: Apache-2.0
//
// Decoder of the send WQE control segment, in the book's and in mlx5's format.
//
// Purely combinational and total: every input gives an answer, and `errors` holds
// everything that is wrong with it at once.
//
// Latency: none. Throughput: one WQE per clock.
module wqe_ctrl_decoder
  import rnic_pkg::*;
#(
    parameter int unsigned MAX_MTU = 5
) (
    input  wqe_ctrl_t    ctrl_i,         // control segment in host order
    input  post_flags_t  flags_i,        // format, and what the segment walker found
    input  logic [31:0]  payload_len_i,  // bytes
    input  logic [1:0]   transport_i,    // transport_e of the QP
    input  logic [2:0]   path_mtu_i,     // ibv_mtu number of an RC or UC QP
    input  logic [31:0]  max_inline_i,   // bytes
    output wqe_decoded_t dec_o           // what it asks for, and what is wrong
);

  localparam logic [31:0] MaxMessage = 32'h8000_0000;
  localparam logic [31:0] PortMtu = 32'd128 << MAX_MTU;

  logic [7:0] opcode;
  logic [5:0] ds;
  logic [2:0] fence_mode;
  assign opcode     = ctrl_i.opcode[7:0];
  assign ds         = ctrl_i.sq_ds[5:0];
  assign fence_mode = ctrl_i.flags[7:5];

  // ---- class

  logic is_send, is_write, is_read, is_atomic, has_imm, has_inv;
  assign is_send   = opcode inside {WQE_SEND, WQE_SEND_IMM, WQE_SEND_INVAL};
  assign is_write  = opcode inside {WQE_RDMA_WRITE, WQE_RDMA_WRITE_IMM};
  assign is_read   = opcode == WQE_RDMA_READ;
  assign is_atomic = opcode inside {WQE_ATOMIC_CS, WQE_ATOMIC_FA};
  assign has_imm   = opcode inside {WQE_SEND_IMM, WQE_RDMA_WRITE_IMM};
  assign has_inv   = opcode == WQE_SEND_INVAL;

  logic known, carries_payload, consumes_receive;
  assign known            = is_send || is_write || is_read || is_atomic;
  assign carries_payload  = is_send || is_write;
  assign consumes_receive = is_send || opcode == WQE_RDMA_WRITE_IMM;

  logic ud;
  assign ud = transport_i == UD;

  logic transport_ok;
  always_comb begin
    transport_ok = 1'b0;
    unique case (transport_i)
      RC: transport_ok = 1'b1;
      UC: transport_ok = (is_send && !has_inv) || is_write;
      UD: transport_ok = is_send && !has_inv;
      default: ;
    endcase
  end

  // ---- sizes

  logic [5:0] fixed_units;  // of 16 bytes, control segment included
  always_comb begin
    fixed_units = 6'd1;
    if (is_send && ud) fixed_units = 6'd4;  // + datagram segment
    else if (is_write || is_read) fixed_units = 6'd2;  // + remote address
    else if (is_atomic) fixed_units = 6'd3;  // + remote address + operands
  end

  logic [5:0] segments;
  logic       bad_ds;
  always_comb begin
    if (flags_i.mlx5) begin
      segments = (ds >= fixed_units) ? ds - fixed_units : '0;
      bad_ds   = ds < fixed_units;
    end else begin
      segments = ds;
      bad_ds   = (is_read && ds == '0) || (is_atomic && ds != 6'd1);
    end
  end

  logic [6:0] wqe_units;
  assign wqe_units = flags_i.mlx5 ? {1'b0, ds} : {1'b0, fixed_units} + {1'b0, ds};

  // ---- packets

  // Whole MTUs, and one more for a rest; a message of no bytes is one packet too. Shifted first,
  // so that the sum is narrow.
  logic [2:0]  mtu;   // of 128 << mtu bytes
  logic [6:0]  part;  // bits of a length that are below an MTU and above 128 bytes
  logic [24:0] whole;
  logic        rest;
  logic [31:0] packets;
  assign mtu     = ud ? 3'(MAX_MTU) : path_mtu_i;
  assign part    = ~(7'h7f << mtu);
  assign whole   = payload_len_i[31:7] >> mtu;
  assign rest    = payload_len_i[6:0] != '0 || (payload_len_i[13:7] & part) != '0
                   || payload_len_i == '0;
  assign packets = 32'(whole) + 32'(rest);

  // ---- requests

  logic inline_requested, inline_data, fence, signal, solicit;
  assign inline_requested = flags_i.mlx5 ? flags_i.inline_seg : ctrl_i.flags[4];
  // A larger payload falls to DMA, which is no error.
  assign inline_data      = inline_requested && carries_payload && payload_len_i <= max_inline_i;
  assign fence            = fence_mode inside {3'd2, 3'd3, 3'd4};
  assign signal           = ctrl_i.flags[3];
  assign solicit          = ctrl_i.flags[1];

  // ---- errors. Of an unknown opcode only what needs no class is judged.

  wqe_errors_t errors;
  always_comb begin
    errors = '0;
    errors.bad_opcode    = !known;
    errors.bad_transport = known && !transport_ok;
    errors.reserved      = ctrl_i.sq_ds[7:6] != '0 || ctrl_i.flags[0]
                           || (flags_i.mlx5 && ctrl_i.flags[4]);
    errors.bad_fence     = fence_mode > 3'd4;
    errors.bad_ds        = known && bad_ds;
    errors.walk_format   = known && flags_i.walk_format;
    errors.bad_length    = payload_len_i > MaxMessage
                           || (known && ud && payload_len_i > PortMtu)
                           || (is_atomic && payload_len_i != 32'd8);
    errors.walk_length   = known && flags_i.walk_length;
    errors.walk_key      = known && flags_i.walk_key && !inline_data;  // no lkey, no check
  end

  // ---- answer

  always_comb begin
    dec_o = '0;
    dec_o.meta.wqe_index = ctrl_i.opcode[23:8];
    dec_o.meta.opcode    = opcode;
    dec_o.meta.errors    = errors;
    dec_o.meta.is_read   = is_read || is_atomic;
    dec_o.meta.fence     = fence;
    dec_o.meta.signal    = signal;
    dec_o.meta.solicited = solicit && consumes_receive;
    dec_o.meta.inline_data = inline_data;
    dec_o.meta.headers.reth      = is_write || is_read;
    dec_o.meta.headers.immdt     = has_imm;
    dec_o.meta.headers.ieth      = has_inv;
    dec_o.meta.headers.atomiceth = is_atomic;
    dec_o.meta.segments = segments;
    dec_o.meta.length   = payload_len_i;
    if (is_read || is_atomic) dec_o.meta.packets = 32'd1;
    else if (known) dec_o.meta.packets = packets;
    dec_o.meta.response_packets = is_read ? packets : '0;
    dec_o.meta.misc = (has_imm || has_inv) ? ctrl_i.misc : '0;
    unique case (1'b1)
      is_write: dec_o.meta.wc_opcode = WC_RDMA_WRITE;
      is_read: dec_o.meta.wc_opcode = WC_RDMA_READ;
      opcode == WQE_ATOMIC_CS: dec_o.meta.wc_opcode = WC_COMP_SWAP;
      opcode == WQE_ATOMIC_FA: dec_o.meta.wc_opcode = WC_FETCH_ADD;
      default: dec_o.meta.wc_opcode = WC_SEND;
    endcase

    dec_o.known               = known;
    dec_o.solicit_requested   = solicit;
    dec_o.inline_requested    = inline_requested;
    dec_o.consumes_receive    = consumes_receive;
    dec_o.wqe_bytes           = {5'd0, wqe_units, 4'd0};
    dec_o.wqe_blocks          = {11'd0, 5'((wqe_units + 7'd3) >> 2)};
    if (carries_payload) dec_o.bytes_before_inline = {fixed_units[3:0], 4'd4};
  end

endmodule
