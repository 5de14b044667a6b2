//! Rows to blocks: each byte is placed where its offset says, and nothing is padded.

use std::borrow::Cow;

use super::calls::Failed;
use super::events::Event;
use super::lex::{self, Entry, Foreign, FwCommand, Line, WqeHead};
use super::message;
use super::names::Meaning;
use super::record::Check;
use super::wqe;

/// Consecutive bytes of memory; a byte that the paste does not hold is `None`.
#[derive(Clone, Debug)]
pub struct Block {
    /// First and last line, from 1.
    pub lines: (usize, usize),
    pub bytes: Vec<Option<u8>>,
    /// So many bytes were printed as one number, most significant byte first; 1: as they lie in
    /// memory.
    pub word: usize,
}

impl Block {
    /// True if these bytes are all there.
    pub fn holds(&self, from: usize, to: usize) -> bool {
        to <= self.bytes.len() && self.bytes[from..to].iter().all(Option::is_some)
    }
    /// Bytes `from..to`, absent ones as 0: the caller asks [`Block::holds`] first.
    pub fn slice(&self, from: usize, to: usize) -> Vec<u8> {
        (from..to).map(|i| self.bytes.get(i).copied().flatten().unwrap_or(0)).collect()
    }
    /// The part `from..to` as a block of its own.
    pub fn part(&self, from: usize, to: usize) -> Block {
        Block { bytes: self.bytes[from..to].to_vec(), ..self.clone() }
    }
    /// The bytes as they lie in the memory of a little-endian host that printed numbers.
    pub fn little_endian(&self) -> Block {
        let mut bytes = self.bytes.clone();
        bytes.chunks_mut(self.word).for_each(<[_]>::reverse);
        Block { bytes, word: 1, ..self.clone() }
    }
}

/// One thing found in a paste, in its order.
#[derive(Clone, Debug)]
pub enum Item {
    Block(Block),
    /// Line and message.
    Entry(usize, Entry),
    /// The bytes of a CQE follow.
    CqeFollows,
    WqeHead(WqeHead),
    CqEvent {
        line: usize,
        cqn: u32,
        syndrome: u8,
    },
    /// Line and message.
    AsyncEvent(usize, Event),
    /// Line and message.
    CallFailed(usize, Failed),
    /// Line and message.
    FwCommand(usize, FwCommand),
}

/// A place that looks like a dump but cannot be placed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// From 1.
    pub line: usize,
    pub text: String,
}

