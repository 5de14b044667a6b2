// SPDX-License-Identifier: Apache-2.0
//
// The table of legal MODIFY_QP calls, and what the stages of its gate tell each other.
//
// Pairs of states that ask for the same attributes are one row. Which row a pair has does not
// depend on the transport; what the row asks for does.
package qp_gate_pkg;
  import rnic_pkg::*;

  // One bit per row. None: the pair is not in the table.
  typedef struct packed {
    logic sqd_sqd;
    logic rts_sqd;
    logic sqe_rts;
    logic live_rts;    // RTS and SQD to RTS
    logic rtr_rts;
    logic init_rtr;
    logic init_init;
    logic reset_init;
    logic to_end;      // to RESET and to ERR: nothing is asked for, nothing allowed
  } row_t;
  localparam int unsigned NumRow = $bits(row_t);

  // One bit per row, for each transport.
  typedef row_t [2:0] rows_t;

  // One bit per real state.
  localparam int unsigned NumState = 7;
  typedef logic [NumState-1:0] states_t;
  typedef row_t [NumState-1:0] by_state_t;

  // What a call says of itself.
  typedef struct packed {
    logic [31:0]         mask;
    logic [2:0]          target;
    logic                bad_encoding;  // of the target or of CUR_STATE
    states_t             bad_cur;       // CUR_STATE is not one that this state may be told by
    states_t             in_table;      // the real pair and the judged pair are
    states_t             by_sqe_rts;    // one of them is SQE to RTS, which RC may lack
    by_state_t           row;           // that judges the mask
    logic                nameless;      // the mask has bits of no attribute: it fits nowhere
    rows_t               misfit;        // rows that the rest of it does not fit
    states_t             to_rts;
    states_t             to_live;       // to RTS or SQD
    logic                rearm;         // PATH_MIG_STATE is given as REARM
    logic                migrated;      // or as MIGRATED
    attr_mask_t          range_bad;     // given, and out of range
  } call_t;

  // The same call once the transport is known: its verdict against each real state.
  typedef struct packed {
    logic [31:0]         mask;
    logic [1:0]          transport;
    logic [2:0]          target;
    logic                bad_encoding;
    states_t             bad_cur;
    states_t             illegal;
    states_t             no_row;        // one of these: no row judges the mask
    states_t             misfit;
    states_t             bad_mig;
    states_t             barred;        // no_row or bad_mig
    by_state_t           row;
    logic                nameless;
    logic                any_range_bad;
    logic                spoiled;       // wrong in every state: encoding, nameless bits, range
    attr_mask_t          range_bad;
    logic                rearm;
    logic                leaves_sqd;    // on to RTS or SQD, where a drain must be over
  } verdicts_t;

  // What an answer is made of.
  typedef struct packed {
    logic        exists;
    logic        bad_encoding;
    logic        bad_cur;
    logic        illegal;
    logic        at_mask;     // the layer that objects is the mask
    logic        at_value;    // it is the value
    logic        undrained;
    row_t        row;
    logic [1:0]  transport;
    logic [31:0] mask;
    attr_mask_t  bad_values;
  } grounds_t;

  // ---------------------------------------------------------------- the table

  typedef struct packed {
    attr_mask_t required;
    attr_mask_t optional;
  } sets_t;

  localparam attr_mask_t One = attr_mask_t'(1);
  localparam attr_mask_t State = One << A_STATE;
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

  // The row of a pair of states.
  function automatic row_t row_of(logic [2:0] from, logic [2:0] to);
    row_of = '0;
    unique case (to)
      QPS_RESET, QPS_ERR: row_of.to_end = 1'b1;
      QPS_INIT: begin
        row_of.reset_init = from == QPS_RESET;
        row_of.init_init  = from == QPS_INIT;
      end
      QPS_RTR: row_of.init_rtr = from == QPS_INIT;
      QPS_RTS: begin
        row_of.rtr_rts  = from == QPS_RTR;
        row_of.live_rts = from inside {QPS_RTS, QPS_SQD};
        row_of.sqe_rts  = from == QPS_SQE;
      end
      QPS_SQD: begin
        row_of.rts_sqd = from == QPS_RTS;
        row_of.sqd_sqd = from == QPS_SQD;
      end
      default: ;
    endcase
  endfunction

  // The same of all pairs, by the first state and by the second. Constants: the simulator would
  // work them out anew in each clock. State 7 is none.
  function automatic by_state_t [7:0] all_rows(logic by_target);
    all_rows = '0;
    for (int unsigned a = 0; a < NumState; a++) begin
      for (int unsigned b = 0; b < NumState; b++) begin
        all_rows[a][b] = by_target ? row_of(3'(b), 3'(a)) : row_of(3'(a), 3'(b));
      end
    end
  endfunction
  localparam by_state_t [7:0] RowsFrom = all_rows(1'b0);
  localparam by_state_t [7:0] RowsTo = all_rows(1'b1);

  // What a row asks for: the union, if there are several.
  function automatic sets_t sets_of(row_t row, logic [1:0] transport);
    logic rc, ud;
    rc = transport == RC;
    ud = transport == UD;
    sets_of = '0;
    if (row.reset_init) sets_of.required |= ud ? PlaceUd : PlaceConnected;
    if (row.init_init) sets_of.optional |= ud ? PlaceUd : PlaceConnected;
    if (row.init_rtr) begin
      sets_of.required |= ud ? '0 : (rc ? PeerRc : PeerUc);
      sets_of.optional |= ud ? PkeyIndex | Qkey : AltPath | Access | PkeyIndex;
    end
    if (row.rtr_rts) sets_of.required |= rc ? SqPsn | Requester : SqPsn;
    if (row.rtr_rts || row.live_rts) sets_of.optional |= ud ? LiveUd : (rc ? LiveRc : LiveUc);
    if (row.sqe_rts) sets_of.optional |= rc ? '0 : (ud ? CurState | Qkey : CurState | Access);
    if (row.rts_sqd) sets_of.optional |= One << A_EN_SQD_NOTIFY;
    if (row.sqd_sqd) sets_of.optional |= ud ? PkeyIndex | Qkey : (rc ? PausedRc : PausedUc);
  endfunction

  // The rows that an attribute does not fit, given or left out.
  function automatic rows_t misfits(int unsigned attr, logic given);
    sets_t sets;
    misfits = '0;
    for (int unsigned t = 0; t < 3; t++) begin
      for (int unsigned r = 0; r < NumRow; r++) begin
        sets          = sets_of(row_t'(NumRow'(1) << r), 2'(t));
        misfits[t][r] = given ? attr != A_STATE && !sets.required[attr] && !sets.optional[attr]
                              : sets.required[attr];
      end
    end
  endfunction

endpackage
