//! The timing pictures of docs/integration.md are what the hardware does.
//!
//! Each picture is a short story, played on the RTL; what its ports showed is written as
//! WaveJSON and compared with docs/waves/. `make waves` writes them anew and draws them.
//!
//! Seen to fail with another clock of the stall in one story, and with a drawing of another
//! recording.

use std::collections::{HashMap, VecDeque};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use rnic_cosim::cosim::convert;
use rnic_cosim::hw::{Dut, HwConfig, Rtl, abi};
use rnic_cosim::model::*;

use crate::model_support::{good_values, wqe};
use crate::rtl_support::all_ready;

/// The ports in one clock, just before its rising edge.
struct Row {
    reset: bool,
    stim: abi::rnic_stim,
    resp: abi::rnic_resp,
}

/// Records as a person calls them, by their tag.
type Labels = HashMap<u32, &'static str>;

/// One line of a picture.
enum Line {
    Bit(&'static str, fn(&Row) -> u8),
    /// A record, where it is valid.
    Record(&'static str, fn(&Row) -> u8, fn(&Row, &Labels) -> String),
}
use Line::{Bit, Record};

const CMD: [Line; 3] = [
    Bit("cmd_valid_i", |r| r.stim.cmd_valid),
    Bit("cmd_ready_o", |r| r.resp.cmd_ready),
    Record("cmd_i", |r| r.stim.cmd_valid, |r, l| l[&r.stim.cmd.tag].into()),
];
const POST: [Line; 3] = [
    Bit("post_valid_i", |r| r.stim.post_valid),
    Bit("post_ready_o", |r| r.resp.post_ready),
    Record("post_i", |r| r.stim.post_valid, |r, l| l[&r.stim.post.tag].into()),
];
const WIRE: [Line; 3] = [
    Bit("wire_valid_i", |r| r.stim.wire_valid),
    Bit("wire_ready_o", |r| r.resp.wire_ready),
    Record("wire_i", |r| r.stim.wire_valid, |r, l| l[&r.stim.wire.tag].into()),
];
const CQDB: [Line; 3] = [
    Bit("cqdb_valid_i", |r| r.stim.cqdb_valid),
    Bit("cqdb_ready_o", |r| r.resp.cqdb_ready),
    Record("cqdb_i", |r| r.stim.cqdb_valid, |r, l| l[&r.stim.cqdb.tag].into()),
];
const WALK: [Line; 9] = [
    Bit("wqe_valid_i", |r| r.stim.wqe_valid),
    Bit("wqe_ready_o", |r| r.resp.wqe_ready),
    Record("wqe_i", |r| r.stim.wqe_valid, |r, _| format!("block {}", r.stim.wqe.first_block)),
    Bit("fetch_valid_o", |r| r.resp.fetch_valid),
    Bit("fetch_ready_i", |r| r.stim.fetch_ready),
    Record("fetch_o", |r| r.resp.fetch_valid, |r, _| format!("unit {}", r.resp.fetch.unit)),
    Bit("unit_valid_i", |r| r.stim.unit_valid),
    Bit("unit_ready_o", |r| r.resp.unit_ready),
    Record("unit_i", |r| r.stim.unit_valid, |r, _| format!("{:08x}", r.stim.unit.word0)),
];
const RSP: [Line; 3] = [
    Bit("rsp_valid_o", |r| r.resp.rsp_valid),
    Bit("rsp_ready_i", |r| r.stim.rsp_ready),
    Record(
        "rsp_o",
        |r| r.resp.rsp_valid,
        |r, l| {
            assert_eq!(r.resp.rsp.outcome, 0, "no story has a refusal");
            l[&r.resp.rsp.tag].into()
        },
    ),
];
const ISSUE: [Line; 3] = [
    Bit("issue_valid_o", |r| r.resp.issue_valid),
    Bit("issue_ready_i", |r| r.stim.issue_ready),
    Record("issue_o", |r| r.resp.issue_valid, |r, _| format!("WQE {}", r.resp.issue.wqe_index)),
];
const CQE: [Line; 3] = [
    Bit("cqe_valid_o", |r| r.resp.cqe_valid),
    Bit("cqe_ready_i", |r| r.stim.cqe_ready),
    Record("cqe_o", |r| r.resp.cqe_valid, |r, _| format!("slot {}", r.resp.cqe.index)),
];
const EVENT: [Line; 3] = [
    Bit("event_valid_o", |r| r.resp.event_valid),
    Bit("event_ready_i", |r| r.stim.event_ready),
    Record(
        "event_o",
        |r| r.resp.event_valid,
        |r, _| {
            let kinds = [
                (abi::RNIC_EV_CQ_ERR, "CQ_ERR"),
                (abi::RNIC_EV_QP_FATAL, "QP_FATAL"),
                (abi::RNIC_EV_SQ_DRAINED, "SQ_DRAINED"),
                (abi::RNIC_EV_COMPLETION, "completion"),
            ];
            let set = kinds.iter().filter(|(bit, _)| u32::from(r.resp.event.kinds) & *bit != 0);
            set.map(|(_, name)| *name).collect::<Vec<_>>().join(" ")
        },
    ),
];
const RETIRE: [Line; 3] = [
    Bit("retire_valid_o", |r| r.resp.retire_valid),
    Bit("retire_ready_i", |r| r.stim.retire_ready),
    Record(
        "retire_o",
        |r| r.resp.retire_valid,
        |r, l| match (r.resp.retire.tag, r.resp.retire.op) {
            (0, 24) => "ISSUE".into(),
            (0, 25) => "FLUSH".into(),
            (0, _) => "CASCADE".into(),
            (tag, _) => l[&tag].into(),
        },
    ),
];

/// The hardware, what is still to be offered, and what was seen.
struct Scope {
    dut: Rtl,
    stim: abi::rnic_stim,
    waiting: [VecDeque<(u64, u32, Operation)>; 5],
    labels: Labels,
    next_tag: u32,
    clock: u64,
    /// Units of the WQE that is being walked, and when they arrive.
    memory: Vec<[u32; 4]>,
    units: VecDeque<(u64, [u32; 4])>,
    rows: Vec<Row>,
}

/// Clocks from a fetch to its unit.
const MEMORY_LATENCY: u64 = 2;

impl Scope {
    fn new() -> Self {
        let mut dut = Rtl::new(HwConfig::Small, 1).expect("the configuration is built");
        dut.reset(&convert::policy_record(&Policy::BOOK)).expect("it comes out of reset");
        let stim = abi::rnic_stim { fetch_ready: 1, ..all_ready() };
        Self {
            dut,
            stim,
            waiting: Default::default(),
            labels: Labels::new(),
            next_tag: 1,
            clock: 0,
            memory: Vec::new(),
            units: VecDeque::new(),
            rows: Vec::new(),
        }
    }

    /// Offers an operation from that clock of the picture on, behind what its channel still has.
    fn at(&mut self, clock: u64, label: &'static str, op: Operation) -> &mut Self {
        let queue = match convert::channel(&op) {
            Channel::Cmd => 0,
            Channel::Post => 1,
            Channel::Wire => 2,
            Channel::Cqdb => 3,
            Channel::Wqe | Channel::Internal => 4,
        };
        self.labels.insert(self.next_tag, label);
        self.waiting[queue].push_back((self.clock + clock, self.next_tag, op));
        self.next_tag += 1;
        self
    }

    fn offer(&mut self) {
        let now = self.clock;
        let s = &mut self.stim;
        let busy = [s.cmd_valid, s.post_valid, s.wire_valid, s.cqdb_valid, s.wqe_valid];
        for (queue, busy) in self.waiting.iter_mut().zip(busy) {
            if busy != 0 || queue.front().is_none_or(|(from, ..)| *from > now) {
                continue;
            }
            let (_, tag, op) = queue.pop_front().expect("it has a front");
            convert::put(tag, &op, s);
            if let Operation::PostWqe(w) = op {
                self.memory = (0..WQE_UNITS as u32).map(|n| w.unit(n)).collect();
            }
        }
        let arrived = self.units.front().filter(|(from, _)| *from <= now);
        if let Some(&(_, [word0, word1, word2, word3])) = arrived {
            self.stim.unit = abi::rnic_unit { word0, word1, word2, word3 };
            self.stim.unit_valid = 1;
        }
    }

    fn step(&mut self) {
        self.offer();
        let mut resp = abi::rnic_resp::default();
        self.dut.step(&self.stim, &mut resp).expect("no assertion fails");
        self.rows.push(Row { reset: false, stim: self.stim, resp });
        let s = &mut self.stim;
        s.cmd_valid &= u8::from(resp.cmd_ready == 0);
        s.post_valid &= u8::from(resp.post_ready == 0);
        s.wire_valid &= u8::from(resp.wire_ready == 0);
        s.cqdb_valid &= u8::from(resp.cqdb_ready == 0);
        s.wqe_valid &= u8::from(resp.wqe_ready == 0);
        if s.unit_valid & resp.unit_ready != 0 {
            self.units.pop_front();
        }
        s.unit_valid = 0;
        if resp.fetch_valid & s.fetch_ready != 0 {
            let unit = self.memory[resp.fetch.unit as usize % self.memory.len()];
            self.units.push_back((self.clock + MEMORY_LATENCY, unit));
        }
        self.clock += 1;
    }

    /// Runs until nothing is left to be done, and forgets what was seen.
    fn settle(&mut self) {
        for _ in 0..400 {
            self.step();
        }
        assert!(self.waiting.iter().all(VecDeque::is_empty));
        self.rows.clear();
    }

    /// CQ 0 with that many entries, QP 1 (RC) in RTS on it, `recvs` receives posted.
    fn ready_qp(&mut self, depth: u32, recvs: u16) -> &mut Self {
        self.at(0, "CREATE_CQ", create_cq(0, depth)).at(0, "CREATE_QP", create_qp(1));
        for to in 1..=3 {
            self.at(0, "MODIFY_QP", modify(1, to));
        }
        self.settle();
        for index in 0..recvs {
            self.at(0, "POST_RECV", Operation::PostRecv { qpn: 1, wqe_index: index });
        }
        self.settle();
        self
    }

    /// Records that many clocks; `stall` says which ready bits are 0 in which of them.
    fn run(&mut self, clocks: u64, stall: impl Fn(u64, &mut abi::rnic_stim)) -> &mut Self {
        for n in 0..clocks {
            let ready = self.stim;
            stall(n, &mut self.stim);
            self.step();
            let s = &mut self.stim;
            s.rsp_ready = ready.rsp_ready;
            s.issue_ready = ready.issue_ready;
            s.cqe_ready = ready.cqe_ready;
            s.event_ready = ready.event_ready;
            s.retire_ready = ready.retire_ready;
        }
        self
    }

    /// WaveJSON, one signal a line.
    fn picture(&self, lines: &[&[Line]]) -> String {
        let mut text = String::from("{\"signal\": [\n");
        let clocks = self.rows.len();
        let mut widest = 0;
        let _ =
            writeln!(text, "  {{\"name\": \"clk_i\", \"wave\": \"p{}\"}}", ".".repeat(clocks - 1));
        for line in lines.iter().copied().flatten() {
            let (name, wave, data) = self.line(line);
            widest = data.iter().map(String::len).chain([widest]).max().unwrap_or(0);
            let _ = write!(text, "  ,{{\"name\": \"{name}\", \"wave\": \"{wave}\"");
            if !data.is_empty() {
                let _ = write!(text, ", \"data\": {}", serde_json::to_string(&data).expect("text"));
            }
            text.push_str("}\n");
        }
        // A clock is 40 pixels wide times this, a letter at most 9.
        let hscale = (9 * widest + 8).div_ceil(40).max(2);
        let _ = writeln!(
            text,
            "],\n \"config\": {{\"hscale\": {hscale}}},\n \"foot\": {{\"tock\": 0}}}}"
        );
        text
    }

    fn line(&self, line: &Line) -> (&'static str, String, Vec<String>) {
        let mut wave = String::new();
        let mut data = Vec::new();
        let mut last = String::new();
        for row in &self.rows {
            // What was not sampled is not known.
            let (sign, text) = match line {
                Bit("rst_ni", bit) => (digit(bit(row)), String::new()),
                Record(_, valid, show) if !row.reset && valid(row) != 0 => {
                    ('=', show(row, &self.labels))
                }
                Bit(_, bit) if !row.reset => (digit(bit(row)), String::new()),
                _ => ('x', String::new()),
            };
            let now = format!("{sign}{text}");
            if now == last {
                wave.push('.');
                continue;
            }
            wave.push(sign);
            if sign == '=' {
                data.push(text);
            }
            last = now;
        }
        let (Bit(name, _) | Record(name, ..)) = line;
        (name, wave, data)
    }
}

fn digit(bit: u8) -> char {
    if bit == 0 { '0' } else { '1' }
}

fn create_cq(cqn: u32, depth: u32) -> Operation {
    Operation::CreateCq { cqn, depth, ignore_overrun: false }
}

fn create_qp(qpn: u32) -> Operation {
    Operation::CreateQp {
        qpn,
        transport: Transport::Rc.number(),
        send_cqn: 0,
        recv_cqn: 0,
        sq_ceiling: 4,
        rq_ceiling: 4,
        sq_sig_all: false,
    }
}

/// From the state below to `to` with the required attributes; →ERR with none.
fn modify(qpn: u32, to: u8) -> Operation {
    let state = |n| QpState::from_number(n).expect("a state");
    let required = match to {
        6 => AttrMask::EMPTY,
        _ => {
            transition_row(Transport::Rc, state(to - 1), state(to), &Policy::BOOK)
                .expect("legal")
                .required
        }
    };
    Operation::ModifyQp(Modify {
        qpn,
        attr_mask: required | AttrMask::STATE,
        qp_state: to,
        values: good_values(),
        ..Modify::default()
    })
}

fn post_send(wqe_index: u16) -> Operation {
    let ctrl = wqe(OpClass::Send, wqe_index).pack().expect("fields fit");
    Operation::PostSend(PostSend { qpn: 1, ctrl, payload_len: 100, ..PostSend::default() })
}

fn complete(queue: Queue, slot: u16) -> Operation {
    Operation::Complete(Complete {
        qpn: 1,
        queue,
        epoch: 0,
        slot,
        status: 0,
        byte_count: 100,
        opcode: 128,
        imm: 0,
        wc_flags: 0,
        solicited: false,
    })
}

/// A SEND in the mlx5 format with 20 bytes inline.
fn send_in_memory() -> Operation {
    let control = ControlSegment { ds: 3, ..wqe(OpClass::Send, 5) };
    let mut units = [[0; 4]; WQE_UNITS];
    // Memory holds big-endian words.
    units[0] = control.pack().expect("fields fit").map(u32::swap_bytes);
    units[1] = [0x8000_0014, 0x4142_4344, 0x4546_4748, 0x494a_4b4c].map(u32::swap_bytes);
    units[2] = [0x4d4e_4f50, 0x5152_5354, 0, 0].map(u32::swap_bytes);
    Operation::PostWqe(PostWqe {
        qpn: 1,
        transport: Transport::Rc,
        format: WqeFormat::Mlx5,
        first_block: 0,
        ring_log2: 4,
        units,
    })
}

const RESET: [Line; 1] = [Bit("rst_ni", |r| u8::from(!r.reset))];

/// Every picture by its name.
fn pictures() -> Vec<(&'static str, String)> {
    let nothing = |_: u64, _: &mut abi::rnic_stim| {};
    let mut all = Vec::new();

    let mut s = Scope::new();
    s.at(0, "CREATE_CQ", create_cq(0, 4)).run(16, nothing);
    for _ in 0..2 {
        let unknown = Row { reset: true, stim: Default::default(), resp: Default::default() };
        s.rows.insert(0, unknown);
    }
    all.push(("reset", s.picture(&[&RESET, &CMD, &RSP])));

    let mut s = Scope::new();
    s.settle();
    s.at(1, "CREATE_CQ", create_cq(0, 4))
        .at(1, "CREATE_QP", create_qp(1))
        .at(1, "QUERY_QP", Operation::QueryQp { qpn: 1 })
        .run(13, nothing);
    all.push(("cmd", s.picture(&[&CMD, &RSP, &RETIRE])));

    let mut s = Scope::new();
    s.ready_qp(4, 0)
        .at(1, "SEND 7", post_send(7))
        .at(1, "SEND 8", post_send(8))
        .at(1, "RECV 9", Operation::PostRecv { qpn: 1, wqe_index: 9 })
        .run(12, nothing);
    all.push(("post", s.picture(&[&POST, &ISSUE, &RSP])));

    let mut s = Scope::new();
    s.ready_qp(4, 2)
        .at(1, "COMPLETE 0", complete(Queue::Recv, 0))
        .at(1, "COMPLETE 1", complete(Queue::Recv, 1))
        .run(11, nothing);
    all.push(("wire", s.picture(&[&WIRE, &CQE, &RETIRE])));

    let mut s = Scope::new();
    s.ready_qp(4, 1).at(0, "COMPLETE 0", complete(Queue::Recv, 0)).settle();
    s.at(1, "ARM", Operation::Arm { cqn: 0, solicited_only: false })
        .at(1, "CONSUME 1", Operation::Consume { cqn: 0, index: 1 })
        .run(11, nothing);
    all.push(("cqdb", s.picture(&[&CQDB, &RSP])));

    let mut s = Scope::new();
    s.ready_qp(4, 0).at(1, "SEND 5", send_in_memory()).run(19, nothing);
    all.push(("walk", s.picture(&[&WALK, &ISSUE, &RSP])));

    let mut s = Scope::new();
    s.ready_qp(4, 0)
        .at(1, "QUERY_QP", Operation::QueryQp { qpn: 1 })
        .at(1, "QUERY_CQ", Operation::QueryCq { cqn: 0 })
        .run(14, |n, stim| stim.rsp_ready = u8::from(!(5..10).contains(&n)));
    all.push(("rsp", s.picture(&[&CMD, &RSP])));

    let mut s = Scope::new();
    s.ready_qp(4, 0)
        .at(1, "SEND 7", post_send(7))
        .at(1, "SEND 8", post_send(8))
        .run(13, |n, stim| stim.issue_ready = u8::from(n > 9));
    all.push(("issue", s.picture(&[&POST, &ISSUE, &RSP])));

    let mut s = Scope::new();
    s.ready_qp(4, 1)
        .at(1, "COMPLETE 0", complete(Queue::Recv, 0))
        .at(2, "QUERY_CQ", Operation::QueryCq { cqn: 0 })
        .run(14, |n, stim| stim.cqe_ready = u8::from(n > 8));
    all.push(("cqe", s.picture(&[&WIRE, &CMD, &CQE, &RSP])));

    let mut s = Scope::new();
    s.ready_qp(1, 2).at(0, "ARM", Operation::Arm { cqn: 0, solicited_only: false }).settle();
    s.at(1, "COMPLETE 0", complete(Queue::Recv, 0))
        .at(1, "COMPLETE 1", complete(Queue::Recv, 1))
        .run(12, nothing);
    all.push(("event", s.picture(&[&WIRE, &CQE, &EVENT])));

    let mut s = Scope::new();
    s.ready_qp(4, 3).at(1, "MODIFY_QP", modify(1, 6)).run(17, nothing);
    all.push(("retire", s.picture(&[&CMD, &CQE, &RETIRE])));
    all
}

#[test]
fn the_pictures_are_what_the_hardware_does() {
    if !HwConfig::Small.is_built() {
        eprintln!("skipped: RNIC_CONFIGS left out the configuration small");
        return;
    }
    let write = std::env::var_os("RNIC_WRITE_WAVES").map(PathBuf::from);
    let page = fs::read_to_string("docs/integration.md").expect("the page is there");
    for (name, json) in pictures() {
        if let Some(folder) = &write {
            fs::create_dir_all(folder).expect("it can be made");
            fs::write(folder.join(format!("{name}.json")), json).expect("it can be written");
            continue;
        }
        let kept = |ending: &str| {
            let file = Path::new("docs/waves").join(format!("{name}.{ending}"));
            fs::read_to_string(&file).unwrap_or_else(|e| panic!("{}: {e}", file.display()))
        };
        assert_eq!(kept("json"), json, "docs/waves/{name}.json is out of date: make waves");
        // The drawing carries the recording that it was made from.
        assert!(kept("svg").contains(&json), "docs/waves/{name}.svg is out of date: make waves");
        assert!(page.contains(&format!("](waves/{name}.svg)")), "{name} is not shown");
    }
}
