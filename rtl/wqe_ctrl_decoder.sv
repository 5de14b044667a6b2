// SPDX-License-Identifier: Apache-2.0
//
// Decoder of the send WQE control segment, in the book's and in mlx5's format.
//
// Total: every input gives an answer, and `errors` holds everything that is wrong with it at
// once. A WQE is taken in two steps with a register after each, so that the QP may be looked up
// in between; what does not decide on the WQE, sizes and counts, is added up after the second.
//
//   clock 0  the WQE alone: its class, and its numbers against everything constant
//   clock 1  the transport and path MTU of its QP: errors; the payload in whole MTUs
//   clock 2  the answer
//
// Latency: 2 clocks. Throughput: one WQE per clock.
module wqe_ctrl_decoder
  import rnic_pkg::*;
#(
    parameter int unsigned MAX_MTU = 5
) (
    input  logic         clk_i,

    // Clock 0
    input  wqe_ctrl_t    ctrl_i,         // control segment in host order
    input  post_flags_t  flags_i,        // format, and what the segment walker found
    input  logic [31:0]  payload_len_i,  // bytes
    input  logic [31:0]  max_inline_i,   // bytes

    // Clock 1
    input  logic [1:0]   transport_i,    // transport_e of the QP
    input  logic [2:0]   path_mtu_i,     // ibv_mtu number of an RC or UC QP
    input  logic         misread_i,      // the walker took it for a WQE of another transport

    // Clock 2
    output wqe_decoded_t dec_o           // what it asks for, and what is wrong
);

  // More than a power of two is a bit above it, or it and a bit below.
  localparam int unsigned PortMtuLog2 = 7 + MAX_MTU;

  // ------------------------------------------------------------------ the WQE alone

  // What is kept of it.
  typedef struct packed {
    logic [15:0] wqe_index;
    logic [7:0]  opcode;
    logic [31:0] misc;
    logic [31:0] length;
    logic        mlx5;
    logic        walk_format;
    logic        walk_length;
    logic        walk_key;
    logic        is_send;
    logic        is_write;
    logic        is_read;
    logic        is_atomic;
    logic        has_imm;
    logic        has_inv;
    logic        known;
    logic        fence;
    logic        signal;
    logic        solicit;
    logic        inline_requested;
    logic        high_below;       // upper half of the length: below that of the limit of inline
    logic        high_equal;       // or equal to it
    logic        low_fits;         // lower half: not above that of the limit
    logic        reserved;         // a reserved bit is set
    logic        bad_fence;
    logic [5:0]  ds;
    logic        ds_is_1;
    logic [4:1]  ds_below;         // ds is below that number
    logic        over_message;     // longer than a message may be
    logic        over_port;        // longer than a packet of the port
    logic        length_is_8;
    logic [7:0]  part;             // some of the lowest 7..14 bits of the length are set, or none
  } wqe_t;                         // of all is: by the number of an MTU

  logic [7:0] opcode;
  logic [5:0] ds;
  logic [2:0] fence_mode;
  assign opcode     = ctrl_i.opcode[7:0];
  assign ds         = ctrl_i.sq_ds[5:0];
  assign fence_mode = ctrl_i.flags[7:5];

  wqe_t wqe, wqe_q;
  always_comb begin
    wqe             = '0;
    wqe.wqe_index   = ctrl_i.opcode[23:8];
    wqe.opcode      = opcode;
    wqe.misc        = ctrl_i.misc;
    wqe.length      = payload_len_i;
    wqe.mlx5        = flags_i.mlx5;
    wqe.walk_format = flags_i.walk_format;
    wqe.walk_length = flags_i.walk_length;
    wqe.walk_key    = flags_i.walk_key;

    wqe.is_send   = opcode inside {WQE_SEND, WQE_SEND_IMM, WQE_SEND_INVAL};
    wqe.is_write  = opcode inside {WQE_RDMA_WRITE, WQE_RDMA_WRITE_IMM};
    wqe.is_read   = opcode == WQE_RDMA_READ;
    wqe.is_atomic = opcode inside {WQE_ATOMIC_CS, WQE_ATOMIC_FA};
    wqe.has_imm   = opcode inside {WQE_SEND_IMM, WQE_RDMA_WRITE_IMM};
    wqe.has_inv   = opcode == WQE_SEND_INVAL;
    wqe.known     = wqe.is_send || wqe.is_write || wqe.is_read || wqe.is_atomic;

    wqe.fence            = fence_mode inside {3'd2, 3'd3, 3'd4};
    wqe.bad_fence        = fence_mode > 3'd4;
    wqe.signal           = ctrl_i.flags[3];
    wqe.solicit          = ctrl_i.flags[1];
    wqe.inline_requested = flags_i.mlx5 ? flags_i.inline_seg : ctrl_i.flags[4];
    wqe.high_below       = payload_len_i[31:16] < max_inline_i[31:16];
    wqe.high_equal       = payload_len_i[31:16] == max_inline_i[31:16];
    wqe.low_fits         = payload_len_i[15:0] <= max_inline_i[15:0];
    wqe.reserved         = ctrl_i.sq_ds[7:6] != '0 || ctrl_i.flags[0]
                           || (flags_i.mlx5 && ctrl_i.flags[4]);

    wqe.ds      = ds;
    wqe.ds_is_1 = ds == 6'd1;
    for (int unsigned n = 1; n <= 4; n++) wqe.ds_below[n] = ds < 6'(n);

    wqe.over_message = payload_len_i[31] && |payload_len_i[30:0];
    wqe.over_port    = |payload_len_i[31:PortMtuLog2+1]
                       || (payload_len_i[PortMtuLog2] && |payload_len_i[PortMtuLog2-1:0]);
    wqe.length_is_8  = payload_len_i == 32'd8;
    // A message of no bytes is one packet too.
    for (int unsigned m = 0; m <= 7; m++) begin
      wqe.part[m] = |(payload_len_i & ~(32'hffff_ffff << (7 + m))) || !(|payload_len_i);
    end
  end

  // ------------------------------------------------------------------ and its QP

  typedef struct packed {
    sq_meta_t    meta;         // but for the three below
    logic        mlx5;
    logic [5:0]  ds;
    logic        short_ds;     // less than the fixed segments
    logic [2:0]  fixed_units;  // of 16 bytes, control segment included
    logic        known;
    logic        solicit;
    logic        inline_requested;
    logic        carries_payload;
    logic        consumes_receive;
    logic        asks;         // READ or atomic: one packet goes out
    logic        is_read;      // and what comes back is counted
    logic [24:0] whole;        // MTUs in the payload
    logic        rest;         // and one more packet
  } judged_t;

  logic ud, carries_payload, consumes_receive, transport_ok;
  assign ud               = transport_i == UD;
  assign carries_payload  = wqe_q.is_send || wqe_q.is_write;
  assign consumes_receive = wqe_q.is_send || (wqe_q.is_write && wqe_q.has_imm);
  always_comb begin
    transport_ok = 1'b0;
    unique case (transport_i)
      RC: transport_ok = 1'b1;
      UC: transport_ok = (wqe_q.is_send && !wqe_q.has_inv) || wqe_q.is_write;
      UD: transport_ok = wqe_q.is_send && !wqe_q.has_inv;
      default: ;
    endcase
  end

  logic [2:0] fixed_units;
  logic       short_ds, bad_ds;
  always_comb begin
    fixed_units = 3'd1;
    short_ds    = wqe_q.ds_below[1];
    if (wqe_q.is_send && ud) begin  // + datagram segment
      fixed_units = 3'd4;
      short_ds    = wqe_q.ds_below[4];
    end else if (wqe_q.is_write || wqe_q.is_read) begin  // + remote address
      fixed_units = 3'd2;
      short_ds    = wqe_q.ds_below[2];
    end else if (wqe_q.is_atomic) begin  // + remote address + operands
      fixed_units = 3'd3;
      short_ds    = wqe_q.ds_below[3];
    end
    if (wqe_q.mlx5) bad_ds = short_ds;
    else bad_ds = (wqe_q.is_read && wqe_q.ds_below[1]) || (wqe_q.is_atomic && !wqe_q.ds_is_1);
  end

  logic [2:0] mtu;  // of 128 << mtu bytes
  assign mtu = ud ? 3'(MAX_MTU) : path_mtu_i;

  judged_t judged, judged_q;
  logic    inline_data;
  // A larger payload falls to DMA, which is no error.
  assign inline_data = wqe_q.inline_requested && carries_payload
                       && (wqe_q.high_below || (wqe_q.high_equal && wqe_q.low_fits));
  always_comb begin
    judged = '0;
    judged.meta.wqe_index = wqe_q.wqe_index;
    judged.meta.opcode    = wqe_q.opcode;
    judged.meta.is_read   = wqe_q.is_read || wqe_q.is_atomic;
    judged.meta.fence     = wqe_q.fence;
    judged.meta.signal    = wqe_q.signal;
    judged.meta.solicited = wqe_q.solicit && consumes_receive;
    judged.meta.inline_data = inline_data;
    judged.meta.headers.reth      = wqe_q.is_write || wqe_q.is_read;
    judged.meta.headers.immdt     = wqe_q.has_imm;
    judged.meta.headers.ieth      = wqe_q.has_inv;
    judged.meta.headers.atomiceth = wqe_q.is_atomic;
    judged.meta.length = wqe_q.length;
    judged.meta.misc   = (wqe_q.has_imm || wqe_q.has_inv) ? wqe_q.misc : '0;
    // Not `unique`: a register holds anything before its first WQE.
    if (wqe_q.is_write) judged.meta.wc_opcode = WC_RDMA_WRITE;
    else if (wqe_q.is_read) judged.meta.wc_opcode = WC_RDMA_READ;
    else if (wqe_q.is_atomic && wqe_q.opcode == WQE_ATOMIC_CS) judged.meta.wc_opcode = WC_COMP_SWAP;
    else if (wqe_q.is_atomic) judged.meta.wc_opcode = WC_FETCH_ADD;
    else judged.meta.wc_opcode = WC_SEND;

    // Of an unknown opcode only what needs no class is judged.
    judged.meta.errors.bad_opcode    = !wqe_q.known;
    judged.meta.errors.bad_transport = wqe_q.known && !transport_ok;
    judged.meta.errors.reserved      = wqe_q.reserved;
    judged.meta.errors.bad_fence     = wqe_q.bad_fence;
    judged.meta.errors.bad_ds        = wqe_q.known && bad_ds;
    judged.meta.errors.walk_format   = wqe_q.known && (wqe_q.walk_format || misread_i);
    judged.meta.errors.bad_length    = wqe_q.over_message
                                       || (wqe_q.known && ud && wqe_q.over_port)
                                       || (wqe_q.is_atomic && !wqe_q.length_is_8);
    judged.meta.errors.walk_length   = wqe_q.known && wqe_q.walk_length;
    // Without an lkey there is no check of it.
    judged.meta.errors.walk_key      = wqe_q.known && wqe_q.walk_key && !inline_data;

    judged.mlx5             = wqe_q.mlx5;
    judged.ds               = wqe_q.ds;
    judged.short_ds         = short_ds;
    judged.fixed_units      = fixed_units;
    judged.known            = wqe_q.known;
    judged.solicit          = wqe_q.solicit;
    judged.inline_requested = wqe_q.inline_requested;
    judged.carries_payload  = carries_payload;
    judged.consumes_receive = consumes_receive;
    judged.asks             = wqe_q.is_read || wqe_q.is_atomic;
    judged.is_read          = wqe_q.is_read;
    judged.whole            = wqe_q.length[31:7] >> mtu;
    judged.rest             = wqe_q.part[mtu];
  end

  always_ff @(posedge clk_i) begin
    wqe_q    <= wqe;
    judged_q <= judged;
  end

  // ------------------------------------------------------------------ the answer

  logic [31:0] packets;
  logic [6:0]  wqe_units;
  assign packets   = 32'(judged_q.whole) + 32'(judged_q.rest);
  assign wqe_units = {1'b0, judged_q.ds} + (judged_q.mlx5 ? 7'd0 : 7'(judged_q.fixed_units));

  // The blocks of 64 bytes are four units each, the last one in part: added in one go.
  logic [6:0] units_up;
  assign units_up = {1'b0, judged_q.ds} + (judged_q.mlx5 ? 7'd3 : 7'(judged_q.fixed_units) + 7'd3);

  always_comb begin
    dec_o      = '0;
    dec_o.meta = judged_q.meta;
    if (!judged_q.mlx5) dec_o.meta.segments = judged_q.ds;
    else if (!judged_q.short_ds) dec_o.meta.segments = judged_q.ds - 6'(judged_q.fixed_units);
    if (judged_q.asks) dec_o.meta.packets = 32'd1;
    else if (judged_q.known) dec_o.meta.packets = packets;
    if (judged_q.is_read) dec_o.meta.response_packets = packets;

    dec_o.known             = judged_q.known;
    dec_o.solicit_requested = judged_q.solicit;
    dec_o.inline_requested  = judged_q.inline_requested;
    dec_o.consumes_receive  = judged_q.consumes_receive;
    dec_o.wqe_bytes         = {5'd0, wqe_units, 4'd0};
    dec_o.wqe_blocks        = {11'd0, units_up[6:2]};
    if (judged_q.carries_payload) dec_o.bytes_before_inline = {1'b0, judged_q.fixed_units, 4'd4};
  end

endmodule
