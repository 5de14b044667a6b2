// SPDX-License-Identifier: Apache-2.0
//
// Drives rnic_top by hand: a CQ, an RC QP brought up to RTS, one RDMA WRITE, its completion,
// and the entry read from the ring. Every record that crosses a port is printed in words.
#include "Vrnic_top.h"
#include "rnic_abi.h"
#include "verilated.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

// A port and its C record are the same bits.
template <class To, class From>
void copy(To& to, const From& from) {
    static_assert(sizeof to == sizeof from, "port and record differ in size");
    std::memcpy(static_cast<void*>(&to), static_cast<const void*>(&from), sizeof to);
}

[[noreturn]] void give_up(const char* why) {
    std::printf("error: %s\n", why);
    std::exit(1);
}

const char* op_name(unsigned op) {
    switch (op) {
        case RNIC_OP_CREATE_CQ: return "CREATE_CQ";
        case RNIC_OP_CREATE_QP: return "CREATE_QP";
        case RNIC_OP_MODIFY_QP: return "MODIFY_QP";
        case RNIC_OP_QUERY_CQ: return "QUERY_CQ";
        case RNIC_OP_POST_SEND: return "POST_SEND";
        case RNIC_OP_COMPLETE: return "COMPLETE";
        case RNIC_OP_CONSUME: return "CONSUME";
        case RNIC_OP_ARM: return "ARM";
        default: return "?";
    }
}

const char* state_name(unsigned state) {
    static const char* const names[] = {"RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR"};
    return state < 7 ? names[state] : "-";
}

constexpr uint32_t kCq = 1, kQp = 2, kDepth = 4;

// The device, the host memory that holds the ring, and the reader of every output.
class Host {
public:
    Host() {
        top_.rst_ni = 0;
        rnic_policy straps{};  // the profile `book`
        straps.cq_scope = RNIC_SCOPE_STICKY;
        straps.max_inline = 28;
        copy(top_.policy_i, straps);
        clock();
        clock();
        top_.rst_ni = 1;
        top_.rsp_ready_i = top_.issue_ready_i = top_.cqe_ready_i = 1;
        top_.event_ready_i = top_.retire_ready_i = top_.fetch_ready_i = 1;
    }
    ~Host() { top_.final(); }

    // Each offers a record until it is taken and waits until its operation has retired.
    void command(rnic_cmd r) {
        r.tag = ++tag_;
        copy(top_.cmd_i, r);
        send(top_.cmd_valid_i, top_.cmd_ready_o, op_name(r.op), "cmd");
    }
    void post(rnic_post r) {
        r.tag = ++tag_;
        copy(top_.post_i, r);
        send(top_.post_valid_i, top_.post_ready_o, op_name(r.op), "post");
    }
    void wire(rnic_wire r) {
        r.tag = ++tag_;
        copy(top_.wire_i, r);
        send(top_.wire_valid_i, top_.wire_ready_o, "COMPLETE", "wire");
    }
    void doorbell(rnic_cqdb r) {
        r.tag = ++tag_;
        copy(top_.cqdb_i, r);
        send(top_.cqdb_valid_i, top_.cqdb_ready_o, op_name(r.op), "cqdb");
    }

    // The entry at the consumer index if its phase says that it was written.
    const rnic_cqe* poll() const {
        const rnic_cqe& entry = ring_[consumer_ % kDepth];
        const unsigned phase = consumer_ < kDepth ? 1 : 0;
        return entry.phase == phase ? &entry : nullptr;
    }
    uint32_t consumed() { return consumer_ = (consumer_ + 1) % (2 * kDepth); }

    const rnic_issue& issued() const { return issued_; }

private:
    template <class Bit>
    void send(Bit& valid, const Bit& ready, const char* what, const char* channel) {
        retired_ = false;
        valid = 1;
        bool taken = false;
        // The init walk after reset is longer than any operation.
        for (int i = 0; i < 1000 && !retired_; ++i) {
            eval(0);
            const bool now = valid && ready;
            if (now) std::printf("%4u  %-6s %s, tag %u\n", clock_, channel, what, tag_);
            watch();
            eval(1);
            if (now) valid = 0;
            taken = taken || now;
        }
        if (!retired_) give_up(taken ? "the operation does not retire" : "it is not taken");
        for (int i = 0; i < 4; ++i) clock();
    }

    void clock() {
        eval(0);
        if (top_.rst_ni) watch();
        eval(1);
    }

    void eval(int level) {
        top_.clk_i = level;
        top_.eval();
        if (level) ++clock_;
    }

