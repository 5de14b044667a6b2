//! The words of a driver, a library or a program about one completion.
//!
//! A number counts only where its key says which table it belongs to, and a status that is told
//! by name only where something shows that a completion is meant: its number beside it, the key
//! `status`, or the QP.

use super::lex::{Entry, Foreign, Line, WqeHead};
use super::names;
use super::words::{after, after_any, behind, byte, has, hex, hex_after, number, word, words_of};
use super::{calls, devices, events, firmware, qp_error};

/// A status told by name or in words.
struct Named {
    value: u8,
    /// The words `at..end`.
    at: usize,
    end: usize,
    /// The name of the header rather than a text.
    symbol: bool,
}

/// The first status that the words name; of two texts at one place the longer.
fn named(w: &[String]) -> Option<Named> {
    (0..w.len()).find_map(|at| {
        if let Some(value) = names::wc_status_of_symbol(&w[at]) {
            return Some(Named { value, at, end: at + 1, symbol: true });
        }
        let text = |t: &str| {
            // Most words start no text.
            let rest = t.strip_prefix(w[at].as_str())?.strip_prefix(' ')?;
            let more = rest.split(' ').count();
            let hit =
                w[at + 1..].len() >= more && rest.split(' ').zip(&w[at + 1..]).all(|(a, b)| a == b);
            hit.then_some(1 + more)
        };
        names::WC_TEXTS
            .iter()
            .filter_map(|(value, t)| Some((text(t)?, *value)))
            .max_by_key(|(n, _)| *n)
            .map(|(n, value)| Named { value, at, end: at + n, symbol: false })
    })
}

/// The status that a line names, for a hint.
pub fn names_status(body: &str) -> Option<&'static names::Meaning> {
    let n = named(&words_of(body)).filter(|n| n.value != 0)?;
    names::find(names::WC_STATUSES, n.value)
}

/// `completion with error` of many, `completion[0] with error` of UCX's srd.
fn completion_with_error(w: &[String]) -> bool {
    has(w, &["completion", "with", "error"])
        || w.windows(4).any(|x| {
            x[0] == "completion" && number(&x[1]).is_some() && x[2] == "with" && x[3] == "error"
        })
}

/// Phrases that show that a completion is meant: of libraries and programs, and of UCCL (`CQ
/// state error: 12`), Mooncake and the kernel's rtrs.
fn of_a_completion(w: &[String]) -> bool {
    completion_with_error(w)
        || has(w, &["work", "completion", "error"])
        || has(w, &["cqe", "error"])
        || has(w, &["wc", "error"])
        || has(w, &["error", "polling"]) && has(w, &["cq"])
        || has(w, &["work", "request", "returned", "error"])
        || has(w, &["cq", "state", "error"])
        || has(w, &["process", "failed", "for", "slice"])
        || has(w, &["rdma", "failed"])
}

/// Words beside a status in full (`IBV_WC_..`) that show that it is no source text and no advice.
fn of_an_operation(body: &str, w: &[String]) -> bool {
    let queue = body
        .split(|c: char| !c.is_ascii_alphanumeric())
        .any(|x| matches!(x, "SEND" | "RECV" | "READ" | "WRITE"));
    queue || has(w, &["failed"]) || vendor(w).is_some()
}

/// What a name says, if it is a completion's: with the vendor code that may stand with it.
fn told_by_name(body: &str, w: &[String], qpn: bool) -> Option<(u8, Option<u32>)> {
    // Source text compares; messages do not.
    if body.contains("!=") || body.contains("==") {
        return None;
    }
    let n = named(w)?;
    // Counters of drivers have the same names in lower case.
    if n.symbol && !names::find(names::WC_STATUSES, n.value).is_some_and(|m| body.contains(m.name))
    {
        return None;
    }
    let is_its_number = |x: Option<&String>| x.and_then(|x| number(x)) == Some(n.value.into());
    let before = n.at.checked_sub(1).map(|i| &w[i]);
    let key = before.is_some_and(|x| x == "status")
        || n.at > 1 && w[n.at - 2] == "status" && w[n.at - 1] == "name";
    let numbered = is_its_number(before)
        || is_its_number(w.get(n.end))
        || after(w, &["status", "number"]) == Some(n.value.into());
    let key = key && (n.symbol || !names::SAID_OF_MUCH.contains(&n.value));
    // The header's whole name, as programs print it.
    let whole = n.symbol && w[n.at].starts_with("ib");
    let told = qpn || whole && of_an_operation(body, w);
    if !(key || numbered || of_a_completion(w) || n.symbol && told) {
        return None;
    }
    // The trace of rpcrdma: number and vendor code as `(5/0xf9)`.
    let pair = body.contains(&format!("({}/0x", n.value));
    let vendor = pair.then(|| w.get(n.end + 1)).flatten().and_then(|x| hex(x));
    Some((n.value, word(vendor)))
}

