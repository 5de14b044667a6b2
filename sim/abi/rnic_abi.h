/* SPDX-License-Identifier: Apache-2.0
 *
 * The driver-visible ABI of the RNIC control plane, and the records that cross the
 * boundary between the verilated RTL and software.
 *
 * One C99 header, three readers: a C driver includes it, Rust binds it (bindgen), and the
 * C++ shim checks it against the constants of the RTL package at compile time.
 *
 * Every record is a whole number of 32-bit words, and each field lies where the packed
 * SystemVerilog struct of the same name has it (the struct lists its members in reverse
 * order, since its first member is the most significant). On a little-endian host a record
 * is therefore copied to and from a Verilator port without touching single bits.
 *
 * Numbers are those of the verbs interface (rdma-core libibverbs/verbs.h) and of the mlx5
 * direct verbs (providers/mlx5/mlx5dv.h) wherever those have one.
 */
#ifndef RNIC_ABI_H
#define RNIC_ABI_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- enumerations (verbs numbers) ------------------------------------------------- */

enum rnic_qp_state {
    RNIC_QPS_RESET = 0,
    RNIC_QPS_INIT = 1,
    RNIC_QPS_RTR = 2,
    RNIC_QPS_RTS = 3,
    RNIC_QPS_SQD = 4,
    RNIC_QPS_SQE = 5,
    RNIC_QPS_ERR = 6,
    RNIC_QPS_NONE = 0xff /* in a retire record: the operation names no existing QP */
};

/* Ours, not ibv_qp_type: two bits in hardware, 3 is unused and refused. */
enum rnic_transport { RNIC_RC = 0, RNIC_UC = 1, RNIC_UD = 2 };

enum rnic_qp_attr_mask {
    RNIC_QP_STATE = 1 << 0,
    RNIC_QP_CUR_STATE = 1 << 1,
    RNIC_QP_EN_SQD_ASYNC_NOTIFY = 1 << 2,
    RNIC_QP_ACCESS_FLAGS = 1 << 3,
    RNIC_QP_PKEY_INDEX = 1 << 4,
    RNIC_QP_PORT = 1 << 5,
    RNIC_QP_QKEY = 1 << 6,
    RNIC_QP_AV = 1 << 7,
    RNIC_QP_PATH_MTU = 1 << 8,
    RNIC_QP_TIMEOUT = 1 << 9,
    RNIC_QP_RETRY_CNT = 1 << 10,
    RNIC_QP_RNR_RETRY = 1 << 11,
    RNIC_QP_RQ_PSN = 1 << 12,
    RNIC_QP_MAX_QP_RD_ATOMIC = 1 << 13,
    RNIC_QP_ALT_PATH = 1 << 14,
    RNIC_QP_MIN_RNR_TIMER = 1 << 15,
    RNIC_QP_SQ_PSN = 1 << 16,
    RNIC_QP_MAX_DEST_RD_ATOMIC = 1 << 17,
    RNIC_QP_PATH_MIG_STATE = 1 << 18,
    RNIC_QP_CAP = 1 << 19,
    RNIC_QP_DEST_QPN = 1 << 20
};

enum rnic_wc_status {
    RNIC_WC_SUCCESS = 0,
    RNIC_WC_LOC_LEN_ERR = 1,
    RNIC_WC_LOC_QP_OP_ERR = 2,
    RNIC_WC_LOC_PROT_ERR = 4,
    RNIC_WC_WR_FLUSH_ERR = 5,
    RNIC_WC_REM_ACCESS_ERR = 10,
    RNIC_WC_RETRY_EXC_ERR = 12,
    RNIC_WC_RNR_RETRY_EXC_ERR = 13
};

enum rnic_wc_opcode {
    RNIC_WC_SEND = 0,
    RNIC_WC_RDMA_WRITE = 1,
    RNIC_WC_RDMA_READ = 2,
    RNIC_WC_COMP_SWAP = 3,
    RNIC_WC_FETCH_ADD = 4,
    RNIC_WC_RECV = 128,
    RNIC_WC_RECV_RDMA_WITH_IMM = 129
};

