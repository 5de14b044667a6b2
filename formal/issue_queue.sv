// SPDX-License-Identifier: Apache-2.0
//
// The queue to the wire with its credits, under the promise of its users: a reservation only
// where room is shown, and each one used or returned. No WQE is refused for want of room, no
// credit is lost or made, and the last one belongs to the waiting QPs.
module issue_queue_fv
  import rnic_pkg::*;
#(
    parameter int unsigned Depth = 2
) (
    input logic       clk_i,
    input logic       waiters_i,
    input logic       post_i,     // a POST_SEND wants to reserve
    input logic       visit_i,    // a visit wants to
    input logic       use_i,      // a reservation is used
    input logic       return_i,   // or returned
    input logic [7:0] data_i,
    input logic       ready_i,
    input logic       watch_i
);

  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;

  logic   post_room, visit_room, reserve, push, give_back, valid, pop;
  logic [3:0] reserved_q, held_q, ahead_q;
  issue_t in, out;
  always_comb begin
    in     = '0;
    in.qpn = 32'(data_i);
  end
  assign reserve   = started_q && ((post_i && post_room) || (!post_i && visit_i && visit_room));
  assign push      = started_q && use_i && reserved_q != '0;
  assign give_back = started_q && !use_i && return_i && reserved_q != '0;
  assign pop       = started_q && valid && ready_i;

  issue_queue #(
      .Depth(Depth)
  ) u_queue (
      .clk_i,
      .rst_ni      (started_q),
      .waiters_i,
      .post_room_o (post_room),
      .visit_room_o(visit_room),
      .reserve_i   (reserve),
      .release_i   (give_back),
      .push_i      (push),
      .push_data_i (in),
      .valid_o     (valid),
      .ready_i,
      .data_o      (out)
  );

  logic       watched_q;
  logic [7:0] item_q;
  always_ff @(posedge clk_i) begin
    if (!started_q) begin
      reserved_q <= '0;
      held_q     <= '0;
      watched_q  <= 1'b0;
      ahead_q    <= '0;
    end else begin
      reserved_q <= reserved_q + 4'(reserve) - 4'(push) - 4'(give_back);
      held_q     <= held_q + 4'(push) - 4'(pop);
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

  logic [3:0] gap, place;
  assign gap   = 4'(u_queue.u_fifo.wptr_q) + 4'(Depth) - 4'(u_queue.u_fifo.rptr_q);
  assign place = 4'(u_queue.u_fifo.rptr_q) + ahead_q;

  always_ff @(posedge clk_i) begin
    if (started_q) begin
      PointersInRange_A: assert (32'(u_queue.u_fifo.rptr_q) < Depth
                                 && 32'(u_queue.u_fifo.wptr_q) < Depth
                                 && 4'(u_queue.u_fifo.count_q) == held_q
                                 && 32'(u_queue.credits_q) + 32'(reserved_q) + 32'(held_q) == Depth
                                 && (gap == held_q || 32'(gap) == 32'(held_q) + Depth))
        else $error("pointers, count and credits contradict each other");
      WatchedInPlace_A: assert (!watched_q
                                || u_queue.u_fifo.mem[(32'(place) >= Depth) ? 2'(place - 4'(Depth)) : 2'(place)].qpn
                                   == 32'(item_q))
        else $error("a WQE changed inside, or lies elsewhere");
      CreditsAreConserved_A: assert (32'(reserved_q) + 32'(held_q) <= Depth
                                     && visit_room == (32'(reserved_q) + 32'(held_q) != Depth))
        else $error("a credit was lost or made");
      LastCreditIsForWaiters_A: assert (!waiters_i
                                        || post_room == (32'(reserved_q) + 32'(held_q) + 1 < Depth))
        else $error("a new post may take the last credit from a waiting QP, or none of the others");
      RoomIsShown_A: assert (waiters_i || post_room == visit_room)
        else $error("nobody waits and a post is refused room");
      OffersIffHeld_A: assert (valid == (held_q != '0)) else $error("a WQE vanished, or came from nowhere");
      WatchedIsInside_A: assert (!watched_q || ahead_q < held_q) else $error("a WQE was lost");
      InOrderAndWhole_A: assert (!(watched_q && ahead_q == '0) || out.qpn == 32'(item_q))
        else $error("a WQE comes out of turn or changed");
      Full_C: cover (32'(held_q) == Depth);
      Returned_C: cover (give_back && held_q == 4'd1);
      WatchedLeaves_C: cover (watched_q && pop && ahead_q == '0);
    end
  end

endmodule
