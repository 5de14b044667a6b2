// SPDX-License-Identifier: Apache-2.0
//
// A small FIFO of registers with valid/ready on both sides. An entry written in one clock
// is offered in the next; `ready_o` does not depend on `ready_i`.
//
// Latency: one clock. Throughput: one entry per clock.
module stream_fifo #(
    parameter type         T     = logic,  // what it holds
    parameter int unsigned Depth = 2       // entries; 2 are enough for one per clock
) (
    input  logic clk_i,
    input  logic rst_ni,
    input  logic valid_i,  // what comes in
    output logic ready_o,
    input  T     data_i,
    output logic valid_o,  // the oldest entry
    input  logic ready_i,
    output T     data_o
);

  localparam int unsigned PtrW = (Depth > 1) ? $clog2(Depth) : 1;
  localparam int unsigned CntW = $clog2(Depth + 1);

  T                mem [Depth];
  logic [PtrW-1:0] wptr_q, rptr_q;
  logic [CntW-1:0] count_q;
  logic            push, pop;

  assign ready_o = count_q != CntW'(Depth);
  assign valid_o = count_q != '0;
  assign data_o  = mem[rptr_q];
  assign push    = valid_i && ready_o;
  assign pop     = valid_o && ready_i;

  function automatic logic [PtrW-1:0] step(logic [PtrW-1:0] ptr);
    return (32'(ptr) == Depth - 1) ? '0 : ptr + 1'b1;
  endfunction

  always_ff @(posedge clk_i) begin
    if (push) mem[wptr_q] <= data_i;
    if (!rst_ni) begin
      wptr_q  <= '0;
      rptr_q  <= '0;
      count_q <= '0;
    end else begin
      if (push) wptr_q <= step(wptr_q);
      if (pop) rptr_q <= step(rptr_q);
      count_q <= count_q + CntW'(push) - CntW'(pop);
    end
  end

endmodule
