//! What the parts of a paste say about each other: header, CQE and WQE of one failure, and which
//! failure came first.

use std::collections::HashMap;

use super::events;
use super::from_message;
use super::lex::{Entry, WqeHead};
use super::names;
use super::record::{
    Check, CqeRecord, LookUp, QpSummary, Record, Report, RootCause, Source, WqeRecord,
};

/// A decoded part of a paste, before it is related to the others.
pub enum Found {
    Cqe {
        record: Box<CqeRecord>,
    },
    Wqe {
        record: Box<WqeRecord>,
        head: Option<WqeHead>,
    },
    /// A message: the header of the CQE that follows, another print of a CQE beside it, or all
    /// there is of one.
    Entry {
        line: usize,
        entry: Entry,
    },
    Done(Record),
}

/// A message further away than this is not about the same completion.
const NEAR_LINES: usize = 8;

/// Puts it all together.
pub fn report(found: Vec<Found>) -> Report {
    let mut out = Report::default();
    let heads = attach(&found, &mut out.checks);
    for (i, f) in found.iter().enumerate() {
        let Found::Cqe { record: cqe } = f else {
            continue;
        };
        let head = heads.iter().find(|(_, c)| *c == i).and_then(|(h, _)| entry(&found[*h]));
        // A WQE right behind its CQE, or right before it if that has none behind.
        let behind = found.get(i + 1).and_then(wqe);
        let before =
            i.checked_sub(1).filter(|b| *b == 0 || !matches!(found[*b - 1], Found::Cqe { .. }));
        let pair = behind.or_else(|| before.and_then(|b| found.get(b)).and_then(wqe));
        related(cqe, head, pair, &mut out.checks);
    }
    for (i, f) in found.iter().enumerate() {
        if let Found::Wqe { record, head: Some(h) } = f {
            let paired = i > 0 && matches!(found[i - 1], Found::Cqe { .. });
            if !paired {
                wqe_alone(record, h, &mut out.checks);
            }
        }
    }
    let mut told: HashMap<usize, Vec<Entry>> = HashMap::new();
    for (h, c) in &heads {
        told.entry(*c).or_default().extend(entry(&found[*h]).cloned());
    }
    for (i, f) in found.into_iter().enumerate() {
        match f {
            Found::Cqe { mut record } => {
                for head in told.get(&i).into_iter().flatten() {
                    from_head(&mut record, head);
                }
                out.records.push(Record::Cqe(record));
            }
            Found::Wqe { record, .. } => out.records.push(Record::Wqe(record)),
            Found::Done(r) => out.records.push(r),
            Found::Entry { line, entry } => {
                if !heads.iter().any(|(h, _)| *h == i) {
                    out.records.push(from_message(Some(line), &entry, Source::Message));
                }
            }
        }
    }
    root_cause(&mut out);
    out
}

/// What the header of a CQE says that the entry itself does not hold.
fn from_head(cqe: &mut CqeRecord, head: &Entry) {
    cqe.told.cqn = cqe.told.cqn.or(head.cqn);
    // Entries of an Ethernet receive queue hold no QP number.
    if cqe.qpn == Some(0) && cqe.told.qn.is_none() {
        cqe.told.qn = head.qpn;
        if let (Some((kind, q)), Some(_)) = (cqe.queue(), head.qpn) {
            cqe.say.push(format!(
                "the entry holds no QP number (0); {kind} 0x{q:x} is from the header, so there is nothing to hold it against"
            ));
        }
    }
}

fn entry(f: &Found) -> Option<&Entry> {
    if let Found::Entry { entry, .. } = f { Some(entry) } else { None }
}

fn wqe(f: &Found) -> Option<(&WqeRecord, Option<&WqeHead>)> {
    if let Found::Wqe { record, head } = f { Some((record, head.as_ref())) } else { None }
}

/// Messages that are about a CQE whose bytes are in the paste: (message, CQE), by index.
fn attach(found: &[Found], checks: &mut Vec<Check>) -> Vec<(usize, usize)> {
    let mut out = Vec::new();
    for (i, f) in found.iter().enumerate() {
        let Found::Entry { line, entry } = f else {
            continue;
        };
        let near = |j: Option<usize>| {
            let j = j?;
            let Some(Found::Cqe { record }) = found.get(j) else {
                return None;
            };
            let (first, last) = record.lines?;
            let gap = if *line < first { first - line } else { line.saturating_sub(last) };
            (gap <= NEAR_LINES).then_some((j, record))
        };
        if entry.heads_dump {
            if let Some((j, _)) = near(Some(i + 1)) {
                out.push((i, j));
            }
            continue;
        }
        if entry.of_qp.is_some() {
            continue;
        }
        let same = |c: &CqeRecord| {
            let eq = |a: Option<u32>, b: Option<u32>| a.is_none() || b.is_none() || a == b;
            eq(entry.syndrome.map(u32::from), c.syndrome.map(u32::from))
                && eq(entry.status.map(u32::from), c.wc_status.map(u32::from))
                && eq(entry.vendor, c.vendor_err_synd)
                && eq(entry.qpn, c.qpn)
        };
        let hit = [near(Some(i + 1)), near(i.checked_sub(1))]
            .into_iter()
            .flatten()
            .find(|(_, c)| same(c));
        if let Some((j, c)) = hit {
            out.push((i, j));
            checks.push(Check {
                text: "message == CQE".into(),
                ok: true,
                detail: format!(
                    "line {line} tells the same completion: status {}",
                    c.wc_status.unwrap_or_default()
                ),
            });
        }
    }
    out
}

