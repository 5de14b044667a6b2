// SPDX-License-Identifier: Apache-2.0
//
// Attribute values against their ranges and the limits of the device. Purely combinational
// and independent of any QP, so it runs a stage ahead of the gate.
//
// Latency: none. Throughput: one set of values per clock.
module qp_attr_values
  import rnic_pkg::*;
#(
    parameter int unsigned NUM_PORTS     = 2,
    parameter int unsigned PKEY_LEN      = 128,
    parameter int unsigned MAX_MTU       = 5,
    parameter int unsigned MAX_RD_ATOMIC = 16
) (
    input  straps_t    straps_i,  // policies
    input  qp_attr_t   attr_i,    // values, whether named or not
    output attr_mask_t bad_o      // out of range, whether named or not
);

  function automatic logic bad_port(logic [7:0] port);
    return port == '0 || 32'(port) > NUM_PORTS;
  endfunction

  function automatic logic bad_pkey(logic [15:0] index);
    return 32'(index) >= PKEY_LEN;
  endfunction

  // RoCE has no LIDs: without a GRH the packet has no address.
  function automatic logic bad_av(straps_t straps, logic [7:0] is_global);
    return !straps.link_infiniband && is_global == '0;
  endfunction

  always_comb begin
    bad_o = '0;
    bad_o[A_PKEY_INDEX] = bad_pkey(attr_i.pkey_index);
    bad_o[A_PORT] = bad_port(attr_i.port);
    bad_o[A_AV] = bad_av(straps_i, attr_i.av.is_global);
    bad_o[A_PATH_MTU] = attr_i.path_mtu == '0 || 32'(attr_i.path_mtu) > MAX_MTU;
    bad_o[A_TIMEOUT] = attr_i.timeout > 8'd31;
    bad_o[A_RETRY_CNT] = attr_i.retry_cnt > 8'd7;
    bad_o[A_RNR_RETRY] = attr_i.rnr_retry > 8'd7;
    bad_o[A_RQ_PSN] = attr_i.rq_psn > 32'h00ff_ffff;
    bad_o[A_MAX_QP_RD_ATOMIC] = 32'(attr_i.max_qp_rd_atomic) > MAX_RD_ATOMIC;
    bad_o[A_ALT_PATH] = bad_av(straps_i, attr_i.alt_av.is_global) || bad_port(attr_i.alt_port)
                        || bad_pkey(attr_i.alt_pkey_index) || attr_i.alt_timeout > 8'd31;
    bad_o[A_MIN_RNR_TIMER] = attr_i.min_rnr_timer > 8'd31;
    bad_o[A_SQ_PSN] = attr_i.sq_psn > 32'h00ff_ffff;
    bad_o[A_MAX_DEST_RD_ATOMIC] = 32'(attr_i.max_dest_rd_atomic) > MAX_RD_ATOMIC;
    bad_o[A_PATH_MIG_STATE] = attr_i.path_mig_state > 8'd2;
    bad_o[A_DEST_QPN] = attr_i.dest_qpn > 32'h00ff_ffff;
  end

endmodule
