// SPDX-License-Identifier: Apache-2.0
//
// The list of waiting QPs, under the promise of its users: never more entries than QPs, and a
// pop only of what is offered. No entry is lost, doubled or overtaken, and the list never
// hides its head for longer than a clock.
module work_list_fv #(
    parameter int unsigned Depth = 8
) (
    input logic       clk_i,
    input logic       push_i,
    input logic       pop_i,
    input logic [3:0] data_i,
    input logic       watch_i
);

  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;

  logic [3:0] held_q, ahead_q;
  logic       valid, push, pop;
  logic [3:0] data;
  assign push = started_q && push_i && 32'(held_q) < Depth;
  assign pop  = started_q && pop_i && valid;

  work_list #(
      .Width(4),
      .Depth(Depth)
  ) u_list (
      .clk_i,
      .rst_ni (started_q),
      .push_i (push),
      .data_i,
      .valid_o(valid),
      .data_o (data),
      .pop_i  (pop)
  );

  logic       watched_q, silent_q;
  logic [3:0] item_q;
  always_ff @(posedge clk_i) begin
    silent_q <= started_q && held_q != 0 && !valid;
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

  // Where inside the watched entry lies: front registers, the word under way, the memory.
  logic [3:0] front, behind, gap, place;
  logic       in_place;
  assign front  = {1'b0, u_list.front_cnt_q};
  assign behind = ahead_q - front - 4'(u_list.fetch_q);
  assign gap    = 4'(u_list.wptr_q) + 4'(Depth) - 4'(u_list.rptr_q);
  assign place  = 4'(u_list.rptr_q) + behind;
  always_comb begin
    if (ahead_q < front) in_place = u_list.front_q[u_list.frptr_q + ahead_q[1:0]] == item_q;
    else if (ahead_q == front && u_list.fetch_q) in_place = u_list.fetched == item_q;
    else begin
      in_place = u_list.u_body.g_lane[0].mem[(32'(place) >= Depth) ? 3'(place - 4'(Depth)) : place[2:0]]
                 == item_q;
    end
  end

  always_ff @(posedge clk_i) begin
    if (started_q) begin
      CountsAgree_A: assert (front + 4'(u_list.fetch_q) + 4'(u_list.body_q) == held_q
                             && 32'(held_q) <= Depth && front <= 4'd4
                             && u_list.fwptr_q - u_list.frptr_q == front[1:0]
                             && 32'(u_list.rptr_q) < Depth && 32'(u_list.wptr_q) < Depth
                             && (gap == 4'(u_list.body_q) || 32'(gap) == 32'(u_list.body_q) + Depth))
        else $error("pointers and counts of the list contradict each other");
      FrontStaysAhead_A: assert ((u_list.body_q == '0 || front + 4'(u_list.fetch_q) >= 4'd3)
                                 && (!u_list.fetch_q || (front >= 4'd2 && front < 4'd4)))
        else $error("the front runs empty before the body");
      WatchedInPlace_A: assert (!watched_q || in_place)
        else $error("an entry changed inside, or lies elsewhere");
      OffersOnlyWhatIsHeld_A: assert (!valid || held_q != '0) else $error("an entry from nowhere");
      NeverSilentWithWork_A: assert (held_q == '0 || valid)
        else $error("a QP waits and the list offers none");
      WatchedIsInside_A: assert (!watched_q || ahead_q < held_q) else $error("an entry was lost");
      InOrderAndWhole_A: assert (!(watched_q && ahead_q == '0 && valid) || data == item_q)
        else $error("an entry comes out of turn or changed");
      Full_C: cover (32'(held_q) == Depth);
      WatchedThroughBody_C: cover (watched_q && pop && ahead_q == '0 && held_q == 4'd6);
    end
  end

endmodule
