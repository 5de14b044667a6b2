//! The count.

use super::plan::{Plan, Qp};

/// One CQ against everything that reports to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// The CQ.
    pub cq: String,
    /// Completions that may lie in it unread.
    pub need: u64,
    /// Entries that can be used.
    pub usable: u64,
    /// It holds.
    pub ok: bool,
    /// Entries asked for.
    pub asked: u64,
    /// Entries that the device gave.
    pub granted: u64,
    /// Entries that cannot be used.
    pub reserved: u64,
    /// Would it be enough, had the device granted exactly what was asked?
    pub ok_by_asked: bool,
    /// How many QPs fit: of one kind any number of it, of several kinds any that many of those
    /// planned.
    pub max_qps: Option<u64>,
    /// How many CQs of this usable depth carry all QPs; nothing if one QP alone does not fit.
    pub cqs_needed: Option<u64>,
}

/// All CQs, and what to say about them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// Cross-checks made.
    pub checks: Vec<Check>,
    /// With one kind of QP: how many of it every CQ can take.
    pub max_safe_qps: Option<u64>,
    /// All CQs together.
    pub cqs_needed: Option<u64>,
    /// Remarks for a person.
    pub say: Vec<String>,
}

impl Report {
    /// Is every CQ deep enough?
    pub fn ok(&self) -> bool {
        self.checks.iter().all(|c| c.ok)
    }
}

/// Counts every CQ of the plan.
pub fn check(plan: &Plan) -> Report {
    let checks: Vec<Check> = (0..plan.cqs.len()).map(|i| one(plan, i)).collect();
    let mut say = Vec::new();
    for (i, c) in checks.iter().enumerate() {
        about(plan, i, c, &mut say);
    }
    about_srqs(plan, &mut say);
    if plan
        .qps
        .iter()
        .any(|q| q.send_cq == q.recv_cq && q.sq_wr > 0 && (q.rq_wr > 0 || q.srq.is_some()))
    {
        say.push(
            "no order is promised between completions of different work queues, even on one CQ"
                .into(),
        );
        say.push("a send slot is free only after its own (or a later signaled) send completion is polled; ENOMEM from ibv_post_send is a full send queue (or too many SGEs, or too much inline data), not an overflow of the CQ".into());
    }
    let max_safe_qps = match plan.qps.as_slice() {
        [_] => checks.iter().filter_map(|c| c.max_qps).min(),
        _ => None,
    };
    let cqs_needed = checks.iter().try_fold(0u64, |sum, c| Some(sum.saturating_add(c.cqs_needed?)));
    Report { checks, max_safe_qps, cqs_needed, say }
}

/// What one QP may put into a CQ.
fn share(qp: &Qp, cq: usize) -> u64 {
    let part = |mine: bool, wr: u64| if mine { wr } else { 0 };
    part(qp.send_cq == cq, qp.sends()).saturating_add(part(qp.recv_cq == cq, qp.receives()))
}

/// What shared receive queues may put into a CQ: each receive completes once, wherever it is used.
fn shared(plan: &Plan, cq: usize) -> u64 {
    let used = |i: usize| plan.qps.iter().any(|q| q.recv_cq == cq && q.srq == Some(i));
    let wr = plan.srqs.iter().enumerate().filter(|(i, _)| used(*i)).map(|(_, s)| s.wr);
    wr.fold(0, u64::saturating_add)
}

fn total(plan: &Plan, cq: usize, share: impl Fn(&Qp, usize) -> u64) -> u64 {
    let shares = plan.qps.iter().map(|q| share(q, cq).saturating_mul(q.count));
    shares.fold(shared(plan, cq), u64::saturating_add)
}

fn one(plan: &Plan, i: usize) -> Check {
    let cq = &plan.cqs[i];
    let need = total(plan, i, share);
    let usable = cq.usable(&plan.device);
    // Every CQ that QPs of an SRQ report to must hold all of the SRQ.
    let room = usable.checked_sub(shared(plan, i));
    let mut kinds: Vec<(u64, u64)> =
        plan.qps.iter().map(|q| (share(q, i), q.count)).filter(|(s, n)| *s > 0 && *n > 0).collect();
    kinds.sort_unstable_by(|a, b| b.cmp(a));
    Check {
        cq: cq.id.clone(),
        need,
        usable,
        ok: need <= usable,
        asked: cq.asked,
        granted: cq.granted(&plan.device),
        reserved: cq.reserved,
        ok_by_asked: need <= cq.asked,
        max_qps: most(&kinds, room.unwrap_or(0)),
        cqs_needed: room.and_then(|r| rings(&kinds, r)),
    }
}

/// Any so many QPs fit; `kinds` are (share, count), largest share first.
fn most(kinds: &[(u64, u64)], room: u64) -> Option<u64> {
    if let [(share, _)] = kinds {
        return Some(room / share);
    }
    let (mut room, mut n) = (room, 0u64);
    for (share, count) in kinds {
        let fit = (room / share).min(*count);
        (room, n) = (room - fit * share, n + fit);
        if fit < *count {
            break;
        }
    }
    (!kinds.is_empty()).then_some(n)
}

