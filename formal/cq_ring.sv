// SPDX-License-Identifier: Apache-2.0
//
// The CQ ring with its context in a register, at every depth from 1 to MaxDepth, under every
// policy: an adversary attempts, consumes, arms, and switches the fault on and off.
//
// `slot` is one arbitrary slot of the ring: what holds for it holds for each. With it goes
// what a program sees in memory there: the phase bit of the entry last written.
module cq_ring_fv
  import rnic_pkg::*;
#(
    parameter int unsigned MaxDepth = 4
) (
    input logic        clk_i,
    // Chosen once
    input straps_t     straps_i,
    input ring_t       depth_i,
    input logic        ignore_overrun_i,
    input ring_t       slot_i,
    input logic        hosted_i,
    input logic [31:0] lost_i,
    // In each clock
    input logic [2:0]  action_i,
    input logic        worthy_i,
    input logic [31:0] index_i,
    input logic        post_i,
    input logic        watch_i
);

  typedef enum logic [2:0] {
    DO_NOTHING = 3'd0,
    DO_ATTEMPT = 3'd1,
    DO_CONSUME = 3'd2,
    DO_ARM     = 3'd3,
    DO_FAULT   = 3'd4
  } action_e;

  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;

  straps_t straps_q;
  ring_t   slot_q;
  logic    hosted_q;
  cq_ctx_t cq_q, cq_d;

  // A host that keeps to its ceilings: it posts only where posted and unconsumed entries
  // together leave room, and completes what was posted.
  ring_t posted_q;
  logic  posts, attempt, consume;
  assign posts   = post_i && started_q && {1'b0, posted_q} + {1'b0, cq_q.occupancy} < {1'b0, cq_q.depth};
  assign attempt = started_q && action_i == DO_ATTEMPT && !(hosted_q && posted_q == '0);
  assign consume = started_q && action_i == DO_CONSUME;

  logic  failed, written, phase, fires, raises, consume_ok;
  ring_t at;
  cq_ctx_t ring;
  cq_ring u_ring (
      .straps_i       (straps_q),
      .cq_i           (cq_q),
      .attempt_i      (attempt),
      .event_worthy_i (worthy_i),
      .failed_o       (failed),
      .written_o      (written),
      .slot_o         (at),
      .phase_o        (phase),
      .fires_o        (fires),
      .raises_cq_err_o(raises),
      .consume_i      (consume),
      .index_i        (index_i),
      .consume_ok_o   (consume_ok),
      .cq_o           (ring)
  );

  always_comb begin
    cq_d = ring;
    if (action_i == DO_ARM) cq_d.arm = worthy_i ? ARM_NEXT : ARM_SOLICITED;
    if (action_i == DO_FAULT) cq_d.fault = worthy_i;
  end

  always_ff @(posedge clk_i) begin
    if (!started_q) begin
      straps_q            <= straps_i;
      slot_q              <= slot_i;
      hosted_q            <= hosted_i;
      posted_q            <= '0;
      cq_q                <= '0;
      cq_q.exists         <= 1'b1;
      cq_q.depth          <= depth_i;
      cq_q.ignore_overrun <= ignore_overrun_i;
      cq_q.lost           <= lost_i;  // anything: nobody waits for 2^32 losses
    end else begin
      cq_q     <= cq_d;
      posted_q <= posted_q + RingW'(posts) - RingW'(attempt && hosted_q);
    end
  end

  // ---- what a program sees

  logic  memory_phase_q;       // of the entry at `slot`; a new ring is all zero
  logic  watched_q;            // one entry, chosen at any write, not yet consumed
  ring_t watched_slot_q, ahead_q;
  logic  watched_phase_q;
  logic [RingW:0] gap, distance, reader, watched_at;
  assign gap = (cq_q.producer >= cq_q.consumer)
               ? {1'b0, cq_q.producer} - {1'b0, cq_q.consumer}
               : {1'b0, cq_q.producer} + {cq_q.depth, 1'b0} - {1'b0, cq_q.consumer};
  // Entries that a consume takes, in the reader's own arithmetic.
  assign distance = (index_i[RingW-1:0] >= cq_q.consumer)
                    ? {1'b0, index_i[RingW-1:0]} - {1'b0, cq_q.consumer}
                    : {1'b0, index_i[RingW-1:0]} + {cq_q.depth, 1'b0} - {1'b0, cq_q.consumer};
  // Where the reader will find the watched entry: so many behind its own index.
  assign watched_at = {1'b0, cq_q.consumer} + {1'b0, ahead_q};
  assign reader = (watched_at >= {cq_q.depth, 1'b0}) ? watched_at - {cq_q.depth, 1'b0} : watched_at;
  logic reader_phase;
  ring_t reader_slot;
  assign reader_phase = reader < {1'b0, cq_q.depth};
  assign reader_slot  = reader_phase ? reader[RingW-1:0] : reader[RingW-1:0] - cq_q.depth;

  logic keeps;  // unread entries are never given up
  assign keeps = !straps_q.cq_overwrite && !cq_q.ignore_overrun;

  always_ff @(posedge clk_i) begin
    if (!started_q) begin
      memory_phase_q <= 1'b0;
      watched_q      <= 1'b0;
    end else begin
      if (written && at == slot_q) memory_phase_q <= phase;
      if (!watched_q && written && keeps && watch_i) begin
        watched_q       <= 1'b1;
        watched_slot_q  <= at;
        watched_phase_q <= phase;
        ahead_q         <= cq_q.occupancy;
      end else if (consume && consume_ok && watched_q) begin
        if (distance > {1'b0, ahead_q}) watched_q <= 1'b0;
        else ahead_q <= ahead_q - distance[RingW-1:0];
      end
    end
  end

  ring_t consumer_slot;
  logic  consumer_phase;
  assign consumer_phase = cq_q.consumer < cq_q.depth;
  assign consumer_slot  = consumer_phase ? cq_q.consumer : cq_q.consumer - cq_q.depth;

  logic raised_before_q;
  always_ff @(posedge clk_i) begin
    if (!started_q) raised_before_q <= 1'b0;
    else raised_before_q <= raised_before_q || raises;
  end

  // ---- properties

  always_ff @(posedge clk_i) begin
    if (!started_q) begin
      assume (depth_i >= 1 && 32'(depth_i) <= MaxDepth);
      assume (slot_i < depth_i);
      assume (straps_i.cq_scope <= SCOPE_CASCADE);
    end else begin
      DepthIsOneOfThese_A: assert (cq_q.depth != '0 && 32'(cq_q.depth) <= MaxDepth)
        else $error("the depth of a CQ changed");
      IndicesInRange_A: assert ({1'b0, cq_q.producer} < {cq_q.depth, 1'b0}
                                 && {1'b0, cq_q.consumer} < {cq_q.depth, 1'b0})
        else $error("an index is not below twice the depth");
      IndicesMatchOccupancy_A: assert (gap == {1'b0, cq_q.occupancy})
        else $error("producer - consumer is not the occupancy");
      OccupancyWithinDepth_A: assert (cq_q.occupancy <= cq_q.depth)
        else $error("more entries than slots");
      UnreadIsKept_A: assert (!(written && cq_q.occupancy == cq_q.depth) || !keeps)
        else $error("an unread entry is overwritten though the policy keeps it");
      WritesIntoTheRing_A: assert (!written || at < cq_q.depth)
        else $error("an entry is written beside the ring");
      EntryFoundWhereRead_A: assert (!watched_q
                                     || (ahead_q < cq_q.occupancy && reader_slot == watched_slot_q
                                         && reader_phase == watched_phase_q))
        else $error("the reader will not find the entry where and when it looks for it");
      EntryNotOverwritten_A: assert (!(watched_q && written) || at != watched_slot_q)
        else $error("an entry is overwritten before it was read");
      PhaseTurnsInPlace_A: assert (!(written && at == slot_q) || phase != memory_phase_q)
        else $error("a new entry has the phase of the one that it replaces");
      PollSeesExactlyUnread_A: assert (consumer_slot != slot_q
                                       || (memory_phase_q == consumer_phase)
                                          == (cq_q.occupancy != '0))
        else $error("polling by phase misses an entry, or sees one that is not there");
      RefusedConsumeChangesNothing_A: assert (!consume || consume_ok || ring == cq_q)
        else $error("a refused doorbell changed the ring");
      ConsumeTakesWhatItSays_A: assert (!(consume && consume_ok)
                                        || (ring.consumer == index_i[RingW-1:0]
                                            && index_i < {14'd0, cq_q.depth, 1'b0}
                                            && {1'b0, ring.occupancy} + distance
                                               == {1'b0, cq_q.occupancy}))
        else $error("a doorbell took another number of entries than it named");
      NoDoorbellIntoTheFuture_A: assert (!(consume && consume_ok)
                                         || distance <= {1'b0, cq_q.occupancy})
        else $error("a doorbell consumed what was never written");
      RightDoorbellIsTaken_A: assert (!consume || consume_ok
                                      || index_i >= {14'd0, cq_q.depth, 1'b0}
                                      || distance > {1'b0, cq_q.occupancy})
        else $error("a doorbell within what is unread was refused");
      FailsOnlyForAReason_A: assert (!failed || cq_q.fault || cq_q.in_error
                                     || (cq_q.occupancy == cq_q.depth && !cq_q.ignore_overrun))
        else $error("an attempt failed without a reason");
      FailsForAReason_A: assert (!attempt || failed
                                 || (!cq_q.fault && !cq_q.in_error
                                     && (cq_q.occupancy != cq_q.depth || cq_q.ignore_overrun)))
        else $error("an attempt succeeded that must fail");
      SuccessIsWritten_A: assert (!attempt || failed || written)
        else $error("an entry vanished");
      WrittenMovesOneOn_A: assert (!written || ring.producer != cq_q.producer)
        else $error("a write did not move the producer index");
      LostIsCounted_A: assert (ring.lost == cq_q.lost
                               || (failed && !written && cq_q.lost != '1
                                   && ring.lost == cq_q.lost + 1'b1))
        else $error("the count of lost entries moved without a loss");
      LossIsCounted_A: assert (!(failed && !written) || ring.lost != cq_q.lost || cq_q.lost == '1)
        else $error("a loss was not counted");
      NothingIntoFaultyCq_A: assert (!written || !cq_q.fault)
        else $error("an entry is written into an inaccessible CQ");
      CqErrRaisedOnce_A: assert (!raises || !raised_before_q)
        else $error("CQ_ERR for the second time");
      CqErrAtFirstFailure_A: assert (!failed || raises || raised_before_q)
        else $error("a CQ failed and no CQ_ERR was raised");
      ErrorIsSticky_A: assert (!cq_q.in_error || ring.in_error)
        else $error("a CQ left its error state");
      ErrorOnlyByPolicy_A: assert (!failed || ring.in_error
                                   || straps_q.cq_scope == SCOPE_AFFECTED)
        else $error("a failed attempt left the CQ without error though the policy wants it");
      NoErrorWithoutFailure_A: assert (!ring.in_error || cq_q.in_error
                                       || (failed && straps_q.cq_scope != SCOPE_AFFECTED))
        else $error("a CQ is in error without a failure, or though the policy spares it");
      EventOnlyIfArmed_A: assert (!fires || (written && cq_q.arm != ARM_NONE
                                             && ring.arm == ARM_NONE))
        else $error("an event of a CQ that was not armed");
      ArmedEntryFires_A: assert (!(written && (cq_q.arm == ARM_NEXT
                                               || (cq_q.arm == ARM_SOLICITED && worthy_i))) || fires)
        else $error("an armed CQ kept silent: a lost wake-up");
      HostKeepsWithin_A: assert (!(hosted_q && keeps)
                                  || {1'b0, posted_q} + {1'b0, cq_q.occupancy} <= {1'b0, cq_q.depth})
        else $error("the host model itself is wrong");
      ProvisionedNeverFull_A: assert (!(hosted_q && keeps && attempt)
                                      || cq_q.occupancy != cq_q.depth)
        else $error("a CQ as deep as its ceilings was full");

      Full_C: cover (cq_q.occupancy == cq_q.depth && cq_q.depth == 3);
      Wrapped_C: cover (cq_q.producer == '0 && cq_q.occupancy == cq_q.depth && cq_q.depth == 2);
      Failed_C: cover (failed && !written && cq_q.occupancy == cq_q.depth);
      Overwrote_C: cover (failed && written);
      WatchedRead_C: cover (watched_q && consume && consume_ok && distance > 18'd1);
      HostFills_C: cover (hosted_q && written && cq_q.occupancy + 1'b1 == cq_q.depth && cq_q.depth == 2);
      RefusedConsume_C: cover (consume && !consume_ok && cq_q.occupancy != '0);
      Fired_C: cover (fires && cq_q.arm == ARM_SOLICITED);
    end
  end

endmodule
