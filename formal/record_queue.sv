// SPDX-License-Identifier: Apache-2.0
//
// Retired operations on their way out, under the promise of the credits (a push only where
// there is room): whoever sees the retire record, the answer or the event of an operation has
// been given every completion queue entry up to and including its own. One operation, chosen
// at any push, is followed.
module record_queue_fv
  import rnic_pkg::*;
#(
    parameter int unsigned Depth = 2
) (
    input logic       clk_i,
    input logic       push_i,
    input logic [3:0] tag_i,
    input logic       has_cqe_i,
    input logic       has_rsp_i,
    input logic       has_event_i,
    input logic       cqe_ready_i,
    input logic       rsp_ready_i,
    input logic       event_ready_i,
    input logic       retire_ready_i,
    input logic       watch_i
);

  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;

  logic       push, leaves, cqe_valid, rsp_valid, event_valid, retire_valid;
  logic [3:0] held_q;
  record_t    in;
  cqe_write_t cqe;
  rsp_t       rsp;
  event_t     ev;
  retire_t    retire;
  assign push = started_q && push_i && 32'(held_q) < Depth;
  always_comb begin
    in                  = '0;
    in.has_rsp          = has_rsp_i;
    in.retire.tag       = 32'(tag_i);
    in.retire.qpn       = 32'(tag_i);
    in.retire.cqe       = has_cqe_i ? CQE_WRITTEN : CQE_NONE;
    in.retire.kinds.qp_fatal = has_event_i;
  end

  record_queue #(
      .Depth(Depth)
  ) u_records (
      .clk_i,
      .rst_ni        (started_q),
      .push_i        (push),
      .record_i      (in),
      .leaves_o      (leaves),
      .cqe_valid_o   (cqe_valid),
      .cqe_ready_i,
      .cqe_o         (cqe),
      .rsp_valid_o   (rsp_valid),
      .rsp_ready_i,
      .rsp_o         (rsp),
      .event_valid_o (event_valid),
      .event_ready_i,
      .event_o       (ev),
      .retire_valid_o(retire_valid),
      .retire_ready_i,
      .retire_o      (retire)
  );

  // What is inside, in operations, entries and answers; what of it comes before the watched.
  logic       cqe_out, rsp_out, event_out, retire_out;
  assign cqe_out    = started_q && cqe_valid && cqe_ready_i;
  assign rsp_out    = started_q && rsp_valid && rsp_ready_i;
  assign event_out  = started_q && event_valid && event_ready_i;
  assign retire_out = started_q && retire_valid && retire_ready_i;

  logic       watched_q, watched_cqe_q;
  logic [3:0] tag_q, inside_q, cqes_q, rsps_q, events_q;
  logic [3:0] ahead_q, cqes_ahead_q;  // of the watched; entries: its own included
  always_ff @(posedge clk_i) begin
    if (!started_q) begin
      watched_q <= 1'b0;
      held_q    <= '0;
      inside_q  <= '0;
      cqes_q    <= '0;
      rsps_q    <= '0;
      events_q  <= '0;
    end else begin
      held_q   <= held_q + 4'(push) - 4'(leaves);
      inside_q <= inside_q + 4'(push) - 4'(retire_out);
      cqes_q   <= cqes_q + 4'(push && has_cqe_i) - 4'(cqe_out);
      rsps_q   <= rsps_q + 4'(push && has_rsp_i) - 4'(rsp_out);
      events_q <= events_q + 4'(push && has_event_i) - 4'(event_out);
      if (!watched_q && push && watch_i) begin
        watched_q     <= 1'b1;
        watched_cqe_q <= has_cqe_i;
        tag_q         <= tag_i;
        ahead_q       <= inside_q - 4'(retire_out);
        cqes_ahead_q  <= cqes_q + 4'(has_cqe_i) - 4'(cqe_out);
      end else if (watched_q) begin
        if (cqe_out && cqes_ahead_q != '0) cqes_ahead_q <= cqes_ahead_q - 1'b1;
        if (retire_out) begin
          if (ahead_q == '0) watched_q <= 1'b0;
          else ahead_q <= ahead_q - 1'b1;
        end
      end
    end
  end

  // Where inside things are, which is what makes the rest provable: `Depth` is 2 here.
  logic       head_cqe, next_cqe, done;
  logic [3:0] out_count, in_body;
  record_t    head, next;
  retire_core_t waiting;  // in the output FIFO, where the watched one would be
  assign waiting = u_records.u_retire.mem[u_records.u_retire.rptr_q ^ ahead_q[0]];
  assign head      = u_records.u_records.mem[u_records.u_records.rptr_q];
  assign next      = u_records.u_records.mem[~u_records.u_records.rptr_q];
  assign head_cqe  = held_q != '0 && head.retire.cqe == CQE_WRITTEN;
  assign next_cqe  = held_q == 4'd2 && next.retire.cqe == CQE_WRITTEN;
  assign done      = u_records.cqe_done_q;
  assign out_count = 4'(u_records.u_retire.count_q);
  assign in_body   = ahead_q - out_count;

  always_ff @(posedge clk_i) begin
    if (started_q) begin
      CountsAgree_A: assert (inside_q == held_q + out_count && out_count <= 4'd2
                             && cqes_q == 4'(head_cqe) + 4'(next_cqe) - 4'(done)
                             && (!done || head_cqe)
                             && rsps_q == 4'(held_q != '0 && head.has_rsp)
                                          + 4'(held_q == 4'd2 && next.has_rsp)
                                          + 4'(u_records.u_rsp.count_q)
                             && events_q == 4'(held_q != '0 && head.retire.kinds != '0)
                                            + 4'(held_q == 4'd2 && next.retire.kinds != '0)
                                            + 4'(u_records.u_event.count_q)
                             && u_records.u_rsp.count_q <= 2'd2 && u_records.u_event.count_q <= 2'd2
                             && (u_records.u_records.wptr_q == u_records.u_records.rptr_q)
                                == (held_q != 4'd1)
                             && (u_records.u_retire.wptr_q == u_records.u_retire.rptr_q)
                                == (out_count != 4'd1))
        else $error("the queue's own counts contradict what went in and out");
      WatchedInPlace_A: assert (!watched_q
                                || (ahead_q < inside_q
                                    && (ahead_q < out_count
                                        ? cqes_ahead_q == '0 && waiting.tag == 32'(tag_q)
                                        : (in_body == '0
                                           ? cqes_ahead_q == 4'(head_cqe) - 4'(done)
                                             && head.retire.tag == 32'(tag_q)
                                             && head_cqe == watched_cqe_q
                                           : cqes_ahead_q == 4'(head_cqe) + 4'(next_cqe) - 4'(done)
                                             && next.retire.tag == 32'(tag_q)
                                             && next_cqe == watched_cqe_q))))
        else $error("an operation changed inside, or lies elsewhere");
      RecordsAreWhole_A: assert ((held_q == '0 || head.retire.qpn == head.retire.tag)
                                 && (held_q != 4'd2 || next.retire.qpn == next.retire.tag))
        else $error("a record changed inside");
      HeldIsWhatIsHeld_A: assert (4'(u_records.u_records.count_q) == held_q
                                  && 32'(held_q) <= Depth)
        else $error("a record was lost or doubled before it left");
      EntriesBeforeTheRest_A: assert (!(watched_q && ahead_q == '0 && retire_valid)
                                      || cqes_ahead_q == '0)
        else $error("an operation shows as retired before its completion queue entry");
      RetiresInOrder_A: assert (!(watched_q && ahead_q == '0 && retire_valid)
                                || retire.tag == 32'(tag_q))
        else $error("an operation retires out of turn");
      EntriesInOrder_A: assert (!(watched_q && watched_cqe_q && cqes_ahead_q == 4'd1 && cqe_valid)
                                || cqe.cqe.qpn == 32'(tag_q))
        else $error("an entry is written out of turn");
      NothingFromNowhere_A: assert ((!retire_valid || inside_q != '0) && (!cqe_valid || cqes_q != '0)
                                    && (!rsp_valid || rsps_q != '0)
                                    && (!event_valid || events_q != '0))
        else $error("an output that no operation asked for");
      EmptyMeansAllOut_A: assert (inside_q != '0 || cqes_q == '0)
        else $error("all operations are out and an entry is not");

      EntryHeldBack_C: cover (watched_q && watched_cqe_q && ahead_q == '0 && retire_valid);
      AllAtOnce_C: cover (rsp_valid && event_valid && retire_valid && cqe_valid);
    end
  end

endmodule