/* mlx5 send WQE opcodes. */
enum rnic_wqe_opcode {
    RNIC_WQE_SEND_INVAL = 1,
    RNIC_WQE_RDMA_WRITE = 8,
    RNIC_WQE_RDMA_WRITE_IMM = 9,
    RNIC_WQE_SEND = 10,
    RNIC_WQE_SEND_IMM = 11,
    RNIC_WQE_RDMA_READ = 16,
    RNIC_WQE_ATOMIC_CS = 17,
    RNIC_WQE_ATOMIC_FA = 18
};

/* ---- operations and answers (ours) ------------------------------------------------ */

enum rnic_channel {
    RNIC_CH_CMD = 0,
    RNIC_CH_POST = 1,
    RNIC_CH_WIRE = 2,
    RNIC_CH_CQDB = 3,
    RNIC_CH_INTERNAL = 4,
    RNIC_CH_WQE = 5 /* send WQEs that lie in their send queue */
};

/* Operation codes, one number space over all channels, as `rsp` and `retire` show them. */
enum rnic_op {
    RNIC_OP_CREATE_CQ = 0,
    RNIC_OP_DESTROY_CQ = 1,
    RNIC_OP_QUERY_CQ = 2,
    RNIC_OP_SET_CQ_FAULT = 3,
    RNIC_OP_CREATE_QP = 4,
    RNIC_OP_DESTROY_QP = 5,
    RNIC_OP_MODIFY_QP = 6,
    RNIC_OP_QUERY_QP = 7,
    RNIC_OP_REG_KEY = 8,
    RNIC_OP_DEREG_KEY = 9,
    RNIC_OP_POST_SEND = 16,
    RNIC_OP_POST_RECV = 17,
    RNIC_OP_COMPLETE = 18,
    RNIC_OP_CONSUME = 20,
    RNIC_OP_ARM = 21,
    RNIC_OP_ISSUE = 24,
    RNIC_OP_FLUSH = 25,
    RNIC_OP_CASCADE = 26
};

enum rnic_outcome {
    RNIC_OUT_OK = 0,
    RNIC_OUT_STALE = 1,    /* COMPLETE: nothing live is meant by it */
    RNIC_OUT_REJECTED = 2, /* ISSUE: the WQE completed in error instead of leaving */
    RNIC_OUT_NO_QP = 16,
    RNIC_OUT_QP_EXISTS = 17,
    RNIC_OUT_QPN_RANGE = 18,
    RNIC_OUT_NO_CQ = 19,
    RNIC_OUT_CQ_EXISTS = 20,
    RNIC_OUT_CQN_RANGE = 21,
    RNIC_OUT_CQ_IN_ERROR = 22,
    RNIC_OUT_BAD_TRANSPORT = 23,
    RNIC_OUT_BAD_DEPTH = 24,
    RNIC_OUT_BAD_CEILING = 25,
    RNIC_OUT_CQ_ATTACHED = 26,
    RNIC_OUT_BAD_STATE = 27,      /* post: the QP's state refuses it */
    RNIC_OUT_QUEUE_FULL = 28,     /* post: the ceiling given at CREATE_QP is reached */
    RNIC_OUT_BAD_WQE = 29,        /* post: see wqe_errors */
    RNIC_OUT_MODIFY_REFUSED = 30, /* see layer */
    RNIC_OUT_BAD_INDEX = 31,      /* CONSUME */
    RNIC_OUT_BAD_OP = 32,         /* unknown operation code on this channel */
    RNIC_OUT_KEY_RANGE = 33,      /* REG_KEY: the table has no such index */
    RNIC_OUT_KEY_EXISTS = 34,     /* REG_KEY: the index is taken */
    RNIC_OUT_NO_KEY = 35,         /* DEREG_KEY */
    RNIC_OUT_BAD_REGION = 36,     /* REG_KEY: no bytes, or beyond the last address */
    RNIC_OUT_BAD_ACCESS = 37      /* REG_KEY: remote writes need local ones; unknown bits */
};

