// SPDX-License-Identifier: Apache-2.0
//
// What the proofs of the stages say of operations and states, once for all of them.
package stage_pkg;

  import rnic_pkg::*;

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