/// What a paste holds.
#[derive(Debug, Default)]
pub struct Paste {
    pub items: Vec<Item>,
    pub problems: Vec<Problem>,
    pub warnings: Vec<String>,
    /// Checks that failed while it was read.
    pub failed: Vec<Check>,
    /// Output of another device family, with its line.
    pub foreign: Vec<(usize, Foreign)>,
    /// Lines that name a status without telling of a completion: the first of each status.
    pub hints: Vec<(usize, &'static Meaning)>,
    pub lines: usize,
}

struct Row {
    line: usize,
    offset: u64,
    bytes: Vec<u8>,
    word: usize,
}

#[derive(Default)]
struct Assembler {
    out: Paste,
    rows: Vec<Row>,
    /// 32-bit words without offset: line and bytes; groups end where another line comes.
    words: Vec<(usize, Vec<u8>)>,
    /// Bytes without offset.
    plain: Vec<(usize, Vec<u8>)>,
    /// The words that follow are those of an entry with another layout.
    foreign_words: bool,
}

/// Reads a whole paste.
pub fn assemble(text: &str) -> Paste {
    let lines = soft_breaks_joined(text);
    let mut a = Assembler::default();
    a.out.lines = text.lines().count();
    let mut i = 0;
    while i < lines.len() {
        let (at, text) = (lines[i].0, &*lines[i].1);
        i += 1;
        let mut parts = message::parts(text);
        // The last one may go on in the next line, the others are whole.
        let Some(text) = parts.pop() else { continue };
        for part in &parts {
            a.take(at, message::message(part));
        }
        let mut line = if parts.is_empty() { lex::line(text) } else { message::message(text) };
        if !matches!(line, Line::Blank | Line::Row { .. } | Line::Words(_) | Line::Bytes(_)) {
            if let Some((whole, taken)) = continued(text, &lines[i..]) {
                line = whole;
                i += taken;
            }
        }
        if line == Line::Other {
            if let Some(status) = message::names_status(text) {
                if a.out.hints.iter().all(|(_, m)| m.value != status.value) {
                    a.out.hints.push((at, status));
                }
            }
        }
        a.take(at, line);
    }
    a.flush();
    a.out
}

/// Lines with their numbers. A quoted-printable mail has at most 76 characters in a line and
/// breaks a longer one anywhere, with `=` at the end (RFC 2045).
fn soft_breaks_joined(text: &str) -> Vec<(usize, Cow<'_, str>)> {
    let mut out: Vec<(usize, Cow<str>)> = Vec::new();
    let mut open = false;
    for (i, line) in text.lines().enumerate() {
        let kept = line.trim_end();
        let breaks = (70..=76).contains(&kept.len())
            && kept.ends_with('=')
            && !kept.ends_with("==")
            && !kept.ends_with("=0A=");
        let part = if breaks { &kept[..kept.len() - 1] } else { line };
        match out.last_mut() {
            Some((_, whole)) if open => whole.to_mut().push_str(part),
            _ => out.push((i + 1, Cow::Borrowed(part))),
        }
        open = breaks;
    }
    out
}

/// A message that goes on in the next lines: it, and how many it takes.
fn continued(first: &str, rest: &[(usize, Cow<str>)]) -> Option<(Line, usize)> {
    let mut joined = first.trim().to_owned();
    let mut taken = 0;
    while taken + 1 < message::most_lines(first)
        && joined.len() < 4096
        && message::continues(&joined)
    {
        match rest.get(taken).map(|(_, l)| (l, lex::line(l))) {
            Some((l, Line::Other | Line::Entry(_))) => {
                joined.push(' ');
                joined.push_str(l.trim_start_matches(['>', '|', ' ', '\t']).trim_end());
                taken += 1;
            }
            _ => break,
        }
    }
    if taken == 0 || message::continues(&joined) {
        return None;
    }
    let whole = message::message(&joined);
    (!matches!(whole, Line::Other | Line::CqeFollows)).then_some((whole, taken))
}

impl Assembler {
    fn take(&mut self, at: usize, line: Line) {
        if self.foreign_words {
            match line {
                Line::Words(b) => {
                    self.out.foreign.push((at, Foreign::Hns { words: b.len() / 4 }));
                    return;
                }
                Line::Blank => {}
                _ => self.foreign_words = false,
            }
        }
        match line {
            Line::Row { offset, bytes, word } => {
                self.flush_words();
                self.flush_plain();
                self.row(Row { line: at, offset, bytes, word });
            }
            // A lone word is the rest of a wrapped row, or a number in a log.
            Line::Words(b) if b.len() == 4 && self.words.is_empty() => self.flush(),
            Line::Words(b) => {
                self.flush_rows();
                self.flush_plain();
                self.words.push((at, b));
            }
            Line::Bytes(b) => self.bytes(at, b),
            Line::Blank => {
                // Ends a dump; a double-spaced paste is put together again below.
                self.flush_rows();
                self.flush_plain();
                if !self.words.is_empty() {
                    self.words.push((at, Vec::new()));
                }
            }
            Line::Damaged { column, found } => {
                self.flush();
                self.out.problems.push(Problem {
                    line: at,
                    text: format!(
                        "line {at}, column {column}: found '{found}' in a dump row; expected bytes of two hex digits"
                    ),
                });
            }
            Line::Other => self.flush(),
            Line::CqeFollows => {
                self.flush();
                self.out.items.push(Item::CqeFollows);
            }
            Line::Entry(e) => {
                self.flush();
                self.foreign_words = e.foreign_dump;
                self.out.items.push(Item::Entry(at, e));
            }
            Line::EntryDetail(d) => {
                self.flush();
                if let Some(Item::Entry(line, e)) = self.out.items.last_mut() {
                    if *line + 1 == at && e.ring_slot.is_none() {
                        e.qpn = e.qpn.or(d.qpn);
                        e.ring_slot = d.ring_slot;
                        e.operation = d.operation;
                        e.remote_qpn = d.remote_qpn;
                        e.length = d.length;
                    }
                }
            }
            Line::WqeHead(h) => {
                self.flush();
                self.out.items.push(Item::WqeHead(h));
            }
            Line::CqEvent { cqn, syndrome } => {
                self.flush();
                self.out.items.push(Item::CqEvent { line: at, cqn, syndrome });
            }
            Line::AsyncEvent(e) => {
                self.flush();
                self.out.items.push(Item::AsyncEvent(at, e));
            }
            Line::CallFailed(f) => {
                self.flush();
                self.out.items.push(Item::CallFailed(at, f));
            }
            Line::FwCommand(c) => {
                self.flush();
                self.out.items.push(Item::FwCommand(at, c));
            }
            Line::Foreign(f) => {
                self.flush();
                self.out.foreign.push((at, f));
            }
        }
    }