/// Lines that one message may take.
pub fn most_lines(first: &str) -> usize {
    if debugger(first) { 16 } else { 3 }
}

/// A work completion as a debugger prints it, one field in a line or all.
fn debugger(body: &str) -> bool {
    let body = body.trim_start();
    body.starts_with(WR_ID) || body.contains("{wr_id = ")
}

/// The first field of a work completion.
const WR_ID: &str = "wr_id = ";

/// Does a message go on in the next line, because the mail program wrapped it or the driver
/// prints it in two?
pub fn continues(body: &str) -> bool {
    let w = words_of(body);
    let unfinished = |start: &[&str], end: &[&str]| has(&w, start) && after(&w, end).is_none();
    unfinished(&["error", "cqe", "on", "cqn"], &["vendor", "syndrome"])
        || unfinished(&["wqe", "dump"], &["len"]) && has(&w, &["wq", "size"])
        || has(&w, &["cq", "error", "on", "cqn"])
            && after_any(&w, &[&["syndrome"], &["syndrom"]]).is_none()
        || has(&w, &["wqe", "index"]) && has(&w, &["qpn"]) && !has(&w, &["opcode"])
        // Open MPI.
        || has(&w, &["error", "polling"])
            && after_any(&w, &[&["status"], &["status", "number"]]).is_none()
        || debugger(body) && after(&w, &["qp_num"]).is_none()
}

/// The parts of a line that each tell of one completion: a debugger prints arrays in one line.
pub fn parts(line: &str) -> Vec<&str> {
    let starts: Vec<usize> = line.match_indices(WR_ID).map(|(i, _)| i).collect();
    if starts.len() < 2 || !line.contains("status = ") {
        return vec![line];
    }
    let ends = starts.iter().skip(1).copied().chain([line.len()]);
    starts.iter().zip(ends).map(|(a, b)| &line[*a..b]).collect()
}

/// Text without hex rows.
pub fn message(body: &str) -> Line {
    let w = words_of(body);
    match read(body, &w) {
        Line::Other => {
            devices::foreign(&w).map_or(Line::Other, |d| Line::Foreign(Foreign::Device(d)))
        }
        line => line,
    }
}

/// `opcode=IBV_WC_RECV(128)`, `opcode=129`.
fn of_a_receive(w: &[String]) -> bool {
    w.windows(2).any(|x| {
        x[0] == "opcode"
            && matches!(x[1].as_str(), "128" | "129" | "ibv_wc_recv" | "ibv_wc_recv_rdma_with_imm")
    })
}

