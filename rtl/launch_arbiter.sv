// SPDX-License-Identifier: Apache-2.0
//
// Eight sources, one pipeline slot per clock: round robin over the four channels, the WQEs
// that were walked, the two work lists and the cascade walk.
//
// The records themselves do not pass here: the channel whose `ready` is high hands its own
// to the next stage.
//
// CREATE_QP and DESTROY_QP take two adjacent slots: the clock after their first beat belongs
// to their second, whatever else waits, so nothing sees a half-made QP.
//
// Latency: none, the slot is launched in the clock of its request. Throughput: one slot per clock.
module launch_arbiter
  import rnic_pkg::*;
(
    input  logic     clk_i,
    input  logic     rst_ni,
    input  logic     enable_i,       // contexts are initialised
    input  logic     credit_i,       // a record entry is free

    input  logic     cmd_valid_i,
    output logic     cmd_ready_o,
    input  cmd_t     cmd_i,
    input  logic     post_valid_i,
    output logic     post_ready_o,
    input  post_t    post_i,
    input  logic     wire_valid_i,
    output logic     wire_ready_o,
    input  wire_t    wire_i,
    input  logic     cqdb_valid_i,
    output logic     cqdb_ready_o,
    input  cqdb_t    cqdb_i,
    input  logic     walked_valid_i, // what a walk made of a WQE
    output logic     walked_ready_o,
    input  walked_t  walked_i,

    input  logic     flush_valid_i,  // the flush list has a head
    input  qpn_t     flush_qpn_i,    // that head
    output logic     flush_pop_o,    // it is being visited
    input  logic     issue_valid_i,  // list not empty and a wire credit is there
    input  qpn_t     issue_qpn_i,    // the head of that list
    output logic     issue_pop_o,    // it is being visited
    input  logic     walk_valid_i,   // a cascade walk is under way
    input  qpn_t     walk_qpn_i,     // the QP to probe
    output logic     walk_step_o,    // it is being probed

    input  logic     key_free_i,     // no key change is under way, no WQE goes first
    output logic     key_launch_o,   // a change of the key table begins
    input  logic     post_room_i,    // a POST_SEND may reserve wire room
    output logic     reserve_o,      // this slot may use one

    output logic     valid_o,        // a slot is launched
    output logic     takes_credit_o, // not the second beat: it shares its record
    output slot_op_t op_o            // what it does
);

  typedef enum logic [2:0] {
    S_CMD,
    S_POST,
    S_WIRE,
    S_CQDB,
    S_WALKED,
    S_FLUSH,
    S_ISSUE,
    S_WALK
  } source_e;

  localparam int unsigned NumSources = 8;

  logic [NumSources-1:0] request, grant;
  logic is_key;
  assign is_key = cmd_i.op inside {OP_REG_KEY, OP_DEREG_KEY};
  assign request[S_CMD]    = cmd_valid_i && (!is_key || key_free_i);
  assign request[S_POST]   = post_valid_i;
  assign request[S_WIRE]   = wire_valid_i;
  assign request[S_CQDB]   = cqdb_valid_i;
  assign request[S_WALKED] = walked_valid_i;
  assign request[S_FLUSH]  = flush_valid_i;
  assign request[S_ISSUE]  = issue_valid_i;
  assign request[S_WALK]   = walk_valid_i;

  // Second beat of the operation launched in the last clock.
  logic     second_q;
  slot_op_t first_op_q;

  // One-hot of the last winner: the search starts behind it.
  logic [NumSources-1:0]   last_q;
  logic [2*NumSources-1:0] doubled, granted;
  assign doubled = {request, request};
  // Subtracting the start position finds the first request at or behind it.
  assign granted = doubled & ~(doubled - {{NumSources{1'b0}}, last_q[NumSources-2:0],
                                          last_q[NumSources-1]});
  assign grant   = (enable_i && credit_i && !second_q)
                   ? granted[NumSources-1:0] | granted[2*NumSources-1:NumSources] : '0;

  assign cmd_ready_o    = grant[S_CMD];
  assign post_ready_o   = grant[S_POST];
  assign wire_ready_o   = grant[S_WIRE];
  assign cqdb_ready_o   = grant[S_CQDB];
  assign walked_ready_o = grant[S_WALKED];
  assign key_launch_o   = grant[S_CMD] && is_key;
  assign flush_pop_o    = grant[S_FLUSH];
  assign issue_pop_o    = grant[S_ISSUE];
  assign walk_step_o    = grant[S_WALK];

  // ---- operation codes of the channels

  function automatic kind_e cmd_kind(logic [7:0] op);
    unique case (op)
      OP_CREATE_CQ: return K_CREATE_CQ;
      OP_DESTROY_CQ: return K_DESTROY_CQ;
      OP_QUERY_CQ: return K_QUERY_CQ;
      OP_SET_CQ_FAULT: return K_SET_CQ_FAULT;
      OP_CREATE_QP: return K_CREATE_QP;
      OP_DESTROY_QP: return K_DESTROY_QP;
      OP_MODIFY_QP: return K_MODIFY_QP;
      OP_QUERY_QP: return K_QUERY_QP;
      OP_REG_KEY: return K_REG_KEY;
      OP_DEREG_KEY: return K_DEREG_KEY;
      default: return K_BAD_OP;
    endcase
  endfunction

  function automatic kind_e post_kind(logic [7:0] op);
    unique case (op)
      OP_POST_SEND: return K_POST_SEND;
      OP_POST_RECV: return K_POST_RECV;
      default: return K_BAD_OP;
    endcase
  endfunction

  function automatic kind_e cqdb_kind(logic [7:0] op);
    unique case (op)
      OP_CONSUME: return K_CONSUME;
      OP_ARM: return K_ARM;
      default: return K_BAD_OP;
    endcase
  endfunction

  // ---- the slot

  logic is_two_beat;
  always_comb begin
    op_o         = '0;
    op_o.kind    = K_BAD_OP;
    op_o.channel = CH_INTERNAL;
    is_two_beat  = 1'b0;
    if (second_q) begin
      op_o      = first_op_q;
      op_o.kind = (first_op_q.kind == K_CREATE_QP) ? K_CREATE_QP_2 : K_DESTROY_QP_2;
    end else begin
      // Not `unique`: before reset the grant holds whatever the registers powered up with.
      case (1'b1)
        grant[S_CMD]: begin
          op_o.kind    = cmd_kind(cmd_i.op);
          op_o.channel = CH_CMD;
          op_o.op      = cmd_i.op;
          op_o.tag     = cmd_i.tag;
          op_o.qpn     = cmd_i.qpn;
          op_o.cqn     = cmd_i.cqn;
          is_two_beat  = op_o.kind inside {K_CREATE_QP, K_DESTROY_QP};
        end
        grant[S_POST]: begin
          op_o.kind    = post_kind(post_i.op);
          op_o.channel = CH_POST;
          op_o.op      = post_i.op;
          op_o.tag     = post_i.tag;
          op_o.qpn     = post_i.qpn;
          op_o.room    = op_o.kind == K_POST_SEND && post_room_i;
        end
        grant[S_WIRE]: begin
          op_o.kind    = K_COMPLETE;
          op_o.channel = CH_WIRE;
          op_o.op      = OP_COMPLETE;
          op_o.tag     = wire_i.tag;
          op_o.qpn     = wire_i.qpn;
        end
        grant[S_CQDB]: begin
          op_o.kind    = cqdb_kind(cqdb_i.op);
          op_o.channel = CH_CQDB;
          op_o.op      = cqdb_i.op;
          op_o.tag     = cqdb_i.tag;
          op_o.cqn     = cqdb_i.cqn;
        end
        grant[S_WALKED]: begin
          op_o.kind    = K_POST_SEND;
          op_o.channel = CH_WQE;
          op_o.op      = OP_POST_SEND;
          op_o.tag     = walked_i.post.tag;
          op_o.qpn     = walked_i.post.qpn;
          op_o.room    = post_room_i;
        end
        grant[S_FLUSH]: begin
          op_o.kind = K_VISIT_FLUSH;
          op_o.op   = OP_FLUSH;
          op_o.qpn  = 32'(flush_qpn_i);
        end
        grant[S_ISSUE]: begin
          op_o.kind = K_VISIT_ISSUE;
          op_o.op   = OP_ISSUE;
          op_o.qpn  = 32'(issue_qpn_i);
          op_o.room = 1'b1;
        end
        grant[S_WALK]: begin
          op_o.kind = K_PROBE_CASCADE;
          op_o.op   = OP_CASCADE;
          op_o.qpn  = 32'(walk_qpn_i);
        end
        default: ;
      endcase
    end
  end

  assign valid_o        = second_q || grant != '0;
  assign takes_credit_o = grant != '0;
  assign reserve_o      = !second_q && op_o.room;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      second_q <= 1'b0;
      last_q   <= NumSources'(1) << (NumSources - 1);
    end else begin
      second_q <= is_two_beat;
      if (grant != '0) last_q <= grant;
    end
    if (is_two_beat) first_op_q <= op_o;
  end

endmodule
