// SPDX-License-Identifier: Apache-2.0
//
// What the proofs of the stages say of operations and states, once for all of them.
package stage_pkg;

  import rnic_pkg::*;

  // Lanes of the attribute memories: the first nine words of the record, and its other bytes.
  localparam int unsigned AttrWords = 9;
  localparam int unsigned AttrBytes = $bits(qp_attr_t) / 8 - 4 * AttrWords;

  function automatic logic first_kind(kind_e kind);
    return kind inside {K_CREATE_QP, K_DESTROY_QP};
  endfunction

  function automatic logic second_kind(kind_e kind);
    return kind inside {K_CREATE_QP_2, K_DESTROY_QP_2};
  endfunction

  function automatic kind_e second_of(kind_e kind);
    return (kind == K_CREATE_QP) ? K_CREATE_QP_2 : K_DESTROY_QP_2;
  endfunction

  function automatic logic channel_fits(kind_e kind, channel_e channel);
    case (kind)
      K_COMPLETE: return channel == CH_WIRE;
      K_CONSUME, K_ARM: return channel == CH_CQDB;
      K_POST_SEND: return channel inside {CH_POST, CH_WQE};
      K_POST_RECV: return channel == CH_POST;
      K_VISIT_FLUSH, K_VISIT_ISSUE, K_PROBE_CASCADE: return channel == CH_INTERNAL;
      default: return channel == CH_CMD;
    endcase
  endfunction

  // Whoever called is answered.
  function automatic logic calls(logic [2:0] channel);
    return channel inside {CH_CMD[2:0], CH_POST[2:0], CH_CQDB[2:0], CH_WQE[2:0]};
  endfunction

  // The code that an operation of this kind has, on the channel that it came by.
  function automatic logic code_fits(kind_e kind, channel_e channel, logic [7:0] code);
    case (kind)
      K_CREATE_CQ: return code == OP_CREATE_CQ;
      K_DESTROY_CQ: return code == OP_DESTROY_CQ;
      K_QUERY_CQ: return code == OP_QUERY_CQ;
      K_SET_CQ_FAULT: return code == OP_SET_CQ_FAULT;
      K_CREATE_QP, K_CREATE_QP_2: return code == OP_CREATE_QP;
      K_DESTROY_QP, K_DESTROY_QP_2: return code == OP_DESTROY_QP;
      K_MODIFY_QP: return code == OP_MODIFY_QP;
      K_QUERY_QP: return code == OP_QUERY_QP;
      K_REG_KEY: return code == OP_REG_KEY;
      K_DEREG_KEY: return code == OP_DEREG_KEY;
      K_POST_SEND: return code == OP_POST_SEND;
      K_POST_RECV: return code == OP_POST_RECV;
      K_COMPLETE: return code == OP_COMPLETE;
      K_CONSUME: return code == OP_CONSUME;
      K_ARM: return code == OP_ARM;
      K_VISIT_FLUSH: return code == OP_FLUSH;
      K_VISIT_ISSUE: return code == OP_ISSUE;
      K_PROBE_CASCADE: return code == OP_CASCADE;
      default: return !(channel == CH_CMD
                        && code inside {OP_CREATE_CQ, OP_DESTROY_CQ, OP_QUERY_CQ, OP_SET_CQ_FAULT,
                                        OP_CREATE_QP, OP_DESTROY_QP, OP_MODIFY_QP, OP_QUERY_QP,
                                        OP_REG_KEY, OP_DEREG_KEY})
                      && !(channel == CH_POST && code inside {OP_POST_SEND, OP_POST_RECV})
                      && !(channel == CH_CQDB && code inside {OP_CONSUME, OP_ARM});
    endcase
  endfunction

  // What a state tells of the attributes that were given since RESET, by the public table.
  function automatic logic [31:0] given(logic [1:0] transport, logic [2:0] state);
    qp_table_pkg::entry_t to_init, to_rtr, to_rts;
    to_init = qp_table_pkg::entry(transport, 8'd0, 8'd1);
    to_rtr  = qp_table_pkg::entry(transport, 8'd1, 8'd2);
    to_rts  = qp_table_pkg::entry(transport, 8'd2, 8'd3);
    given = '0;
    case (state)
      QPS_INIT: given = to_init.required;
      QPS_RTR: given = to_init.required | to_rtr.required;
      QPS_RTS, QPS_SQD, QPS_SQE: given = to_init.required | to_rtr.required | to_rts.required;
      default: ;
    endcase
    given[1:0] = '0;  // STATE and CUR_STATE are no properties of a QP
  endfunction

endpackage
