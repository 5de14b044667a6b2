// SPDX-License-Identifier: Apache-2.0
//
// Retired operations in their one order, until the outside has taken what they produced.
//
// The head offers its completion queue entry first. When that is accepted (or there is
// none), answer, event and retire record go to their output FIFOs together and the head
// leaves. So whoever has seen an answer or an event finds every entry of the same and of
// earlier operations: by structure, not by comparison. A reader that stops `rsp`, `event`
// or `retire` stops later entries in the end.
module record_queue
  import rnic_pkg::*;
#(
    parameter int unsigned Depth = 8
) (
    input  logic       clk_i,
    input  logic       rst_ni,
    input  logic       push_i,         // a credit was taken at launch, so there is room
    input  record_t    record_i,
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
  logic    head_valid, unused_ready;

  stream_fifo #(
      .T    (record_t),
      .Depth(Depth)
  ) u_records (
      .clk_i,
      .rst_ni,
      .valid_i(push_i),
      .ready_o(unused_ready),
      .data_i (record_i),
      .valid_o(head_valid),
      .ready_i(leaves_o),
      .data_o (head)
  );

  logic cqe_done_q, cqe_done;
  assign cqe_valid_o = head_valid && head.has_cqe && !cqe_done_q;
  assign cqe_o       = head.cqe;
  assign cqe_done    = !head.has_cqe || cqe_done_q || cqe_ready_i;

  logic rsp_room, event_room, retire_room;
  assign leaves_o = head_valid && cqe_done && retire_room && (!head.has_rsp || rsp_room)
                    && (!head.has_event || event_room);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) cqe_done_q <= 1'b0;
    else cqe_done_q <= !leaves_o && (cqe_done_q || (cqe_valid_o && cqe_ready_i));
  end

  stream_fifo #(
      .T(rsp_t)
  ) u_rsp (
      .clk_i,
      .rst_ni,
      .valid_i(leaves_o && head.has_rsp),
      .ready_o(rsp_room),
      .data_i (head.rsp),
      .valid_o(rsp_valid_o),
      .ready_i(rsp_ready_i),
      .data_o (rsp_o)
  );

  stream_fifo #(
      .T(event_t)
  ) u_event (
      .clk_i,
      .rst_ni,
      .valid_i(leaves_o && head.has_event),
      .ready_o(event_room),
      .data_i (head.evt),
      .valid_o(event_valid_o),
      .ready_i(event_ready_i),
      .data_o (event_o)
  );

  stream_fifo #(
      .T(retire_t)
  ) u_retire (
      .clk_i,
      .rst_ni,
      .valid_i(leaves_o),
      .ready_o(retire_room),
      .data_i (head.retire),
      .valid_o(retire_valid_o),
      .ready_i(retire_ready_i),
      .data_o (retire_o)
  );

endmodule
