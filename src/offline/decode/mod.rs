//! Meaning of pasted dumps and log lines: mlx5 error CQEs and send WQEs, completions, events and
//! failed calls, as drivers and libraries print them.
//!
//! ```text
//! text ── lex (what is this line?) ── blocks (where does each byte belong?)
//!      ── cqe / wqe (what do the bytes say?) ── report (what does it mean together?)
//! ```
//!
//! Five name spaces are kept apart ([`Namespace`]), nothing is padded, and a vendor code of mlx5
//! is never given a meaning.

mod blocks;
mod calls;
mod control;
mod cqe;
mod devices;
mod events;
mod firmware;
mod lex;
mod lookup;
mod message;
mod names;
mod qp_error;
mod record;
mod relate;
mod render;
mod words;
mod wqe;

pub use control::{Compared, ControlDecoder, ControlInput, Difference, ModelDecoder, Verdict};
pub use events::{ASYNC_EVENTS, of_words as event_of_words};
pub use lookup::{Query, look_up};
pub use names::{
    CQ_EVENTS, CQE_SYNDROMES, Meaning, Namespace, PREFIXES, Side, WC_STATUSES, cqe_opcode,
    wc_status_of_syndrome, wqe_opcode,
};
pub use record::{
    CallRecord, Check, CqeRecord, DataSeg, FwCommandRecord, LookUp, QpSummary, Record, Report,
    RootCause, Source, Told, WalkRecord, WqeRecord,
};
pub use render::{Style, render};

use crate::model::{OpClass, Policy, Transport, WqeFormat};
use blocks::{Block, Item, Paste};
use lex::{Entry, Foreign, WqeHead};
use relate::Found;

/// How to read a paste.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// `None`: find out; that always means mlx5, the book's format is never guessed.
    pub format: Option<WqeFormat>,
    /// Transport of the QP for the decoder's verdict; `None`: RC, and the layout is guessed.
    pub transport: Option<Transport>,
    /// `ibv_mtu` number for the number of packets.
    pub path_mtu: u8,
}

impl Default for Options {
    fn default() -> Self {
        Self { format: None, transport: None, path_mtu: 3 }
    }
}

/// A paste that is not understood: one message with line, what was found and what was expected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Refusal(pub String);

/// Decodes a paste with the golden model as decoder of control segments.
///
/// # Errors
/// [`Refusal`] if nothing in it is of a known format.
pub fn decode(text: &str, options: &Options) -> Result<Report, Refusal> {
    decode_with(text, options, &ModelDecoder::default())
}

/// Decodes a paste with any decoder of control segments.
///
/// # Errors
/// As [`decode`].
pub fn decode_with(
    text: &str,
    options: &Options,
    engine: &dyn ControlDecoder,
) -> Result<Report, Refusal> {
    if text.trim().is_empty() {
        return Err(Refusal(format!("the input is empty; expected {EXPECTED}")));
    }
    let mut paste = blocks::assemble(text);
    let mut found = Vec::new();
    walk(&mut paste, options, engine, &mut found);
    if found.is_empty() {
        return Err(refuse(&paste));
    }
    let mut report = relate::report(found);
    report.warnings = std::mem::take(&mut paste.warnings);
    report.checks.append(&mut paste.failed);
    for (line, m) in &paste.hints {
        let told = report.records.iter().any(|r| r.wc_status() == Some(m.value));
        if !told {
            report.warnings.push(format!(
                "line {line} names {}, but nothing there shows that it is the status of a completion: not counted",
                m.name
            ));
        }
    }
    for p in &paste.problems {
        report.checks.push(Check {
            text: "every dump of the paste can be read".into(),
            ok: false,
            detail: p.text.clone(),
        });
    }
    if !paste.foreign.is_empty() {
        report.warnings.push(format!("not decoded: {}", foreign_text(&paste)));
    }
    Ok(report)
}

const EXPECTED: &str = "byte rows with offsets ('00000030: 00 00 00 00 0f 00 78 06 ...'), four 32-bit words per line, plain hex bytes, messages that tell a completion ('syndrome 0x.. vendor syndrome 0x..', 'status=IBV_WC_..(12)', '.. exceeded (12)'), an asynchronous event, or a call that failed";