/* The layer on which MODIFY_QP was refused. */
enum rnic_layer {
    RNIC_LAYER_NONE = 0,
    RNIC_LAYER_QP = 1,
    RNIC_LAYER_ENCODING = 2,
    RNIC_LAYER_CUR_STATE = 3,
    RNIC_LAYER_TRANSITION = 4,
    RNIC_LAYER_MASK = 5,
    RNIC_LAYER_VALUE = 6,
    RNIC_LAYER_DRAIN = 7
};

/* ibv_access_flags */
enum rnic_access {
    RNIC_ACCESS_LOCAL_WRITE = 1 << 0,
    RNIC_ACCESS_REMOTE_WRITE = 1 << 1,
    RNIC_ACCESS_REMOTE_READ = 1 << 2,
    RNIC_ACCESS_REMOTE_ATOMIC = 1 << 3
};

/* What is wrong with a send WQE; all that applies at once. */
enum rnic_wqe_error {
    RNIC_WQE_BAD_OPCODE = 1 << 0,       /* none of the eight */
    RNIC_WQE_BAD_TRANSPORT = 1 << 1,    /* the QP's transport lacks the opcode */
    RNIC_WQE_RESERVED = 1 << 2,         /* a reserved bit is set */
    RNIC_WQE_BAD_FENCE = 1 << 3,        /* fence mode 5..7 */
    RNIC_WQE_BAD_DS = 1 << 4,           /* segment count outside the class's range */
    RNIC_WQE_WALK_FORMAT = 1 << 5,      /* the walker found malformed segments */
    RNIC_WQE_BAD_LENGTH = 1 << 6,       /* over 2^31, over the UD port MTU, atomic not 8 */
    RNIC_WQE_WALK_LENGTH = 1 << 7,      /* the walker found a length error */
    RNIC_WQE_WALK_KEY = 1 << 8          /* an lkey did not resolve: judged at ISSUE */
};

enum rnic_event_kind {
    RNIC_EV_CQ_ERR = 1 << 0,
    RNIC_EV_QP_FATAL = 1 << 1,
    RNIC_EV_SQ_DRAINED = 1 << 2,
    RNIC_EV_COMPLETION = 1 << 3
};

enum rnic_drain { RNIC_DRAIN_NONE = 0, RNIC_DRAINING = 1, RNIC_DRAINED = 2 };

enum rnic_arm { RNIC_ARM_NONE = 0, RNIC_ARM_SOLICITED = 1, RNIC_ARM_NEXT = 2 };

enum rnic_queue { RNIC_SQ = 0, RNIC_RQ = 1 };

/* rnic_retire.cqe */
enum rnic_cqe_fate { RNIC_CQE_NONE = 0, RNIC_CQE_WRITTEN = 1, RNIC_CQE_LOST = 2 };

/* Headers that a message carries besides BTH. */
enum rnic_wire_header {
    RNIC_HDR_RETH = 1 << 0,
    RNIC_HDR_IMMDT = 1 << 1,
    RNIC_HDR_IETH = 1 << 2,
    RNIC_HDR_ATOMICETH = 1 << 3
};

/* rnic_post.flags */
enum rnic_post_flags {
    RNIC_POST_MLX5 = 1 << 0,        /* control segment in mlx5 format, else book format */
    RNIC_POST_INLINE = 1 << 1,      /* mlx5: the walker saw an inline data segment */
    RNIC_POST_WALK_FORMAT = 1 << 2,
    RNIC_POST_WALK_LENGTH = 1 << 3,
    RNIC_POST_WALK_KEY = 1 << 4
};

enum rnic_cq_scope {
    RNIC_SCOPE_AFFECTED = 0,
    RNIC_SCOPE_STICKY = 1,
    RNIC_SCOPE_CASCADE = 2
};

/* What became of one pipeline slot: the accounting of every clock. */
enum rnic_slot_kind {
    RNIC_SLOT_EMPTY = 0,      /* nothing was launched two clocks ago */
    RNIC_SLOT_RETIRES = 1,
    RNIC_SLOT_FIRST_BEAT = 2, /* CREATE_QP, DESTROY_QP: retires in the next slot */
    RNIC_SLOT_IDLE_VISIT = 3, /* a list entry that finds nothing to do */
    RNIC_SLOT_IDLE_PROBE = 4  /* a cascade probe that finds nothing to do */
};