    // What is valid here is taken at the next rising edge: every ready is 1.
    void watch() {
        if (top_.issue_valid_o) {
            copy(issued_, top_.issue_o);
            std::printf("%4u  issue  QP %u, opcode %u, %u bytes in %u packets, slot %u, epoch %u\n",
                        clock_, issued_.qpn, issued_.opcode, issued_.length, issued_.packets,
                        issued_.slot, issued_.epoch);
        }
        if (top_.cqe_valid_o) {
            rnic_cqe_write w;
            copy(w, top_.cqe_o);
            std::printf("%4u  cqe    written to CQ %u, slot %u\n", clock_, w.cqn, w.index);
            ring_[w.index] = w.cqe;
        }
        if (top_.rsp_valid_o) {
            rnic_rsp r;
            copy(r, top_.rsp_o);
            std::printf("%4u  rsp    %s, tag %u: ", clock_, op_name(r.op), r.tag);
            if (r.outcome != RNIC_OUT_OK) {
                std::printf("refused, outcome %u, layer %u\n", r.outcome, r.layer);
                give_up("an operation was refused");
            }
            std::printf("OK");
            if (r.op == RNIC_OP_QUERY_CQ) {
                std::printf(", producer %u, consumer %u, %u unread", r.producer, r.consumer,
                            r.occupancy);
            }
            std::printf("\n");
        }
        if (top_.event_valid_o) {
            rnic_event e;
            copy(e, top_.event_o);
            std::printf("%4u  event  %s, CQ %u\n", clock_,
                        e.kinds == RNIC_EV_COMPLETION ? "completion" : "unexpected", e.cqn);
        }
        if (top_.retire_valid_o) {
            rnic_retire r;
            copy(r, top_.retire_o);
            std::printf("%4u  retire %s, tag %u, QP state %s -> %s\n", clock_, op_name(r.op),
                        r.tag, state_name(r.state_before), state_name(r.state_after));
            if (r.outcome != RNIC_OUT_OK) give_up("an operation had no effect");
            retired_ = r.tag == tag_;
        }
    }

    Vrnic_top top_;
    rnic_cqe ring_[kDepth] = {};
    rnic_issue issued_{};
    uint32_t tag_ = 0, clock_ = 0, consumer_ = 0;
    bool retired_ = false;
};

rnic_cmd modify(unsigned state, uint32_t mask) {
    rnic_cmd r{};
    r.op = RNIC_OP_MODIFY_QP;
    r.qpn = kQp;
    r.qp_state = static_cast<uint8_t>(state);
    r.attr_mask = RNIC_QP_STATE | mask;
    r.attr.port = 1;
    r.attr.path_mtu = 3;  // 1,024 bytes
    r.attr.dest_qpn = 7;
    r.attr.av.is_global = 1;
    r.attr.min_rnr_timer = 12;
    r.attr.timeout = 14;
    r.attr.retry_cnt = 7;
    r.attr.rnr_retry = 7;
    return r;
}

}  // namespace

int main() {
    Host host;

    rnic_cmd cq{};
    cq.op = RNIC_OP_CREATE_CQ;
    cq.cqn = kCq;
    cq.depth = kDepth;
    host.command(cq);

    rnic_cmd qp{};
    qp.op = RNIC_OP_CREATE_QP;
    qp.qpn = kQp;
    qp.cqn = qp.recv_cqn = kCq;
    qp.transport = RNIC_RC;
    qp.sq_ceiling = qp.rq_ceiling = 2;
    host.command(qp);

    host.command(modify(RNIC_QPS_INIT,
                        RNIC_QP_PKEY_INDEX | RNIC_QP_PORT | RNIC_QP_ACCESS_FLAGS));
    host.command(modify(RNIC_QPS_RTR, RNIC_QP_AV | RNIC_QP_PATH_MTU | RNIC_QP_DEST_QPN |
                                          RNIC_QP_RQ_PSN | RNIC_QP_MAX_DEST_RD_ATOMIC |
                                          RNIC_QP_MIN_RNR_TIMER));
    host.command(modify(RNIC_QPS_RTS, RNIC_QP_TIMEOUT | RNIC_QP_RETRY_CNT | RNIC_QP_RNR_RETRY |
                                          RNIC_QP_SQ_PSN | RNIC_QP_MAX_QP_RD_ATOMIC));

    rnic_cqdb arm{};
    arm.op = RNIC_OP_ARM;
    arm.cqn = kCq;
    host.doorbell(arm);

    // The control segment of an mlx5 RDMA WRITE, WQE index 9, with one pointer: ds 3, signaled.
    rnic_post write{};
    write.op = RNIC_OP_POST_SEND;
    write.qpn = kQp;
    write.flags = RNIC_POST_MLX5;
    write.ctrl.opcode = 9u << 8 | RNIC_WQE_RDMA_WRITE;
    write.ctrl.sq_ds = kQp << 8 | 3;
    write.ctrl.flags = 2u << 2;
    write.payload_len = 3000;
    host.post(write);

    // The transport engine sent it and was acknowledged: slot and epoch come back.
    rnic_wire done{};
    done.qpn = kQp;
    done.queue = RNIC_SQ;
    done.epoch = host.issued().epoch;
    done.slot = host.issued().slot;
    done.status = RNIC_WC_SUCCESS;
    done.byte_count = host.issued().length;
    host.wire(done);

    const rnic_cqe* entry = host.poll();
    if (!entry) give_up("there is no entry");
    std::printf("      poll   QP %u, WQE %u, status %u, opcode %u, %u bytes\n", entry->qpn,
                entry->wqe_index, entry->status, entry->opcode, entry->byte_count);
    rnic_cqdb consume{};
    consume.op = RNIC_OP_CONSUME;
    consume.cqn = kCq;
    consume.index = host.consumed();
    host.doorbell(consume);

    rnic_cmd query{};
    query.op = RNIC_OP_QUERY_CQ;
    query.cqn = kCq;
    host.command(query);
    return 0;
}
