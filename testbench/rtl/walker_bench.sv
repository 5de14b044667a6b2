// SPDX-License-Identifier: Apache-2.0
//
// The segment walker with its key table between words. The memory it reads is the driver's.
module walker_bench
  import rnic_pkg::*;
(
    input  logic               clk_i,
    input  logic [15:0][31:0]  stim_i,
    output logic [16:0][31:0]  resp_o
);

  logic wqe_ready, fetch_valid, unit_ready, walked_valid, sge_valid;
  logic        rst_n, keys_ready, keys_hold, applied, lookup, writes, done, resolves;
  logic [15:0] version;
  wqe_t        wqe;
  fetch_t      fetch;
  walked_t     walked;
  sge_t        sge;
  key_change_t change;
  assign rst_n = stim_i[0][0];

  assign wqe = wqe_t'(stim_i[4:1]);
  assign change = '{index: stim_i[9][23:0],
                    entry: '{exists: stim_i[0][6], local_write: stim_i[0][7],
                             variant: stim_i[9][31:24], base: stim_i[11:10],
                             last: stim_i[13:12]}};

  always_comb begin
    resp_o = '0;
    resp_o[0][4]     = applied;
    resp_o[0][5]     = keys_ready;
    resp_o[0][23:16] = walked.transport;
    resp_o[3:1]      = fetch;
    resp_o[11:4]     = walked.post;
    resp_o[12]       = 32'(walked.key_version);
    resp_o[16:13]    = sge;
    resp_o[0][0]     = wqe_ready;
    resp_o[0][1]     = fetch_valid;
    resp_o[0][2]     = unit_ready;
    resp_o[0][3]     = walked_valid;
    resp_o[0][6]     = sge_valid;
  end

  wqe_segment_walker u_walker (
      .clk_i,
      .rst_ni           (rst_n),
      .wqe_valid_i      (stim_i[0][1]),
      .wqe_ready_o      (wqe_ready),
      .wqe_i            (wqe),
      .fetch_valid_o    (fetch_valid),
      .fetch_ready_i    (stim_i[0][2]),
      .fetch_o          (fetch),
      .unit_valid_i     (stim_i[0][3]),
      .unit_ready_o     (unit_ready),
      .unit_i           (stim_i[8:5]),
      .keys_ready_i     (keys_ready),
      .keys_hold_o      (keys_hold),
      .keys_version_i   (version),
      .lookup_o         (lookup),
      .writes_o         (writes),
      .lookup_done_i    (done),
      .lookup_resolves_i(resolves),
      .sge_valid_o      (sge_valid),
      .sge_o            (sge),
      .walked_valid_o   (walked_valid),
      .walked_ready_i   (stim_i[0][4]),
      .walked_o         (walked)
  );

  key_table #(
      .NUM_KEY(64)
  ) u_keys (
      .clk_i,
      .rst_ni        (rst_n),
      .ready_o       (keys_ready),
      .hold_i        (keys_hold),
      .change_valid_i(stim_i[0][5]),
      .change_i      (change),
      .applied_o     (applied),
      .version_o     (version),
      .lookup_i      (lookup),
      .sge_i         (sge),
      .writes_i      (writes),
      .done_o        (done),
      .resolves_o    (resolves)
  );

endmodule