/* ---- what lies in host memory ----------------------------------------------------- */

/* WQE control segment: four big-endian words in memory, host order here. */
struct rnic_wqe_ctrl {
    uint32_t opcode; /* opmod[31:24] wqe_index[23:8] opcode[7:0] */
    uint32_t sq_ds;  /* sqn[31:8] reserved[7:6] ds[5:0] */
    uint32_t flags;  /* signature[31:24] stream[23:8] fence[7:5] inline[4] ce[3:2] se[1] r[0] */
    uint32_t misc;   /* immediate, invalidate key or vendor word */
};

/* Completion queue entry. The byte with the phase bit is the last one of the entry. */
struct rnic_cqe {
    uint32_t qpn;
    uint32_t byte_count;
    uint32_t imm;
    uint16_t wqe_index;
    uint8_t status; /* rnic_wc_status, any other number passes through */
    uint8_t opcode; /* rnic_wc_opcode */
    uint8_t queue;  /* rnic_queue */
    uint8_t wc_flags;
    uint8_t reserved;
    uint8_t phase; /* 1 on the first lap */
};

/* ---- records of the channels ------------------------------------------------------ */

struct rnic_av {
    uint8_t is_global; /* nonzero: carries a GRH */
    uint8_t sgid_index;
    uint8_t hop_limit;
    uint8_t traffic_class;
    uint16_t dlid;
    uint8_t sl;
    uint8_t static_rate;
};

/* Attribute values, in the widths of the verbs structures. */
struct rnic_qp_attr {
    uint32_t access_flags;
    uint32_t qkey;
    uint32_t rq_psn;
    uint32_t sq_psn;
    uint32_t dest_qpn;
    struct rnic_av av;
    struct rnic_av alt_av;
    uint16_t pkey_index;
    uint16_t alt_pkey_index;
    uint8_t en_sqd_async_notify;
    uint8_t port;
    uint8_t path_mtu;
    uint8_t timeout;
    uint8_t retry_cnt;
    uint8_t rnr_retry;
    uint8_t max_qp_rd_atomic;
    uint8_t min_rnr_timer;
    uint8_t max_dest_rd_atomic;
    uint8_t path_mig_state;
    uint8_t alt_port;
    uint8_t alt_timeout;
};

/* A memory region. Local key: index in bits 31:8, variant in bits 7:0. 64-bit numbers in two
 * words. */
struct rnic_region {
    uint32_t lkey;
    uint32_t access; /* rnic_access */
    uint32_t base_lo;
    uint32_t base_hi;
    uint32_t length_lo; /* bytes */
    uint32_t length_hi;
};

struct rnic_cmd {
    uint32_t tag;
    uint32_t qpn;
    uint32_t cqn;      /* CQ operations: the CQ; CREATE_QP: the send CQ */
    uint32_t recv_cqn; /* CREATE_QP */
    uint32_t depth;    /* CREATE_CQ, entries */
    uint32_t sq_ceiling;
    uint32_t rq_ceiling;
    uint32_t attr_mask;
    uint8_t op;
    uint8_t transport;
    uint8_t sq_sig_all;
    uint8_t ignore_overrun;
    uint8_t fault; /* SET_CQ_FAULT: 1 inaccessible, 0 accessible */
    uint8_t qp_state;
    uint8_t cur_qp_state;
    uint8_t reserved;
    struct rnic_qp_attr attr;
    struct rnic_region region; /* REG_KEY; DEREG_KEY: lkey */
};

struct rnic_post {
    uint32_t tag;
    uint32_t qpn;
    struct rnic_wqe_ctrl ctrl; /* POST_SEND */
    uint32_t payload_len;      /* bytes that follow the control segment as payload */
    uint16_t recv_index;       /* POST_RECV: the WQE index echoed on its completion */
    uint8_t op;
    uint8_t flags; /* rnic_post_flags */
};

/* A send WQE in its send queue, a ring of 2^ring_log2 blocks of 64 bytes, four 16-byte units
 * each. The hardware reads it by rnic_fetch and rnic_unit. */