/// So many rings carry all QPs, filled with the largest first.
fn rings(kinds: &[(u64, u64)], room: u64) -> Option<u64> {
    // Rings that are filled alike are kept as (free entries, number of rings).
    let mut open: Vec<(u64, u64)> = Vec::new();
    for (share, count) in kinds {
        let mut left = *count;
        let mut next = Vec::new();
        for (free, number) in open {
            let each = free / share;
            if each == 0 || left == 0 {
                next.push((free, number));
                continue;
            }
            let full = (left / each).min(number);
            left -= full * each;
            next.push((free - each * share, full));
            if full < number {
                next.push((free - left * share, 1));
                next.push((free, number - full - 1));
                left = 0;
            }
        }
        if left > 0 {
            let each = room / share;
            if each == 0 {
                return None;
            }
            next.push((room - each * share, left / each));
            if left % each > 0 {
                next.push((room - left % each * share, 1));
            }
        }
        next.retain(|(_, number)| *number > 0);
        open = next;
    }
    Some(open.iter().map(|(_, number)| *number).sum::<u64>().max(1))
}

fn about(plan: &Plan, i: usize, c: &Check, say: &mut Vec<String>) {
    let cq = &plan.cqs[i];
    if c.ok {
        say.push(format!("CQ {}: need {}, usable {}: deep enough", c.cq, c.need, c.usable));
    } else if cq.ignore_overrun {
        say.push(format!(
            "CQ {}: need {}, usable {}: {} too few; with ignore_overrun that is no CQ error, but that many unread entries are overwritten without a word",
            c.cq,
            c.need,
            c.usable,
            c.need - c.usable
        ));
    } else {
        say.push(format!(
            "CQ {}: need {}, usable {}: {} too few",
            c.cq,
            c.need,
            c.usable,
            c.need - c.usable
        ));
        say.push(
            "a flush completes every work request, signaled or not, so all of them count".into(),
        );
        if let Some(n) = c.max_qps.filter(|n| *n > 0) {
            say.push(format!("CQ {}: at most {n} of these QPs fit", c.cq));
        }
        match c.cqs_needed {
            Some(n) if n > 1 => say.push(format!(
                "split the QPs over two or more CQs: {n} of {} usable entries are enough",
                c.usable
            )),
            Some(_) => {}
            None => {
                let both = plan
                    .qps
                    .iter()
                    .any(|q| q.send_cq == i && q.recv_cq == i && q.sends() > 0 && q.receives() > 0);
                let or = if both { ", or give send and receive queue a CQ each" } else { "" };
                say.push(format!(
                    "CQ {}: one QP alone is too much for it: make it deeper{or}",
                    c.cq
                ));
            }
        }
        if !cq.resizable {
            say.push(format!(
                "CQ {}: it cannot be resized, so its depth must be right when it is created",
                c.cq
            ));
        }
    }
    if let Some(max) = plan.device.max_cqe.filter(|max| cq.asked > *max) {
        say.push(format!("CQ {}: {} asked, the device has at most {max}: creation fails, or the depth is clamped without a word", c.cq, cq.asked));
    }
    about_mistakes(plan, i, c, say);
}

/// What the usual ways to count wrongly would have said, where they differ.
fn about_mistakes(plan: &Plan, i: usize, c: &Check, say: &mut Vec<String>) {
    if c.ok && c.need > c.asked {
        say.push(format!("{} in flight fits by luck of rounding ({} asked, {} granted): another device may grant exactly what is asked", c.need, c.asked, c.granted));
    }
    if c.ok {
        return;
    }
    if c.ok_by_asked {
        say.push(format!(
            "CQ {}: against the depth asked ({}) it would have looked right; {} are usable",
            c.cq, c.asked, c.usable
        ));
    }
    if c.need <= c.granted {
        say.push(format!("CQ {}: against the whole ring ({}) it would have looked right; {} of its entries cannot be used", c.cq, c.granted, c.reserved));
    }
    if plan.qps.iter().any(|q| q.signaled.is_some()) {
        let signaled = total(plan, i, |q, cq| {
            let all = share(q, cq);
            match q.signaled.filter(|_| q.send_cq == cq) {
                Some(n) => all - q.sends() + n,
                None => all,
            }
        });
        if signaled <= c.usable {
            say.push(format!("CQ {}: counting signaled work requests only ({signaled}) it would have looked right", c.cq));
        }
    }
    if plan.qps.iter().any(|q| q.drain) {
        let undrained = total(plan, i, |q, cq| share(&Qp { drain: false, ..q.clone() }, cq));
        if undrained <= c.usable {
            say.push(format!("CQ {}: without the drain work requests ({undrained}) it would have looked right; each drained queue needs one more slot, in the queue too", c.cq));
        }
    }
}

fn about_srqs(plan: &Plan, say: &mut Vec<String>) {
    for (i, srq) in plan.srqs.iter().enumerate() {
        let users = || plan.qps.iter().filter(|q| q.srq == Some(i));
        if users().next().is_some() {
            say.push(format!(
                "SRQ {}: its size ({}) bounds the receive side instead of the sum over the QPs",
                srq.id, srq.wr
            ));
        } else {
            say.push(format!("SRQ {} is not used by any QP", srq.id));
        }
    }
}
