// SPDX-License-Identifier: Apache-2.0
//
// The queue of WQEs released to the wire, with its credits.
//
// A launch reserves an entry before it knows whether it will use one; the execute stage
// uses or returns it. So a wire without room never stalls the pipeline. The last credit
// belongs to the waiting QPs: otherwise new posts could take every entry that the wire
// frees, and a waiter would never issue.
//
// Latency: one clock from push to offer. Throughput: one WQE per clock.
module issue_queue
  import rnic_pkg::*;
#(
    parameter int unsigned Depth = 4  // entries, at least 2
) (
    input  logic   clk_i,
    input  logic   rst_ni,
    // Launch
    input  logic   waiters_i,      // the issue list is not empty
    output logic   post_room_o,    // a POST_SEND may reserve an entry
    output logic   visit_room_o,   // a visit of the issue list may
    input  logic   reserve_i,      // a launch reserves one
    // Execute
    input  logic   release_i,      // a reservation was not used
    input  logic   push_i,         // a reservation is used
    input  issue_t push_data_i,    // what is released
    // Wire
    output logic   valid_o,        // the oldest WQE released
    input  logic   ready_i,
    output issue_t data_o
);

  localparam int unsigned CntW = $clog2(Depth + 1);

  logic [CntW-1:0] credits_q;
  logic            pop, room;

  assign post_room_o  = waiters_i ? credits_q > CntW'(1) : credits_q != '0;
  assign visit_room_o = credits_q != '0;
  assign pop          = valid_o && ready_i;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) credits_q <= CntW'(Depth);
    else credits_q <= credits_q + CntW'(release_i) + CntW'(pop) - CntW'(reserve_i);
  end

  stream_fifo #(
      .T    (issue_t),
      .Depth(Depth)
  ) u_fifo (
      .clk_i,
      .rst_ni,
      .valid_i(push_i),
      .ready_o(room),
      .data_i (push_data_i),
      .valid_o,
      .ready_i,
      .data_o
  );

endmodule
