//! The report as text for a person.

use std::fmt::Write;

use super::names;
use super::record::{
    CallRecord, CqeRecord, DataSeg, FwCommandRecord, LookUp, Record, Report, WqeRecord,
};

/// How to print.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Style {
    /// ANSI colours.
    pub color: bool,
    /// Root cause, counts and checks only.
    pub summary: bool,
}

struct Page {
    out: String,
    style: Style,
}

/// Prints a report. Runs of flush entries become one line.
pub fn render(report: &Report, style: Style) -> String {
    let mut p = Page { out: String::new(), style };
    if !style.summary {
        p.records(report);
    }
    p.conclusions(report);
    p.out
}

impl Page {
    fn paint(&self, code: &str, text: &str) -> String {
        if self.style.color { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }
    fn bold(&self, text: &str) -> String {
        self.paint("1", text)
    }
    fn line(&mut self, text: &str) {
        self.out.push_str(text);
        self.out.push('\n');
    }
    fn field(&mut self, name: &str, value: impl std::fmt::Display) {
        let _ = writeln!(self.out, "  {name:<16} {value}");
    }
    fn say(&mut self, say: &[String]) {
        for s in say {
            let _ = writeln!(self.out, "  - {s}");
        }
    }

    fn records(&mut self, report: &Report) {
        let mut i = 0;
        while i < report.records.len() {
            // The first flush is shown in full, the run behind it is counted.
            let run = report.records[i..].iter().take_while(|r| is_flush(r)).count();
            self.record(i, &report.records[i]);
            i += 1;
            if run > 1 {
                let text = format!("[{i}..{}] {} more flush entries like it", i + run - 2, run - 1);
                let text = self.bold(&text);
                self.line(&text);
                self.out.push('\n');
                i += run - 1;
            }
        }
    }

    fn record(&mut self, i: usize, r: &Record) {
        match r {
            Record::Cqe(c) => self.cqe(i, c),
            Record::Wqe(w) => self.wqe(i, w),
            Record::CqEvent(l) => self.look_up(i, "CQ error event", l),
            Record::AsyncEvent(l) => self.look_up(i, "asynchronous event", l),
            Record::WcStatus(l) => self.look_up(i, "work completion status", l),
            Record::VendorCode(l) => self.look_up(i, "vendor code", l),
            Record::FwCommand(c) => self.fw_command(i, c),
            Record::ModifyFailed(c) | Record::PostFailed(c) => self.call(i, c),
        }
        self.out.push('\n');
    }

    fn title(&mut self, i: usize, what: &str, lines: Option<(usize, usize)>) {
        let place = match lines {
            Some((a, b)) if a == b => format!(" (line {a})"),
            Some((a, b)) => format!(" (lines {a}-{b})"),
            None => String::new(),
        };
        let t = self.bold(&format!("[{i}] {what}{place}"));
        self.line(&t);
    }

    fn cqe(&mut self, i: usize, c: &CqeRecord) {
        let error = c.syndrome.is_some();
        let of_qp = c.cqe_opcode.is_none() && c.hw_synd_type.is_some();
        let op = c.cqe_opcode.unwrap_or(if of_qp { "error of a QP" } else { "CQE" });
        let what = match (c.syndrome_name, c.syndrome) {
            (Some(n), _) => format!("{op}: {}", self.paint("31", n)),
            (None, Some(s)) => format!("{op}: syndrome 0x{s:02x}"),
            _ => op.to_owned(),
        };
        self.title(i, &what, c.lines);
        if c.partial {
            self.field("partial", "yes: the paste does not hold all bytes of the entry");
        }
        if let Some(s) = c.syndrome {
            self.field(
                "CQE syndrome",
                format!("0x{s:02x} {}", c.syndrome_name.unwrap_or("(not public)")),
            );
        }
        if let (Some(s), Some(n)) = (c.wc_status, c.wc_status_name) {
            self.field("verbs status", format!("{s} {n}"));
        }
        if let Some(v) = c.vendor_err_synd {
            self.field("vendor code", format!("0x{v:02x} (not public)"));
        }
        if let (Some(a), Some(b)) = (c.hw_err_synd, c.hw_synd_type) {
            self.field("hw syndrome", format!("0x{a:02x}, type 0x{b:02x} (not public)"));
        }
        if let Some((kind, q)) = c.queue() {
            self.field(kind, format!("0x{q:x}"));
        }
        if let Some(w) = c.wqe_counter {
            self.field("WQE counter", format!("0x{w:x}"));
        }
        if let Some(o) = c.s_wqe_opcode {
            self.field(
                "operation",
                format!("0x{o:02x} {}", c.s_wqe_opcode_name.unwrap_or("(not public)")),
            );
        }
        if let Some(o) = &c.told.operation {
            self.field("operation", o);
        }
        if let Some(s) = c.told.ring_slot {
            self.field("ring slot", s);
        }
        if let Some(q) = c.told.remote_qpn {
            self.field("remote QP", format!("0x{q:x}"));
        }
        if let Some(n) = c.told.length {
            self.field("length", format!("{n} bytes"));
        }
        if let Some(q) = c.told.cqn {
            self.field("CQ", format!("0x{q:x}"));
        }
        if let Some(u) = c.srqn_or_uidx {
            let absent = c.absent.contains(&"srqn_or_uidx");
            let text = if absent { "not in the paste".to_owned() } else { format!("0x{u:x}") };
            self.field("srqn / uidx", text);
        }
        if let Some(n) = c.byte_cnt {
            self.field("bytes", n);
        }
        if let Some(n) = c.imm_inval_pkey {
            self.field("imm / inval key", format!("0x{n:x}"));
        }
        if let (Some(s), Some(se), Some(o)) = (c.signature, c.se, c.owner) {
            self.field("signature", format!("0x{s:02x}, se {se}, owner {o} (the lap of the ring)"));
        }
        if error || of_qp {
            if let Some(s) = c.side {
                self.field("points at", side(s));
            }
        }
        self.say(&c.say);
    }

    fn look_up(&mut self, i: usize, what: &str, l: &LookUp) {
        let name = l.name.unwrap_or("(not public)");
        self.title(i, &format!("{what}: {}", self.paint("31", name)), l.line.map(|x| (x, x)));
        self.field(namespace(l), format!("{} (0x{:02x})", l.value, l.value));
        if let Some(v) = l.vendor_err_synd {
            // Said where it may be a code of mlx5.
            let mlx5 = l.say.iter().any(|s| s == names::SAY_VENDOR_ANY);
            let public = if mlx5 { " (not public for mlx5)" } else { "" };
            self.field("vendor code", format!("0x{v:02x}{public}"));
        }
        if let Some(q) = l.qpn {
            self.field("QP", format!("0x{q:x}"));
        }
        if let Some(q) = l.cqn {
            self.field("CQ", format!("0x{q:x}"));
        }
        if let Some(s) = l.side {
            self.field("points at", side(s));
        }
        self.say(&l.say);
    }

    fn fw_command(&mut self, i: usize, c: &FwCommandRecord) {
        let name = self.paint("31", &c.command);
        // Syndrome 0: it is not the firmware that refused.
        let end = if c.syndrome == Some(0) { "failed" } else { "refused" };
        self.title(i, &format!("firmware command: {name} {end}"), Some((c.line, c.line)));
        if let Some(o) = c.opcode {
            self.field("opcode", format!("0x{o:x}"));
        }
        if let (Some(s), Some(text)) = (c.status, &c.status_text) {
            self.field("command status", format!("0x{s:x} {text}"));
        }
        if let Some(s) = c.syndrome {
            let public = if s == 0 { "none" } else { "not public" };
            self.field("syndrome", format!("0x{s:x} ({public})"));
        }
        if let Some(e) = &c.error {
            self.field("error", e);
        }
        self.say(&c.say);
    }

    fn call(&mut self, i: usize, c: &CallRecord) {
        let name = self.paint("31", c.call);
        self.title(i, &format!("call: {name} failed"), Some((c.line, c.line)));
        if let Some((from, to)) = c.transition {
            self.field("transition", format!("{from} to {to}"));
        }
        if let Some(n) = c.errno {
            self.field("errno", format!("{n} {}", c.errno_name.unwrap_or_default()).trim_end());
        }
        self.say(&c.say);
    }

    fn wqe(&mut self, i: usize, w: &WqeRecord) {
        let name = w.opcode_name.unwrap_or("WQE of unknown opcode");
        self.title(i, &format!("WQE ({} format): {name}", w.format), Some(w.lines));
        self.field(
            "opcode",
            format!(
                "0x{:02x} {}, opmod {}",
                w.opcode,
                w.opcode_name.unwrap_or("(not public)"),
                w.opmod
            ),
        );
        self.field("WQE index", format!("0x{:x}", w.wqe_index));
        self.field("QP", format!("0x{:x}", w.qpn));
        match w.ds_bytes {
            Some(n) => self.field("ds", format!("{} units of 16 = {n} bytes", w.ds)),
            None => self.field("ds", count(u32::from(w.ds), "data segment")),
        }
        if w.reserved != 0 {
            self.field("reserved bits", format!("0x{:x} (must be 0)", w.reserved));
        }
        self.field(
            "flags",
            format!(
                "0x{:02x}: fence mode {}, completion mode {}, solicited {}{}",
                w.fm_ce_se,
                w.fm,
                w.ce,
                w.se,
                w.inline.map_or_else(String::new, |n| format!(", inline {n}"))
            ),
        );
        self.field("signature", format!("0x{:02x}", w.signature));
        self.field("imm / key", format!("0x{:x}", w.imm));
        self.field(
            "bytes",
            format!(
                "{} of the {} in the dump{}",
                w.used_bytes,
                w.dump_bytes,
                if w.partial { "; the WQE goes on behind them" } else { "" }
            ),
        );
        self.field("layout", w.layout);
        if let Some(n) = w.eth_inline_hdr_sz {
            self.field("inline header", format!("{n} bytes"));
        }
        if let (Some(a), Some(k)) = (w.raddr, w.rkey) {
            self.field("remote", format!("address 0x{a:x}, rkey 0x{k:x}"));
        }
        if let Some(n) = w.swap_add {
            self.field("swap / add", format!("0x{n:x}"));
        }
        if let Some(n) = w.compare {
            self.field("compare", format!("0x{n:x}"));
        }
        if let (Some(d), Some(k)) = (w.dqp, w.qkey) {
            self.field("to QP", format!("0x{d:x}, Q_Key 0x{k:x}"));
        }
        for d in &w.data_segs {
            self.field("data segment", segment(d));
        }
        if let Some(k) = &w.walk {
            self.field("payload", format!("{}, found by the walk", count(k.length, "byte")));
            for fault in &k.faults {
                let text = self.paint("31", fault);
                self.field("malformed", text);
            }
        }
        if let Some(v) = &w.verdict {
            let units = v.wqe_bytes / 16;
            let missing = match w.missing_units {
                0 => String::new(),
                n => format!(", {n} of {units} units not in the dump"),
            };
            let verdict = if v.errors.is_empty() && w.missing_units > 0 {
                self.paint("33", &format!("control segment well formed{missing}"))
            } else if v.errors.is_empty() {
                self.paint("32", "well formed")
            } else {
                let status = v.rejected_status.and_then(|s| names::find(names::WC_STATUSES, s));
                let end =
                    status.map_or_else(String::new, |m| format!(", completes with {}", m.name));
                self.paint("31", &format!("{}{end}{missing}", v.errors.join(", ")))
            };
            let engine = if v.engine == "model" { "model only" } else { v.engine };
            self.field("verdict", format!("{verdict} ({engine}, {})", v.transport));
            if let Some(c) = &v.class {
                self.field("operation", c);
            }
            let yes = |b: bool| if b { "yes" } else { "no" };
            self.field(
                "requests",
                format!(
                    "fence {}, signal {}, solicit {}, inline {}",
                    yes(v.fence),
                    yes(v.signal),
                    yes(v.solicit),
                    yes(v.inline)
                ),
            );
            // Of an operation that nobody knows there are no packets.
            if v.class.is_some() {
                // The address of a datagram goes before what the operation adds.
                let deth = (v.transport == "UD").then_some("DETH");
                let more = v.headers.iter().map(AsRef::as_ref);
                let headers: Vec<&str> = std::iter::once("BTH").chain(deth).chain(more).collect();
                self.field("headers", headers.join(", "));
                self.field("placement", v.placement);
            }
            self.field(
                "takes",
                format!(
                    "{}, {} of 64 bytes{}",
                    count(v.wqe_bytes, "byte"),
                    count(v.wqe_blocks, "block"),
                    v.segments.map_or_else(String::new, |n| {
                        format!(", {}", count(u32::from(n), "data segment"))
                    })
                ),
            );
            self.field(
                "uses a receive",
                format!("{}, BTH SE {}", yes(v.consumes_receive), u8::from(v.bth_se)),
            );
            if let (Some(n), Some(l)) = (v.packets, v.length) {
                let back = v.response_packets.map_or_else(String::new, |r| format!(", {r} back"));
                self.field("packets", format!("{n} for {l} bytes{back}"));
            }
        }
        self.say(&w.say);
    }

    fn conclusions(&mut self, r: &Report) {
        if let Some(c) = &r.root_cause {
            let at = c.index.map_or_else(String::new, |i| format!("[{i}] "));
            let head = self.bold("root cause");
            self.line(&format!("{head}: {at}{}", c.text));
            if let Some(Record::Cqe(e)) = c.index.and_then(|i| r.records.get(i)) {
                if self.style.summary {
                    self.say(&e.say);
                }
            }
            self.say(&c.say);
        }
        if r.flushes > 0 {
            let entries = if r.flushes == 1 { "entry" } else { "entries" };
            self.line(&format!("flushes: {} {entries}", r.flushes));
        }
        if r.per_qp.len() > 1 {
            for q in &r.per_qp {
                let name =
                    q.qpn.map_or_else(|| "QP not named".to_owned(), |n| format!("QP 0x{n:x}"));
                let cause = q.root_cause.map_or_else(
                    || "first error not in the paste".to_owned(),
                    |i| format!("first error [{i}]"),
                );
                let flushes = if q.flushes == 1 { "flush" } else { "flushes" };
                self.line(&format!("  {name}: {cause}, {} {flushes}", q.flushes));
            }
        }
        for c in &r.checks {
            let mark = if c.ok { self.paint("32", "ok  ") } else { self.paint("31", "FAIL") };
            self.line(&format!("{mark} {} ({})", c.text, c.detail));
        }
        for w in &r.warnings {
            let mark = self.paint("33", "warning");
            self.line(&format!("{mark}: {w}"));
        }
    }
}

fn is_flush(r: &Record) -> bool {
    match r {
        Record::Cqe(c) => c.syndrome == Some(names::FLUSH),
        Record::WcStatus(l) => l.wc_status == Some(names::FLUSH),
        _ => false,
    }
}

fn namespace(l: &LookUp) -> &'static str {
    match l.namespace {
        super::Namespace::VerbsStatus => "verbs status",
        super::Namespace::CqeSyndrome => "CQE syndrome",
        super::Namespace::VendorCode => "vendor code",
        super::Namespace::CqEvent => "CQ event",
        super::Namespace::AsyncEvent => "async event",
    }
}

fn side(s: super::Side) -> &'static str {
    match s {
        super::Side::Local => "this side",
        super::Side::Responder => "the responder",
        super::Side::Path => "the path, or a silent peer",
        super::Side::None => "nobody: a consequence",
    }
}

fn segment(d: &DataSeg) -> String {
    let bytes = d.bytes.unwrap_or(d.byte_count);
    match (d.lkey, d.addr, &d.payload) {
        (Some(k), Some(a), _) => {
            let zero = if bytes == d.byte_count { "" } else { " (byte count 0)" };
            format!("{bytes} bytes{zero}, lkey 0x{k:x}, address 0x{a:x}")
        }
        (_, _, Some(p)) if !p.is_empty() => {
            // Payload is hex digits; two are a byte.
            let more = if p.len() > 2 * SHOWN { "..." } else { "" };
            format!("{bytes} bytes inline: {}{more}", &p[..p.len().min(2 * SHOWN)])
        }
        _ => format!("{bytes} bytes inline"),
    }
}

/// Bytes of inline payload in a line.
const SHOWN: usize = 32;

fn count(n: u32, of: &str) -> String {
    if n == 1 { format!("1 {of}") } else { format!("{n} {of}s") }
}
