// SPDX-License-Identifier: Apache-2.0
//
// The gate of MODIFY_QP: is this call legal, and if not, on which layer and why?
//
// Purely combinational. Judges in the order of the verbs text: existence, encoding,
// CUR_STATE, transition, mask, value, drain; the first layer that objects gives the answer
// and shows everything that is wrong on that layer.
//
// Latency: none. Throughput: one call per clock.
module qp_transition
  import rnic_pkg::*;
(
    input  straps_t     straps_i,          // policies
    input  logic        exists_i,          // there is such a QP
    input  logic [1:0]  transport_i,       // transport_e; 3 is refused
    input  logic [3:0]  state_i,           // real state; 7 and above never accepted
    input  logic        draining_i,        // in SQD, not yet drained
    input  logic        mig_armed_i,       // PATH_MIG_STATE is set to ARMED
    input  logic [31:0] mask_i,            // attr_mask of the call
    input  logic [7:0]  target_i,          // judged with the STATE bit only
    input  logic [7:0]  cur_state_i,       // judged with the CUR_STATE bit only
    input  logic [7:0]  path_mig_state_i,  // value of that attribute
    input  attr_mask_t  range_bad_i,       // attributes whose value is out of range
    output logic        accept_o,          // the call is legal
    output layer_e      layer_o,           // the first that objects
    output logic [31:0] missing_o,         // layer mask: required, not given
    output logic [31:0] extra_o,           // layer mask: given, not allowed
    output logic [31:0] bad_values_o,      // layer value: attributes
    output qp_state_e   target_o           // next state of an accepted call
);

  typedef struct packed {
    logic       legal;
    attr_mask_t required;
    attr_mask_t optional;
  } row_t;

  localparam attr_mask_t One = attr_mask_t'(1);
  localparam attr_mask_t CurState = One << A_CUR_STATE;
  localparam attr_mask_t Access = One << A_ACCESS_FLAGS;
  localparam attr_mask_t PkeyIndex = One << A_PKEY_INDEX;
  localparam attr_mask_t Port = One << A_PORT;
  localparam attr_mask_t Qkey = One << A_QKEY;
  localparam attr_mask_t Av = One << A_AV;
  localparam attr_mask_t AltPath = One << A_ALT_PATH;
  localparam attr_mask_t MinRnr = One << A_MIN_RNR_TIMER;
  localparam attr_mask_t MigState = One << A_PATH_MIG_STATE;
  localparam attr_mask_t SqPsn = One << A_SQ_PSN;

  // Where the port and the key of an address-less QP are placed.
  localparam attr_mask_t PlaceConnected = PkeyIndex | Port | Access;
  localparam attr_mask_t PlaceUd = PkeyIndex | Port | Qkey;
  // The peer: what INIT->RTR must name.
  localparam attr_mask_t PeerUc =
      Av | One << A_PATH_MTU | One << A_DEST_QPN | One << A_RQ_PSN;
  localparam attr_mask_t PeerRc = PeerUc | One << A_MAX_DEST_RD_ATOMIC | MinRnr;
  // The requester: what arms an RC QP to send.
  localparam attr_mask_t Requester =
      One << A_TIMEOUT | One << A_RETRY_CNT | One << A_RNR_RETRY | One << A_MAX_QP_RD_ATOMIC;
  // What may be changed while the QP sends.
  localparam attr_mask_t LiveUc = CurState | Access | AltPath | MigState;
  localparam attr_mask_t LiveRc = LiveUc | MinRnr;
  localparam attr_mask_t LiveUd = CurState | Qkey;
  // What may be changed in SQD.
  localparam attr_mask_t PausedUc = Av | AltPath | Access | PkeyIndex | MigState;
  localparam attr_mask_t PausedRc =
      PausedUc | Port | Requester | One << A_MAX_DEST_RD_ATOMIC | MinRnr;

  function automatic row_t row(straps_t straps, logic [1:0] transport, logic [2:0] from,
                               logic [2:0] to);
    row_t r;
    logic rc, ud;
    r  = '0;
    rc = transport == RC;
    ud = transport == UD;
    unique case (to)
      QPS_RESET: r.legal = 1'b1;
      QPS_ERR: r.legal = from != QPS_RESET || !straps.refuse_reset_to_err;
      QPS_INIT: begin
        r.legal = from inside {QPS_RESET, QPS_INIT};
        if (from == QPS_RESET) r.required = ud ? PlaceUd : PlaceConnected;
        else r.optional = ud ? PlaceUd : PlaceConnected;
      end
      QPS_RTR: begin
        r.legal    = from == QPS_INIT;
        r.required = ud ? '0 : (rc ? PeerRc : PeerUc);
        r.optional = ud ? PkeyIndex | Qkey : AltPath | Access | PkeyIndex;
      end
      QPS_RTS: begin
        unique case (from)
          QPS_RTR, QPS_RTS, QPS_SQD: begin
            r.legal = 1'b1;
            if (from == QPS_RTR) r.required = rc ? SqPsn | Requester : SqPsn;
            r.optional = ud ? LiveUd : (rc ? LiveRc : LiveUc);
          end
          QPS_SQE: begin
            r.legal    = !rc || straps.rc_sqe_row;
            r.optional = rc ? '0 : (ud ? CurState | Qkey : CurState | Access);
          end
          default: ;
        endcase
      end
      QPS_SQD: begin
        r.legal = from inside {QPS_RTS, QPS_SQD};
        if (from == QPS_RTS) r.optional = One << A_EN_SQD_NOTIFY;
        else r.optional = ud ? PkeyIndex | Qkey : (rc ? PausedRc : PausedUc);
      end
      default: ;
    endcase
    return r;
  endfunction

  logic has_state, has_cur;
  assign has_state = mask_i[A_STATE];
  assign has_cur   = mask_i[A_CUR_STATE];

  logic encoding_ok;
  assign encoding_ok = transport_i != 2'd3 && state_i <= 4'd6 && (!has_state || target_i <= 8'd6)
                       && (!has_cur || cur_state_i <= 8'd6);

  logic [2:0] state, next, judged_from;
  assign state = state_i[2:0];
  assign next  = has_state ? target_i[2:0] : state;

  logic cur_ok;
  assign cur_ok = !has_cur || (cur_state_i[2:0] inside {QPS_RTR, QPS_RTS, QPS_SQD, QPS_SQE}
                               && (straps_i.cur_state_override || cur_state_i[2:0] == state));

  row_t real_row, judge_row;
  assign judged_from = (has_cur && straps_i.cur_state_override) ? cur_state_i[2:0] : state;
  assign real_row    = row(straps_i, transport_i, state, next);
  assign judge_row   = row(straps_i, transport_i, judged_from, next);

  logic [31:0] missing, extra;
  assign missing = {11'd0, judge_row.required} & ~mask_i;
  assign extra   = mask_i & ~{11'd0, judge_row.required | judge_row.optional | One << A_STATE};

  // REARM makes sense on the way to a state that sends, and once; MIGRATED also when paused.
  logic mig_bad;
  assign mig_bad = (path_mig_state_i == 8'd1 && (next != QPS_RTS || mig_armed_i))
                 || (path_mig_state_i == 8'd0 && !(next inside {QPS_RTS, QPS_SQD}));

  attr_mask_t bad;
  assign bad = mask_i[NUM_ATTR-1:0] & (range_bad_i | (mig_bad ? MigState : '0));

  logic drain_bad;
  assign drain_bad = !straps_i.allow_leave_draining && state == QPS_SQD && draining_i
                     && next inside {QPS_RTS, QPS_SQD};

  always_comb begin
    missing_o    = '0;
    extra_o      = '0;
    bad_values_o = '0;
    if (!exists_i) begin
      layer_o = LAYER_QP;
    end else if (!encoding_ok) begin
      layer_o = LAYER_ENCODING;
    end else if (!cur_ok) begin
      layer_o = LAYER_CUR_STATE;
    end else if (!real_row.legal || !judge_row.legal) begin
      layer_o = LAYER_TRANSITION;
    end else if (missing != '0 || extra != '0) begin
      layer_o   = LAYER_MASK;
      missing_o = missing;
      extra_o   = extra;
    end else if (bad != '0) begin
      layer_o      = LAYER_VALUE;
      bad_values_o = {11'd0, bad};
    end else if (drain_bad) begin
      layer_o = LAYER_DRAIN;
    end else begin
      layer_o = LAYER_NONE;
    end
    accept_o = layer_o == LAYER_NONE;
  end

  // Judged as 0..6 by then; a refused call does not use it.
  assign target_o = qp_state_e'(next);

endmodule