fn read(body: &str, w: &[String]) -> Line {
    if let Some(c) = firmware::read(body, w) {
        return Line::FwCommand(c);
    }
    if let Some(l) = older_adapters(w) {
        return l;
    }
    if let Some(e) = qp_error::read(body) {
        return Line::Entry(e);
    }
    if let Some(e) = events::read(body, w) {
        return Line::AsyncEvent(e);
    }
    if has(w, &["wqe", "dump"]) && has(w, &["wq", "size"]) {
        return Line::WqeHead(WqeHead {
            wq_size: word(after(w, &["wq", "size"])),
            index: word(after(w, &["wqe", "index"])),
            len: word(after(w, &["len"])),
        });
    }
    let syndrome = byte(
        ["syndrome", "synd", "syndrom"]
            .iter()
            .find_map(|k| behind(w, &[k], &["vendor", "hw"], number)),
    );
    if has(w, &["cq", "error", "on", "cqn"]) {
        if let (Some(cqn), Some(syndrome)) = (word(after(w, &["cqn"])), syndrome) {
            return Line::CqEvent { cqn, syndrome };
        }
    }
    let mut e = Entry {
        status: status(w),
        syndrome,
        vendor: vendor(w),
        receive: of_a_receive(w),
        device: devices::named(body),
        qpn: word(after_any(w, &[&["qn"], &["sqn"], &["rqn"], &["qp_num"], &["qpn"], &["qp"]])),
        ..Entry::default()
    };
    if has(w, &["error", "cqe", "on", "cqn"]) {
        return head(e, w);
    }
    if has(w, &["error", "cqe", "status"]) {
        // hns: the numbers are those of the mlx5 syndromes, the entry behind is not.
        return match e.status.take() {
            Some(s) => Line::Entry(Entry {
                syndrome: Some(s),
                foreign_dump: true,
                say: Some("the status of an hns CQE is numbered as the syndromes of mlx5 are"),
                ..e
            }),
            None => Line::Other,
        };
    }
    if let Some(slot) = after(w, &["wqe"]).filter(|_| has(w, &["qp"])) {
        e.ring_slot = word(Some(slot));
        e.remote_qpn = word(after(w, &["rqpn"]));
        e.length = word(after(w, &["len"]));
        e.operation = operation(body);
        // UCX once printed all in one line; today this is the second of two.
        if e.syndrome.is_none() {
            return Line::EntryDetail(e);
        }
    }
    let name = told_by_name(body, w, e.qpn.is_some());
    if let Some((value, vendor)) = name {
        if *e.status.get_or_insert(value) == value {
            e.vendor = e.vendor.or(vendor);
        }
    }
    // perftest and UCX call the vendor code a syndrome beside a verbs status.
    if e.status.is_some() && e.vendor.is_none() {
        e.vendor = e.syndrome.take().map(u32::from);
    }
    let alone = e.syndrome.is_some() && w.first().is_some_and(|f| f.starts_with("synd"));
    let told = (e.syndrome.is_some() || e.status.is_some()) && e.vendor.is_some();
    let by_name = name.is_some_and(|(value, _)| e.status == Some(value));
    let by_phrase = e.status.is_some() && (of_a_completion(w) || struct_wc(body, w));
    let dpdk = e.syndrome.is_some() && has(w, &["cqe", "error", "syndrome"]);
    let lnet = lnet(w);
    if let Some(status) = lnet {
        e.status = Some(status);
    }
    if told || alone || by_name || by_phrase || dpdk || lnet.is_some() {
        // Both printed: the syndrome is the device's word, the status what a library made of it.
        if e.status == Some(0) && e.syndrome.is_none() {
            return Line::Other;
        }
        if dpdk {
            e.cqn = word(after(w, &["cqn"]));
            e.wqe_counter = counter(after(w, &["wqe_counter"]));
        }
        return Line::Entry(e);
    }
    if has(w, &["completion", "with", "error"])
        || has(w, &["dump", "error", "cqe"])
        || has(w, &["error", "cqe"])
    {
        return Line::CqeFollows;
    }
    calls::read(w).map_or(Line::Other, Line::CallFailed)
}

/// `wc->status=12 wc->opcode=0`, as the kernel's smbdirect prints a `struct ib_wc`.
fn struct_wc(body: &str, w: &[String]) -> bool {
    let source = body.contains("==") || body.contains("!=") || body.trim_end().ends_with(';');
    has(w, &["wc", "status"]) && has(w, &["wc", "opcode"]) && !source
}

/// A verbs status by number.
fn status(w: &[String]) -> Option<u8> {
    // NCCL before it printed `status=`: `Got completion from peer 10.1.32.3<54891> with error 5`.
    if has(w, &["got", "completion", "from", "peer"]) {
        if let Some(n) = after(w, &["with", "error"]) {
            return byte(Some(n));
        }
    }
    let keys: [&[&str]; 7] = [
        &["status", "number"],
        &["status"],
        &["wc", "error"],
        &["wc_status"],
        &["completion", "with", "error"],
        &["work", "completion", "error"],
        &["cq", "state", "error"],
    ];
    byte(after_any(w, &keys))
}

