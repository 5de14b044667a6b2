//! One line of a paste: what is it?
//!
//! Knows the shapes in which drivers and libraries print, nothing of what the bytes mean; text
//! without bytes is read in `message`. A line that is none of them is [`Line::Other`] and may
//! be any log text.

use super::calls::Failed;
use super::devices::Device;
use super::events::Event;
use super::message;

/// A message of a driver or library about one completion.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Entry {
    /// The line is a header: the driver prints the bytes of the same CQE right after it.
    pub heads_dump: bool,
    /// Printed by the Ethernet driver.
    pub ethernet: bool,
    pub status: Option<u8>,
    pub syndrome: Option<u8>,
    pub vendor: Option<u32>,
    pub opcode: Option<u8>,
    /// The opcode told is that of a receive.
    pub receive: bool,
    /// The device that the line names.
    pub device: Option<Device>,
    pub cqn: Option<u32>,
    pub ci: Option<u32>,
    pub qpn: Option<u32>,
    pub ring_slot: Option<u32>,
    pub operation: Option<String>,
    pub remote_qpn: Option<u32>,
    pub length: Option<u32>,
    pub wqe_counter: Option<u16>,
    /// The bytes that follow are those of an entry with another layout.
    pub foreign_dump: bool,
    /// The error syndrome of a QP, not of a completion: the kernel's text for it, type and
    /// number of the hardware syndrome.
    pub of_qp: Option<QpError>,
    /// What a person must know of this print.
    pub say: Option<&'static str>,
}

/// What the kernel says of a QP that failed, besides syndrome and vendor code.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QpError {
    pub text: String,
    pub hw_synd_type: u8,
    pub hw_err_synd: u8,
}

/// A command that the firmware of the adapter refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FwCommand {
    pub command: String,
    pub opcode: Option<u16>,
    pub status: Option<u8>,
    pub status_text: Option<String>,
    pub syndrome: Option<u32>,
    /// What the library made of it.
    pub error: Option<String>,
}

/// Header that the driver prints before the bytes of a WQE.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WqeHead {
    /// Slots of the work queue.
    pub wq_size: Option<u32>,
    /// Index in the ring.
    pub index: Option<u32>,
    /// Bytes printed.
    pub len: Option<u32>,
}

/// Output of another device family or tool that must not be read with the mlx5 layout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Foreign {
    /// Words with their offset in brackets; how many on this line.
    Mthca { words: usize },
    /// One line with QPN, WQE index and opcode.
    Mlx4 { index: u32, opcode: u8 },
    /// Words of an hns CQE; how many on this line.
    Hns { words: usize },
    /// A message of another driver.
    Device(&'static str),
    /// Default output of hexdump or od: 16-bit words in the order of the printing host.
    HostWords,
}

/// What a line is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line {
    Blank,
    /// Bytes with their offset. `word` bytes were printed as one number in the order of the
    /// printing host; 1: as they lie in memory.
    Row {
        offset: u64,
        bytes: Vec<u8>,
        word: usize,
    },
    /// 32-bit words without offset, as bytes in memory order. A lone word may be any number.
    Words(Vec<u8>),
    /// Bytes without offset.
    Bytes(Vec<u8>),
    /// "got completion with error:" and the like: the bytes of a CQE follow.
    CqeFollows,
    Entry(Entry),
    /// Second line of an [`Entry`], with details of its WQE.
    EntryDetail(Entry),
    WqeHead(WqeHead),
    CqEvent {
        cqn: u32,
        syndrome: u8,
    },
    AsyncEvent(Event),
    CallFailed(Failed),
    FwCommand(FwCommand),
    Foreign(Foreign),
    /// A row with something in it that is no byte. Column counts from 1.
    Damaged {
        column: usize,
        found: String,
    },
    Other,
}

/// A token and the column (from 1, in characters) and gap (spaces) before it.
struct Token<'a> {
    text: &'a str,
    column: usize,
    gap: usize,
}