fn all_equal(v: &[u64]) -> bool {
    v.windows(2).all(|w| w[0] == w[1])
}

fn hex_list(v: &[u64]) -> String {
    v.iter().map(|n| format!("0x{n:x}")).collect::<Vec<_>>().join(", ")
}

/// Holds header, CQE and WQE of one failure against each other.
fn related(
    cqe: &CqeRecord,
    head: Option<&Entry>,
    pair: Option<(&WqeRecord, Option<&WqeHead>)>,
    checks: &mut Vec<Check>,
) {
    // Each statement: the names of its sides and their numbers.
    let mut say = |sides: Vec<(&str, Option<u64>)>| {
        let there: Vec<_> = sides.into_iter().filter_map(|(t, n)| Some((t, n?))).collect();
        if there.len() < 2 {
            return;
        }
        let numbers: Vec<u64> = there.iter().map(|x| x.1).collect();
        checks.push(Check {
            text: there.iter().map(|x| x.0).collect::<Vec<_>>().join(" == "),
            ok: all_equal(&numbers),
            detail: hex_list(&numbers),
        });
    };
    let wqe = pair.map(|p| p.0);
    let wqe_head = pair.and_then(|p| p.1);
    say(vec![
        // Entries of an Ethernet receive queue hold no QP number.
        ("CQE qpn", cqe.qpn.filter(|q| *q != 0).map(u64::from)),
        ("WQE qpn", wqe.map(|w| u64::from(w.qpn))),
        ("header qn", head.and_then(|h| h.qpn).map(u64::from)),
    ]);
    if let (Some(w), Some(counter)) = (wqe, cqe.wqe_counter) {
        let size = wqe_head.and_then(|h| h.wq_size).filter(|s| s.is_power_of_two());
        let masked = |n: u64| size.map_or(n, |s| n & u64::from(s - 1));
        say(vec![
            (
                if size.is_some() { "wqe_counter & (wq_size-1)" } else { "wqe_counter" },
                Some(masked(u64::from(counter))),
            ),
            ("WQE index field", Some(masked(u64::from(w.wqe_index)))),
            ("header index", wqe_head.and_then(|h| h.index).map(|n| masked(u64::from(n)))),
        ]);
        say(vec![
            ("CQE s_wqe_opcode", cqe.s_wqe_opcode.map(u64::from)),
            ("WQE opcode", Some(u64::from(w.opcode))),
        ]);
    }
    if let Some(h) = head {
        let opcode = cqe
            .cqe_opcode
            .and_then(|n| (0..16u8).find(|x| names::cqe_opcode(*x) == Some(n)))
            .map(u64::from);
        say(vec![("CQE opcode", opcode), ("header opcode", h.opcode.map(u64::from))]);
        say(vec![
            ("CQE syndrome", cqe.syndrome.map(u64::from)),
            ("header syndrome", h.syndrome.map(u64::from)),
        ]);
        say(vec![
            ("CQE vendor_err_synd", cqe.vendor_err_synd.map(u64::from)),
            ("header vendor syndrome", h.vendor.map(u64::from)),
        ]);
    }
    if let (Some(w), Some(len)) = (wqe, wqe_head.and_then(|h| h.len)) {
        say(vec![("WQE dump bytes", Some(w.dump_bytes as u64)), ("header len", Some(len.into()))]);
    }
}

/// A WQE with its header but without a CQE.
fn wqe_alone(w: &WqeRecord, h: &WqeHead, checks: &mut Vec<Check>) {
    if let Some(index) = h.index {
        let size = h.wq_size.filter(|s| s.is_power_of_two()).unwrap_or(0x1_0000);
        let field = u32::from(w.wqe_index) & (size - 1);
        checks.push(Check {
            text: "WQE index field & (wq_size-1) == header index".into(),
            ok: field == index & (size - 1),
            detail: format!("0x{field:x}, 0x{index:x}"),
        });
    }
    if let Some(len) = h.len {
        checks.push(Check {
            text: "WQE dump bytes == header len".into(),
            ok: w.dump_bytes as u64 == u64::from(len),
            detail: format!("{}, {len}", w.dump_bytes),
        });
    }
}

