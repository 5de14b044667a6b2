// SPDX-License-Identifier: Apache-2.0
//
// Second step of the gate: the verdict on a call against each of the seven real states, for a
// QP of a known transport.
//
// Purely combinational.
//
// Latency: none. Throughput: one call per clock.
module qp_gate_states
  import rnic_pkg::*;
  import qp_gate_pkg::*;
(
    input  straps_t    straps_i,     // policies
    input  call_t      call_i,       // what the call says of itself
    input  logic [1:0] transport_i,  // transport_e of the QP; 3 is refused
    output verdicts_t  verdicts_o    // against each state
);

  row_t misfit;
  always_comb begin
    unique case (transport_i)
      RC: misfit = call_i.misfit[RC];
      UC: misfit = call_i.misfit[UC];
      default: misfit = call_i.misfit[UD];
    endcase
  end

  logic lacks_sqe_rts;
  assign lacks_sqe_rts = transport_i == RC && !straps_i.rc_sqe_row;

  always_comb begin
    verdicts_o              = '0;
    verdicts_o.mask         = call_i.mask;
    verdicts_o.transport    = transport_i;
    verdicts_o.target       = call_i.target;
    verdicts_o.bad_encoding = call_i.bad_encoding || transport_i == 2'd3;
    verdicts_o.bad_cur      = call_i.bad_cur;
    verdicts_o.row          = call_i.row;
    verdicts_o.range_bad    = call_i.range_bad;
    verdicts_o.any_range_bad = |call_i.range_bad;
    verdicts_o.nameless     = call_i.nameless;
    verdicts_o.spoiled      = verdicts_o.bad_encoding || call_i.nameless
                              || verdicts_o.any_range_bad;
    verdicts_o.rearm        = call_i.rearm;
    verdicts_o.leaves_sqd   = !straps_i.allow_leave_draining && call_i.to_live[QPS_SQD];

    for (int unsigned s = 0; s < NumState; s++) begin
      verdicts_o.illegal[s] = !call_i.in_table[s] || (lacks_sqe_rts && call_i.by_sqe_rts[s]);
      verdicts_o.misfit[s]  = |(call_i.row[s] & misfit);
      // REARM makes sense on the way to a state that sends, MIGRATED also when paused.
      verdicts_o.bad_mig[s] = (call_i.rearm && !call_i.to_rts[s])
                              || (call_i.migrated && !call_i.to_live[s]);
      verdicts_o.no_row[s]  = call_i.bad_cur[s] || verdicts_o.illegal[s];
      verdicts_o.barred[s]  = verdicts_o.no_row[s] || verdicts_o.bad_mig[s];
    end
  end

endmodule
