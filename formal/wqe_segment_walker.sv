// SPDX-License-Identifier: Apache-2.0
//
// The walk over a send WQE whatever lies in memory: it asks for the units that the control
// segment says, in order, inside the ring, and for none beyond; one summary for each WQE; the
// key table is held from the first unit to the last look-up. Memory answers when it likes, but
// only what was asked.
module wqe_segment_walker_fv
  import rnic_pkg::*;
(
    input logic        clk_i,
    input logic        wqe_valid_i,
    input wqe_t        wqe_i,
    input logic        fetch_ready_i,
    input logic        unit_valid_i,
    input unit_t       unit_i,
    input logic        keys_ready_i,
    input logic [15:0] keys_version_i,
    input logic        resolves_i,
    input logic        walked_ready_i
);

  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;

  logic    wqe_ready, fetch_valid, unit_ready, hold, lookup, writes, done_q, sge_valid;
  logic    walked_valid, unit_valid;
  fetch_t  fetch;
  sge_t    sge;
  walked_t walked;
  logic [6:0] asked_q, taken_q;
  assign unit_valid = unit_valid_i && taken_q < asked_q;

  wqe_segment_walker u_walker (
      .clk_i,
      .rst_ni           (started_q),
      .wqe_valid_i      (started_q && wqe_valid_i),
      .wqe_ready_o      (wqe_ready),
      .wqe_i,
      .fetch_valid_o    (fetch_valid),
      .fetch_ready_i,
      .fetch_o          (fetch),
      .unit_valid_i     (unit_valid),
      .unit_ready_o     (unit_ready),
      .unit_i,
      .keys_ready_i,
      .keys_hold_o      (hold),
      .keys_version_i,
      .lookup_o         (lookup),
      .writes_o         (writes),
      .lookup_done_i    (done_q),
      .lookup_resolves_i(resolves_i),
      .sge_valid_o      (sge_valid),
      .sge_o            (sge),
      .walked_valid_o   (walked_valid),
      .walked_ready_i,
      .walked_o         (walked)
  );

  logic takes_wqe, takes_unit, asks;
  assign takes_wqe  = started_q && wqe_valid_i && wqe_ready;
  assign takes_unit = started_q && unit_valid && unit_ready;
  assign asks       = started_q && fetch_valid && fetch_ready_i;

  logic        busy_q, counted_q, failed_q;
  logic [6:0]  units_q;
  wqe_t        wqe_q;
  logic [15:0] version_q;

  // How many units a control segment stands for.
  logic [7:0] opcode;
  logic [6:0] ds, fixed, units;
  assign opcode = unit_i[31:24];
  assign ds     = {1'b0, unit_i[61:56]};
  logic is_known;
  assign is_known = opcode_table_pkg::known(opcode);
  always_comb begin
    fixed = 7'd1;
    case (opcode)
      8'd8, 8'd9, 8'd16: fixed = 7'd2;
      8'd17, 8'd18: fixed = 7'd3;
      8'd1, 8'd10, 8'd11: if (wqe_q.transport == 8'd2) fixed = 7'd4;
      default: ;
    endcase
    if (!is_known) units = 7'd1;
    else if (wqe_q.flags[0]) units = (ds < fixed) ? 7'd1 : ds;
    else units = fixed + ds;
  end

  always_ff @(posedge clk_i) begin
    done_q <= started_q && lookup;
    if (!started_q) begin
      busy_q    <= 1'b0;
      counted_q <= 1'b0;
      asked_q   <= '0;
      taken_q   <= '0;
    end else if (takes_wqe) begin
      busy_q    <= 1'b1;
      counted_q <= 1'b0;
      failed_q  <= 1'b0;
      wqe_q     <= wqe_i;
      version_q <= keys_version_i;
      asked_q   <= '0;
      taken_q   <= '0;
    end else begin
      if (asks) asked_q <= asked_q + 1'b1;
      if (takes_unit) begin
        taken_q <= taken_q + 1'b1;
        if (!counted_q) begin
          counted_q <= 1'b1;
          units_q   <= units;
        end
      end
      if (done_q && !resolves_i) failed_q <= 1'b1;
      if (walked_valid && walked_ready_i) busy_q <= 1'b0;
    end
  end

  logic [17:0] mask, place;
  assign mask  = (18'd4 << wqe_q.ring_log2[4:0]) - 18'd1;
  assign place = ({wqe_q.first_block[15:0], 2'b00} + 18'(asked_q)) & mask;

  always_ff @(posedge clk_i) begin
    if (started_q) begin
      assume (!takes_wqe || wqe_i.ring_log2 <= 8'd16);
      CountsAgree_A: assert (!busy_q || (u_walker.asked_q == asked_q && u_walker.read_q == taken_q
                                         && taken_q <= asked_q
                                         && (!counted_q || (u_walker.total_q == units_q
                                                            && units_q != '0))
                                         && (taken_q == '0) == !counted_q))
        else $error("units asked and taken are counted wrongly");
      BoundsAgree_A: assert (!busy_q || (counted_q ? asked_q <= units_q : asked_q <= 7'd1))
        else $error("more units were asked for than there are");
      SummaryInPlace_A: assert (!busy_q || (u_walker.wqe_q == wqe_q && u_walker.version_q == version_q
                                            && u_walker.bad_key_q == failed_q))
        else $error("the walker holds another WQE, table or verdict than it should");
      NoLookupLeft_A: assert (!done_q || u_walker.state_q == 3'd2 || u_walker.state_q == 3'd3)
        else $error("a look-up returns to a walk that is over");
      StatesAgree_A: assert (busy_q == (u_walker.state_q != 3'd0)
                             && u_walker.state_q <= 3'd4
                             && (!busy_q || (u_walker.state_q == 3'd1) == !counted_q)
                             && (u_walker.state_q != 3'd2 || (counted_q && taken_q < units_q))
                             && (u_walker.state_q < 3'd3 || (counted_q && taken_q == units_q)))
        else $error("the walk is in another state than its units say");
      NeverBeyond_A: assert (!(busy_q && fetch_valid)
                             || (counted_q ? asked_q < units_q : asked_q == '0))
        else $error("a unit is asked for that the WQE does not have");
      InsideTheRing_A: assert (!fetch_valid || fetch.unit == 32'(place))
        else $error("the unit asked for is not the next one of the ring");
      OneSummary_A: assert (!walked_valid || (busy_q && counted_q && taken_q == units_q
                                              && asked_q == units_q))
        else $error("a summary without a WQE, or before its last unit");
      HeldWhileReading_A: assert (!(lookup || done_q || (busy_q && counted_q && !walked_valid))
                                  || hold)
        else $error("the key table may change during a look-up");
      OneTable_A: assert (!walked_valid || walked.key_version == version_q)
        else $error("the summary names another table than the walk began with");
      KeyFaultIsKept_A: assert (!walked_valid || walked.post.flags.walk_key == failed_q)
        else $error("a key fault was lost or made up");
      LookupIsOfAPointer_A: assert (!lookup || (takes_unit && !unit_i[7] && counted_q))
        else $error("a look-up without a pointer segment");
      LongestWalk_C: cover (walked_valid && units_q == 7'd3 && failed_q);
      Wraps_C: cover (busy_q && fetch_valid && fetch.unit == '0 && asked_q == 7'd4);
      Inline_C: cover (walked_valid && walked.post.flags.inline_seg && !walked.post.flags.walk_format);
    end
  end

endmodule
