// SPDX-License-Identifier: Apache-2.0
//
// FIFO of QP numbers that wait for one internal step. Deep enough for every QP once, which
// its users guarantee by a membership bit per QP.
//
// The body is a memory with synchronous read; in front of it stand four registers, so that
// the head falls through: pushed in one clock, offered in the next, one pop per clock.
//
// Latency: one clock while the list is empty. Throughput: one push and one pop per clock.
module work_list #(
    parameter int unsigned Width = 16, // bits of a QP number
    parameter int unsigned Depth = 64  // QPs
) (
    input  logic             clk_i,
    input  logic             rst_ni,
    input  logic             push_i,   // never while full
    input  logic [Width-1:0] data_i,   // a QP that is not a member
    output logic             valid_o,  // there is a head
    output logic [Width-1:0] data_o,   // the head
    input  logic             pop_i     // only with valid_o
);

  localparam int unsigned Front = 4;
  localparam int unsigned AddrW = (Depth > 1) ? $clog2(Depth) : 1;
  localparam int unsigned CntW  = $clog2(Depth + 1);

  // Body
  logic [AddrW-1:0] wptr_q, rptr_q;
  logic [CntW-1:0]  body_q;      // entries in the memory
  logic             fetch_q;     // a read is under way
  logic [Width-1:0] fetched;
  // Front
  logic [Width-1:0] front_q [Front];
  logic [1:0]       fwptr_q, frptr_q;
  logic [2:0]       front_cnt_q;

  logic to_front, to_body, fetch;
  // An entry may overtake nothing: it goes to the front only past an empty body.
  assign to_front = push_i && body_q == '0 && !fetch_q && front_cnt_q < 3'(Front);
  assign to_body  = push_i && !to_front;
  // Room for what is under way and for this one, not counting the pop of this clock. The
  // memory is write-first, so an entry is fetched in the clock of its push: waiting one more
  // would let the front run empty behind it.
  assign fetch    = (body_q != '0 || to_body) && front_cnt_q + 3'(fetch_q) < 3'(Front);

  logic             put;
  logic [Width-1:0] put_data;
  assign put      = fetch_q || to_front;
  assign put_data = fetch_q ? fetched : data_i;

  assign valid_o = front_cnt_q != '0;
  assign data_o  = front_q[frptr_q];

  ram_1r1w #(
      .Width(Width),
      .Depth(Depth)
  ) u_body (
      .clk_i,
      .raddr_i (rptr_q),
      .rdata_o (fetched),
      .we_i    (to_body),
      .wlanes_i(1'b1),
      .waddr_i (wptr_q),
      .wdata_i (data_i)
  );

  function automatic logic [AddrW-1:0] step(logic [AddrW-1:0] ptr);
    return (32'(ptr) == Depth - 1) ? '0 : ptr + 1'b1;
  endfunction

  always_ff @(posedge clk_i) begin
    if (put) front_q[fwptr_q] <= put_data;
    if (!rst_ni) begin
      wptr_q      <= '0;
      rptr_q      <= '0;
      body_q      <= '0;
      fetch_q     <= 1'b0;
      fwptr_q     <= '0;
      frptr_q     <= '0;
      front_cnt_q <= '0;
    end else begin
      if (to_body) wptr_q <= step(wptr_q);
      if (fetch) rptr_q <= step(rptr_q);
      body_q  <= body_q + CntW'(to_body) - CntW'(fetch);
      fetch_q <= fetch;
      if (put) fwptr_q <= fwptr_q + 1'b1;
      if (pop_i) frptr_q <= frptr_q + 1'b1;
      front_cnt_q <= front_cnt_q + 3'(put) - 3'(pop_i);
    end
  end

endmodule
