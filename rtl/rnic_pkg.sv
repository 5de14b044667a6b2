// SPDX-License-Identifier: Apache-2.0
//
// Numbers, records and contexts of the RNIC control plane.
//
// The port records have the layout of the C structs of the same names in
// sim/abi/rnic_abi.h: a packed struct lists its most significant member first, so the
// members stand here in the reverse order of the header. Wide fields are deliberate: a
// number that is too large for the hardware must arrive whole to be refused.
package rnic_pkg;

  // ---------------------------------------------------------------- verbs numbers

  typedef enum logic [2:0] {
    QPS_RESET = 3'd0,
    QPS_INIT  = 3'd1,
    QPS_RTR   = 3'd2,
    QPS_RTS   = 3'd3,
    QPS_SQD   = 3'd4,
    QPS_SQE   = 3'd5,
    QPS_ERR   = 3'd6
  } qp_state_e  /*verilator public*/;

  // In a retire record: the operation names no existing QP.
  localparam logic [7:0] QPS_NONE /*verilator public*/ = 8'hff;

  // Bit numbers of ibv_access_flags.
  localparam int unsigned ACCESS_LOCAL_WRITE   /*verilator public*/ = 0;
  localparam int unsigned ACCESS_REMOTE_WRITE  /*verilator public*/ = 1;
  localparam int unsigned ACCESS_REMOTE_READ   /*verilator public*/ = 2;
  localparam int unsigned ACCESS_REMOTE_ATOMIC /*verilator public*/ = 3;

  // Two bits; 3 is unused and refused.
  typedef enum logic [1:0] {
    RC = 2'd0,
    UC = 2'd1,
    UD = 2'd2
  } transport_e  /*verilator public*/;

  // Bit numbers of ibv_qp_attr_mask.
  localparam int unsigned A_STATE              /*verilator public*/ = 0;
  localparam int unsigned A_CUR_STATE          /*verilator public*/ = 1;
  localparam int unsigned A_EN_SQD_NOTIFY      /*verilator public*/ = 2;
  localparam int unsigned A_ACCESS_FLAGS       /*verilator public*/ = 3;
  localparam int unsigned A_PKEY_INDEX         /*verilator public*/ = 4;
  localparam int unsigned A_PORT               /*verilator public*/ = 5;
  localparam int unsigned A_QKEY               /*verilator public*/ = 6;
  localparam int unsigned A_AV                 /*verilator public*/ = 7;
  localparam int unsigned A_PATH_MTU           /*verilator public*/ = 8;
  localparam int unsigned A_TIMEOUT            /*verilator public*/ = 9;
  localparam int unsigned A_RETRY_CNT          /*verilator public*/ = 10;
  localparam int unsigned A_RNR_RETRY          /*verilator public*/ = 11;
  localparam int unsigned A_RQ_PSN             /*verilator public*/ = 12;
  localparam int unsigned A_MAX_QP_RD_ATOMIC   /*verilator public*/ = 13;
  localparam int unsigned A_ALT_PATH           /*verilator public*/ = 14;
  localparam int unsigned A_MIN_RNR_TIMER      /*verilator public*/ = 15;
  localparam int unsigned A_SQ_PSN             /*verilator public*/ = 16;
  localparam int unsigned A_MAX_DEST_RD_ATOMIC /*verilator public*/ = 17;
  localparam int unsigned A_PATH_MIG_STATE     /*verilator public*/ = 18;
  localparam int unsigned A_CAP                /*verilator public*/ = 19;
  localparam int unsigned A_DEST_QPN           /*verilator public*/ = 20;
  localparam int unsigned NUM_ATTR = 21;
  typedef logic [NUM_ATTR-1:0] attr_mask_t;

  localparam logic [7:0] WC_SUCCESS       /*verilator public*/ = 8'd0;
  localparam logic [7:0] WC_LOC_LEN_ERR   /*verilator public*/ = 8'd1;
  localparam logic [7:0] WC_LOC_QP_OP_ERR /*verilator public*/ = 8'd2;
  localparam logic [7:0] WC_LOC_PROT_ERR  /*verilator public*/ = 8'd4;
  localparam logic [7:0] WC_WR_FLUSH_ERR  /*verilator public*/ = 8'd5;

  localparam logic [7:0] WC_SEND       /*verilator public*/ = 8'd0;
  localparam logic [7:0] WC_RDMA_WRITE /*verilator public*/ = 8'd1;
  localparam logic [7:0] WC_RDMA_READ  /*verilator public*/ = 8'd2;
  localparam logic [7:0] WC_COMP_SWAP  /*verilator public*/ = 8'd3;
  localparam logic [7:0] WC_FETCH_ADD  /*verilator public*/ = 8'd4;

  // mlx5 send WQE opcodes.
  typedef enum logic [7:0] {
    WQE_SEND_INVAL     = 8'd1,
    WQE_RDMA_WRITE     = 8'd8,
    WQE_RDMA_WRITE_IMM = 8'd9,
    WQE_SEND           = 8'd10,
    WQE_SEND_IMM       = 8'd11,
    WQE_RDMA_READ      = 8'd16,
    WQE_ATOMIC_CS      = 8'd17,
    WQE_ATOMIC_FA      = 8'd18
  } wqe_opcode_e  /*verilator public*/;

  // ---------------------------------------------------------------- our own numbers

  typedef enum logic [7:0] {
    CH_CMD      = 8'd0,
    CH_POST     = 8'd1,
    CH_WIRE     = 8'd2,
    CH_CQDB     = 8'd3,
    CH_INTERNAL = 8'd4,
    CH_WQE      = 8'd5
  } channel_e  /*verilator public*/;

  typedef enum logic [7:0] {
    OP_CREATE_CQ    = 8'd0,
    OP_DESTROY_CQ   = 8'd1,
    OP_QUERY_CQ     = 8'd2,
    OP_SET_CQ_FAULT = 8'd3,
    OP_CREATE_QP    = 8'd4,
    OP_DESTROY_QP   = 8'd5,
    OP_MODIFY_QP    = 8'd6,
    OP_QUERY_QP     = 8'd7,
    OP_REG_KEY      = 8'd8,
    OP_DEREG_KEY    = 8'd9,
    OP_POST_SEND    = 8'd16,
    OP_POST_RECV    = 8'd17,
    OP_COMPLETE     = 8'd18,
    OP_CONSUME      = 8'd20,
    OP_ARM          = 8'd21,
    OP_ISSUE        = 8'd24,
    OP_FLUSH        = 8'd25,
    OP_CASCADE      = 8'd26
  } op_e  /*verilator public*/;

  typedef enum logic [7:0] {
    OUT_OK             = 8'd0,
    OUT_STALE          = 8'd1,
    OUT_REJECTED       = 8'd2,
    OUT_NO_QP          = 8'd16,
    OUT_QP_EXISTS      = 8'd17,
    OUT_QPN_RANGE      = 8'd18,
    OUT_NO_CQ          = 8'd19,
    OUT_CQ_EXISTS      = 8'd20,
    OUT_CQN_RANGE      = 8'd21,
    OUT_CQ_IN_ERROR    = 8'd22,
    OUT_BAD_TRANSPORT  = 8'd23,
    OUT_BAD_DEPTH      = 8'd24,
    OUT_BAD_CEILING    = 8'd25,
    OUT_CQ_ATTACHED    = 8'd26,
    OUT_BAD_STATE      = 8'd27,
    OUT_QUEUE_FULL     = 8'd28,
    OUT_BAD_WQE        = 8'd29,
    OUT_MODIFY_REFUSED = 8'd30,
    OUT_BAD_INDEX      = 8'd31,
    OUT_BAD_OP         = 8'd32,
    OUT_KEY_RANGE      = 8'd33,
    OUT_KEY_EXISTS     = 8'd34,
    OUT_NO_KEY         = 8'd35,
    OUT_BAD_REGION     = 8'd36,
    OUT_BAD_ACCESS     = 8'd37
  } outcome_e  /*verilator public*/;

  typedef enum logic [7:0] {
    LAYER_NONE       = 8'd0,
    LAYER_QP         = 8'd1,
    LAYER_ENCODING   = 8'd2,
    LAYER_CUR_STATE  = 8'd3,
    LAYER_TRANSITION = 8'd4,
    LAYER_MASK       = 8'd5,
    LAYER_VALUE      = 8'd6,
    LAYER_DRAIN      = 8'd7
  } layer_e  /*verilator public*/;

  typedef enum logic [1:0] {
    DRAIN_NONE = 2'd0,
    DRAINING   = 2'd1,
    DRAINED    = 2'd2
  } drain_e  /*verilator public*/;

  typedef enum logic [1:0] {
    ARM_NONE      = 2'd0,
    ARM_SOLICITED = 2'd1,
    ARM_NEXT      = 2'd2
  } arm_e  /*verilator public*/;

  typedef enum logic {
    SQ = 1'b0,
    RQ = 1'b1
  } queue_e  /*verilator public*/;

  typedef enum logic [1:0] {
    CQE_NONE    = 2'd0,
    CQE_WRITTEN = 2'd1,
    CQE_LOST    = 2'd2
  } cqe_fate_e  /*verilator public*/;

  // What became of one pipeline slot.
  typedef enum logic [7:0] {
    SLOT_EMPTY      = 8'd0,
    SLOT_RETIRES    = 8'd1,
    SLOT_FIRST_BEAT = 8'd2,
    SLOT_IDLE_VISIT = 8'd3,
    SLOT_IDLE_PROBE = 8'd4
  } slot_kind_e  /*verilator public*/;

  // What is wrong with a send WQE (bit order of rnic_wqe_error).
  typedef struct packed {
    logic walk_key;
    logic walk_length;
    logic bad_length;
    logic walk_format;
    logic bad_ds;
    logic bad_fence;
    logic reserved;
    logic bad_transport;
    logic bad_opcode;
  } wqe_errors_t;

  // Kinds of an event record (bit order of rnic_event_kind).
  typedef struct packed {
    logic completion;
    logic sq_drained;
    logic qp_fatal;
    logic cq_err;
  } event_kinds_t;

  // Headers besides BTH (bit order of rnic_wire_header).
  typedef struct packed {
    logic atomiceth;
    logic ieth;
    logic immdt;
    logic reth;
  } wire_headers_t;

  // ---------------------------------------------------------------- policies (straps)

  typedef struct packed {
    logic [31:0] max_inline;
    logic [23:0] reserved;
    logic [7:0]  link_infiniband;
    logic [7:0]  cq_scope;
    logic [7:0]  cq_overwrite;
    logic [7:0]  wqe_check_in_pipeline;
    logic [7:0]  sqd_hold_unstarted;
    logic [7:0]  allow_leave_draining;
    logic [7:0]  rc_sqe_row;
    logic [7:0]  cur_state_override;
    logic [7:0]  refuse_reset_to_err;
  } policy_t;

  typedef enum logic [1:0] {
    SCOPE_AFFECTED = 2'd0,
    SCOPE_STICKY   = 2'd1,
    SCOPE_CASCADE  = 2'd2
  } cq_scope_e  /*verilator public*/;

  // The straps as the pipeline holds them.
  typedef struct packed {
    logic [31:0] max_inline;
    logic        link_infiniband;
    cq_scope_e   cq_scope;
    logic        cq_overwrite;
    logic        wqe_check_in_pipeline;
    logic        sqd_hold_unstarted;
    logic        allow_leave_draining;
    logic        rc_sqe_row;
    logic        cur_state_override;
    logic        refuse_reset_to_err;
  } straps_t;

  // ---------------------------------------------------------------- port records

  typedef struct packed {
    logic [7:0]  static_rate;
    logic [7:0]  sl;
    logic [15:0] dlid;
    logic [7:0]  traffic_class;
    logic [7:0]  hop_limit;
    logic [7:0]  sgid_index;
    logic [7:0]  is_global;
  } av_t;

  typedef struct packed {
    logic [7:0]  alt_timeout;
    logic [7:0]  alt_port;
    logic [7:0]  path_mig_state;
    logic [7:0]  max_dest_rd_atomic;
    logic [7:0]  min_rnr_timer;
    logic [7:0]  max_qp_rd_atomic;
    logic [7:0]  rnr_retry;
    logic [7:0]  retry_cnt;
    logic [7:0]  timeout;
    logic [7:0]  path_mtu;
    logic [7:0]  port;
    logic [7:0]  en_sqd_async_notify;
    logic [15:0] alt_pkey_index;
    logic [15:0] pkey_index;
    av_t         alt_av;
    av_t         av;
    logic [31:0] dest_qpn;
    logic [31:0] sq_psn;
    logic [31:0] rq_psn;
    logic [31:0] qkey;
    logic [31:0] access_flags;
  } qp_attr_t;

  // A memory region as REG_KEY names it; 64-bit numbers in two words, low one first.
  typedef struct packed {
    logic [63:0] length;
    logic [63:0] base;
    logic [31:0] access;
    logic [31:0] lkey;
  } region_t;

  typedef struct packed {
    region_t     region;
    qp_attr_t    attr;
    logic [7:0]  reserved;
    logic [7:0]  cur_qp_state;
    logic [7:0]  qp_state;
    logic [7:0]  fault;
    logic [7:0]  ignore_overrun;
    logic [7:0]  sq_sig_all;
    logic [7:0]  transport;
    logic [7:0]  op;
    logic [31:0] attr_mask;
    logic [31:0] rq_ceiling;
    logic [31:0] sq_ceiling;
    logic [31:0] depth;
    logic [31:0] recv_cqn;
    logic [31:0] cqn;
    logic [31:0] qpn;
    logic [31:0] tag;
  } cmd_t;

  // The control segment: four words in host order, first word last.
  typedef struct packed {
    logic [31:0] misc;
    logic [31:0] flags;
    logic [31:0] sq_ds;
    logic [31:0] opcode;
  } wqe_ctrl_t;

  typedef struct packed {
    logic [2:0] reserved;
    logic       walk_key;
    logic       walk_length;
    logic       walk_format;
    logic       inline_seg;
    logic       mlx5;
  } post_flags_t;

  typedef struct packed {
    post_flags_t flags;
    logic [7:0]  op;
    logic [15:0] recv_index;
    logic [31:0] payload_len;
    wqe_ctrl_t   ctrl;
    logic [31:0] qpn;
    logic [31:0] tag;
  } post_t;

  // A send WQE that lies in its send queue: 2^ring_log2 blocks of 64 bytes, four units each.
  typedef struct packed {
    logic [7:0]  reserved;
    logic [7:0]  flags;        // bit 0: mlx5 format
    logic [7:0]  transport;    // of the QP, as its poster knows it
    logic [7:0]  ring_log2;    // 0..16
    logic [31:0] first_block;  // modulo the ring
    logic [31:0] qpn;
    logic [31:0] tag;
  } wqe_t;

  // Which unit of that send queue is wanted next.
  typedef struct packed {
    logic [31:0] unit;         // 16-byte unit of the ring, 0..4 x 2^ring_log2 - 1
    logic [31:0] qpn;
    logic [31:0] tag;
  } fetch_t;

  // 16 bytes of memory, the first one in bits 7:0.
  typedef logic [127:0] unit_t;

  typedef struct packed {
    logic [23:0] reserved;
    logic [7:0]  solicited;
    logic [7:0]  wc_flags;
    logic [7:0]  opcode;
    logic [7:0]  status;
    logic [7:0]  queue;
    logic [15:0] slot;
    logic [15:0] epoch;
    logic [31:0] imm;
    logic [31:0] byte_count;
    logic [31:0] qpn;
    logic [31:0] tag;
  } wire_t;

  typedef struct packed {
    logic [15:0] reserved;
    logic [7:0]  solicited_only;
    logic [7:0]  op;
    logic [31:0] index;
    logic [31:0] cqn;
    logic [31:0] tag;
  } cqdb_t;

  typedef struct packed {
    logic [5:0]  reserved2;
    logic        cq_err_raised;
    logic        in_error;
    logic [7:0]  fault;
    logic [7:0]  ignore_overrun;
    logic [7:0]  arm;
    logic [31:0] attached;
    logic [31:0] ceiling_sum;
    logic [31:0] lost;
    logic [31:0] occupancy;
    logic [31:0] consumer;
    logic [31:0] producer;
    logic [31:0] depth;
    qp_attr_t    attr;
    logic [31:0] stale;
    logic [31:0] attr_set;
    logic [15:0] recv_epoch;
    logic [15:0] send_epoch;
    logic [15:0] rq_queued;
    logic [15:0] rq_head;
    logic [15:0] sq_reads;
    logic [15:0] sq_flush_owed;
    logic [15:0] sq_issued;
    logic [15:0] sq_queued;
    logic [15:0] rq_ceiling;
    logic [15:0] sq_ceiling;
    logic [31:0] recv_cqn;
    logic [31:0] send_cqn;
    logic [15:0] sq_head;
    logic [7:0]  reserved;
    logic [7:0]  qp_fatal_raised;
    logic [7:0]  event_owed;
    logic [7:0]  drain;
    logic [7:0]  sq_sig_all;
    logic [7:0]  transport;
    logic [7:0]  qp_state;
    logic [7:0]  cq_exceeds;
    logic [15:0] epoch;
    logic [15:0] slot;
    logic [15:0] wqe_errors;
    logic [31:0] bad_values;
    logic [31:0] extra;
    logic [31:0] missing;
    layer_e      layer;
    outcome_e    outcome;
    logic [7:0]  op;
    channel_e    channel;
    logic [31:0] tag;
  } rsp_t;

  typedef struct packed {
    logic [7:0]  reserved;
    logic [7:0]  segments;
    logic [7:0]  inline_data;
    logic [7:0]  solicited;
    logic [7:0]  headers;
    logic [7:0]  opcode;
    logic [15:0] wqe_index;
    logic [15:0] slot;
    logic [15:0] epoch;
    logic [31:0] misc;
    logic [31:0] response_packets;
    logic [31:0] packets;
    logic [31:0] length;
    logic [31:0] qpn;
  } issue_t;

  // The completion queue entry; the byte with the phase bit is the last one in memory.
  typedef struct packed {
    logic [7:0]  phase;
    logic [7:0]  reserved;
    logic [7:0]  wc_flags;
    logic [7:0]  queue;
    logic [7:0]  opcode;
    logic [7:0]  status;
    logic [15:0] wqe_index;
    logic [31:0] imm;
    logic [31:0] byte_count;
    logic [31:0] qpn;
  } cqe_t;

  typedef struct packed {
    cqe_t        cqe;
    logic [31:0] index;
    logic [31:0] cqn;
  } cqe_write_t;

  typedef struct packed {
    logic [7:0]   reserved;
    logic [7:0]   has_cq;
    logic [7:0]   has_qp;
    logic [3:0]   reserved_kinds;
    event_kinds_t kinds;
    logic [31:0]  cqn;
    logic [31:0]  qpn;
  } event_t;

  typedef struct packed {
    logic [15:0]  key_version;
    logic [7:0]   queue;
    logic [3:0]   reserved_kinds;
    event_kinds_t event_kinds;
    logic [7:0]   cqe;
    logic [7:0]   wire_room;
    logic [7:0]   state_after;
    logic [7:0]   state_before;
    layer_e       layer;
    outcome_e     outcome;
    logic [7:0]   op;
    channel_e     channel;
    logic [31:0]  cqn;
    logic [31:0]  qpn;
    logic [31:0]  tag;
  } retire_t;

  // ---------------------------------------------------------------- contexts

  // Widths that hold every configuration: queues up to 1,024, rings up to 65,536,
  // 65,536 QPs and CQs. Bits above a configuration's size stay 0.
  localparam int unsigned QpnW   = 16;
  localparam int unsigned CqnW   = 16;
  localparam int unsigned SlotW  = 10;  // slot of a work queue
  localparam int unsigned CountW = 11;  // 0..1024 WQEs
  localparam int unsigned RingW  = 17;  // depth and indices of a CQ, modulo 2 x depth

  typedef logic [QpnW-1:0]   qpn_t;
  typedef logic [CqnW-1:0]   cqn_t;
  typedef logic [SlotW-1:0]  slot_t;
  typedef logic [CountW-1:0] count_t;
  typedef logic [RingW-1:0]  ring_t;

  // Why the oldest waiting WQE of a send queue cannot issue, beyond QP state.
  typedef enum logic [1:0] {
    BLOCK_NO    = 2'd0,
    BLOCK_FENCE = 2'd1,  // an earlier READ or atomic is uncompleted
    BLOCK_ORDER = 2'd2   // it will be rejected, but is not yet the oldest of its queue
  } block_e;

  // Hot QP context: everything an operation may read, modify and write in one clock.
  typedef struct packed {
    logic       exists;
    logic [1:0] transport;
    qp_state_e  state;
    logic       sig_all;
    cqn_t       send_cqn;
    cqn_t       recv_cqn;
    count_t     sq_ceiling;
    count_t     rq_ceiling;
    slot_t      sq_head;
    count_t     sq_queued;
    count_t     sq_issued;
    count_t     sq_flush_owed;
    count_t     sq_reads;
    block_e     blocked;
    slot_t      rq_head;
    count_t     rq_queued;
    logic [15:0] send_epoch;
    logic [15:0] recv_epoch;
    drain_e     drain;
    logic       event_owed;
    logic       taken_s;     // the send CQ's error was taken
    logic       taken_r;     // the receive CQ's error was taken
    logic       fatal;       // QP_FATAL raised since RESET
    logic       on_flush;    // member of the flush list; outlives RESET and DESTROY
    logic       on_issue;    // member of the issue list; likewise
    logic [2:0] path_mtu;
    logic       mig_armed;   // PATH_MIG_STATE is set to ARMED
    attr_mask_t attr_set;
  } qp_ctx_t;

  typedef struct packed {
    logic        exists;
    ring_t       depth;
    ring_t       producer;
    ring_t       consumer;
    ring_t       occupancy;
    arm_e        arm;
    logic        in_error;
    logic        cq_err_raised;
    logic        fault;
    logic        ignore_overrun;
    logic [31:0] lost;
  } cq_ctx_t;

  // Who may post into a CQ. Only CREATE and DESTROY change it, QUERY_CQ shows it: the ring does not
  // carry it along.
  typedef struct packed {
    logic [31:0] ceiling_sum;
    logic [31:0] attached;  // queues
  } cq_posters_t;

  // Two bits of every CQ for the operations that need a second one.
  typedef struct packed {
    logic exists;
    logic in_error;
  } cq_shadow_t;

  // What the decoder says of a send WQE, stored with it until it leaves its queue.
  typedef struct packed {
    logic [15:0]   wqe_index;
    logic [7:0]    opcode;
    logic [7:0]    wc_opcode;
    wqe_errors_t   errors;
    logic          is_read;     // READ or atomic: what a fence waits for
    logic          fence;
    logic          signal;
    logic          solicited;   // BTH SE
    logic          inline_data;
    wire_headers_t headers;
    logic [5:0]    segments;
    logic [31:0]   length;
    logic [31:0]   packets;
    logic [31:0]   response_packets;
    logic [31:0]   misc;
  } sq_meta_t;

  // Everything the decoder says of a send WQE.
  typedef struct packed {
    sq_meta_t    meta;
    logic        known;              // the opcode is one of the eight
    logic        solicit_requested;
    logic        inline_requested;
    logic        consumes_receive;
    logic [15:0] wqe_bytes;
    logic [15:0] wqe_blocks;         // of 64 bytes
    logic [7:0]  bytes_before_inline;
  } wqe_decoded_t;

  typedef struct packed {
    logic [15:0] wqe_index;
  } rq_meta_t;

  // What the pipeline must know of a key: the table itself stands at the segment walker.
  typedef struct packed {
    logic       exists;
    logic [7:0] variant;
  } key_shadow_t;

  // One entry of the key table.
  typedef struct packed {
    logic        exists;
    logic [7:0]  variant;
    logic        local_write;
    logic [63:0] base;
    logic [63:0] last;     // address of the last byte
  } key_entry_t;

  // One change of it.
  typedef struct packed {
    logic [23:0] index;
    key_entry_t  entry;
  } key_change_t;

  // One scatter/gather element of a walked WQE.
  typedef struct packed {
    logic [63:0] addr;
    logic [31:0] lkey;
    logic [31:0] bytes;
  } sge_t;

  // What a walk yields: everything that POST_SEND carries, and under which table.
  typedef struct packed {
    post_t       post;
    logic [7:0]  transport;    // that was assumed
    logic [15:0] key_version;  // changes of the key table before the walk
  } walked_t;

  // ---------------------------------------------------------------- inside the pipeline

  // One slot of the pipeline. `kind` says what happens to it; `op` is only echoed. The
  // record that came in travels beside it, in a register of its channel.
  typedef enum logic [4:0] {
    K_CREATE_CQ,
    K_DESTROY_CQ,
    K_QUERY_CQ,
    K_SET_CQ_FAULT,
    K_CREATE_QP,        // first beat: checks, send CQ, QP word
    K_CREATE_QP_2,      // second beat: receive CQ, record
    K_DESTROY_QP,
    K_DESTROY_QP_2,
    K_MODIFY_QP,
    K_QUERY_QP,
    K_REG_KEY,
    K_DEREG_KEY,
    K_POST_SEND,
    K_POST_RECV,
    K_COMPLETE,
    K_CONSUME,
    K_ARM,
    K_VISIT_ISSUE,      // an entry of the issue list
    K_VISIT_FLUSH,      // an entry of the flush list
    K_PROBE_CASCADE,    // one step of the walk over all QPs
    K_BAD_OP
  } kind_e;

  typedef struct packed {
    kind_e             kind;
    channel_e          channel;
    logic [7:0]        op;    // as the caller wrote it
    logic [31:0]       tag;
    logic [31:0]       qpn;   // as the caller named them: may be out of range
    logic [31:0]       cqn;
    logic              room;  // wire room, sampled at launch
  } slot_op_t;

  // What an operation says of itself, whatever its contexts hold: slot_facts.sv.
  typedef struct packed {
    logic        on_qp;          // it names a QP
    logic        qp_in_range;
    logic        cq_in_range;
    logic        recv_in_range;  // CREATE_QP: the receive CQ
    logic        bad_depth;      // CREATE_CQ
    logic        bad_ceiling;    // CREATE_QP
    logic        wc_error;       // COMPLETE: another status than success
    logic        key_in_range;   // REG_KEY, DEREG_KEY
    logic        bad_region;     // REG_KEY: empty, or beyond 2^64
    logic        bad_access;     // REG_KEY
    logic [63:0] region_last;    // REG_KEY: address of its last byte
  } slot_facts_t;

  // What leaves the pipeline for one retired operation, in its narrow form. Port records
  // are made from it at the ports: record_queue.sv.
  typedef struct packed {
    logic [2:0]   channel;
    logic [7:0]   op;
    logic [31:0]  tag;
    outcome_e     outcome;
    layer_e       layer;
    logic [31:0]  qpn;
    logic [31:0]  cqn;
    logic [3:0]   state_before;  // all ones: no QP
    logic [3:0]   state_after;
    logic         wire_room;
    queue_e       queue;
    cqe_fate_e    cqe;
    event_kinds_t kinds;
    logic [15:0]  key_version;   // WQEs that were walked
  } retire_core_t;

  typedef struct packed {
    ring_t       index;
    logic        phase;
    logic [15:0] wqe_index;
    logic [7:0]  status;
    logic [7:0]  opcode;
    logic [31:0] byte_count;
    logic [31:0] imm;
    logic [7:0]  wc_flags;
  } cqe_core_t;

  // The part of an answer that depends on the operation; one at a time.
  typedef struct packed {
    logic [31:0] missing;
    logic [31:0] extra;
    attr_mask_t  bad_values;
  } modify_detail_t;
  typedef struct packed {
    slot_t       slot;
    logic [15:0] epoch;
    wqe_errors_t errors;
  } post_detail_t;
  typedef struct packed {
    cq_ctx_t     ring;
    cq_posters_t posters;
  } cq_detail_t;
  localparam int unsigned DetailW = $bits(qp_ctx_t) > $bits(cq_detail_t) ? $bits(qp_ctx_t)
                                                                         : $bits(cq_detail_t);

  typedef struct packed {
    logic               has_rsp;
    retire_core_t       retire;
    cqe_core_t          cqe;
    logic [DetailW-1:0] detail;
    logic [1:0]         cq_exceeds;
    logic [31:0]        stale;
    qp_attr_t           attr;
  } record_t;

  typedef struct packed {
    logic [2:0]         channel;
    logic [7:0]         op;
    logic [31:0]        tag;
    outcome_e           outcome;
    layer_e             layer;
    logic [DetailW-1:0] detail;
    logic [1:0]         cq_exceeds;
    logic [31:0]        stale;
    qp_attr_t           attr;
  } rsp_core_t;

  typedef struct packed {
    event_kinds_t kinds;
    logic [31:0]  qpn;
    logic [31:0]  cqn;
  } event_core_t;

endpackage
