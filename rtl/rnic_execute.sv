// SPDX-License-Identifier: Apache-2.0
//
// The execute stage: one operation against its contexts, all in one clock.
//
// Purely combinational. Every read-modify-write of the design happens here and only here,
// so the order in which operations pass this stage is the order in which they retire.
//
//   judge    touch the QP (cascade), judge the operation, move the queues, ask for a CQE
//   attempt  the ring's verdict on that CQE (cq_ring)
//   settle   what a failed attempt does, drain, event, lists, record
//
// Latency: none. Throughput: one operation per clock; CREATE_QP and DESTROY_QP take two.
module rnic_execute
  import rnic_pkg::*;
  import qp_gate_pkg::*;
#(
    parameter int unsigned SQ_DEPTH = 64,
    parameter int unsigned RQ_DEPTH = 64
) (
    input  straps_t    straps_i,       // policies
    input  logic       valid_i,        // there is an operation
    input  slot_op_t   op_i,           // which
    input  slot_facts_t facts_i,       // what RD worked out of it
    input  cmd_t       cmd_i,          // the record of the channel that the operation came by
    input  wire_t      wire_i,         // its record, if it came by wire
    input  cqdb_t      cqdb_i,         // its record, if it came by cqdb
    input  qp_ctx_t    qp_i,           // the QP it names
    input  cq_ctx_t    cq_i,           // of its receive queue, else its send queue; or the one it names
    input  cq_posters_t posters_i,     // of it
    input  cq_shadow_t other_i,        // the QP's other CQ
    input  sq_meta_t   sq_meta_i,      // of the slot that RD read
    input  rq_meta_t   rq_meta_i,      // of the slot that RD read
    input  queue_e     seen_queue_i,   // COMPLETE: its queue; a flush: the one that RD read, SQ else
    input  slot_t      seen_slot_i,    // that RD read, from a word that may since have changed
    input  sq_meta_t   decoded_i,      // POST_SEND: what the decoder says
    input  verdicts_t  verdicts_i,     // MODIFY_QP: what each state says to the call
    input  key_shadow_t key_i,         // REG_KEY, DEREG_KEY: what is at that index
    input  logic [15:0] key_version_i, // of a walked WQE, else 0

    // Contexts
    output logic       qp_we_o,       // write the QP word
    output qp_ctx_t    qp_o,          // the QP after
    output logic       cq_we_o,       // write the CQ word and its shadow
    output cq_ctx_t    cq_o,          // the primary CQ after
    output logic       posters_we_o,  // write who posts into it
    output cq_posters_t posters_o,    // them after
    output logic       sq_meta_we_o,  // a send was queued
    output logic       rq_meta_we_o,  // a receive was queued
    output slot_t      meta_slot_o,   // where a post is stored
    output attr_mask_t attr_we_o,     // attributes to store
    output logic       stale_inc_o,   // count one STALE
    output logic       stale_clear_o, // CREATE_QP: count from 0
    output logic       key_we_o,      // the key table changes
    output key_change_t key_change_o, // how

    // Lists and walk
    output logic       push_flush_o,  // the QP joins the flush list
    output logic       push_issue_o,  // the QP joins the issue list
    output logic       cq_fails_o,    // an error bit rises under `cascade`

    // Wire
    output logic       issue_push_o,     // a WQE goes to the wire
    output logic       issue_release_o,  // reserved wire room is not used
    output issue_t     issue_o,          // that WQE

    // Retirement
    output logic       retires_o,     // an operation retires
    output record_t    record_o,      // without what is joined a clock later
    output logic       query_qp_o,    // the record wants attribute values and STALE count
    output logic       modify_o,      // its detail is the grounds of an answer, not the answer

    // From the first to the second beat of CREATE_QP and DESTROY_QP
    input  record_t    first_i,       // what the first beat left
    output record_t    first_o        // what the second beat will need
);

  // ------------------------------------------------------------------ helpers

  // What is queued will be flushed, what was released is forgotten.
  function automatic qp_ctx_t stop_sending(qp_ctx_t q);
    stop_sending               = q;
    stop_sending.sq_issued     = '0;
    stop_sending.sq_reads      = '0;
    stop_sending.sq_flush_owed = '0;
    stop_sending.blocked       = BLOCK_NO;
    stop_sending.drain         = DRAIN_NONE;
    stop_sending.event_owed    = 1'b0;
  endfunction

  function automatic qp_ctx_t enter_err(qp_ctx_t q);
    enter_err       = stop_sending(q);
    enter_err.state = QPS_ERR;
  endfunction

  // A new life: everything unset, both queues empty, both epochs on. What the CQs had
  // before is taken as known; list membership stays, since the entries are still there.
  function automatic qp_ctx_t reset_qp(qp_ctx_t q, logic known_s, logic known_r);
    reset_qp            = q;
    reset_qp.state      = QPS_RESET;
    reset_qp.sq_head    = '0;
    reset_qp.sq_queued  = '0;
    reset_qp.rq_head    = '0;
    reset_qp.rq_queued  = '0;
    reset_qp.send_epoch = q.send_epoch + 1'b1;
    reset_qp.recv_epoch = q.recv_epoch + 1'b1;
    reset_qp.taken_s    = known_s;
    reset_qp.taken_r    = known_r;
    reset_qp.fatal      = 1'b0;
    reset_qp.path_mtu   = '0;
    reset_qp.mig_armed  = 1'b0;
    reset_qp.attr_set   = '0;
  endfunction

  function automatic slot_t sq_slot(slot_t head, count_t offset);
    return (head + offset[SlotW-1:0]) & slot_t'(SQ_DEPTH - 1);
  endfunction

  function automatic slot_t rq_slot(slot_t head, count_t offset);
    return (head + offset[SlotW-1:0]) & slot_t'(RQ_DEPTH - 1);
  endfunction

  function automatic logic [7:0] reject_status(wqe_errors_t e);
    if (e.bad_opcode || e.bad_transport || e.reserved || e.bad_fence || e.bad_ds
        || e.walk_format) return WC_LOC_QP_OP_ERR;
    if (e.bad_length || e.walk_length) return WC_LOC_LEN_ERR;
    return WC_LOC_PROT_ERR;
  endfunction

  // ------------------------------------------------------------------ the operation

  kind_e kind;
  assign kind = op_i.kind;

  logic qp_op, qp_in_range, exists, cq_in_range, cq_exists;
  assign qp_op       = facts_i.on_qp;
  assign qp_in_range = facts_i.qp_in_range;
  assign exists      = qp_op && qp_in_range && qp_i.exists;
  assign cq_in_range = facts_i.cq_in_range;
  assign cq_exists   = cq_in_range && cq_i.exists;

  // The primary CQ is the receive CQ for receive completions and receive flushes; the send
  // CQ for every other operation on a QP.
  logic on_rq, err_s, err_r;
  assign on_rq = seen_queue_i == RQ;
  assign err_s = on_rq ? other_i.in_error : cq_i.in_error;
  assign err_r = on_rq ? cq_i.in_error : other_i.in_error;

  // ------------------------------------------------------------------ touch

  logic    untaken;
  qp_ctx_t touched;
  assign untaken = exists && straps_i.cq_scope == SCOPE_CASCADE
                   && ((err_s && !qp_i.taken_s) || (err_r && !qp_i.taken_r))
                   && !(kind inside {K_CREATE_QP, K_CREATE_QP_2, K_DESTROY_QP_2});

  always_comb begin
    touched = qp_i;
    if (untaken) begin
      touched         = enter_err(qp_i);
      touched.taken_s = err_s;
      touched.taken_r = err_r;
      touched.fatal   = 1'b1;
    end
  end

  // ------------------------------------------------------------------ the gate

  logic      gate_accept;
  qp_state_e gate_target;
  grounds_t  gate_grounds;

  qp_gate_verdict u_gate (
      .verdicts_i,
      .exists_i   (exists),
      .state_i    ({1'b0, touched.state}),
      .draining_i (touched.drain == DRAINING),
      .mig_armed_i(touched.mig_armed),
      .accept_o   (gate_accept),
      .target_o   (gate_target),
      .grounds_o  (gate_grounds)
  );

  // ------------------------------------------------------------------ judge

  // The ring's answers, see below.
  logic    failed, written, phase, fires, raises_cq_err, consume_ok;
  ring_t   ring_slot;
  cq_ctx_t ring_cq;

  qp_ctx_t  judged;        // the QP after the operation, before its completion attempt
  outcome_e outcome;
  // What an outcome of OK lets happen. Each is set where its own operation is judged: read from
  // `outcome` it would wait for the judgement of all the others.
  logic     created, cq_ok, stores_send, stores_recv, key_ok, stale;
  logic     retires;
  logic     attempt;       // a CQE is due
  cqe_core_t cqe;
  logic     worthy;        // it fires a solicited-only arm
  logic     drain_asked;   // SQ_DRAINED of a drain that was done before it began
  logic     issues;
  sq_meta_t issue_meta;
  count_t   issue_offset;
  logic     cascade_step;
  logic     attr_write;
  logic     to_reset, to_err, to_sqe;

  logic     may_send, waiting, waiting_runs, fence_shuts, rejectable, form_errors;
  logic     live_s, live_r, oldest_s, oldest_r, wc_error;
  logic     owes_s, owes_r;
  slot_t    cmd_slot;

  assign may_send = touched.state == QPS_RTS
                    || (touched.state == QPS_SQD && !straps_i.sqd_hold_unstarted);
  assign waiting = touched.sq_queued != touched.sq_issued;
  // Only what RD read may be acted upon.
  assign waiting_runs = exists && waiting && may_send && touched.sq_flush_owed == '0
                        && touched.blocked == BLOCK_NO
                        && seen_slot_i == sq_slot(touched.sq_head, touched.sq_issued);

  assign live_s = touched.state inside {QPS_RTS, QPS_SQD};
  assign live_r = touched.state inside {QPS_RTR, QPS_RTS, QPS_SQD, QPS_SQE};
  assign oldest_s = live_s && wire_i.epoch == touched.send_epoch && touched.sq_issued != '0
                    && wire_i.slot == 16'(touched.sq_head);
  assign oldest_r = live_r && wire_i.epoch == touched.recv_epoch && touched.rq_queued != '0
                    && wire_i.slot == 16'(touched.rq_head);
  assign wc_error = facts_i.wc_error;

  assign owes_s = exists && touched.sq_queued != '0
                  && (touched.state inside {QPS_SQE, QPS_ERR} || touched.sq_flush_owed != '0);
  assign owes_r = exists && touched.rq_queued != '0 && touched.state == QPS_ERR;

  assign form_errors = decoded_i.errors != '0
                       && decoded_i.errors != wqe_errors_t'{walk_key: 1'b1, default: 1'b0};
  assign rejectable  = decoded_i.errors != '0;
  assign fence_shuts = decoded_i.fence && touched.sq_reads != '0;

  always_comb begin
    judged       = touched;
    outcome      = OUT_OK;
    created      = 1'b0;
    cq_ok        = 1'b0;
    stores_send  = 1'b0;
    stores_recv  = 1'b0;
    key_ok       = 1'b0;
    stale        = 1'b0;
    retires      = 1'b1;
    attempt      = 1'b0;
    cqe          = '0;
    worthy       = 1'b0;
    drain_asked  = 1'b0;
    issues       = 1'b0;
    issue_meta   = sq_meta_i;
    issue_offset = touched.sq_issued;
    cascade_step = 1'b0;
    attr_write   = 1'b0;
    cmd_slot     = '0;
    to_reset     = 1'b0;
    to_err       = 1'b0;
    to_sqe       = 1'b0;

    unique case (kind)
      // ---- CQ commands and doorbells: the ring side is below
      K_CREATE_CQ: begin
        if (!cq_in_range) outcome = OUT_CQN_RANGE;
        else if (cq_i.exists) outcome = OUT_CQ_EXISTS;
        else if (facts_i.bad_depth) outcome = OUT_BAD_DEPTH;
        else cq_ok = 1'b1;
      end
      K_DESTROY_CQ: begin
        if (!cq_exists) outcome = OUT_NO_CQ;
        else if (posters_i.attached != '0) outcome = OUT_CQ_ATTACHED;
        else cq_ok = 1'b1;
      end
      K_QUERY_CQ, K_SET_CQ_FAULT, K_ARM: if (!cq_exists) outcome = OUT_NO_CQ;
      K_CONSUME: begin
        if (!cq_exists) outcome = OUT_NO_CQ;
        else if (!consume_ok) outcome = OUT_BAD_INDEX;
      end

      // ---- QP commands
      K_CREATE_QP: begin
        retires = 1'b0;
        if (!qp_in_range) outcome = OUT_QPN_RANGE;
        else if (qp_i.exists) outcome = OUT_QP_EXISTS;
        else if (!cq_exists || !facts_i.recv_in_range || !other_i.exists) outcome = OUT_NO_CQ;
        else if (cq_i.in_error || other_i.in_error) outcome = OUT_CQ_IN_ERROR;
        else if (cmd_i.transport > 8'd2) outcome = OUT_BAD_TRANSPORT;
        else if (facts_i.bad_ceiling) outcome = OUT_BAD_CEILING;
        else begin
          created           = 1'b1;
          cq_ok             = 1'b1;
          judged            = '0;
          judged.exists     = 1'b1;
          judged.transport  = cmd_i.transport[1:0];
          judged.sig_all    = cmd_i.sq_sig_all != '0;
          judged.send_cqn   = cmd_i.cqn[CqnW-1:0];
          judged.recv_cqn   = cmd_i.recv_cqn[CqnW-1:0];
          judged.sq_ceiling = cmd_i.sq_ceiling[CountW-1:0];
          judged.rq_ceiling = cmd_i.rq_ceiling[CountW-1:0];
          judged.send_epoch = qp_i.send_epoch;
          judged.recv_epoch = qp_i.recv_epoch;
          judged.on_flush   = qp_i.on_flush;
          judged.on_issue   = qp_i.on_issue;
        end
      end
      K_DESTROY_QP: begin
        retires = 1'b0;
        if (!exists) outcome = OUT_NO_QP;
        else begin
          cq_ok         = 1'b1;
          to_reset      = 1'b1;
          judged.exists = 1'b0;
        end
      end
      K_CREATE_QP_2, K_DESTROY_QP_2: begin
        judged  = qp_i;
        outcome = first_i.retire.outcome;
        cq_ok   = first_i.retire.outcome == OUT_OK;
      end
      K_QUERY_QP: if (!exists) outcome = OUT_NO_QP;
      K_MODIFY_QP: begin
        if (!exists) outcome = OUT_NO_QP;
        else if (!gate_accept) outcome = OUT_MODIFY_REFUSED;
        else begin
          attr_write = 1'b1;
          judged.attr_set = touched.attr_set
                            | (cmd_i.attr_mask[NUM_ATTR-1:0]
                               & ~(attr_mask_t'(1) << A_STATE | attr_mask_t'(1) << A_CUR_STATE));
          if (cmd_i.attr_mask[A_PATH_MTU]) judged.path_mtu = cmd_i.attr.path_mtu[2:0];
          if (cmd_i.attr_mask[A_PATH_MIG_STATE]) begin
            judged.mig_armed = cmd_i.attr.path_mig_state == 8'd2;
          end
          if (cmd_i.attr_mask[A_STATE]) begin
            unique case (gate_target)
              QPS_RESET: to_reset = 1'b1;
              QPS_ERR: to_err = 1'b1;
              QPS_SQD: begin
                judged.state = QPS_SQD;
                if (touched.state == QPS_RTS) begin
                  judged.drain = ((straps_i.sqd_hold_unstarted ? touched.sq_issued
                                                               : touched.sq_queued) != '0)
                                 ? DRAINING : DRAINED;
                  judged.event_owed = cmd_i.attr_mask[A_EN_SQD_NOTIFY]
                                      && cmd_i.attr.en_sqd_async_notify != '0;
                  if (judged.drain == DRAINED) begin
                    drain_asked       = judged.event_owed;
                    judged.event_owed = 1'b0;
                  end
                end
              end
              default: begin
                judged.state      = gate_target;
                judged.drain      = DRAIN_NONE;
                judged.event_owed = 1'b0;
                if (touched.state == QPS_SQE) judged.sq_flush_owed = touched.sq_queued;
              end
            endcase
          end
        end
      end

      // ---- keys
      K_REG_KEY: begin
        if (!facts_i.key_in_range) outcome = OUT_KEY_RANGE;
        else if (key_i.exists) outcome = OUT_KEY_EXISTS;
        else if (facts_i.bad_region) outcome = OUT_BAD_REGION;
        else if (facts_i.bad_access) outcome = OUT_BAD_ACCESS;
        else key_ok = 1'b1;
      end
      K_DEREG_KEY: begin
        if (!facts_i.key_in_range || !key_i.exists
            || key_i.variant != cmd_i.region.lkey[7:0]) outcome = OUT_NO_KEY;
        else key_ok = 1'b1;
      end

      // ---- posts
      K_POST_SEND: begin
        cmd_slot = sq_slot(touched.sq_head, touched.sq_queued);
        if (!exists) outcome = OUT_NO_QP;
        else if (touched.state inside {QPS_RESET, QPS_INIT, QPS_RTR}
                 || (touched.state == QPS_SQD && !straps_i.sqd_hold_unstarted)) begin
          outcome = OUT_BAD_STATE;
        end else if (touched.sq_queued >= touched.sq_ceiling) outcome = OUT_QUEUE_FULL;
        else if (live_s && form_errors && !straps_i.wqe_check_in_pipeline) outcome = OUT_BAD_WQE;
        else begin
          stores_send      = 1'b1;
          judged.sq_queued = touched.sq_queued + 1'b1;
          if (live_s && !waiting) begin
            // First in line: it may leave at once, or must say what it waits for.
            if (rejectable) begin
              if (touched.sq_issued != '0) judged.blocked = BLOCK_ORDER;
            end else if (fence_shuts) begin
              judged.blocked = BLOCK_FENCE;
            end else if (may_send && touched.sq_flush_owed == '0 && op_i.room) begin
              issues           = 1'b1;
              issue_meta       = decoded_i;
              judged.sq_issued = touched.sq_issued + 1'b1;
              judged.sq_reads  = touched.sq_reads + count_t'(decoded_i.is_read);
            end
          end
        end
      end
      K_POST_RECV: begin
        cmd_slot = rq_slot(touched.rq_head, touched.rq_queued);
        if (!exists) outcome = OUT_NO_QP;
        else if (touched.state == QPS_RESET) outcome = OUT_BAD_STATE;
        else if (touched.rq_queued >= touched.rq_ceiling) outcome = OUT_QUEUE_FULL;
        else judged.rq_queued = touched.rq_queued + 1'b1;
        stores_recv = outcome == OUT_OK;
      end

      // ---- completions
      K_COMPLETE: begin
        stale = !(on_rq ? oldest_r : oldest_s);
        if (!exists || stale) outcome = OUT_STALE;
        else begin
          cqe.status = wire_i.status;
          worthy     = wc_error;
          if (on_rq) begin
            attempt          = 1'b1;
            cqe.wqe_index    = rq_meta_i.wqe_index;
            judged.rq_head   = rq_slot(touched.rq_head, count_t'(1));
            judged.rq_queued = touched.rq_queued - 1'b1;
            worthy           = wc_error || wire_i.solicited != '0;
            if (!wc_error) cqe.opcode = wire_i.opcode;
            else to_err = touched.transport != UD || wire_i.status != WC_LOC_LEN_ERR;
          end else begin
            attempt          = wc_error || touched.sig_all || sq_meta_i.signal;
            cqe.wqe_index    = sq_meta_i.wqe_index;
            judged.sq_head   = sq_slot(touched.sq_head, count_t'(1));
            judged.sq_queued = touched.sq_queued - 1'b1;
            judged.sq_issued = touched.sq_issued - 1'b1;
            judged.sq_reads  = touched.sq_reads - count_t'(sq_meta_i.is_read);
            if ((touched.blocked == BLOCK_FENCE && judged.sq_reads == '0)
                || (touched.blocked == BLOCK_ORDER && judged.sq_issued == '0)) begin
              judged.blocked = BLOCK_NO;
            end
            if (!wc_error) cqe.opcode = sq_meta_i.wc_opcode;
            else if (touched.transport == RC) to_err = 1'b1;
            else to_sqe = 1'b1;
          end
          if (!wc_error) begin
            cqe.byte_count = wire_i.byte_count;
            cqe.imm        = wire_i.imm;
            cqe.wc_flags   = wire_i.wc_flags;
          end
        end
      end

      // ---- internal steps
      K_VISIT_ISSUE: begin
        judged.on_issue = 1'b0;
        retires         = 1'b0;
        if (untaken) begin
          cascade_step = 1'b1;
          retires      = 1'b1;
        end else if (waiting_runs) begin
          if (sq_meta_i.errors != '0) begin
            if (touched.sq_issued != '0) judged.blocked = BLOCK_ORDER;
            else begin
              retires          = 1'b1;
              outcome          = OUT_REJECTED;
              attempt          = 1'b1;
              worthy           = 1'b1;
              cqe.status       = reject_status(sq_meta_i.errors);
              cqe.wqe_index    = sq_meta_i.wqe_index;
              judged.sq_head   = sq_slot(touched.sq_head, count_t'(1));
              judged.sq_queued = touched.sq_queued - 1'b1;
              to_err           = touched.transport == RC;
              to_sqe           = touched.transport != RC;
            end
          end else if (sq_meta_i.fence && touched.sq_reads != '0) begin
            judged.blocked = BLOCK_FENCE;
          end else begin
            retires          = 1'b1;
            issues           = 1'b1;
            judged.sq_issued = touched.sq_issued + 1'b1;
            judged.sq_reads  = touched.sq_reads + count_t'(sq_meta_i.is_read);
          end
        end
      end
      K_VISIT_FLUSH: begin
        judged.on_flush = 1'b0;
        retires         = 1'b0;
        cqe.status      = WC_WR_FLUSH_ERR;
        worthy          = 1'b1;
        if (untaken) begin
          cascade_step = 1'b1;
          retires      = 1'b1;
        end else if (!on_rq && owes_s && seen_slot_i == touched.sq_head) begin
          retires          = 1'b1;
          attempt          = 1'b1;
          cqe.wqe_index    = sq_meta_i.wqe_index;
          judged.sq_head   = sq_slot(touched.sq_head, count_t'(1));
          judged.sq_queued = touched.sq_queued - 1'b1;
          if (touched.sq_flush_owed != '0) judged.sq_flush_owed = touched.sq_flush_owed - 1'b1;
        end else if (on_rq && owes_r && seen_slot_i == touched.rq_head) begin
          retires          = 1'b1;
          attempt          = 1'b1;
          cqe.wqe_index    = rq_meta_i.wqe_index;
          judged.rq_head   = rq_slot(touched.rq_head, count_t'(1));
          judged.rq_queued = touched.rq_queued - 1'b1;
        end
      end
      K_PROBE_CASCADE: begin
        cascade_step = untaken;
        retires      = untaken;
      end

      default: outcome = OUT_BAD_OP;
    endcase

    // The moves that end what was sent, in one place for all operations.
    if (to_reset || to_err || to_sqe) judged = stop_sending(judged);
    if (to_reset) judged = reset_qp(judged, err_s, err_r);
    if (to_err) judged.state = QPS_ERR;
    if (to_sqe) begin
      judged.state      = QPS_SQE;
      judged.send_epoch = touched.send_epoch + 1'b1;
    end
  end

  // ------------------------------------------------------------------ attempt


  cq_ring u_ring (
      .straps_i,
      .cq_i,
      .attempt_i      (attempt),
      .event_worthy_i (worthy),
      .failed_o       (failed),
      .written_o      (written),
      .slot_o         (ring_slot),
      .phase_o        (phase),
      .fires_o        (fires),
      .raises_cq_err_o(raises_cq_err),
      .consume_i      (kind == K_CONSUME && cq_exists),
      .index_i        (cqdb_i.index),
      .consume_ok_o   (consume_ok),
      .cq_o           (ring_cq)
  );

  // Commands on the CQ itself; attempts and doorbells come from the ring.
  always_comb begin
    cq_o    = ring_cq;
    cq_we_o = attempt;
    unique case (kind)
      K_CREATE_CQ: begin
        cq_we_o             = cq_ok;
        cq_o                = '0;
        cq_o.exists         = 1'b1;
        cq_o.depth          = cmd_i.depth[RingW-1:0];
        cq_o.ignore_overrun = cmd_i.ignore_overrun != '0;
      end
      K_DESTROY_CQ: begin
        cq_we_o = cq_ok;
        cq_o    = '0;
      end
      K_SET_CQ_FAULT: begin
        cq_we_o    = cq_exists;
        cq_o.fault = cmd_i.fault != '0;
      end
      K_CONSUME: cq_we_o = cq_exists;
      K_ARM: begin
        cq_we_o = cq_exists;
        if (cqdb_i.solicited_only == '0) cq_o.arm = ARM_NEXT;
        else if (cq_i.arm != ARM_NEXT) cq_o.arm = ARM_SOLICITED;
      end
      default: ;
    endcase
    cq_we_o = cq_we_o && valid_i;
  end

  // Who posts into it. A destroyed CQ has nobody: nothing is left to clear.
  always_comb begin
    posters_o = '0;
    unique case (kind)
      K_CREATE_QP, K_CREATE_QP_2: begin
        posters_o.ceiling_sum = posters_i.ceiling_sum
                                + ((kind == K_CREATE_QP) ? cmd_i.sq_ceiling : cmd_i.rq_ceiling);
        posters_o.attached    = posters_i.attached + 1'b1;
      end
      K_DESTROY_QP, K_DESTROY_QP_2: begin
        posters_o.ceiling_sum = posters_i.ceiling_sum
                                - ((kind == K_DESTROY_QP) ? 32'(qp_i.sq_ceiling)
                                                          : 32'(qp_i.rq_ceiling));
        posters_o.attached    = posters_i.attached - 1'b1;
      end
      default: ;
    endcase
  end
  assign posters_we_o = valid_i && cq_ok
                        && kind inside {K_CREATE_CQ, K_CREATE_QP, K_CREATE_QP_2, K_DESTROY_QP,
                                        K_DESTROY_QP_2};

  assign cq_fails_o = valid_i && failed && !cq_i.in_error && straps_i.cq_scope == SCOPE_CASCADE;

  // ------------------------------------------------------------------ settle

  qp_ctx_t      settled;
  event_kinds_t kinds;
  logic         drained, now_runnable, now_owes;

  function automatic logic runnable(qp_ctx_t q, logic hold_unstarted);
    return q.exists && q.sq_queued != q.sq_issued && q.sq_flush_owed == '0
           && q.blocked == BLOCK_NO
           && (q.state == QPS_RTS || (q.state == QPS_SQD && !hold_unstarted));
  endfunction

  function automatic logic owes(qp_ctx_t q);
    return q.exists
           && ((q.state == QPS_ERR && (q.sq_queued != '0 || q.rq_queued != '0))
               || (q.state == QPS_SQE && q.sq_queued != '0) || q.sq_flush_owed != '0);
  endfunction

  always_comb begin
    settled = judged;
    kinds   = '0;
    drained = 1'b0;

    // QP_FATAL of a touch joins the operation that touches.
    kinds.qp_fatal = untaken && !qp_i.fatal;

    if (failed) begin
      settled        = enter_err(judged);
      settled.fatal  = 1'b1;
      kinds.qp_fatal = !judged.fatal;
      kinds.cq_err   = raises_cq_err;
      if (kind inside {K_COMPLETE, K_VISIT_ISSUE, K_VISIT_FLUSH}) begin
        settled.send_epoch = touched.send_epoch;
      end
      if (straps_i.cq_scope == SCOPE_CASCADE) begin
        settled.taken_s = err_s || !on_rq || judged.send_cqn == judged.recv_cqn;
        settled.taken_r = err_r || on_rq || judged.send_cqn == judged.recv_cqn;
      end
    end else if (judged.state == QPS_SQD && judged.drain == DRAINING
                 && kind inside {K_COMPLETE, K_VISIT_FLUSH}
                 && (straps_i.sqd_hold_unstarted ? judged.sq_issued : judged.sq_queued) == '0) begin
      settled.drain      = DRAINED;
      settled.event_owed = 1'b0;
      drained            = judged.event_owed;
    end

    kinds.sq_drained = drained || drain_asked;
    kinds.completion = fires;

    // List membership: one rule after every operation, on whatever the QP is now. A failed
    // attempt, known last, only chooses between two answers.
    now_runnable = !failed && runnable(judged, straps_i.sqd_hold_unstarted);
    now_owes     = failed ? owes(enter_err(judged)) : owes(judged);
    push_issue_o = valid_i && qp_op && qp_in_range && now_runnable && !settled.on_issue;
    push_flush_o = valid_i && qp_op && qp_in_range && now_owes && !settled.on_flush;
    qp_o          = settled;
    qp_o.on_issue = settled.on_issue || now_runnable;
    qp_o.on_flush = settled.on_flush || now_owes;
  end

  assign qp_we_o      = valid_i && qp_op && qp_in_range;
  assign sq_meta_we_o = valid_i && stores_send;
  assign rq_meta_we_o = valid_i && stores_recv;
  assign meta_slot_o  = cmd_slot;
  assign attr_we_o    = (valid_i && attr_write) ? cmd_i.attr_mask[NUM_ATTR-1:0] : '0;

  assign key_we_o = valid_i && key_ok;
  assign key_change_o = '{index: cmd_i.region.lkey[31:8],
                          entry: '{exists: kind == K_REG_KEY,
                                   variant: cmd_i.region.lkey[7:0],
                                   local_write: cmd_i.region.access[ACCESS_LOCAL_WRITE],
                                   base: cmd_i.region.base,
                                   last: facts_i.region_last}};

  assign stale_inc_o   = valid_i && exists && stale;
  assign stale_clear_o = valid_i && created;

  assign issue_push_o    = valid_i && issues;
  assign issue_release_o = valid_i && op_i.room && !issues;
  always_comb begin
    issue_o                  = '0;
    issue_o.qpn              = op_i.qpn;
    issue_o.length           = issue_meta.length;
    issue_o.packets          = issue_meta.packets;
    issue_o.response_packets = issue_meta.response_packets;
    issue_o.misc             = issue_meta.misc;
    issue_o.epoch            = touched.send_epoch;
    issue_o.slot             = 16'(sq_slot(touched.sq_head, issue_offset));
    issue_o.wqe_index        = issue_meta.wqe_index;
    issue_o.opcode           = issue_meta.opcode;
    issue_o.headers          = 8'(issue_meta.headers);
    issue_o.solicited        = 8'(issue_meta.solicited);
    issue_o.inline_data      = 8'(issue_meta.inline_data);
    issue_o.segments         = 8'(issue_meta.segments);
  end

  // ------------------------------------------------------------------ record

  logic second, shows_state;
  assign second      = kind inside {K_CREATE_QP_2, K_DESTROY_QP_2};
  assign shows_state = exists && kind != K_CREATE_QP;

  retire_core_t   retire;
  post_detail_t   post_detail;
  cq_detail_t     cq_detail;
  assign cq_detail = '{ring: cq_i, posters: posters_i};
  always_comb begin
    retire           = '0;
    retire.tag       = op_i.tag;
    retire.channel   = op_i.channel[2:0];
    retire.op        = cascade_step ? OP_CASCADE : op_i.op;
    retire.outcome   = outcome;
    retire.layer     = LAYER_NONE;
    retire.qpn       = qp_op ? op_i.qpn : '0;
    retire.wire_room = op_i.room && !cascade_step;
    retire.queue     = queue_e'(on_rq && !cascade_step);
    retire.cqe       = attempt ? (written ? CQE_WRITTEN : CQE_LOST) : CQE_NONE;
    retire.kinds     = kinds;
    retire.key_version = key_version_i;

    // A touched QP was in ERR before it was touched.
    retire.state_before = shows_state ? {1'b0, touched.state} : '1;
    retire.state_after  = ((shows_state || created)
                           && settled.exists) ? {1'b0, settled.state} : '1;

    // The CQ that the operation names, or that its completion or its QP_FATAL names.
    if (!qp_op) begin
      if (!(kind inside {K_REG_KEY, K_DEREG_KEY, K_BAD_OP})) retire.cqn = op_i.cqn;
    end else if (attempt) begin
      retire.cqn = on_rq ? 32'(qp_i.recv_cqn) : 32'(qp_i.send_cqn);
    end else if (kinds.qp_fatal) begin
      retire.cqn = err_s ? 32'(qp_i.send_cqn) : 32'(qp_i.recv_cqn);
    end else if (kind == K_CREATE_QP) begin
      retire.cqn = op_i.cqn;
    end
  end

  assign post_detail = '{slot: cmd_slot,
                         epoch: (kind == K_POST_RECV) ? touched.recv_epoch : touched.send_epoch,
                         errors: decoded_i.errors};

  always_comb begin
    if (second) begin
      // The record of the first beat, with the verdict on the receive CQ.
      record_o = first_i;
      if (kind == K_CREATE_QP_2 && cq_ok) begin
        record_o.cq_exceeds[1] = posters_o.ceiling_sum > 32'(cq_i.depth);
        if (qp_i.send_cqn == qp_i.recv_cqn) record_o.cq_exceeds[0] = record_o.cq_exceeds[1];
      end
    end else begin
      record_o         = '0;
      record_o.has_rsp = op_i.channel inside {CH_CMD, CH_POST, CH_CQDB, CH_WQE};
      record_o.retire  = retire;
      record_o.cqe     = cqe;
      record_o.cqe.index = ring_slot;
      record_o.cqe.phase = phase;
      // `unique` would be wrong: most operations have no detail.
      case (kind)
        K_MODIFY_QP: record_o.detail = DetailW'(gate_grounds);
        K_POST_SEND, K_POST_RECV: record_o.detail = DetailW'(post_detail);
        K_QUERY_QP: record_o.detail = DetailW'(settled);
        K_QUERY_CQ: record_o.detail = DetailW'(cq_detail);
        default: ;
      endcase
      // Of the send CQ; final unless the receive queue joins it in the second beat.
      record_o.cq_exceeds[0] = created
                               && posters_o.ceiling_sum > 32'(cq_i.depth);
    end
  end

  assign first_o    = record_o;
  assign retires_o  = valid_i && retires;
  assign query_qp_o = kind == K_QUERY_QP && exists;
  assign modify_o   = kind == K_MODIFY_QP;

endmodule