fn tokens(s: &str, first_column: usize) -> Vec<Token<'_>> {
    let mut out = Vec::new();
    let (mut column, mut gap) = (first_column, 0);
    let mut start: Option<(usize, usize)> = None;
    for (i, c) in s.char_indices() {
        if c.is_whitespace() {
            if let Some((b, col)) = start.take() {
                out.push(Token { text: &s[b..i], column: col, gap });
                gap = 0;
            }
            gap += if c == '\t' { 2 } else { 1 };
        } else if start.is_none() {
            start = Some((i, column));
        }
        column += 1;
    }
    if let Some((b, col)) = start {
        out.push(Token { text: &s[b..], column: col, gap });
    }
    out
}

fn is_hex(s: &str) -> bool {
    !s.is_empty() && s.bytes().all(|b| b.is_ascii_hexdigit())
}

/// Hex digits of a group, with a list's `0x` and comma taken off.
fn group(t: &str) -> Option<&str> {
    let t = t.trim_end_matches([',', ';']);
    let t = t.strip_prefix("0x").or_else(|| t.strip_prefix("0X")).unwrap_or(t);
    is_hex(t).then_some(t)
}

fn push_hex(out: &mut Vec<u8>, digits: &str) {
    for pair in digits.as_bytes().chunks_exact(2) {
        let nibble = |b: u8| (b as char).to_digit(16).unwrap_or(0) as u8;
        out.push(nibble(pair[0]) << 4 | nibble(pair[1]));
    }
}

/// Takes off what launchers, web pages and mails put around a line; returns the columns removed.
fn unquote(line: &str) -> (&str, usize) {
    let mut s = line.trim_end();
    for end in ["<br/>", "<br />", "<br>"] {
        let at = s.len().saturating_sub(end.len());
        if s.is_char_boundary(at) && s[at..].eq_ignore_ascii_case(end) {
            s = s[..at].trim_end();
        }
    }
    for junk in ["=0A=", "=0A", "=20", "="] {
        if let Some(r) = s.strip_suffix(junk) {
            s = r.trim_end();
        }
    }
    let mut body = s.trim_start_matches(['>', '|', ' ', '\t', '\u{feff}']);
    // mpirun --tag-output: `[1,30]<stderr>:`, with --timestamp-output a date before it.
    for tag in ["]<stderr>:", "]<stdout>:", "]<stddiag>:"] {
        if let Some((_, rest)) = body.split_once(tag) {
            body = rest.trim_start();
        }
    }
    (body, s.chars().count() - body.chars().count())
}

/// Most bytes on one line of a dump with offsets.
const ROW_MAX: usize = 64;

/// Reads one line.
pub fn line(raw: &str) -> Line {
    let (body, removed) = unquote(raw);
    if body.is_empty() {
        return Line::Blank;
    }
    if let Some(f) = mthca(body) {
        return Line::Foreign(f);
    }
    let t = tokens(body, removed + 1);
    if let Some(l) = row(&t) {
        return l;
    }
    if let Some(w) = word_row(&t) {
        return Line::Words(w);
    }
    if let Some(b) = byte_line(&t) {
        return Line::Bytes(b);
    }
    message::message(body)
}