fn refuse(paste: &Paste) -> Refusal {
    // What was met first in the paste is told.
    let problem = paste.problems.iter().min_by_key(|p| p.line);
    let text = match (problem, paste.foreign.first()) {
        (Some(p), Some((line, _))) if p.line < *line => p.text.clone(),
        (_, Some(_)) => format!("{}; expected mlx5 dumps", foreign_text(paste)),
        (Some(p), None) => p.text.clone(),
        (None, None) => format!(
            "no dump found in {} {}; expected {EXPECTED}",
            paste.lines,
            if paste.lines == 1 { "line" } else { "lines" }
        ),
    };
    let hint = match paste.hints.first() {
        Some((line, m)) => {
            format!("; line {line} names a status: --status {} looks it up", m.name)
        }
        None if problem.is_none() => {
            "; a number alone: --status, --syndrome, --cq-event or --event N looks it up".into()
        }
        None => String::new(),
    };
    Refusal(text + &hint)
}

/// What the foreign lines are, in one message.
fn foreign_text(paste: &Paste) -> String {
    let mut parts = Vec::new();
    let mthca: Vec<_> = paste
        .foreign
        .iter()
        .filter_map(
            |(l, f)| {
                if let Foreign::Mthca { words } = f { Some((*l, *words)) } else { None }
            },
        )
        .collect();
    if let Some((line, _)) = mthca.first() {
        let bytes: usize = mthca.iter().map(|(_, w)| 4 * w).sum();
        parts.push(format!(
            "line {line}: {bytes} bytes, not a 64-byte mlx5 CQE: words with offsets in brackets are the print of an mthca (InfiniHost) CQE, whose layout is another one"
        ));
    }
    let hns: Vec<_> = paste
        .foreign
        .iter()
        .filter_map(|(l, f)| if let Foreign::Hns { words } = f { Some((*l, *words)) } else { None })
        .collect();
    if let Some((line, _)) = hns.first() {
        let bytes: usize = hns.iter().map(|(_, w)| 4 * w).sum();
        parts
            .push(format!("line {line}: {bytes} bytes of an hns CQE, whose layout is another one"));
    }
    if let Some((line, Foreign::Mlx4 { index, opcode })) =
        paste.foreign.iter().find(|(_, f)| matches!(f, Foreign::Mlx4 { .. }))
    {
        let (code, send) = (opcode & 0x1f, opcode & 0x40 != 0);
        parts.push(format!(
            "line {line}: mlx4 one-line form; index is the upper 16 bits (0x{:x}); opcode 0x{opcode:02x} = {} 0x{code:x} {} the send bit 0x40",
            index >> 16,
            if code == 0x1e { "error code" } else { "code" },
            if send { "with" } else { "without" },
        ));
    }
    parts.extend(other_drivers(paste));
    if let Some((line, _)) = paste.foreign.iter().find(|(_, f)| *f == Foreign::HostWords) {
        parts.push(format!(
            "line {line}: 16-bit words in the byte order of the printing host; expected single bytes (hexdump -C, xxd)"
        ));
    }
    parts.join("; ")
}

/// The first line of each other driver.
fn other_drivers(paste: &Paste) -> Vec<String> {
    let mut seen = Vec::new();
    let mut parts = Vec::new();
    for (line, f) in &paste.foreign {
        if let Foreign::Device(d) = f {
            if !seen.contains(d) {
                seen.push(*d);
                parts.push(format!("line {line}: a message of {d}, whose numbers are its own"));
            }
        }
    }
    parts
}

/// What kind of thing the next bytes are said to be.
#[derive(Clone, Debug, Default)]
enum Hint {
    #[default]
    None,
    Cqe,
    Wqe(WqeHead),
}

fn walk(paste: &mut Paste, options: &Options, engine: &dyn ControlDecoder, found: &mut Vec<Found>) {
    let items = std::mem::take(&mut paste.items);
    let mut hint = Hint::None;
    let mut ethernet = false;
    let mut receive_queue = false;
    for item in items {
        match item {
            Item::CqeFollows => hint = Hint::Cqe,
            Item::Entry(line, e) => {
                if e.heads_dump {
                    hint = Hint::Cqe;
                    ethernet = e.ethernet;
                }
                found.push(Found::Entry { line, entry: e });
            }
            Item::WqeHead(h) => hint = Hint::Wqe(h),
            Item::CqEvent { line, cqn, syndrome } => {
                found.push(Found::Done(Record::CqEvent(lookup::cq_event(
                    syndrome,
                    Some((line, cqn)),
                ))));
            }
            Item::AsyncEvent(line, e) => {
                if !(e.ethernet && told_by_cq(found, e.cqn)) {
                    let l = lookup::async_event(&e, Some(line));
                    found.push(Found::Done(Record::AsyncEvent(l)));
                }
            }
            Item::CallFailed(line, f) => {
                let record = calls::record(line, &f);
                found.push(Found::Done(if f.call == calls::Call::Modify {
                    Record::ModifyFailed(record)
                } else {
                    Record::PostFailed(record)
                }));
            }
            Item::FwCommand(line, c) => {
                found.push(Found::Done(Record::FwCommand(firmware::record(line, c))));
            }
            Item::Block(b) => {
                let hint = std::mem::take(&mut hint);
                if receive_queue && matches!(hint, Hint::Wqe(_)) {
                    paste.warnings.push(format!(
                        "line {}: a receive WQE has no control segment; not decoded",
                        b.lines.0
                    ));
                    continue;
                }
                let ctx = wqe::Context {
                    format: options.format.unwrap_or(WqeFormat::Mlx5),
                    transport: options.transport,
                    ethernet,
                };
                let before = found.len();
                let b = in_memory_order(b, &mut paste.warnings);
                let step = Step { options, engine, ctx };
                step.block(&b, hint, paste, found);
                for f in &found[before..] {
                    if let Found::Cqe { record, .. } = f {
                        receive_queue = record.cqe_opcode == Some("RESP_ERR");
                    }
                }
            }
        }
    }
}

