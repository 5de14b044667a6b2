// SPDX-License-Identifier: Apache-2.0
//
// The key table: a look-up answers by what was last registered under its index; a change
// waits while a walk holds the table. One arbitrary index is followed.
module key_table_fv
  import rnic_pkg::*;
#(
    parameter int unsigned NUM_KEY = 4
) (
    input logic        clk_i,
    input logic [1:0]  index_i,  // chosen once
    input logic        hold_i,
    input logic        change_valid_i,
    input key_change_t change_i,
    input logic        lookup_i,
    input sge_t        sge_i,
    input logic        writes_i
);

  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;

  logic        ready, applied, done, resolves, waits_q, change;
  logic [15:0] version;
  // One change at a time: `ready` is 0 in the clock of a change, so what it was before counts.
  assign change = started_q && change_valid_i && !waits_q;

  key_table #(
      .NUM_KEY(NUM_KEY)
  ) u_keys (
      .clk_i,
      .rst_ni        (started_q),
      .ready_o       (ready),
      .hold_i,
      .change_valid_i(change),
      .change_i,
      .applied_o     (applied),
      .version_o     (version),
      .lookup_i,
      .sge_i,
      .writes_i,
      .done_o        (done),
      .resolves_o    (resolves)
  );

  logic [1:0]  index_q;
  key_change_t change_q;
  key_entry_t  entry_q, entry_next;   // what the index should hold
  logic        asked_q, writes_q, was_held_q;
  sge_t        sge_q;
  logic [15:0] version_q;
  logic [2:0]  since_reset_q;
  always_comb begin
    entry_next = entry_q;
    if (applied && change_q.index == 24'(index_q)) entry_next = change_q.entry;
  end
  always_ff @(posedge clk_i) begin
    if (!started_q) begin
      index_q       <= index_i;
      waits_q       <= 1'b0;
      entry_q       <= '0;
      asked_q       <= 1'b0;
      was_held_q    <= 1'b0;
      since_reset_q <= '0;
      version_q     <= '0;
    end else begin
      waits_q    <= change || (waits_q && !applied);
      entry_q    <= entry_next;
      was_held_q <= hold_i;
      version_q  <= version;
      if (since_reset_q != '1) since_reset_q <= since_reset_q + 1'b1;
      // A walk asks only while it holds, after the table is ready.
      asked_q <= lookup_i && since_reset_q >= 3'd4 && sge_i.lkey[31:8] == 24'(index_q);
    end
    if (change) change_q <= change_i;
    if (lookup_i) begin
      sge_q    <= sge_i;
      writes_q <= writes_i;
    end
  end

  logic want;
  always_comb begin
    want = entry_q.exists && entry_q.variant == sge_q.lkey[7:0];
    if (writes_q && !entry_q.local_write) want = 1'b0;
    if (sge_q.addr < entry_q.base) want = 1'b0;
    if ({1'b0, sge_q.addr} + 65'(sge_q.bytes) > {1'b0, entry_q.last} + 65'd1) want = 1'b0;
  end

  always_ff @(posedge clk_i) begin
    if (started_q) begin
      assume (32'(change_i.index) < NUM_KEY);
      assume (sge_i.bytes != '0);
      // Where inside the followed entry lies.
      ChangeInPlace_A: assert (waits_q == u_keys.pending_q
                               && (!waits_q || (u_keys.change_q == change_q
                                                && 32'(change_q.index) < NUM_KEY)))
        else $error("the change that waits is not the one that was made");
      EntryInPlace_A: assert ((32'(u_keys.init_q) <= 32'(index_q))
                              ? entry_q == '0
                              : u_keys.u_keys.g_lane[0].mem[index_q] == entry_q)
        else $error("the table holds something else than was registered");
      InitTakesItsClocks_A: assert (32'(u_keys.init_q) <= NUM_KEY
                                    && (32'(since_reset_q) <= 32'(u_keys.init_q)
                                        || 32'(u_keys.init_q) == NUM_KEY))
        else $error("the table is not initialised when it should be");
      ReadInPlace_A: assert (!asked_q || (done && u_keys.found == entry_q
                                          && u_keys.in_range_q && u_keys.variant_q == sge_q.lkey[7:0]
                                          && u_keys.writes_q == writes_q
                                          && u_keys.first_q == {1'b0, sge_q.addr}
                                          && u_keys.last_q == {1'b0, sge_q.addr} + 65'(sge_q.bytes) - 65'd1))
        else $error("a look-up reads another entry than the one that it names");
      RangeInPlace_A: assert (!done || u_keys.in_range_q == (32'(sge_q.lkey[31:8]) < NUM_KEY))
        else $error("the range of a key is judged for another key");
      ElementHasBytes_A: assert (!asked_q || sge_q.bytes != '0)
        else $error("the assumption on elements does not hold");
      HeldTableStands_A: assert (!was_held_q || version == version_q)
        else $error("the table changed under a walk");
      AnswersByWhatIsRegistered_A: assert (!asked_q || (done && resolves == want))
        else $error("a look-up does not answer by what is registered");
      ChangeIsAppliedOnce_A: assert (!applied || waits_q)
        else $error("a change was applied that nobody asked for");
      ReadyMeansNoChange_A: assert (!ready || !waits_q)
        else $error("the table claims to stand still and a change waits");
      OutOfRangeNeverResolves_A: assert (!done || 32'(sge_q.lkey[31:8]) < NUM_KEY || !resolves)
        else $error("a key beyond the table resolves");
      Resolves_C: cover (asked_q && resolves && writes_q && sge_q.addr != '0);
      ChangeWaits_C: cover (waits_q && hold_i && was_held_q && !applied && since_reset_q == '1);
    end
  end

endmodule
