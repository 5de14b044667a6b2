//! A run as JSON, for other programs.

use serde_json::{Value, json};

use super::digest::digest;
use crate::model::{Answer, CqSnapshot, Cqe, Event, Outcome, Policy, QpSnapshot, QpState};
use crate::policies::KNOBS;
use crate::scenario::names::{
    ATTR_FIELDS, CQ_FLAGS, CQ_NUMBERS, QP_NUMBERS, arm_name, drain_name, status_name,
};
use crate::scenario::{NamesAt, Naming, StepTrace, Trace, describe};

/// Every policy by name, a number where it is one.
fn policy(policy: &Policy) -> Value {
    let of = |word: String| word.parse::<u32>().map_or_else(|_| word.into(), Value::from);
    KNOBS
        .iter()
        .map(|k| (k.name.to_owned(), of(k.get(policy))))
        .collect::<serde_json::Map<_, _>>()
        .into()
}

/// Verdict, steps with their outcomes, final states, events, and CQEs per CQ.
pub fn json(trace: &Trace) -> Value {
    let end = trace.end();
    let qps: serde_json::Map<_, _> = trace
        .qps
        .iter()
        .map(|q| {
            let s = end.and_then(|e| e.qps.get(&q.qpn));
            let value = json!({
                "number": q.qpn,
                "transport": q.transport.map(|t| t.name()),
                "state": s.map(|s| s.state.name()),
                "attributes": s.map(|s| s.attr_set.names()),
                "sq_queued": s.map(|s| s.sq_queued),
                "rq_queued": s.map(|s| s.rq_queued),
                "stale": s.map(|s| s.stale),
            });
            (trace.names.at_end().qp(q.qpn), value)
        })
        .collect();
    let cqs: serde_json::Map<_, _> = trace
        .cqs
        .iter()
        .map(|c| {
            let s = end.and_then(|e| e.cqs.get(&c.cqn));
            let unread = trace.unread.get(&c.cqn).map(Vec::as_slice).unwrap_or_default();
            let value = json!({
                "number": c.cqn,
                "depth": c.depth,
                "occupancy": s.map(|s| s.occupancy),
                "lost": s.map(|s| s.lost),
                "in_error": s.map(|s| s.in_error),
                "written": written(trace, c.cqn),
                "unread": unread.iter().map(|e| cqe(e, &trace.names.at_end())).collect::<Vec<_>>(),
            });
            (trace.names.at_end().cq(c.cqn), value)
        })
        .collect();
    let events: Vec<Value> = trace.steps.iter().flat_map(|s| events(s, trace)).collect();
    json!({
        "file": trace.file,
        "title": trace.title,
        "engine": trace.engine,
        "config": trace.config.name,
        "profile": trace.profile,
        "policy": policy(&trace.policy),
        "verdict": if trace.passed() { "pass" } else { "fail" },
        "checked": trace.checked(),
        "defect": trace.defect,
        "steps": trace.steps.iter().map(|s| step(s, trace)).collect::<Vec<_>>(),
        "qps": qps,
        "cqs": cqs,
        "events": events,
    })
}