/// Has the event of this CQ been told already? The Ethernet driver prints it a second time.
fn told_by_cq(found: &[Found], cqn: Option<u32>) -> bool {
    found
        .iter()
        .any(|f| matches!(f, Found::Done(Record::CqEvent(l)) if l.cqn.is_some() && l.cqn == cqn))
}

/// A debugger prints numbers in the order of its host, which is little-endian unless only the
/// other reading is an error entry or a WQE.
fn in_memory_order(b: Block, warnings: &mut Vec<String>) -> Block {
    if b.word == 1 {
        return b;
    }
    let plausible = |b: &Block| {
        let last = b.bytes.len() / 64 * 64;
        let error = last >= 64 && {
            let entry = b.part(last - 64, last);
            cqe::fit(&entry) == cqe::Fit::Error
                && cqe::decode(&entry, cqe::CQE_BYTES).syndrome_name.is_some()
        };
        error || wqe::fits(b)
    };
    let swapped = b.little_endian();
    let big = !plausible(&swapped) && plausible(&b);
    warnings.push(format!(
        "line {}: words behind addresses, as a debugger prints them, are in the byte order of its host; read as {}",
        b.lines.0,
        if big {
            "big-endian, since little-endian they are no error entry and no WQE"
        } else {
            "little-endian"
        }
    ));
    if big { b } else { swapped }
}

/// Most bytes of one WQE: `ds` has six bits.
const WQE_MAX: usize = 1024;

struct Step<'a> {
    options: &'a Options,
    engine: &'a dyn ControlDecoder,
    ctx: wqe::Context,
}

