//! Calls of verbs that failed, as programs log them: `ibv_modify_qp`, `ibv_post_send`,
//! `ibv_post_recv`.
//!
//! Texts of errno are those of glibc's `strerror`.

use super::record::CallRecord;
use super::words::{after_any, has};
use crate::explain::errno::{self, Errno};

/// Which call it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    Modify,
    PostSend,
    PostRecv,
}

/// What a line tells of a call that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failed {
    pub call: Call,
    pub from: Option<&'static str>,
    pub to: Option<&'static str>,
    pub datagram: bool,
    pub errno: Option<u16>,
}

/// Longer texts before those that they begin with.
const ERRNO_TEXTS: &[(u16, &str)] = &[
    (1, "operation not permitted"),
    (5, "input output error"),
    (6, "no such device or address"),
    (11, "resource temporarily unavailable"),
    (12, "cannot allocate memory"),
    (13, "permission denied"),
    (14, "bad address"),
    (16, "device or resource busy"),
    (19, "no such device"),
    (22, "invalid argument"),
    (38, "function not implemented"),
    (95, "operation not supported"),
    (99, "cannot assign requested address"),
    (101, "network is unreachable"),
    (110, "connection timed out"),
    (113, "no route to host"),
    (121, "remote i o error"),
];

const STATES: &[&str] = &["RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR"];

fn state(w: &str) -> Option<&'static str> {
    let bare = w.strip_prefix("ibv_qps_").or_else(|| w.strip_prefix("ib_qps_")).unwrap_or(w);
    STATES.iter().copied().find(|s| s.eq_ignore_ascii_case(bare))
}

/// Reads a line.
pub fn read(w: &[String]) -> Option<Failed> {
    let failed = w.iter().any(|x| {
        matches!(
            x.as_str(),
            "failed" | "fail" | "fails" | "failure" | "error" | "unable" | "couldn" | "cannot"
        )
    });
    // DevX calls the firmware, not verbs.
    let devx = w.iter().any(|x| x == "devx");
    let call = call(w).filter(|_| failed && !devx)?;
    let errno = errno_of(w);
    if call != Call::Modify {
        // Many words of logs are about posting; a number or its text makes it a failed call.
        return errno.map(|n| Failed {
            call,
            from: None,
            to: None,
            datagram: false,
            errno: Some(n),
        });
    }
    let to = target(w);
    let from = state_behind(w, &["curr", "state"]).or_else(|| to.and_then(usual_from));
    Some(Failed { call, from, to, datagram: w.iter().any(|x| x == "ud"), errno })
}

fn call(w: &[String]) -> Option<Call> {
    let named = |s: &str| w.iter().any(|x| x == s);
    if named("ibv_modify_qp") || has(w, &["modify", "qp"]) || has(w, &["modifying", "qp"]) {
        Some(Call::Modify)
    } else if named("ibv_post_send") || has(w, &["post", "send"]) || has(w, &["post", "a", "send"])
    {
        Some(Call::PostSend)
    } else if named("ibv_post_recv") || has(w, &["post", "recv"]) || has(w, &["post", "receive"]) {
        Some(Call::PostRecv)
    } else {
        None
    }
}

fn state_behind(w: &[String], key: &[&str]) -> Option<&'static str> {
    let n = key.len();
    (n..w.len())
        .find(|i| w[i - n..*i].iter().zip(key).all(|(a, b)| a == b))
        .and_then(|i| state(&w[i]))
}

/// `next state RTR`, `QP 268 to RTR`, `ibv_modify_qp(DCI, RTR)`.
fn target(w: &[String]) -> Option<&'static str> {
    let argument = || {
        let i = w.iter().position(|x| x == "ibv_modify_qp")?;
        w.get(i + 2).and_then(|x| state(x))
    };
    let to = || (1..w.len()).filter(|i| w[i - 1] == "to").find_map(|i| state(&w[i]));
    state_behind(w, &["next", "state"]).or_else(argument).or_else(to)
}

/// The state from which a QP is usually moved there.
fn usual_from(to: &str) -> Option<&'static str> {
    match to {
        "INIT" => Some("RESET"),
        "RTR" => Some("INIT"),
        "RTS" => Some("RTR"),
        "SQD" => Some("RTS"),
        _ => None,
    }
}

fn errno_of(w: &[String]) -> Option<u16> {
    let keys: [&[&str]; 6] = [
        &["errno"],
        &["failed", "with"],
        &["failed", "with", "error"],
        &["failed", "errno"],
        &["error"],
        &["ret"],
    ];
    // Linux has errnos up to 133.
    let number =
        after_any(w, &keys).and_then(|n| u16::try_from(n).ok()).filter(|n| (1..=133).contains(n));
    let text = || ERRNO_TEXTS.iter().find(|(_, t)| has(w, &t.split(' ').collect::<Vec<_>>()));
    number.or_else(|| text().map(|(n, _)| *n))
}

/// What it means.
pub fn record(line: usize, f: &Failed) -> CallRecord {
    let known = f.errno.and_then(|n| errno::lookup(&n.to_string()).ok());
    let mut r = CallRecord {
        line,
        call: match f.call {
            Call::Modify => "ibv_modify_qp",
            Call::PostSend => "ibv_post_send",
            Call::PostRecv => "ibv_post_recv",
        },
        transition: f.from.zip(f.to),
        errno: f.errno,
        errno_name: known.map(|e| e.name),
        explain: None,
        say: Vec::new(),
    };
    if f.call == Call::Modify {
        modify(&mut r, f, known);
    } else {
        post(&mut r, f.call);
    }
    r
}

fn modify(r: &mut CallRecord, f: &Failed, known: Option<Errno>) {
    if let Some(e) = known {
        r.say.push(format!("errno {} usually means {}: {}", e.number, e.layer, e.advice));
    }
    let number = known.map_or_else(String::new, |e| format!(" --errno {}", e.number));
    let transport = if f.datagram { "UD" } else { "RC" };
    if let Some((from, to)) = r.transition {
        let command =
            format!("rnic-cosim explain --transport {transport} --from {from} --to {to}{number}");
        // Only the check of states and masks has to do with attributes.
        let table = known.is_none_or(|e| e.from_table);
        let how = if table { " (with --attrs or --mask)" } else { "" };
        let what = if table { "what the call must and may hold" } else { "more of this errno" };
        r.say.push(format!("{command}{how} says {what}"));
        r.explain = Some(command);
    } else {
        r.say.push(format!(
            "the states are not told; with them, rnic-cosim explain --transport {transport} --from STATE --to STATE{number} says what the call must and may hold"
        ));
    }
}

/// As the manual of `ibv_post_send` and the mlx5 and mlx4 providers of rdma-core have it.
fn post(r: &mut CallRecord, call: Call) {
    let text = match (call, r.errno) {
        (Call::PostSend, Some(12)) => {
            "the send queue is full (max_send_wr), or the request has more SGEs than max_send_sge or more inline bytes than max_inline_data; this is no overflow of the CQ"
        }
        (_, Some(12)) => "the receive queue is full (max_recv_wr); this is no overflow of the CQ",
        (_, Some(22)) => {
            "a value in the work request is wrong (opcode, flags, number of SGEs), or nothing may be posted in this state of the QP"
        }
        _ => "the request was not posted: no completion will come for it",
    };
    r.say.push(text.into());
    if (call, r.errno) == (Call::PostSend, Some(12)) {
        r.say.push("a slot becomes free when a completion of it or of a later send is polled: unsignalled sends wait for the next signalled one".into());
    }
}
