// SPDX-License-Identifier: Apache-2.0
//
// Retired operations in their one order, until the outside has taken what they produced.
//
// The head offers its completion queue entry first. When that is accepted (or there is
// none), answer, event and retire record go to their output FIFOs together and the head
// leaves. So whoever has seen an answer or an event finds every entry of the same and of
// earlier operations: by structure, not by comparison. A reader that stops `rsp`, `event`
// or `retire` stops later entries in the end.
//
// Latency: the entry is offered one clock after the push, the rest two clocks after it, while
// nothing waits. Throughput: one operation per clock.
module record_queue
  import rnic_pkg::*;
#(
    parameter int unsigned Depth = 8   // operations that are retired and not yet taken
) (
    input  logic       clk_i,
    input  logic       rst_ni,
    input  logic       push_i,         // a credit was taken at launch, so there is room
    input  record_t    record_i,       // what a retired operation produced
    output logic       leaves_o,       // an entry is free again

    output logic       cqe_valid_o,
    input  logic       cqe_ready_i,
    output cqe_write_t cqe_o,
    output logic       rsp_valid_o,
    input  logic       rsp_ready_i,
    output rsp_t       rsp_o,
    output logic       event_valid_o,
    input  logic       event_ready_i,
    output event_t     event_o,
    output logic       retire_valid_o,
    input  logic       retire_ready_i,
    output retire_t    retire_o
);

  record_t head;
  logic    head_valid, room;

  stream_fifo #(
      .T    (record_t),
      .Depth(Depth)
  ) u_records (
      .clk_i,
      .rst_ni,
      .valid_i(push_i),
      .ready_o(room),
      .data_i (record_i),
      .valid_o(head_valid),
      .ready_i(leaves_o),
      .data_o (head)
  );

  logic has_cqe, has_event, cqe_done_q, cqe_done;
  assign has_cqe     = head.retire.cqe == CQE_WRITTEN;
  assign has_event   = head.retire.kinds != '0;
  assign cqe_valid_o = head_valid && has_cqe && !cqe_done_q;
  assign cqe_done    = !has_cqe || cqe_done_q || cqe_ready_i;

  logic rsp_room, event_room, retire_room;
  assign leaves_o = head_valid && cqe_done && retire_room && (!head.has_rsp || rsp_room)
                    && (!has_event || event_room);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) cqe_done_q <= 1'b0;
    else cqe_done_q <= !leaves_o && (cqe_done_q || (cqe_valid_o && cqe_ready_i));
  end

  // ------------------------------------------------------------------ cqe

  always_comb begin
    cqe_o                = '0;
    cqe_o.cqn            = head.retire.cqn;
    cqe_o.index          = 32'(head.cqe.index);
    cqe_o.cqe.qpn        = head.retire.qpn;
    cqe_o.cqe.byte_count = head.cqe.byte_count;
    cqe_o.cqe.imm        = head.cqe.imm;
    cqe_o.cqe.wqe_index  = head.cqe.wqe_index;
    cqe_o.cqe.status     = head.cqe.status;
    cqe_o.cqe.opcode     = head.cqe.opcode;
    cqe_o.cqe.queue      = 8'(head.retire.queue);
    cqe_o.cqe.wc_flags   = head.cqe.wc_flags;
    cqe_o.cqe.phase      = 8'(head.cqe.phase);
  end

  // ------------------------------------------------------------------ rsp

  rsp_core_t rsp_in, rsp;
  assign rsp_in = '{channel: head.retire.channel, op: head.retire.op, tag: head.retire.tag,
                    outcome: head.retire.outcome, layer: head.retire.layer, detail: head.detail,
                    cq_exceeds: head.cq_exceeds, stale: head.stale, attr: head.attr};

  stream_fifo #(
      .T(rsp_core_t)
  ) u_rsp (
      .clk_i,
      .rst_ni,
      .valid_i(leaves_o && head.has_rsp),
      .ready_o(rsp_room),
      .data_i (rsp_in),
      .valid_o(rsp_valid_o),
      .ready_i(rsp_ready_i),
      .data_o (rsp)
  );

  qp_ctx_t        qp;
  cq_detail_t     cq_detail;
  cq_ctx_t        cq;
  cq_posters_t    posters;
  modify_detail_t modify;
  post_detail_t   post;
  assign qp        = qp_ctx_t'(rsp.detail[$bits(qp_ctx_t)-1:0]);
  assign cq_detail = cq_detail_t'(rsp.detail[$bits(cq_detail_t)-1:0]);
  assign cq        = cq_detail.ring;
  assign posters   = cq_detail.posters;
  assign modify    = modify_detail_t'(rsp.detail[$bits(modify_detail_t)-1:0]);
  assign post      = post_detail_t'(rsp.detail[$bits(post_detail_t)-1:0]);

  always_comb begin
    rsp_o            = '0;
    rsp_o.tag        = rsp.tag;
    rsp_o.channel    = channel_e'({5'd0, rsp.channel});
    rsp_o.op         = rsp.op;
    rsp_o.outcome    = rsp.outcome;
    rsp_o.layer      = rsp.layer;
    rsp_o.cq_exceeds = 8'(rsp.cq_exceeds);
    if (rsp_valid_o && rsp.channel inside {CH_POST[2:0], CH_WQE[2:0]}) begin
      if (rsp.outcome == OUT_OK) begin
        rsp_o.slot  = 16'(post.slot);
        rsp_o.epoch = post.epoch;
      end else if (rsp.outcome == OUT_BAD_WQE) begin
        rsp_o.wqe_errors = 16'(post.errors);
      end
    end else if (rsp_valid_o && rsp.channel == CH_CMD[2:0]) begin
      case (rsp.op)
        OP_MODIFY_QP: begin
          rsp_o.missing    = modify.missing;
          rsp_o.extra      = modify.extra;
          rsp_o.bad_values = 32'(modify.bad_values);
        end
        OP_QUERY_QP: begin
          if (rsp.outcome == OUT_OK) begin
            rsp_o.qp_state        = 8'(qp.state);
            rsp_o.transport       = 8'(qp.transport);
            rsp_o.sq_sig_all      = 8'(qp.sig_all);
            rsp_o.drain           = 8'(qp.drain);
            rsp_o.event_owed      = 8'(qp.event_owed);
            rsp_o.qp_fatal_raised = 8'(qp.fatal);
            rsp_o.send_cqn        = 32'(qp.send_cqn);
            rsp_o.recv_cqn        = 32'(qp.recv_cqn);
            rsp_o.sq_ceiling      = 16'(qp.sq_ceiling);
            rsp_o.rq_ceiling      = 16'(qp.rq_ceiling);
            rsp_o.sq_head         = 16'(qp.sq_head);
            rsp_o.sq_queued       = 16'(qp.sq_queued);
            rsp_o.sq_issued       = 16'(qp.sq_issued);
            rsp_o.sq_flush_owed   = 16'(qp.sq_flush_owed);
            rsp_o.sq_reads        = 16'(qp.sq_reads);
            rsp_o.rq_head         = 16'(qp.rq_head);
            rsp_o.rq_queued       = 16'(qp.rq_queued);
            rsp_o.send_epoch      = qp.send_epoch;
            rsp_o.recv_epoch      = qp.recv_epoch;
            rsp_o.attr_set        = 32'(qp.attr_set);
            rsp_o.stale           = rsp.stale;
            rsp_o.attr            = rsp.attr;
          end
        end
        OP_QUERY_CQ: begin
          if (rsp.outcome == OUT_OK) begin
            rsp_o.depth          = 32'(cq.depth);
            rsp_o.producer       = 32'(cq.producer);
            rsp_o.consumer       = 32'(cq.consumer);
            rsp_o.occupancy      = 32'(cq.occupancy);
            rsp_o.lost           = cq.lost;
            rsp_o.ceiling_sum    = posters.ceiling_sum;
            rsp_o.attached       = posters.attached;
            rsp_o.arm            = 8'(cq.arm);
            rsp_o.ignore_overrun = 8'(cq.ignore_overrun);
            rsp_o.fault          = 8'(cq.fault);
            rsp_o.in_error       = cq.in_error;
            rsp_o.cq_err_raised  = cq.cq_err_raised;
            rsp_o.cq_exceeds     = 8'(posters.ceiling_sum > 32'(cq.depth));
          end
        end
        default: ;
      endcase
    end
  end

  // ------------------------------------------------------------------ event

  event_core_t evt_in, evt;
  assign evt_in = '{kinds: head.retire.kinds, qpn: head.retire.qpn, cqn: head.retire.cqn};

  stream_fifo #(
      .T(event_core_t)
  ) u_event (
      .clk_i,
      .rst_ni,
      .valid_i(leaves_o && has_event),
      .ready_o(event_room),
      .data_i (evt_in),
      .valid_o(event_valid_o),
      .ready_i(event_ready_i),
      .data_o (evt)
  );

  // An affiliated error or a drain is the QP's, a completion event is the CQ's.
  always_comb begin
    event_o       = '0;
    event_o.kinds = evt.kinds;
    if (evt.kinds.cq_err || evt.kinds.qp_fatal || evt.kinds.sq_drained) begin
      event_o.has_qp = 8'd1;
      event_o.qpn    = evt.qpn;
    end
    if (evt.kinds.cq_err || evt.kinds.qp_fatal || evt.kinds.completion) begin
      event_o.has_cq = 8'd1;
      event_o.cqn    = evt.cqn;
    end
  end

  // ------------------------------------------------------------------ retire

  retire_core_t retire;

  stream_fifo #(
      .T(retire_core_t)
  ) u_retire (
      .clk_i,
      .rst_ni,
      .valid_i(leaves_o),
      .ready_o(retire_room),
      .data_i (head.retire),
      .valid_o(retire_valid_o),
      .ready_i(retire_ready_i),
      .data_o (retire)
  );

  always_comb begin
    retire_o              = '0;
    retire_o.tag          = retire.tag;
    retire_o.qpn          = retire.qpn;
    retire_o.cqn          = retire.cqn;
    retire_o.channel      = channel_e'({5'd0, retire.channel});
    retire_o.op           = retire.op;
    retire_o.outcome      = retire.outcome;
    retire_o.layer        = retire.layer;
    retire_o.state_before = {{4{retire.state_before[3]}}, retire.state_before};
    retire_o.state_after  = {{4{retire.state_after[3]}}, retire.state_after};
    retire_o.wire_room    = 8'(retire.wire_room);
    retire_o.cqe          = 8'(retire.cqe);
    retire_o.event_kinds  = retire.kinds;
    retire_o.queue        = 8'(retire.queue);
    retire_o.key_version  = retire.key_version;
  end

endmodule