    fn flush(&mut self) {
        self.flush_rows();
        self.flush_words();
        self.flush_plain();
    }

    fn problem(&mut self, line: usize, text: String) {
        self.out.problems.push(Problem { line, text: format!("line {line}: {text}") });
    }

    fn row(&mut self, row: Row) {
        if let Some(last) = self.rows.last() {
            let offset = row.offset;
            if offset == last.offset && row.bytes == last.bytes && offset % 64 != 0 {
                self.out.warnings.push(format!("row 0x{offset:02x} appears twice"));
                return;
            }
            let apart = offset <= last.offset || offset - last.offset > 0x1000;
            if apart || row.word != last.word {
                self.flush_rows();
            }
        }
        self.rows.push(row);
    }

    /// Bytes without offset: the rest of a wrapped row, or a dump without offsets.
    fn bytes(&mut self, line: usize, bytes: Vec<u8>) {
        self.flush_words();
        if let Some(last) = self.rows.last_mut() {
            if last.line + 1 == line && bytes.len() < 16 && last.bytes.len() + bytes.len() <= 32 {
                last.bytes.extend(bytes);
                last.line = line;
                return;
            }
            self.flush_rows();
            let n = bytes.len();
            self.problem(
                line,
                format!("found {n} bytes without an offset behind rows with offsets; expected the next row with its offset"),
            );
            return;
        }
        self.plain.push((line, bytes));
    }

    fn flush_rows(&mut self) {
        let rows = std::mem::take(&mut self.rows);
        let (Some(first), Some(last)) = (rows.first(), rows.last()) else {
            return;
        };
        let lines = (first.line, last.line);
        let word = first.word;
        // Addresses instead of offsets: relative to the first row.
        let base = if first.offset >= 0x1000 { first.offset } else { 0 };
        let stride = stride(&rows);
        let mut bytes: Vec<Option<u8>> = Vec::new();
        for r in &rows {
            let at = (r.offset - base) as usize;
            let n = r.bytes.len();
            if at % 4 != 0 || at % stride.min(16) != 0 {
                self.problem(
                    r.line,
                    format!(
                        "found row offset 0x{:x}; expected a multiple of 0x{stride:x} (offsets are read as hex)",
                        r.offset
                    ),
                );
                return;
            }
            let mut take = n;
            if n > stride {
                self.out.warnings.push(format!("row 0x{:02x} has {n} bytes", r.offset));
                let alike = r.bytes.iter().all(|b| *b == r.bytes[0]);
                if !alike {
                    self.problem(
                        r.line,
                        format!(
                            "row 0x{:02x} has {n} bytes; expected {stride}, and which one is too many cannot be told",
                            r.offset
                        ),
                    );
                    return;
                }
                take = stride;
            } else if n < stride && r.line != last.line {
                self.out.warnings.push(format!("row 0x{:02x} has {n} bytes", r.offset));
                // Which byte is missing cannot be told: the whole row counts as absent.
                take = 0;
            } else if n < stride && n % 4 != 0 {
                self.out.warnings.push(format!("row 0x{:02x} has {n} bytes", r.offset));
                take = 0;
            }
            if bytes.len() < at + take {
                bytes.resize(at + take, None);
            }
            for (i, b) in r.bytes.iter().take(take).enumerate() {
                bytes[at + i] = Some(*b);
            }
        }
        if bytes.iter().any(Option::is_some) {
            self.out.items.push(Item::Block(Block { lines, bytes, word }));
        } else {
            self.problem(lines.0, "found no complete row; expected 16 bytes per row".into());
        }
    }

    /// Words as userland prints them: 64-byte entries of four lines each.
    fn flush_words(&mut self) {
        let taken = std::mem::take(&mut self.words);
        if taken.is_empty() {
            return;
        }
        // Blank lines between single rows are a double-spaced paste; else they end a dump.
        let groups: Vec<&[(usize, Vec<u8>)]> =
            taken.split(|(_, b)| b.is_empty()).filter(|g| !g.is_empty()).collect();
        let spaced =
            groups.len() > 1 && groups.iter().all(|g| g.len() == 1) && groups.len() % 4 == 0;
        let joined: Vec<Vec<(usize, Vec<u8>)>> = if spaced {
            vec![groups.concat()]
        } else {
            groups.iter().map(|g| g.to_vec()).collect()
        };
        for g in joined {
            self.word_group(g);
        }
    }