/// An error entry: its QP, and whether it is a flush.
fn error_of(r: &Record) -> Option<(Option<u32>, bool)> {
    match r {
        Record::Cqe(c) => c.syndrome.map(|s| (c.queue().map(|q| q.1), s == names::FLUSH)),
        Record::WcStatus(l) if l.value != 0 => Some((l.qpn, l.wc_status == Some(names::FLUSH))),
        _ => None,
    }
}

fn name_of(r: &Record) -> String {
    let (name, queue) = match r {
        Record::Cqe(c) => {
            let s = c.syndrome.unwrap_or_default();
            let name = c.syndrome_name.map_or_else(|| format!("syndrome 0x{s:02x}"), str::to_owned);
            (name, c.queue())
        }
        Record::WcStatus(l) => {
            let name = l.name.map_or_else(|| format!("status {}", l.value), str::to_owned);
            (name, l.qpn.map(|q| ("QP", q)))
        }
        Record::CqEvent(l) | Record::AsyncEvent(l) => {
            let name = l.name.map_or_else(|| format!("event {}", l.value), str::to_owned);
            (name, l.cqn.map(|q| ("CQ", q)).or(l.qpn.map(|q| ("QP", q))))
        }
        _ => (String::new(), None),
    };
    match queue {
        Some((kind, q)) => format!("{name} on {kind} 0x{q:x}"),
        None => name,
    }
}

/// An event behind which queues flush.
fn ends_queues(r: &Record) -> Option<&LookUp> {
    match r {
        Record::CqEvent(l) => Some(l),
        Record::AsyncEvent(l) if events::ends_queues(l.value) => Some(l),
        _ => None,
    }
}

/// Events that may stand behind the flushes of a paste, by index: those of another QP do not.
fn events_of(out: &Report) -> Vec<usize> {
    let flushed = |l: &LookUp| {
        let same = |q: &QpSummary| q.qpn.is_none() || l.qpn.is_none() || q.qpn == l.qpn;
        out.flushes == 0 || out.per_qp.iter().any(|q| q.flushes > 0 && same(q))
    };
    let event = |i: &usize| ends_queues(&out.records[*i]).is_some_and(flushed);
    (0..out.records.len()).filter(event).collect()
}

/// Where no completion is more than a flush, an event may tell what came before.
fn cause_in_events(out: &Report, say: &mut Vec<String>) -> Option<usize> {
    let is_flush = |r: &Record| error_of(r).is_some_and(|(_, flush)| flush);
    let first_flush = out.records.iter().position(is_flush).unwrap_or(usize::MAX);
    let events = events_of(out);
    let i = *events.first()?;
    let name = name_of(&out.records[i]);
    if i < first_flush {
        say.push(if out.flushes > 0 {
            format!("{name} is an event; every failed completion in the paste is a flush")
        } else {
            format!("{name} is an event; the paste holds no failed completion")
        });
        return Some(i);
    }
    say.push(format!(
        "[{i}] {name} stands behind the first flush; events are often logged late, so compare the times"
    ));
    None
}

/// First entry that is no flush, in all and per QP.
fn root_cause(out: &mut Report) {
    let mut places = HashMap::new();
    let mut first = None;
    let mut errors = 0;
    for (i, r) in out.records.iter().enumerate() {
        let Some((qpn, flush)) = error_of(r) else {
            continue;
        };
        errors += 1;
        let at = *places.entry(qpn).or_insert_with(|| {
            out.per_qp.push(QpSummary { qpn, root_cause: None, flushes: 0 });
            out.per_qp.len() - 1
        });
        let qp = &mut out.per_qp[at];
        if flush {
            qp.flushes += 1;
            out.flushes += 1;
        } else {
            qp.root_cause = qp.root_cause.or(Some(i));
            first = first.or(Some(i));
        }
    }
    if errors == 0 && events_of(out).is_empty() {
        return;
    }
    let mut say = Vec::new();
    if out.flushes > 0 {
        say.push(names::SAY_FLUSH_STATE.to_owned());
    }
    out.root_cause =
        Some(match first {
            Some(i) => {
                let before = events_of(out).into_iter().find(|e| *e < i);
                say.extend(before.map(|e| {
                    format!("an event stands before it: [{e}] {}", name_of(&out.records[e]))
                }));
                RootCause { index: Some(i), text: name_of(&out.records[i]), say }
            }
            None => match cause_in_events(out, &mut say) {
                Some(i) => RootCause { index: Some(i), text: name_of(&out.records[i]), say },
                None => {
                    say.push(names::SAY_ONLY_FLUSHES.into());
                    RootCause { index: None, text: "not in the paste".into(), say }
                }
            },
        });
}
