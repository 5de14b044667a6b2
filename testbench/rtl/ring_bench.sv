// SPDX-License-Identifier: Apache-2.0
//
// A CQ ring with its context in a register. Each clock does one thing; the answer is that of
// the clock, the context shown is the one after it.
module ring_bench
  import rnic_pkg::*;
(
    input  logic             clk_i,
    input  logic [3:0][31:0] stim_i,
    output logic [7:0][31:0] resp_o
);

  typedef enum logic [2:0] {
    DO_NOTHING = 3'd0,
    DO_CREATE  = 3'd1,  // word 1: depth, word 2: lost, bit 8: ignore_overrun
    DO_FAULT   = 3'd2,  // bit 8: inaccessible
    DO_ARM     = 3'd3,  // bits 9..8: arm state
    DO_ATTEMPT = 3'd4,  // bit 8: event worthy
    DO_CONSUME = 3'd5   // word 1: index
  } action_e;

  action_e action;
  assign action = action_e'(stim_i[0][2:0]);

  straps_t straps;
  always_comb begin
    straps = '0;
    straps.cq_overwrite = stim_i[0][16];
    straps.cq_scope     = cq_scope_e'(stim_i[0][18:17]);
  end

  cq_ctx_t cq_q, cq_ring, cq_d;
  logic    failed, written, phase, fires, raises, consume_ok;
  ring_t   slot;

  cq_ring u_ring (
      .straps_i       (straps),
      .cq_i           (cq_q),
      .attempt_i      (action == DO_ATTEMPT),
      .event_worthy_i (stim_i[0][8]),
      .failed_o       (failed),
      .written_o      (written),
      .slot_o         (slot),
      .phase_o        (phase),
      .fires_o        (fires),
      .raises_cq_err_o(raises),
      .consume_i      (action == DO_CONSUME),
      .index_i        (stim_i[1]),
      .consume_ok_o   (consume_ok),
      .cq_o           (cq_ring)
  );

  always_comb begin
    cq_d = cq_ring;
    case (action)
      DO_CREATE: begin
        cq_d                = '0;
        cq_d.exists         = 1'b1;
        cq_d.depth          = stim_i[1][RingW-1:0];
        cq_d.lost           = stim_i[2];
        cq_d.ignore_overrun = stim_i[0][8];
      end
      DO_FAULT: cq_d.fault = stim_i[0][8];
      DO_ARM: cq_d.arm = arm_e'(stim_i[0][9:8]);
      default: ;
    endcase
  end

  always_ff @(posedge clk_i) cq_q <= cq_d;

  always_comb begin
    resp_o = '0;
    resp_o[0][0]     = failed;
    resp_o[0][1]     = written;
    resp_o[0][2]     = phase;
    resp_o[0][3]     = fires;
    resp_o[0][4]     = raises;
    resp_o[0][5]     = consume_ok;
    resp_o[0][9:8]   = cq_d.arm;
    resp_o[0][10]    = cq_d.in_error;
    resp_o[0][11]    = cq_d.cq_err_raised;
    resp_o[0][12]    = cq_d.fault;
    resp_o[0][13]    = cq_d.ignore_overrun;
    resp_o[1] = 32'(slot);
    resp_o[2] = 32'(cq_d.producer);
    resp_o[3] = 32'(cq_d.consumer);
    resp_o[4] = 32'(cq_d.occupancy);
    resp_o[5] = cq_d.lost;
    resp_o[6] = 32'(cq_d.depth);
  end

endmodule