struct rnic_wqe {
    uint32_t tag;
    uint32_t qpn;
    uint32_t first_block; /* where it begins, modulo the ring */
    uint8_t ring_log2;    /* 0..16 */
    uint8_t transport;    /* rnic_transport of the QP, as its poster knows it */
    uint8_t flags;        /* RNIC_POST_MLX5 */
    uint8_t reserved;
};

/* The unit that is wanted next; the units come in the order in which they were wanted. */
struct rnic_fetch {
    uint32_t tag; /* of the WQE */
    uint32_t qpn;
    uint32_t unit; /* 16-byte unit of the ring */
};

/* 16 bytes of memory, as a little-endian host reads four words of them. */
struct rnic_unit {
    uint32_t word0;
    uint32_t word1;
    uint32_t word2;
    uint32_t word3;
};

struct rnic_wire {
    uint32_t tag;
    uint32_t qpn;
    uint32_t byte_count;
    uint32_t imm;
    uint16_t epoch;
    uint16_t slot;
    uint8_t queue;
    uint8_t status;
    uint8_t opcode;   /* receives: rnic_wc_opcode; ignored for sends */
    uint8_t wc_flags; /* 2 with immediate, 8 with invalidate (ibv_wc_flags) */
    uint8_t solicited;
    uint8_t reserved[3];
};

struct rnic_cqdb {
    uint32_t tag;
    uint32_t cqn;
    uint32_t index; /* CONSUME: the new consumer index, modulo 2 x depth */
    uint8_t op;
    uint8_t solicited_only; /* ARM */
    uint8_t reserved[2];
};

/* Straps: sampled while reset is active. Switches: 0 is off, anything else on. */
struct rnic_policy {
    uint8_t refuse_reset_to_err;
    uint8_t cur_state_override;
    uint8_t rc_sqe_row;
    uint8_t allow_leave_draining;
    uint8_t sqd_hold_unstarted;
    uint8_t wqe_check_in_pipeline;
    uint8_t cq_overwrite;
    uint8_t cq_scope; /* rnic_cq_scope; above 2 counts as cascade */
    uint8_t link_infiniband;
    uint8_t reserved[3];
    uint32_t max_inline; /* bytes */
};

/* One answer. Fields that do not belong to the operation are 0. */
struct rnic_rsp {
    uint32_t tag;
    uint8_t channel;
    uint8_t op;
    uint8_t outcome;
    uint8_t layer;
    uint32_t missing;    /* MODIFY_QP, layer mask: complete sets */
    uint32_t extra;
    uint32_t bad_values; /* MODIFY_QP, layer value: attribute bits */
    uint16_t wqe_errors; /* POST_SEND refused as BAD_WQE: rnic_wqe_error */
    uint16_t slot;       /* accepted post */
    uint16_t epoch;      /* accepted post */
    uint8_t cq_exceeds;  /* CREATE_QP: bit 0 send CQ, bit 1 recv CQ; QUERY_CQ: bit 0:
                            the sum of attached ceilings exceeds the depth */
    uint8_t qp_state;    /* QUERY_QP from here on */
    uint8_t transport;
    uint8_t sq_sig_all;
    uint8_t drain;       /* rnic_drain */
    uint8_t event_owed;
    uint8_t qp_fatal_raised;
    uint8_t reserved;
    uint16_t sq_head;
    uint32_t send_cqn;
    uint32_t recv_cqn;
    uint16_t sq_ceiling;
    uint16_t rq_ceiling;
    uint16_t sq_queued;
    uint16_t sq_issued;
    uint16_t sq_flush_owed; /* sends queued at SQE -> RTS that still wait for their flush */
    uint16_t sq_reads;      /* issued and uncompleted READs and atomics */
    uint16_t rq_head;
    uint16_t rq_queued;
    uint16_t send_epoch;
    uint16_t recv_epoch;
    uint32_t attr_set; /* mask bits of the attributes that are set */
    uint32_t stale;
    struct rnic_qp_attr attr; /* unset attributes read 0 */
    uint32_t depth; /* QUERY_CQ from here on */
    uint32_t producer;
    uint32_t consumer;
    uint32_t occupancy;
    uint32_t lost;
    uint32_t ceiling_sum;
    uint32_t attached;
    uint8_t arm; /* rnic_arm */
    uint8_t ignore_overrun;
    uint8_t fault;
    uint8_t in_error : 1;
    uint8_t cq_err_raised : 1;
    uint8_t reserved2 : 6;
};

