// SPDX-License-Identifier: Apache-2.0
//
// Reads a send WQE from its send queue, unit by unit, and sums it up for POST_SEND: payload
// length, inline or pointers, what is wrong. Yields the scatter/gather list on the way.
//
//   IDLE     takes the next WQE while the key table stands still
//   CONTROL  wants unit 0 and learns from it how many there are
//   BODY     wants the others, one per clock, and judges one per clock
//   KEYS     the last look-up returns
//   DONE     the summary is offered
//
// It asks for exactly the units that `ds` says, modulo the ring, and for none beyond.
//
// Latency: n clocks for n units, twice the memory's latency and three clocks. Throughput: one
// unit per clock, one WQE at a time.
module wqe_segment_walker
  import rnic_pkg::*;
(
    input  logic        clk_i,
    input  logic        rst_ni,

    input  logic        wqe_valid_i,     // a WQE was posted
    output logic        wqe_ready_o,
    input  wqe_t        wqe_i,
    output logic        fetch_valid_o,   // the unit that is wanted next
    input  logic        fetch_ready_i,
    output fetch_t      fetch_o,
    input  logic        unit_valid_i,    // units, in the order in which they were wanted
    output logic        unit_ready_o,
    input  unit_t       unit_i,

    input  logic        keys_ready_i,       // a walk may begin
    output logic        keys_hold_o,        // the table must not change
    input  logic [15:0] keys_version_i,     // changes of the table so far
    output logic        lookup_o,           // resolve the lkey of sge_o
    output logic        writes_o,           // the class writes local memory
    input  logic        lookup_done_i,      // the look-up is done
    input  logic        lookup_resolves_i,  // and this is its answer

    output logic        sge_valid_o,     // a pointer segment, as it passes
    output sge_t        sge_o,           // that segment

    output logic        walked_valid_o,  // the summary
    input  logic        walked_ready_i,
    output walked_t     walked_o
);

  typedef enum logic [2:0] {
    W_IDLE,
    W_CONTROL,
    W_BODY,
    W_KEYS,
    W_DONE
  } walk_e;

  // 67: three fixed units, the control segment and 63 segments in the book's format.
  typedef logic [6:0] units_t;

  walk_e       state_q;
  wqe_t        wqe_q;
  wqe_ctrl_t   ctrl_q;
  logic [15:0] version_q;
  units_t      total_q;        // units of the WQE
  units_t      asked_q;        // fetched or being fetched
  units_t      read_q;         // units that came
  units_t      fixed_q;        // units before the data segments
  units_t      inline_left_q;  // units that still belong to an inline segment
  logic        seen_inline_q, seen_pointer_q, seen_segment_q;
  logic        bad_format_q, bad_key_q;
  logic [37:0] length_q;       // 63 x 2^31 fits

  // Big-endian words of the unit.
  function automatic logic [31:0] word(unit_t u, int unsigned n);
    return {u[32*n +: 8], u[32*n+8 +: 8], u[32*n+16 +: 8], u[32*n+24 +: 8]};
  endfunction

  logic [31:0] w0, w1, w2, w3;
  assign w0 = word(unit_i, 0);
  assign w1 = word(unit_i, 1);
  assign w2 = word(unit_i, 2);
  assign w3 = word(unit_i, 3);

  logic mlx5;
  assign mlx5 = wqe_q.flags[0];

  // ------------------------------------------------------------------ the control segment

  logic [7:0] opcode;
  logic [5:0] ds;
  logic       is_send, is_remote, is_atomic;
  units_t     fixed, total;
  assign opcode    = w0[7:0];
  assign ds        = w1[5:0];
  assign is_send   = opcode inside {WQE_SEND, WQE_SEND_IMM, WQE_SEND_INVAL};
  assign is_remote = opcode inside {WQE_RDMA_WRITE, WQE_RDMA_WRITE_IMM, WQE_RDMA_READ};
  assign is_atomic = opcode inside {WQE_ATOMIC_CS, WQE_ATOMIC_FA};

  always_comb begin
    fixed = 7'd1;
    if (is_send && wqe_q.transport == 8'(UD)) fixed = 7'd4;
    else if (is_remote) fixed = 7'd2;
    else if (is_atomic) fixed = 7'd3;
    total = 7'd1;
    if (is_send || is_remote || is_atomic) begin
      if (!mlx5) total = fixed + 7'(ds);
      else if (7'(ds) >= fixed) total = 7'(ds);
    end
  end

  // ------------------------------------------------------------------ a data segment

  logic held_payload, held_atomic, held_writes;  // of the class in hand
  assign held_payload = ctrl_q.opcode[7:0] inside {WQE_SEND, WQE_SEND_IMM, WQE_SEND_INVAL,
                                                   WQE_RDMA_WRITE, WQE_RDMA_WRITE_IMM};
  assign held_atomic  = ctrl_q.opcode[7:0] inside {WQE_ATOMIC_CS, WQE_ATOMIC_FA};
  assign held_writes  = held_atomic || ctrl_q.opcode[7:0] == WQE_RDMA_READ;

  logic   takes_unit, is_segment, is_inline, is_pointer, format_error;
  units_t inline_units, units_behind;
  assign takes_unit   = unit_valid_i && unit_ready_o;
  assign is_segment   = state_q == W_BODY && takes_unit && read_q >= fixed_q
                        && inline_left_q == '0;
  assign is_inline    = is_segment && w0[31];
  assign is_pointer   = is_segment && !w0[31];
  assign inline_units = 7'((11'(w0[9:0]) + 11'd19) >> 4);  // 4-byte header, rounded up
  assign units_behind = total_q - read_q - 7'd1;

  assign sge_valid_o = is_pointer;
  assign sge_o.addr  = {w2, w3};
  assign sge_o.lkey  = w1;
  assign sge_o.bytes = (mlx5 && w0[30:0] == '0) ? 32'h8000_0000 : {1'b0, w0[30:0]};

  assign lookup_o = is_pointer && sge_o.bytes != '0;
  assign writes_o = held_writes;

  always_comb begin
    format_error = 1'b0;
    if (is_inline) begin
      format_error = w0[30:10] != '0 || inline_units > units_behind + 7'd1 || !held_payload
                     || seen_pointer_q || (!mlx5 && !ctrl_q.flags[4]);
    end else if (is_pointer) begin
      format_error = seen_inline_q;
    end
    if (is_segment && held_atomic && seen_segment_q) format_error = 1'b1;
  end

  // ------------------------------------------------------------------ fetching

  logic [17:0] first_unit, ring_mask, wanted;
  assign first_unit = {wqe_q.first_block[15:0], 2'b00};
  assign ring_mask  = (18'd4 << wqe_q.ring_log2[4:0]) - 18'd1;

  assign wanted     = (first_unit + {11'd0, asked_q}) & ring_mask;

  assign fetch_valid_o = (state_q == W_CONTROL && asked_q == '0)
                         || (state_q == W_BODY && asked_q != total_q);
  assign fetch_o.tag   = wqe_q.tag;
  assign fetch_o.qpn   = wqe_q.qpn;
  assign fetch_o.unit  = {14'd0, wanted};

  assign wqe_ready_o  = state_q == W_IDLE && keys_ready_i;
  assign unit_ready_o = state_q == W_CONTROL || state_q == W_BODY;
  // A change that arrives while a walk begins waits for its end.
  assign keys_hold_o  = state_q inside {W_CONTROL, W_BODY, W_KEYS};

  // ------------------------------------------------------------------ state

  always_ff @(posedge clk_i) begin
    if (!rst_ni) state_q <= W_IDLE;
    else begin
      unique case (state_q)
        W_IDLE: if (wqe_valid_i && wqe_ready_o) state_q <= W_CONTROL;
        W_CONTROL: if (takes_unit) state_q <= (total == 7'd1) ? W_DONE : W_BODY;
        W_BODY: if (takes_unit && units_behind == '0) state_q <= W_KEYS;
        W_KEYS: state_q <= W_DONE;
        W_DONE: if (walked_ready_i) state_q <= W_IDLE;
        default: state_q <= W_IDLE;
      endcase
    end

    if (state_q == W_IDLE) begin
      wqe_q          <= wqe_i;
      version_q      <= keys_version_i;
      asked_q        <= '0;
      read_q         <= '0;
      inline_left_q  <= '0;
      seen_inline_q  <= 1'b0;
      seen_pointer_q <= 1'b0;
      seen_segment_q <= 1'b0;
      bad_format_q   <= 1'b0;
      bad_key_q      <= 1'b0;
      length_q       <= '0;
    end else begin
      if (fetch_valid_o && fetch_ready_i) asked_q <= asked_q + 1'b1;
      if (takes_unit) read_q <= read_q + 1'b1;
      if (state_q == W_CONTROL && takes_unit) begin
        ctrl_q  <= '{misc: w3, flags: w2, sq_ds: w1, opcode: w0};
        total_q <= total;
        fixed_q <= fixed;
      end
      if (state_q == W_BODY && takes_unit && inline_left_q != '0) begin
        inline_left_q <= inline_left_q - 1'b1;
      end
      if (is_inline) inline_left_q <= inline_units - 7'd1;
      if (is_segment) begin
        seen_segment_q <= 1'b1;
        length_q       <= length_q + {6'd0, is_inline ? {22'd0, w0[9:0]} : sge_o.bytes};
      end
      if (is_inline) seen_inline_q <= 1'b1;
      if (is_pointer) seen_pointer_q <= 1'b1;
      if (format_error) bad_format_q <= 1'b1;
      if (lookup_done_i && !lookup_resolves_i) bad_key_q <= 1'b1;
    end
  end

  // ------------------------------------------------------------------ summary

  logic too_long;
  assign too_long = length_q[37:32] != '0;

  assign walked_valid_o = state_q == W_DONE;
  always_comb begin
    walked_o                        = '0;
    walked_o.transport              = wqe_q.transport;
    walked_o.key_version            = version_q;
    walked_o.post.tag               = wqe_q.tag;
    walked_o.post.qpn               = wqe_q.qpn;
    walked_o.post.op                = OP_POST_SEND;
    walked_o.post.ctrl              = ctrl_q;
    walked_o.post.payload_len       = too_long ? '1 : length_q[31:0];
    walked_o.post.flags.mlx5        = mlx5;
    walked_o.post.flags.inline_seg  = seen_inline_q;
    walked_o.post.flags.walk_format = bad_format_q;
    walked_o.post.flags.walk_length = too_long;
    walked_o.post.flags.walk_key    = bad_key_q;
  end

endmodule