impl Step<'_> {
    fn block(&self, b: &Block, hint: Hint, paste: &mut Paste, found: &mut Vec<Found>) {
        if self.options.format == Some(WqeFormat::Book) {
            // Only WQEs have this format; an entry that is announced as a CQE is not one.
            if !matches!(hint, Hint::Cqe) {
                return self.wqe(b, None, paste, found);
            }
        }
        match hint {
            Hint::Cqe => self.cqe(b, paste, found),
            Hint::Wqe(h) => self.wqe(b, Some(h), paste, found),
            Hint::None => self.guess(b, paste, found),
        }
    }

    /// A block that nothing announces: what fits?
    fn guess(&self, b: &Block, paste: &mut Paste, found: &mut Vec<Found>) {
        let n = b.bytes.len();
        let mut at = 0;
        let mut any = false;
        while at < n {
            let rest = b.part(at, n.min(at + WQE_MAX));
            let first = rest.part(0, rest.bytes.len().min(cqe::CQE_BYTES));
            let fit = cqe::fit(&first);
            let is_wqe = wqe::fits(&rest);
            let r = (fit != cqe::Fit::No).then(|| cqe::decode(&first, cqe::CQE_BYTES));
            // Told that it is a WQE, one that is wrong in everything counts too: only an error
            // entry with a public syndrome is none.
            let forced = self.options.format == Some(WqeFormat::Mlx5);
            let public = r.as_ref().is_some_and(|r| r.syndrome_name.is_some());
            let error = fit == cqe::Fit::Error && (public || !forced);
            let upper =
                upper_half(&rest) && (!forced || cqe::fit(&rest.part(64, 128)) == cqe::Fit::Error);
            let zero = first.bytes.iter().all(|x| *x == Some(0));
            let told = forced && !upper && !zero && wqe::control_words(&rest).is_some();
            let success = fit == cqe::Fit::Success && !is_wqe && !upper && !told;
            if let Some(r) = r.filter(|_| error || success) {
                if error && (is_wqe || r.syndrome_name.is_none()) {
                    paste.warnings.push(format!(
                        "line {}: nothing says what these bytes are; read as a CQE because byte 0x3f is that of an error entry",
                        b.lines.0
                    ));
                }
                found.push(Found::Cqe { record: Box::new(r) });
                at += cqe::CQE_BYTES;
            } else if is_wqe || told {
                let len = (wqe::ring_blocks(&rest) * 64).min(rest.bytes.len());
                self.wqe(&rest.part(0, len), None, paste, found);
                at += len;
            } else if upper {
                let half = rest.part(64, 128);
                found.push(Found::Cqe { record: Box::new(cqe::decode(&half, 128)) });
                at += 128;
            } else {
                // A slot of zeros between entries of a ring says nothing.
                if !(zero && n > 64) {
                    self.problem(b, at, paste);
                    return;
                }
                at += first.bytes.len();
                if at >= n && !any {
                    self.problem(b, 0, paste);
                }
                continue;
            }
            any = true;
        }
    }

    /// Says why the 64 bytes from `at` on are neither CQE nor WQE.
    fn problem(&self, b: &Block, at: usize, paste: &mut Paste) {
        let line = b.lines.0;
        let n = b.bytes.len() - at;
        let (tail, end) = (at + cqe::TAIL, at + cqe::CQE_BYTES);
        let text = if b.bytes[at..].iter().all(|x| matches!(x, None | Some(0))) {
            format!("line {line}: found {n} bytes of zero; expected an entry that was written")
        } else if n < cqe::CQE_BYTES {
            format!(
                "line {line}: found {n} bytes that start with no mlx5 control segment; expected 64 for a CQE (its row 0x30 holds the error fields) or a WQE"
            )
        } else if !b.holds(tail, end) {
            format!(
                "line {line}: row 0x{tail:02x} is missing or cut; expected its 16 bytes, which hold the error fields of a CQE"
            )
        } else {
            format!(
                "line {line}: found {n} bytes; expected an mlx5 CQE (a CQE opcode in byte 0x{:02x}) or an mlx5 WQE (opcode, ds and QP number at the start), or --format book for the book's control segments",
                end - 1
            )
        };
        paste.problems.push(blocks::Problem { line, text });
    }

    /// Announced as a CQE.
    fn cqe(&self, b: &Block, paste: &mut Paste, found: &mut Vec<Found>) {
        let n = b.bytes.len();
        if b.bytes.iter().all(|x| *x == Some(0)) {
            return self.problem(b, 0, paste);
        }
        match n {
            64 | 128 if b.holds(n - 16, n) => {
                let part = b.part(n - 64, n);
                let r = cqe::decode(&part, n);
                if r.cqe_opcode.is_none() {
                    paste.problems.push(blocks::Problem {
                        line: b.lines.0,
                        text: format!(
                            "line {}: the last byte of the CQE has opcode 0x{:x}; expected 0xd (requester error), 0xe (responder error) or another CQE opcode",
                            b.lines.1,
                            part.slice(63, 64)[0] >> 4
                        ),
                    });
                    return;
                }
                found.push(Found::Cqe {
                    record: Box::new(r),
                });
            }
            64 | 128 => paste.problems.push(blocks::Problem {
                line: b.lines.0,
                text: format!(
                    "line {}: row 0x{:02x} is missing or cut; expected its 16 bytes, which hold the error fields of a CQE",
                    b.lines.0,
                    n - 16
                ),
            }),
            _ if n > 128 && n % 64 == 0 => self.guess(b, paste, found),
            _ => paste.problems.push(blocks::Problem {
                line: b.lines.0,
                text: format!(
                    "line {}: found {n} bytes; expected 64 or 128 for a CQE",
                    b.lines.0
                ),
            }),
        }
    }

    fn wqe(&self, b: &Block, head: Option<WqeHead>, paste: &mut Paste, found: &mut Vec<Found>) {
        let line = b.lines.0;
        let Some(ctrl) = wqe::control_words(b) else {
            paste.problems.push(blocks::Problem {
                line,
                text: format!(
                    "line {line}: row 0x00 is missing or cut; expected the 16 bytes of the control segment"
                ),
            });
            return;
        };
        let mut r = wqe::decode(b, ctrl, &self.ctx, &mut paste.warnings);
        let eth = r.layout == "ethernet";
        let book = self.ctx.format == WqeFormat::Book;
        // Operations of the vendor have no verdict; an opcode that is not public is one.
        let judged = OpClass::from_mlx5(r.opcode).is_some() || r.opcode_name.is_none();
        if judged && !eth || book {
            let guessed = if r.layout == "datagram" { Transport::Ud } else { Transport::Rc };
            let transport = self.options.transport.unwrap_or(guessed);
            if self.options.transport.is_none() {
                r.say.push(format!(
                    "transport taken to be {}; --transport says otherwise",
                    transport.name()
                ));
            }
            let walked = wqe::walk_segments(&mut r, b, self.ctx.format, transport);
            let answer = self.engine.decode(&ControlInput {
                ctrl,
                format: self.ctx.format,
                transport,
                path_mtu: self.options.path_mtu,
                payload_len: r.walk.as_ref().map(|w| w.length),
                inline: r.data_segs.iter().any(|d| d.inline),
                walk_errors: walked,
            });
            let mut failed = |text: &str, what: String| {
                let detail = format!("line {line}: {what}");
                paste.failed.push(Check { text: text.into(), ok: false, detail });
            };
            match answer {
                Ok(mut verdict) => {
                    for Difference { field, values: [(a, x), (b, y)] } in &verdict.differences {
                        let what = format!("{field}: {a} {x}, {b} {y}");
                        failed("both decoders say the same of the WQE", what);
                    }
                    of_the_dump(&mut verdict, &mut r);
                    r.verdict = Some(verdict);
                }
                Err(e) => failed("the decoder answers", e),
            }
        } else if eth {
            r.say.push(
                "an Ethernet send queue is none of RC, UC and UD: no verdict of the decoder".into(),
            );
        }
        found.push(Found::Wqe { record: Box::new(r), head });
    }
}

