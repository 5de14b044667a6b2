// SPDX-License-Identifier: Apache-2.0
//
// The decoder of the send WQE control segment: which inputs are in error, said a second time,
// with the opcodes of each transport from the public table (opcode_table_pkg is written by
// tools/formal_tables.py from testbench/data/opcode_transport.csv).
//
// The decoder takes a WQE in two clocks; here it is whole, and each part is given in its clock.
module wqe_ctrl_decoder_fv
  import rnic_pkg::*;
#(
    parameter int unsigned MAX_MTU = 5
) (
    input logic        clk_i,
    input wqe_ctrl_t   ctrl_i,
    input post_flags_t flags_i,
    input logic [31:0] payload_len_i,
    input logic [1:0]  transport_i,
    input logic [2:0]  path_mtu_i,
    input logic [31:0] max_inline_i,
    input logic        misread_i
);

  // What was asked one and two clocks ago.
  typedef struct packed {
    wqe_ctrl_t   ctrl;
    post_flags_t flags;
    logic [31:0] payload_len;
    logic [1:0]  transport;
    logic [2:0]  path_mtu;
    logic [31:0] max_inline;
    logic        misread;
  } question_t;
  question_t ago1_q, ago2_q;
  logic [1:0] full_q = '0;  // there was a WQE so many clocks ago
  always_ff @(posedge clk_i) begin
    ago1_q <= '{ctrl: ctrl_i, flags: flags_i, payload_len: payload_len_i, transport: transport_i,
                path_mtu: path_mtu_i, max_inline: max_inline_i, misread: misread_i};
    ago2_q <= ago1_q;
    full_q <= {full_q[0], 1'b1};
  end

  wqe_decoded_t dec;
  wqe_ctrl_decoder #(
      .MAX_MTU(MAX_MTU)
  ) u_decoder (
      .clk_i,
      .ctrl_i,
      .flags_i,
      .payload_len_i,
      .max_inline_i,
      .transport_i(ago1_q.transport),
      .path_mtu_i (ago1_q.path_mtu),
      .misread_i  (ago1_q.misread),
      .dec_o      (dec)
  );

  logic [7:0] opcode, ds;
  assign opcode = ago2_q.ctrl.opcode[7:0];
  assign ds     = {2'b00, ago2_q.ctrl.sq_ds[5:0]};

  logic known, carried;
  assign known   = opcode_table_pkg::known(opcode);
  assign carried = opcode_table_pkg::carried(opcode, ago2_q.transport);

  // Fixed units of each opcode: control; remote address; operands of an atomic; datagram.
  logic [7:0] fixed;
  always_comb begin
    case (opcode)
      8'd8, 8'd9, 8'd16: fixed = 8'd2;
      8'd17, 8'd18: fixed = 8'd3;
      8'd1, 8'd10, 8'd11: fixed = (ago2_q.transport == 2'd2) ? 8'd4 : 8'd1;
      default: fixed = 8'd1;
    endcase
  end

  logic local_payload;  // the payload lies here and goes out
  assign local_payload = opcode == 8'd1 || (opcode >= 8'd8 && opcode <= 8'd11);

  logic placed_inline;
  assign placed_inline = local_payload && ago2_q.payload_len <= ago2_q.max_inline
                         && ((ago2_q.flags.mlx5 && ago2_q.flags.inline_seg)
                             || (!ago2_q.flags.mlx5 && ago2_q.ctrl.flags[4]));

  logic faulty;
  always_comb begin
    faulty = !known || ago2_q.ctrl.sq_ds[7] || ago2_q.ctrl.sq_ds[6] || ago2_q.ctrl.flags[0]
             || ago2_q.ctrl.flags[7:5] >= 3'd5 || ago2_q.payload_len > 32'h8000_0000
             || (ago2_q.flags.mlx5 && ago2_q.ctrl.flags[4]);
    if (known) begin
      if (!carried || ago2_q.flags.walk_format || ago2_q.misread || ago2_q.flags.walk_length) faulty = 1'b1;
      if (ago2_q.flags.walk_key && !placed_inline) faulty = 1'b1;
      if (ago2_q.flags.mlx5 && ds < fixed) faulty = 1'b1;
      if (!ago2_q.flags.mlx5 && opcode == 8'd16 && ds == 8'd0) faulty = 1'b1;
      if (!ago2_q.flags.mlx5 && opcode >= 8'd17 && ds != 8'd1) faulty = 1'b1;
      if (opcode >= 8'd17 && ago2_q.payload_len != 32'd8) faulty = 1'b1;
      if (ago2_q.transport == 2'd2 && ago2_q.payload_len > 32'd4096) faulty = 1'b1;
    end
  end

  logic [32:0] mtu;
  assign mtu = 33'd128 << ((ago2_q.transport == 2'd2) ? 3'(MAX_MTU) : ago2_q.path_mtu);

  logic [32+13:0] sent;  // bytes that the packets hold
  assign sent = 46'(dec.meta.packets) << (4'd7 + ((ago2_q.transport == 2'd2) ? 4'(MAX_MTU) : 4'(ago2_q.path_mtu)));

  // What comes back for a READ, likewise.
  logic [32+13:0] returned;
  assign returned = 46'(dec.meta.response_packets) << (4'd7 + 4'(ago2_q.path_mtu));

  always_ff @(posedge clk_i) if (full_q[1]) begin
    KnownIsOfTable_A: assert (dec.known == known)
      else $error("opcode %0d: known here, unknown in the table, or the reverse", opcode);
    TransportIsOfTable_A: assert (dec.meta.errors.bad_transport == (known && !carried))
      else $error("opcode %0d on transport %0d is judged otherwise than by the table", opcode,
                  ago2_q.transport);
    ErrorsIffFaulty_A: assert ((dec.meta.errors != '0) == faulty)
      else $error("errors %b, expected any: %b", dec.meta.errors, faulty);
    OneHeaderPerClass_A: assert ((dec.meta.headers.reth || dec.meta.headers.atomiceth)
                                 == (known && !(opcode inside {8'd1, 8'd10, 8'd11})))
      else $error("a request to remote memory without its address, or one with too many");
    ImmediateAndInvalidate_A: assert (dec.meta.headers.immdt == (opcode == 8'd9 || opcode == 8'd11)
                                      && dec.meta.headers.ieth == (opcode == 8'd1))
      else $error("immediate or invalidate header of opcode %0d", opcode);
    PacketsHoldTheMessage_A: assert (!local_payload || 33'(sent) >= {1'b0, ago2_q.payload_len}
                                     || sent[45:33] != '0)
      else $error("%0d packets do not hold %0d bytes", dec.meta.packets, ago2_q.payload_len);
    NoPacketTooMany_A: assert (!local_payload || dec.meta.packets == 32'd1
                               || sent < 46'(ago2_q.payload_len) + 46'(mtu))
      else $error("a packet too many");
    PacketsByClass_A: assert (!known ? dec.meta.packets == '0
                              : local_payload ? dec.meta.packets != '0
                              : dec.meta.packets == 32'd1)
      else $error("%0d packets of opcode %0d", dec.meta.packets, opcode);
    ResponseByClass_A: assert (opcode == 8'd16
                               ? dec.meta.response_packets != '0 || ago2_q.transport == 2'd2
                               : dec.meta.response_packets == '0)
      else $error("%0d packets of response to opcode %0d", dec.meta.response_packets, opcode);
    ResponseHoldsTheRead_A: assert (opcode != 8'd16 || ago2_q.transport == 2'd2
                                    || ((33'(returned) >= {1'b0, ago2_q.payload_len}
                                         || returned[45:33] != '0)
                                        && (dec.meta.response_packets == 32'd1
                                            || returned < 46'(ago2_q.payload_len) + 46'(mtu))))
      else $error("%0d packets of response to a READ of %0d bytes", dec.meta.response_packets,
                  ago2_q.payload_len);
    FieldsAreCarried_A: assert (dec.meta.wqe_index == ago2_q.ctrl.opcode[23:8]
                                && dec.meta.opcode == opcode
                                && dec.meta.length == ago2_q.payload_len
                                && dec.meta.signal == ago2_q.ctrl.flags[3]
                                && dec.meta.fence == (ago2_q.ctrl.flags[7:5] >= 3'd2
                                                      && ago2_q.ctrl.flags[7:5] <= 3'd4)
                                && dec.meta.misc == ((opcode inside {8'd1, 8'd9, 8'd11})
                                                     ? ago2_q.ctrl.misc : '0))
      else $error("a field of the WQE is not what was posted");
    FenceWaitsForThese_A: assert (dec.meta.is_read == (opcode inside {8'd16, 8'd17, 8'd18}))
      else $error("opcode %0d counts among READs and atomics, or does not", opcode);
    InlineWithinLimit_A: assert (dec.meta.inline_data == placed_inline)
      else $error("inline is not what was asked for and fits");
    SolicitedNeedsReceive_A: assert (dec.meta.solicited == (ago2_q.ctrl.flags[1]
                                     && (opcode inside {8'd1, 8'd9, 8'd10, 8'd11})))
      else $error("BTH SE of opcode %0d", opcode);
    SizeIsWhole_A: assert (dec.wqe_bytes == 16 * (ago2_q.flags.mlx5 ? 16'(ds) : 16'(ds) + 16'(fixed))
                           && 64 * 32'(dec.wqe_blocks) >= 32'(dec.wqe_bytes)
                           && 64 * 32'(dec.wqe_blocks) < 32'(dec.wqe_bytes) + 64)
      else $error("size of the WQE");

    Good_C: cover (dec.meta.errors == '0 && ago2_q.transport == RC && opcode == 8'd18);
    GoodUd_C: cover (dec.meta.errors == '0 && ago2_q.transport == UD && ago2_q.flags.mlx5);
    BadTransport_C: cover (dec.meta.errors == 9'd2);
    KeyAlone_C: cover (dec.meta.errors == 9'h100);
    ManyPackets_C: cover (dec.meta.packets > 32'd1000 && dec.meta.errors == '0);
  end

endmodule
