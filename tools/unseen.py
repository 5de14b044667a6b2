"""Which registers the wires of formal/unseen.sv speak of: their names in the hardware, and in the
graph that is made of both."""
import re

RAM = {"qp": "u_qp", "cq": "u_cq", "posters": "u_posters", "shadow": "u_shadow", "sq": "u_sq_meta",
       "rq": "u_rq_meta", "key": "u_key_shadow", "stale": "u_stale", "entry": "u_keys.u_keys"}
STAGE = {"out_record": "out_record_q", "out_query": "out_query_q", "out_modify": "out_modify_q",
         "out_qpa": "out_qpa_q", "rd_op": "rd_op_q", "ex_op": "ex_op_q",
         "first_op": "u_arbiter.first_op_q", "rd_cmd": "rd_cmd", "ex_cmd": "ex_cmd_q",
         "rd_wire": "rd_wire", "ex_wire": "ex_wire_q", "rd_cqdb": "rd_cqdb", "ex_cqdb": "ex_cqdb_q",
         "rd_recv_index": "rd_recv_index", "ex_recv_index": "ex_recv_index_q",
         "rd_key_version": "rd_key_version", "ex_key_version": "ex_key_version_q",
         "rd_walk_transport": "rd_walk_transport", "ex_qp": "ex_qp_q", "facts": "ex_facts_q",
         "first": "ex_first_q", "verdicts": "ex_verdicts_q", "decoder_wqe": "u_decoder.wqe_q",
         "decoder_judged": "u_decoder.judged_q", "ex_slot": "ex_slot_q", "ex_queue": "ex_queue_q",
         "ex_cqn": "ex_cq_q", "init": "init_q", "change": "u_keys.change_q",
         "lookup_variant": "u_keys.variant_q", "walk_wqe": "u_walker.wqe_q",
         "walk_ctrl": "u_walker.ctrl_q", "walk_version": "u_walker.version_q",
         "walk_length": "u_walker.length_q"}
# One wire for several registers.
SHARED = {"lookup_bit": ("u_keys.in_range_q", "u_keys.writes_q"),
          "lookup_bound": ("u_keys.first_q", "u_keys.last_q"),
          "walk_total": ("u_walker.total_q", "u_walker.fixed_q"),
          "walk_count": ("u_walker.asked_q", "u_walker.read_q", "u_walker.inline_left_q"),
          "walk_flag": tuple(f"u_walker.{n}_q" for n in ("seen_inline", "seen_pointer", "seen_segment",
                                                         "bad_format", "bad_key")),
          "list_index": tuple(f"u_{n}_list.{p}_q" for n in ("flush", "issue") for p in ("wptr", "rptr")),
          "list_bit": tuple(f"u_{n}_list.u_body.g_lane[0].hit_q" for n in ("flush", "issue")),
          "list_word": tuple(f"u_{n}_list.u_body.g_lane[0].{p}" for n in ("flush", "issue")
                             for p in ("wdata_q", "rdata_q", *(f"mem[{i}]" for i in range(4))))}
# Pattern, and the register of what it matches. Memories of queues are by queue and slot.
MANY = ((r"g_records\[(\d+)\]\.unseen", "u_records.u_records.mem[{0}]"),
        (r"g_(rsp|event|retire)\[(\d+)\]\.unseen", "u_records.u_{0}.mem[{1}]"),
        (r"g_issue\[(\d+)\]\.unseen", "u_issue_queue.u_fifo.mem[{0}]"),
        (r"g_attr\[(\d+)\]\.g_(word|byte)\[(\d+)\]\.unseen", "u_attr_{1}s.g_lane[{2}].mem[{0}]"),
        (r"g_(word|byte)s_port\[(\d+)\]\.unseen_([rw]data|hit)", "u_attr_{0}s.g_lane[{1}].{2}_q"),
        (r"g_stale\[(\d+)\]\.unseen", "u_stale.g_lane[0].mem[{0}]"),
        (r"g_entry\[(\d+)\]\.unseen", "u_keys.u_keys.g_lane[0].mem[{0}]"),
        (r"g_front\[(\d+)\]\.unseen_(flush|issue)", "u_{1}_list.front_q[{0}]"))
SLOTS = 4


def registers(wire):
    """The registers whose bits a wire of formal/unseen.sv speaks of."""
    if m := re.fullmatch(r"g_(sq|rq)\[(\d+)\]\.g_slot\[(\d+)\]\.unseen", wire):
        return [f"u_{m[1]}_meta.g_lane[0].mem[{SLOTS * int(m[2]) + int(m[3])}]"]
    for pattern, register in MANY:
        if m := re.fullmatch(pattern, wire):
            return [register.format(*m.groups())]
    name = wire.removeprefix("unseen_")
    if (m := re.fullmatch(r"(\w+)_([rw]data|hit)", name)) and m[1] in RAM:
        return [f"{RAM[m[1]]}.g_lane[0].{m[2]}_q"]
    if name in SHARED:
        return SHARED[name]
    return [STAGE[name]]