    fn word_group(&mut self, rows: Vec<(usize, Vec<u8>)>) {
        // Re-wrapped lines: four words make a row whatever the line breaks.
        let mut row: Vec<u8> = Vec::new();
        let mut whole: Vec<WordRow> = Vec::new();
        let mut start = rows.first().map_or(0, |r| r.0);
        for (line, bytes) in rows {
            for w in bytes.chunks(4) {
                if row.is_empty() {
                    start = line;
                }
                row.extend_from_slice(w);
                if let Ok(bytes) = <[u8; 16]>::try_from(row.as_slice()) {
                    row.clear();
                    whole.push(WordRow { first: start, last: line, bytes });
                }
            }
        }
        if !row.is_empty() {
            let n = row.len() / 4;
            self.problem(start, format!("found {n} words of 32 bits; expected four per row"));
        }
        let mut rest = whole.as_slice();
        while !rest.is_empty() {
            let (entry, behind) = rest.split_at(entry_rows(rest));
            self.word_entry(entry);
            rest = behind;
        }
    }

    fn word_entry(&mut self, rows: &[WordRow]) {
        let (Some(first), Some(last)) = (rows.first(), rows.last()) else {
            return;
        };
        let lines = (first.first, last.last);
        let all = rows.iter().flat_map(|r| r.bytes.iter().copied().map(Some));
        let bytes: Vec<Option<u8>> = if rows.len() < 4 && is_error_tail(&last.bytes) {
            // Only the place of the last row is known.
            let tail = last.bytes.iter().copied().map(Some);
            std::iter::repeat_n(None, 48).chain(tail).collect()
        } else {
            all.collect()
        };
        self.out.items.push(Item::Block(Block { lines, bytes, word: 1 }));
    }

    fn flush_plain(&mut self) {
        let taken = std::mem::take(&mut self.plain);
        let (Some(first), Some(last)) = (taken.first(), taken.last()) else {
            return;
        };
        let lines = (first.0, last.0);
        let bytes: Vec<u8> = taken.iter().flat_map(|(_, b)| b.iter().copied()).collect();
        if bytes.len() < 8 {
            return; // a stray number in a log
        }
        if bytes.len() % 16 != 0 {
            let n = bytes.len();
            self.problem(
                lines.0,
                format!("found {n} bytes without offsets; expected 64 or 128 for a CQE, a multiple of 16 for a WQE"),
            );
            return;
        }
        let tail: [u8; 16] = std::array::from_fn(|i| bytes[bytes.len() - 16 + i]);
        let mut placed: Vec<Option<u8>> = Vec::new();
        if bytes.len() == 16 && is_error_tail(&tail) {
            placed.resize(48, None);
        }
        placed.extend(bytes.into_iter().map(Some));
        self.out.items.push(Item::Block(Block { lines, bytes: placed, word: 1 }));
    }
}

/// A row of four words, and the lines that it comes from.
struct WordRow {
    first: usize,
    last: usize,
    bytes: [u8; 16],
}

/// How many of these rows are one entry: four, fewer where the tail of an error entry comes first,
/// and as many as its `ds` says where a WQE stands that is longer, all of it.
fn entry_rows(rows: &[WordRow]) -> usize {
    let four = rows.iter().take(4).position(|r| is_error_tail(&r.bytes));
    let short = four.map_or(4, |at| at + 1).min(rows.len());
    let control =
        Block { lines: (0, 0), bytes: rows[0].bytes.iter().copied().map(Some).collect(), word: 1 };
    let units = usize::from(rows[0].bytes[7] & 0x3f);
    let more = short == 4 && units > 4 && units <= rows.len() && wqe::fits(&control);
    // Behind the first 64 bytes of a cut WQE another entry may stand.
    let begins = more && rows.get(7).is_some_and(|r| is_error_tail(&r.bytes));
    if more && !begins { units } else { short }
}

/// Bytes per row: the smallest step between offsets, or what a single row holds.
fn stride(rows: &[Row]) -> usize {
    let step = rows.windows(2).map(|w| w[1].offset - w[0].offset).min();
    match step {
        Some(s @ (4 | 8 | 16 | 32 | 64)) => s as usize,
        Some(_) => 16,
        None => match rows[0].bytes.len() {
            n @ (32 | 64) => n,
            _ => 16,
        },
    }
}

/// Does a row look like the last 16 bytes of an error CQE?
pub fn is_error_tail(row: &[u8; 16]) -> bool {
    use super::names;
    matches!(row[15] >> 4, names::CQE_REQ_ERR | names::CQE_RESP_ERR)
        && names::find(names::CQE_SYNDROMES, row[7]).is_some()
}