struct rnic_issue {
    uint32_t qpn;
    uint32_t length;   /* payload bytes */
    uint32_t packets;  /* request packets: 1 = ONLY, n = FIRST, n-2 x MIDDLE, LAST */
    uint32_t response_packets; /* READ: packets of the response, else 0 */
    uint32_t misc;     /* immediate or invalidate key, else 0 */
    uint16_t epoch;
    uint16_t slot;
    uint16_t wqe_index;
    uint8_t opcode;    /* the WQE's (mlx5 number) */
    uint8_t headers;   /* rnic_wire_header */
    uint8_t solicited; /* BTH SE */
    uint8_t inline_data; /* 1: payload lies in the WQE, 0: DMA */
    uint8_t segments;  /* data segments */
    uint8_t reserved;
};

struct rnic_cqe_write {
    uint32_t cqn;
    uint32_t index; /* slot in the ring, 0..depth-1 */
    struct rnic_cqe cqe;
};

struct rnic_event {
    uint32_t qpn; /* 0 without has_qp */
    uint32_t cqn; /* 0 without has_cq */
    uint8_t kinds; /* rnic_event_kind */
    uint8_t has_qp;
    uint8_t has_cq;
    uint8_t reserved;
};

struct rnic_retire {
    uint32_t tag; /* 0 for internal steps */
    uint32_t qpn; /* the QP the operation names, 0 for CQ operations */
    uint32_t cqn; /* the CQ the operation names or writes to, else 0 */
    uint8_t channel;
    uint8_t op;
    uint8_t outcome;
    uint8_t layer;
    uint8_t state_before; /* effective state; RNIC_QPS_NONE without an existing QP */
    uint8_t state_after;
    uint8_t wire_room; /* as sampled: POST_SEND and ISSUE */
    uint8_t cqe;       /* rnic_cqe_fate */
    uint8_t event_kinds;
    uint8_t queue; /* FLUSH, COMPLETE: rnic_queue */
    uint16_t key_version; /* WQEs that were walked: changes of the key table before the walk */
};

/* ---- one clock of the bridge ------------------------------------------------------ */

struct rnic_stim {
    uint8_t cmd_valid;
    uint8_t post_valid;
    uint8_t wire_valid;
    uint8_t cqdb_valid;
    uint8_t rsp_ready;
    uint8_t issue_ready;
    uint8_t cqe_ready;
    uint8_t event_ready;
    uint8_t retire_ready;
    uint8_t hold_internal; /* test only: bit 0 flush, 1 issue, 2 cascade source held */
    uint8_t wqe_valid;
    uint8_t unit_valid;
    uint8_t fetch_ready;
    uint8_t reserved[3];
    struct rnic_cmd cmd;
    struct rnic_post post;
    struct rnic_wire wire;
    struct rnic_cqdb cqdb;
    struct rnic_wqe wqe;
    struct rnic_unit unit;
};

/* What the ports show just before the rising edge. A transfer happens at that edge where
 * valid and ready are both 1. Payloads are only written where valid is 1. */
struct rnic_resp {
    uint8_t cmd_ready;
    uint8_t post_ready;
    uint8_t wire_ready;
    uint8_t cqdb_ready;
    uint8_t rsp_valid;
    uint8_t issue_valid;
    uint8_t cqe_valid;
    uint8_t event_valid;
    uint8_t retire_valid;
    uint8_t slot_kind; /* rnic_slot_kind: what the execute stage does in this clock */
    uint8_t wqe_ready;
    uint8_t unit_ready;
    uint8_t fetch_valid;
    uint8_t reserved[3];
    struct rnic_rsp rsp;
    struct rnic_issue issue;
    struct rnic_cqe_write cqe;
    struct rnic_event event;
    struct rnic_retire retire;
    struct rnic_fetch fetch;
};

#ifdef __cplusplus
}
#endif

#endif /* RNIC_ABI_H */