fn vendor(w: &[String]) -> Option<u32> {
    // `vendor` alone is also the number of a maker, which has 16 bits.
    let short: [&[&str]; 6] = [
        &["vendor", "syndrome"],
        &["vendor", "synd"],
        &["vendor_err_synd"],
        &["vendor_syndrome"],
        &["vendor"],
        &["vend"],
    ];
    let long: [&[&str]; 4] =
        [&["vendor_err"], &["vendor", "err"], &["vendor", "error"], &["vendor", "code"]];
    // iser, isert and krping print it in hex, with 0x or without.
    let bare = || ["vend_err", "vender_err"].iter().find_map(|k| hex_after(w, &[k]));
    let told = byte(after_any(w, &short)).map(u32::from);
    told.or_else(|| word(after_any(w, &long).or_else(bare)))
}

fn counter(n: Option<u64>) -> Option<u16> {
    n.and_then(|n| u16::try_from(n).ok())
}

/// `Error cqe on cqn 0x817, ci 0x8, qn 0x1dbb, opcode 0xd, ...`: the bytes follow.
fn head(mut e: Entry, w: &[String]) -> Line {
    e.heads_dump = true;
    e.ethernet = has(w, &["ci"]);
    e.cqn = word(after(w, &["cqn"]));
    e.ci = word(after(w, &["ci"]));
    e.opcode = byte(after(w, &["opcode"])).or_else(|| {
        if has(w, &["responder", "error"]) {
            Some(names::CQE_RESP_ERR)
        } else if has(w, &["requestor", "error"]) || has(w, &["requester", "error"]) {
            Some(names::CQE_REQ_ERR)
        } else {
            None
        }
    });
    if e.syndrome.is_some() { Line::Entry(e) } else { Line::CqeFollows }
}

/// The operation of UCX's message: behind `wqe[41]:`, or behind `opcode`.
fn operation(body: &str) -> Option<String> {
    let first = |(_, rest): (&str, &str)| rest.split_whitespace().next().map(str::to_owned);
    [body.split_once("]:").and_then(first), body.rsplit_once(" opcode ").and_then(first)]
        .into_iter()
        .flatten()
        .find(|op| super::wqe::opcode_number(op).is_some())
}

/// Lustre's o2iblnd: the status is the last number of the line.
fn lnet(w: &[String]) -> Option<u8> {
    let from = has(w, &["rx", "from"]) || has(w, &["sending"]) && has(w, &["waiting"]);
    let peer = w.iter().any(|x| x.starts_with("o2ib"));
    let [.., failed, n] = w else { return None };
    (from && peer && failed == "failed").then(|| byte(number(n))).flatten()
}

/// What drivers of adapters before mlx5 print; numbers in hex, with 0x or without.
fn older_adapters(w: &[String]) -> Option<Line> {
    // mlx4, mthca: an event of the CQ.
    for (what, syndrome) in [("overrun", 1), ("violation", 2)] {
        if has(w, &["cq"]) && has(w, &[what, "on", "cqn"]) {
            let cqn = word(hex_after(w, &["cqn"]))?;
            return Some(Line::CqEvent { cqn, syndrome });
        }
    }
    // mcxnex, hermon (Solaris): `status` is the syndrome byte of the entry.
    if has(w, &["cqe", "err"]) && has(w, &["indx"]) {
        return Some(Line::Entry(Entry {
            syndrome: Some(byte(hex_after(w, &["status"]))?),
            vendor: word(hex_after(w, &["vendor", "syndrome"])),
            qpn: word(hex_after(w, &["qpn"])),
            wqe_counter: counter(hex_after(w, &["indx"])),
            say: Some(
                "'status' of this driver is the syndrome byte of the hardware, not a verbs status",
            ),
            ..Entry::default()
        }));
    }
    // libmlx4, libmthca: printed for this one status only.
    if has(w, &["local", "qp", "operation", "err", "qpn"]) {
        return Some(Line::Entry(Entry {
            status: Some(names::LOC_QP_OP),
            vendor: word(hex_after(w, &["vendor", "syndrome"])),
            qpn: word(hex_after(w, &["qpn"])),
            cqn: word(hex_after(w, &["cqn"])),
            say: Some(
                "from an adapter before mlx5: this hardware's WQEs and CQEs have another layout",
            ),
            ..Entry::default()
        }));
    }
    // The same without the words that say what happened.
    if has(w, &["qpn"]) && has(w, &["vendor", "syndrome"]) {
        let index = word(hex_after(w, &["wqe", "index"]))?;
        let opcode = byte(hex_after(w, &["opcode"]))?;
        return Some(Line::Foreign(Foreign::Mlx4 { index, opcode }));
    }
    None
}
