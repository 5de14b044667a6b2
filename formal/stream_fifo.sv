// SPDX-License-Identifier: Apache-2.0
//
// The FIFO: nothing is lost, doubled or overtaken. One item, chosen at any push, is followed;
// what holds for it holds for each.
module stream_fifo_fv #(
    parameter int unsigned Depth = 4
) (
    input logic       clk_i,
    input logic       valid_i,
    input logic       ready_i,
    input logic [3:0] data_i,
    input logic       watch_i
);

  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;

  logic       ready, valid, push, pop;
  logic [3:0] data;
  stream_fifo #(
      .T    (logic [3:0]),
      .Depth(Depth)
  ) u_fifo (
      .clk_i,
      .rst_ni (started_q),
      .valid_i,
      .ready_o(ready),
      .data_i,
      .valid_o(valid),
      .ready_i,
      .data_o (data)
  );
  assign push = started_q && valid_i && ready;
  assign pop  = started_q && valid && ready_i;

  logic        watched_q, was_valid_q, was_taken_q;
  logic [3:0]  item_q, was_data_q;
  logic [3:0] held_q, ahead_q;
  always_ff @(posedge clk_i) begin
    was_valid_q <= started_q && valid;
    was_taken_q <= pop;
    was_data_q  <= data;
    if (!started_q) begin
      watched_q <= 1'b0;
      held_q    <= '0;
      ahead_q   <= '0;
    end else begin
      held_q <= held_q + 4'(push) - 4'(pop);
      if (!watched_q && push && watch_i) begin
        watched_q <= 1'b1;
        item_q    <= data_i;
        ahead_q   <= held_q - 4'(pop);
      end else if (watched_q && pop) begin
        if (ahead_q == '0) watched_q <= 1'b0;
        else ahead_q <= ahead_q - 1'b1;
      end
    end
  end

  // Where inside the watched item lies, which is what makes the rest provable.
  logic [3:0] gap, place;
  assign gap   = 4'(u_fifo.wptr_q) + 4'(Depth) - 4'(u_fifo.rptr_q);
  assign place = 4'(u_fifo.rptr_q) + ahead_q;

  always_ff @(posedge clk_i) begin
    if (started_q) begin
      PointersInRange_A: assert (32'(u_fifo.rptr_q) < Depth && 32'(u_fifo.wptr_q) < Depth
                                 && 4'(u_fifo.count_q) == held_q
                                 && (gap == held_q || 32'(gap) == 32'(held_q) + Depth))
        else $error("pointers and count of the FIFO contradict each other");
      WatchedInPlace_A: assert (!watched_q
                                || u_fifo.mem[(32'(place) >= Depth) ? 2'(place - 4'(Depth)) : 2'(place)] == item_q)
        else $error("an item changed inside, or lies elsewhere");
      HeldWithinDepth_A: assert (32'(held_q) <= Depth) else $error("more items than places");
      OffersIffHeld_A: assert (valid == (held_q != '0)) else $error("an item is hidden, or none offered");
      RefusesIffFull_A: assert (ready == (32'(held_q) != Depth)) else $error("room is denied, or promised");
      WatchedIsInside_A: assert (!watched_q || ahead_q < held_q) else $error("an item was lost");
      InOrderAndWhole_A: assert (!(watched_q && ahead_q == '0) || data == item_q)
        else $error("an item comes out of turn or changed");
      OfferStands_A: assert (!was_valid_q || was_taken_q || (valid && data == was_data_q))
        else $error("an offer was withdrawn");
      Full_C: cover (32'(held_q) == Depth);
      WatchedLeaves_C: cover (watched_q && pop && ahead_q == '0 && 32'(held_q) == Depth);
    end
  end

endmodule