fn step(s: &StepTrace, trace: &Trace) -> Value {
    let operations: Vec<Value> = s
        .happenings
        .iter()
        .map(|h| {
            let mut value = json!({
                "operation": describe::operation(&h.operation, &trace.names.at(h.moment)),
                "internal": h.is_internal(),
                "outcome": h.effects.outcome.name(),
            });
            match &h.effects.answer {
                Answer::Modify(v) if h.effects.outcome != Outcome::Ok => {
                    value["layer"] = json!(v.layer.name());
                    value["missing"] = json!(v.missing.names());
                    value["extra"] = json!(v.extra.names());
                    value["bad_values"] = json!(v.bad_values.names());
                }
                Answer::BadWqe(errors) => value["wqe_errors"] = json!(errors.names()),
                Answer::Posted { slot, epoch } => {
                    value["slot"] = json!(slot);
                    value["epoch"] = json!(epoch);
                }
                Answer::CreatedQp { send_exceeds, recv_exceeds } => {
                    value["send_cq_exceeds"] = json!(send_exceeds);
                    value["recv_cq_exceeds"] = json!(recv_exceeds);
                }
                Answer::QueryQp(q) => value["qp"] = queried_qp(q, &trace.names.at(h.moment)),
                Answer::QueryCq(c) => value["cq"] = queried_cq(c),
                _ => {}
            }
            if let Some(clock) = h.clock {
                value["clock"] = json!(clock);
            }
            value
        })
        .collect();
    let changes: Vec<Value> = s
        .account()
        .into_iter()
        .flat_map(|told| told.changes().iter().map(move |c| (told.moment(), c)))
        .map(|(moment, c)| {
            json!({
                "qp": trace.names.at(moment).qp(c.qpn),
                "from": c.from.map(QpState::name),
                "to": c.to.map(QpState::name),
            })
        })
        .collect();
    let failures: Vec<Value> = s
        .failures
        .iter()
        .map(|f| json!({ "line": f.line, "what": f.what, "expected": f.expected, "got": f.got }))
        .collect();
    json!({
        "step": s.number,
        "text": s.text,
        "line": s.line,
        "summary": digest(s, &trace.names).done,
        "operations": operations,
        "state_changes": changes,
        "events": events(s, trace),
        "checked": s.checked,
        "failures": failures,
    })
}

/// What QUERY_QP shows; `attributes` has those that are set.
fn queried_qp(q: &QpSnapshot, names: &NamesAt<'_>) -> Value {
    let mut value = json!({
        "state": q.state.name(),
        "transport": q.transport.name(),
        "drain": drain_name(q.drain),
        "send_cq": names.cq(q.send_cqn),
        "recv_cq": names.cq(q.recv_cqn),
        "sq_ceiling": q.sq_ceiling,
        "rq_ceiling": q.rq_ceiling,
        "sig_all": q.sq_sig_all,
    });
    for (name, get) in QP_NUMBERS {
        value[*name] = json!(get(q));
    }
    let set = ATTR_FIELDS.iter().filter(|f| q.attr_set.contains(f.mask));
    let attributes: serde_json::Map<_, _> =
        set.map(|f| (f.name.to_owned(), json!((f.get)(&q.attr)))).collect();
    value["attributes"] = attributes.into();
    value
}

/// What QUERY_CQ shows.
fn queried_cq(c: &CqSnapshot) -> Value {
    let mut value = json!({
        "depth": c.depth,
        "arm": arm_name(c.arm),
        "ignore_overrun": c.ignore_overrun,
    });
    for (name, get) in CQ_NUMBERS {
        value[*name] = json!(get(c));
    }
    for (name, get) in CQ_FLAGS {
        value[*name] = json!(get(c) == 1);
    }
    value
}

fn written(trace: &Trace, cqn: u32) -> Vec<Value> {
    trace
        .steps
        .iter()
        .flat_map(|s| s.happenings.iter().map(move |h| (s.number, h)))
        .filter_map(|(step, h)| Some((step, h.moment, h.effects.cqe?)))
        .filter(|(_, _, c)| c.cqn == cqn)
        .filter_map(|(step, moment, c)| {
            let (slot, entry) = c.written?;
            let mut value = cqe(&entry, &trace.names.at(moment));
            value["step"] = json!(step);
            value["slot"] = json!(slot);
            Some(value)
        })
        .collect()
}

fn cqe(c: &Cqe, names: &NamesAt<'_>) -> Value {
    json!({
        "qp": names.qp(c.qpn),
        "qpn": c.qpn,
        "queue": c.queue.name(),
        "index": c.wqe_index,
        "status": status_name(c.status),
        "status_number": c.status,
        "opcode": c.opcode,
        "byte_count": c.byte_count,
        "imm": c.imm,
        "wc_flags": c.wc_flags,
        "phase": u8::from(c.phase),
    })
}

fn events(s: &StepTrace, trace: &Trace) -> Vec<Value> {
    let records = s.happenings.iter().filter_map(|h| Some((h.moment, h.effects.event?)));
    records.map(|(moment, e)| event(&e, &trace.names.at(moment))).collect()
}

fn event(e: &Event, names: &NamesAt<'_>) -> Value {
    json!({
        "kinds": e.kinds.names(),
        "qp": e.qpn.map(|q| names.qp(q)),
        "cq": e.cqn.map(|c| names.cq(c)),
    })
}
