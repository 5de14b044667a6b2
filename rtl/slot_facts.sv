// SPDX-License-Identifier: Apache-2.0
//
// What an operation says of itself: everything that its judgement needs and that no context
// changes. Purely combinational, a stage ahead of the execute stage, which has no time for it.
//
// Latency: none. Throughput: one operation per clock.
module slot_facts
  import rnic_pkg::*;
#(
    parameter int unsigned NUM_QP       = 64, // queue pairs
    parameter int unsigned NUM_CQ       = 16, // completion queues
    parameter int unsigned SQ_DEPTH     = 64, // WQEs of a send queue
    parameter int unsigned RQ_DEPTH     = 64, // WQEs of a receive queue
    parameter int unsigned CQ_DEPTH_MAX = 65536, // entries of a CQ at most
    parameter int unsigned NUM_KEY      = 64  // memory regions
) (
    input  slot_op_t    op_i,    // which operation
    input  cmd_t        cmd_i,   // the record of the channel that the operation came by
    input  wire_t       wire_i,  // its record, if it came by wire
    output slot_facts_t facts_o  // what it says of itself
);

  logic [64:0] region_last;
  assign region_last = {1'b0, cmd_i.region.base} + {1'b0, cmd_i.region.length} - 65'd1;

  always_comb begin
    facts_o.on_qp = !(op_i.kind inside {K_CREATE_CQ, K_DESTROY_CQ, K_QUERY_CQ, K_SET_CQ_FAULT,
                                        K_CONSUME, K_ARM, K_REG_KEY, K_DEREG_KEY, K_BAD_OP});
    facts_o.qp_in_range   = op_i.qpn < NUM_QP;
    facts_o.cq_in_range   = op_i.cqn < NUM_CQ;
    facts_o.recv_in_range = cmd_i.recv_cqn < NUM_CQ;
    facts_o.bad_depth     = cmd_i.depth == '0 || cmd_i.depth > CQ_DEPTH_MAX;
    facts_o.bad_ceiling   = cmd_i.sq_ceiling == '0 || cmd_i.sq_ceiling > SQ_DEPTH
                            || cmd_i.rq_ceiling == '0 || cmd_i.rq_ceiling > RQ_DEPTH;
    facts_o.wc_error      = wire_i.status != WC_SUCCESS;
    facts_o.key_in_range  = 32'(cmd_i.region.lkey[31:8]) < NUM_KEY;
    facts_o.bad_region    = cmd_i.region.length == '0 || region_last[64];
    facts_o.bad_access    = cmd_i.region.access[31:4] != '0
                            || ((cmd_i.region.access[ACCESS_REMOTE_WRITE]
                                 || cmd_i.region.access[ACCESS_REMOTE_ATOMIC])
                                && !cmd_i.region.access[ACCESS_LOCAL_WRITE]);
    facts_o.region_last   = region_last[63:0];
  end

endmodule