/// `offset: byte byte ...` after any prefix.
fn row(t: &[Token]) -> Option<Line> {
    for i in 0..t.len().saturating_sub(1) {
        let text = t[i].text;
        let (digits, mut colon) = match text.strip_suffix(':') {
            Some(d) => (d, true),
            None => (text, false),
        };
        let digits = digits.strip_prefix("0x").unwrap_or(digits);
        if !is_hex(digits) || digits.len() > 16 {
            continue;
        }
        let mut data = &t[i + 1..];
        // A debugger's symbol: `0x7ffff6d2c070 <cqe+48>:`.
        if data[0].text.starts_with('<') && data[0].text.ends_with(">:") && data.len() > 1 {
            colon = true;
            data = &data[1..];
        }
        let Some(width) = group(data[0].text).map(str::len) else {
            continue;
        };
        // A debugger prints numbers, the others memory.
        let numbers = data[0].text.starts_with("0x") && width > 2;
        if !colon {
            // hexdump, od: bare offsets of 7 or more digits.
            let bare = matches!(digits.len(), 7 | 8 | 16);
            if bare && width == 4 && t.len() >= i + 5 && i == 0 {
                return Some(Line::Foreign(Foreign::HostWords));
            }
            if !(bare && width == 2) {
                continue;
            }
        }
        if !(matches!(width, 2 | 4 | 8) || width == 16 && numbers) {
            continue;
        }
        let offset = u64::from_str_radix(digits, 16).ok()?;
        let mut bytes = Vec::new();
        let mut damage = None;
        for tok in data {
            if bytes.len() >= 16 && tok.gap >= 2 && bytes.len() % 16 == 0 {
                break; // ASCII column
            }
            match group(tok.text) {
                Some(g) if g.len() == width => push_hex(&mut bytes, g),
                _ => {
                    // Log text glued to the last group.
                    if let Some((g, _)) = tok.text.split_once('[') {
                        if is_hex(g) && g.len() == width {
                            push_hex(&mut bytes, g);
                            break;
                        }
                    }
                    let ascii = tok.gap >= 2 || tok.text.starts_with(['|', '.', '*']);
                    if !ascii && bytes.len() >= 4 && bytes.len() < 16 {
                        damage = Some((tok.column, tok.text));
                    }
                    break;
                }
            }
            if bytes.len() >= ROW_MAX {
                break;
            }
        }
        if let Some((column, found)) = damage {
            return Some(Line::Damaged { column, found: found.chars().take(20).collect() });
        }
        let enough = if width == 2 { 2 } else { 8 };
        if bytes.len() >= enough {
            let word = if numbers { width / 2 } else { 1 };
            return Some(Line::Row { offset, bytes, word });
        }
    }
    None
}

/// Four (eight, sixteen) 8-digit words after any prefix, or a line of nothing but such words.
fn word_row(t: &[Token]) -> Option<Vec<u8>> {
    let word = |s: &str| s.len() == 8 && is_hex(s);
    let first = t.iter().position(|x| word(x.text))?;
    let mut bytes = Vec::new();
    let mut n = 0;
    let mut rest = 0;
    for tok in &t[first..] {
        let text = tok.text.split_once('[').map_or(tok.text, |(a, _)| a);
        if rest == 0 && word(text) {
            push_hex(&mut bytes, text);
            n += 1;
            if text.len() != tok.text.len() {
                rest += 1;
            }
        } else {
            rest += 1;
        }
    }
    let whole_line = first == 0 && rest == 0;
    (matches!(n, 4 | 8 | 16) || whole_line && (1..16).contains(&n)).then_some(bytes)
}

/// A line of nothing but bytes, or of long hex strings.
fn byte_line(t: &[Token]) -> Option<Vec<u8>> {
    // A kernel time stamp before the bytes.
    let mut t = t;
    if t.first()?.text.starts_with('[') {
        let end = t.iter().position(|x| x.text.ends_with(']'))?;
        if end > 1 || !t[end].text.contains('.') {
            return None;
        }
        t = &t[end + 1..];
    }
    let mut bytes = Vec::new();
    for tok in t {
        let g = group(tok.text)?;
        let long = g.len() >= 16 && g.len() % 2 == 0;
        if g.len() != 2 && !long {
            return None;
        }
        push_hex(&mut bytes, g);
    }
    (!bytes.is_empty()).then_some(bytes)
}

/// `[ 0] 000014bc [ 4] 00000000 ...`
fn mthca(body: &str) -> Option<Foreign> {
    let words = body
        .split('[')
        .skip(1)
        .filter(|part| {
            let Some((off, rest)) = part.split_once(']') else {
                return false;
            };
            let off = off.trim();
            let word = rest.trim();
            off.len() <= 2 && is_hex(off) && word.len() == 8 && is_hex(word)
        })
        .count();
    (words > 0 && body.starts_with('[')).then_some(Foreign::Mthca { words })
}
