//! The hardware clock by clock, with nobody judging it: every record that left a port is kept.
#![allow(dead_code)]

use std::collections::HashMap;

use rnic_cosim::cosim::convert;
use rnic_cosim::hw::{Dut, HwConfig, Rtl, abi};
use rnic_cosim::model::{Channel, Operation, Policy};

/// Bits of `rnic_stim.hold_internal`.
pub const HOLD_FLUSH: u8 = 1;
pub const HOLD_ISSUE: u8 = 2;
pub const HOLD_CASCADE: u8 = 4;
pub const HOLD_ALL: u8 = 7;

/// Nothing is offered, every record is taken.
pub fn all_ready() -> abi::rnic_stim {
    abi::rnic_stim {
        rsp_ready: 1,
        issue_ready: 1,
        cqe_ready: 1,
        event_ready: 1,
        retire_ready: 1,
        ..Default::default()
    }
}

/// A record and the clock in which it was taken.
pub type At<R> = (u64, R);

/// What left the ports, oldest first.
#[derive(Default)]
pub struct Seen {
    pub retire: Vec<At<abi::rnic_retire>>,
    pub rsp: Vec<At<abi::rnic_rsp>>,
    pub cqe: Vec<At<abi::rnic_cqe_write>>,
    pub event: Vec<At<abi::rnic_event>>,
    pub issue: Vec<At<abi::rnic_issue>>,
}

pub struct Hw {
    dut: Rtl,
    /// Valid bits are the channels' own business; ready and hold bits may be set at will.
    pub stim: abi::rnic_stim,
    resp: abi::rnic_resp,
    pub clock: u64,
    next_tag: u32,
    pub sent: HashMap<u32, Operation>,
    pub seen: Seen,
}

impl Hw {
    /// Out of reset, every output ready, nothing held.
    pub fn new(config: HwConfig, policy: &Policy, seed: u64) -> Hw {
        let mut dut = Rtl::new(config, seed).expect("the configuration is built");
        dut.reset(&convert::policy_record(policy)).expect("it comes out of reset");
        Hw {
            dut,
            stim: all_ready(),
            resp: abi::rnic_resp::default(),
            clock: 0,
            next_tag: 1,
            sent: HashMap::new(),
            seen: Seen::default(),
        }
    }

    /// Bits of `rnic_cosim::cosim::timing`.
    pub fn set_ready(&mut self, bits: u8) {
        let s = &mut self.stim;
        [s.rsp_ready, s.issue_ready, s.cqe_ready, s.event_ready, s.retire_ready] =
            std::array::from_fn(|n| bits >> n & 1);
    }

    pub fn busy(&self, channel: Channel) -> bool {
        match channel {
            Channel::Cmd => self.stim.cmd_valid != 0,
            Channel::Post => self.stim.post_valid != 0,
            Channel::Wire => self.stim.wire_valid != 0,
            Channel::Cqdb => self.stim.cqdb_valid != 0,
            Channel::Wqe | Channel::Internal => true,
        }
    }

    /// Offers an operation from the next clock on; its channel must be idle.
    pub fn offer(&mut self, op: Operation) -> u32 {
        let channel = convert::channel(&op);
        assert!(!self.busy(channel));
        let tag = self.next_tag;
        self.next_tag += 1;
        convert::put(tag, &op, &mut self.stim);
        self.sent.insert(tag, op);
        tag
    }

    /// One clock.
    pub fn step(&mut self) {
        let s = &mut self.stim;
        let r = &mut self.resp;
        if let Err(e) = self.dut.step(s, r) {
            panic!("{e}");
        }
        let at = self.clock;
        if r.retire_valid & s.retire_ready != 0 {
            self.seen.retire.push((at, r.retire));
        }
        if r.rsp_valid & s.rsp_ready != 0 {
            self.seen.rsp.push((at, r.rsp));
        }
        if r.cqe_valid & s.cqe_ready != 0 {
            self.seen.cqe.push((at, r.cqe));
        }
        if r.event_valid & s.event_ready != 0 {
            self.seen.event.push((at, r.event));
        }
        if r.issue_valid & s.issue_ready != 0 {
            self.seen.issue.push((at, r.issue));
        }
        s.cmd_valid &= u8::from(r.cmd_ready == 0);
        s.post_valid &= u8::from(r.post_ready == 0);
        s.wire_valid &= u8::from(r.wire_ready == 0);
        s.cqdb_valid &= u8::from(r.cqdb_ready == 0);
        self.clock += 1;
    }

    /// The operation that a retire record is about.
    pub fn operation(&self, r: &abi::rnic_retire) -> Operation {
        if r.tag == 0 {
            convert::internal_step(r).unwrap_or_else(|| panic!("no internal step: {r:?}"))
        } else {
            self.sent[&r.tag]
        }
    }
}

impl Hw {
    /// Offers an operation and waits until it has retired and was answered.
    pub fn done(&mut self, op: Operation) -> abi::rnic_retire {
        while self.busy(convert::channel(&op)) {
            self.step();
        }
        let (retired, answered) = (self.seen.retire.len(), self.seen.rsp.len());
        let tag = self.offer(op);
        let silent = convert::channel(&op) == Channel::Wire;
        for _ in 0..1000 {
            self.step();
            let r = self.seen.retire[retired..].iter().find(|(_, r)| r.tag == tag);
            let answer = self.seen.rsp[answered..].iter().any(|(_, r)| r.tag == tag);
            if let Some((_, r)) = r.filter(|_| answer || silent) {
                return *r;
            }
        }
        panic!("{op:?} does not retire");
    }
}