/// What the dump shows overrides what the decoder's hardware would do or expects to be there.
fn of_the_dump(verdict: &mut Verdict, r: &mut WqeRecord) {
    if r.partial {
        verdict.segments = None;
    }
    let limit = Policy::BOOK.max_inline;
    if verdict.placement == "inline" && verdict.length.is_none() {
        r.say.push(format!(
            "inline, if the payload, whose length is not in the dump, has at most {limit} bytes (max_inline); more is fetched by dma"
        ));
    }
    let inline = !r.data_segs.is_empty() && r.data_segs.iter().all(|d| d.inline);
    if inline && verdict.placement == "dma" && verdict.length.is_some_and(|n| n > limit) {
        verdict.placement = "inline";
        r.say.push(format!(
            "the hardware of this project takes at most {limit} bytes from a WQE (max_inline); it would fetch these by dma"
        ));
    }
}

/// Is it a 128-byte entry? Its last 64 bytes hold the fields.
fn upper_half(b: &Block) -> bool {
    b.bytes.len() == 128 && cqe::fit(&b.part(64, 128)) != cqe::Fit::No && {
        let low = b.part(0, 64);
        cqe::fit(&low) != cqe::Fit::Error && !wqe::fits(&low)
    }
}

/// A message without the bytes of its CQE.
fn from_message(line: Option<usize>, e: &Entry, source: Source) -> Record {
    if let Some(q) = &e.of_qp {
        return Record::Cqe(Box::new(qp_error::record(line, e, q)));
    }
    let told = Told {
        cqn: e.cqn,
        qn: None,
        ring_slot: e.ring_slot,
        operation: e.operation.clone(),
        remote_qpn: e.remote_qpn,
        length: e.length,
    };
    let Some(syndrome) = e.syndrome else {
        let status = e.status.unwrap_or(0);
        let mut l = lookup::status(status, e.vendor, e.device);
        l.line = line;
        l.qpn = e.qpn;
        l.cqn = e.cqn;
        // Refusals of a responder.
        if e.receive && matches!(status, 9..=11) {
            l.say.push("the opcode told is that of a receive: if it is right (verbs does not define it for errors), this side is the responder that refused".into());
        }
        l.say.extend(e.say.map(str::to_owned));
        return Record::WcStatus(l);
    };
    let mut r = cqe::empty(source);
    r.lines = line.map(|l| (l, l));
    r.cqe_opcode = e.opcode.and_then(names::cqe_opcode);
    r.qpn = e.qpn;
    r.vendor_err_synd = e.vendor;
    r.wqe_counter = e.wqe_counter;
    r.told = told;
    cqe::set_syndrome(&mut r, syndrome);
    cqe::explain_error(&mut r, e.opcode);
    r.say.extend(e.say.map(str::to_owned));
    Record::Cqe(Box::new(r))
}
