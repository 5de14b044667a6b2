//! Hardware and model side by side where random traffic does not get to: indices and counters of
//! many bits, operations that meet what was stored a clock before, numbers that are one bit off.

use std::path::Path;

use rnic_cosim::cosim::campaign::Case;
use rnic_cosim::cosim::stimulus::{Generator, Profile};
use rnic_cosim::cosim::{Cosim, Failure, Source, Timing, View};
use rnic_cosim::hw::{Dut, DutError, HwConfig, Rtl, abi};
use rnic_cosim::model::{
    AccessFlags, AttrMask, AttrValues, Channel, Complete, CqScope, Lkey, Modify, Operation, Policy,
    PostWqe, QpState, Queue, Transport, WQE_UNITS, WqeFormat,
};

/// How far a run goes: as far as a test can wait, or around the counters that it is about.
#[derive(Clone, Copy, PartialEq)]
pub enum Far {
    Test,
    Mutants,
}

/// The runs, by name.
pub const RUNS: [&str; 8] =
    ["rings", "lives", "stale", "keys", "shared", "looked", "flipped", "shapes"];

/// Plays one of them into hardware that `wrap` may look into; gives that back.
pub fn play<D: Dut>(name: &str, far: Far, mut wrap: impl FnMut(Rtl, Option<D>) -> D) -> Option<D> {
    const CONFIG: HwConfig = HwConfig::Small;
    let mut dut = None;
    let mut run = |source: &mut dyn Source, policy: Policy, timing: &Timing| {
        let rtl = Rtl::new(CONFIG, 1).expect("the hardware powers up");
        let loose = Loose(wrap(rtl, dut.take()));
        let mut cosim = Cosim::new(loose, *CONFIG.sizes(), policy, timing).expect("it resets");
        if let Err(failure) = cosim.run(source) {
            panic!("{name}: {failure}");
        }
        dut = Some(cosim.into_dut().0);
    };
    let long = far == Far::Mutants;
    // A CQ that failed still takes entries.
    let affected = Policy { cq_scope: CqScope::Affected, ..Policy::BOOK };
    match name {
        "rings" => run(&mut Rings::new(), affected, &Timing::READY),
        "lives" => {
            run(&mut Lives::new(if long { 66_000 } else { 2_000 }), affected, &Timing::READY)
        }
        "stale" => {
            run(&mut Late::new(if long { 1 << 18 } else { 66_000 }), affected, &Timing::READY)
        }
        "keys" => run(&mut Keys::new(if long { 66_000 } else { 3_000 }), affected, &Timing::READY),
        "shared" => {
            run(&mut Shared::new(if long { 20_000 } else { 2_000 }), affected, &Timing::READY)
        }
        _ => {
            for (profile, seed) in Profile::ALL.iter().zip(1_u64..) {
                for round in 0..if long { 5 } else { 1 } {
                    let operations = if long { 2_000 } else { 300 };
                    let seed = seed + 100 * round;
                    let case = Case::new(profile, CONFIG, &[], operations, seed);
                    let generator = Generator::new(profile, *CONFIG.sizes(), operations, seed);
                    let rng = fastrand::Rng::with_seed(seed);
                    match name {
                        "looked" => {
                            run(&mut Looked::new(generator, rng), case.policy, &Timing::READY);
                        }
                        "flipped" => {
                            let max_inline = fastrand::Rng::with_seed(seed).u32(..) >> (seed % 32);
                            let policy = Policy { max_inline, ..case.policy };
                            run(&mut Flipped { generator, rng }, policy, &case.timing);
                        }
                        _ => run(&mut Shaped { generator, rng }, case.policy, &case.timing),
                    }
                }
            }
        }
    }
    dut
}

/// Hardware that is told `true` by any number but 0, and anything in reserved fields.
struct Loose<D>(D);

impl<D: Dut> Dut for Loose<D> {
    fn reset(&mut self, policy: &abi::rnic_policy) -> Result<(), DutError> {
        let mut p = *policy;
        let any = u32::from(p.cq_scope) << 4 | u32::from(p.sqd_hold_unstarted) << 1 | p.max_inline;
        for (salt, flag) in [
            &mut p.refuse_reset_to_err,
            &mut p.cur_state_override,
            &mut p.rc_sqe_row,
            &mut p.allow_leave_draining,
            &mut p.sqd_hold_unstarted,
            &mut p.wqe_check_in_pipeline,
            &mut p.cq_overwrite,
            &mut p.link_infiniband,
        ]
        .into_iter()
        .enumerate()
        {
            loosen(flag, any, salt as u32);
        }
        // Above `cascade` is `cascade`.
        if p.cq_scope == CqScope::Cascade as u8 {
            p.cq_scope = anything(any, 20) | 2;
        }
        p.reserved = [30, 31, 32].map(|salt| anything(any, salt));
        self.0.reset(&p)
    }

    fn step(&mut self, stim: &abi::rnic_stim, resp: &mut abi::rnic_resp) -> Result<(), DutError> {
        let mut s = *stim;
        let tag = s.cmd.tag;
        loosen(&mut s.cmd.sq_sig_all, tag, 0);
        loosen(&mut s.cmd.ignore_overrun, tag, 1);
        loosen(&mut s.cmd.fault, tag, 2);
        s.cmd.reserved = anything(tag, 3);
        let tag = s.wire.tag;
        loosen(&mut s.wire.queue, tag, 0);
        loosen(&mut s.wire.solicited, tag, 1);
        s.wire.reserved = [3, 4, 5].map(|salt| anything(tag, salt));
        let tag = s.cqdb.tag;
        loosen(&mut s.cqdb.solicited_only, tag, 0);
        s.wqe.reserved = anything(s.wqe.tag, 3);
        self.0.step(&s, resp)
    }

    fn open_waves(&mut self, path: &Path) -> Result<(), DutError> {
        self.0.open_waves(path)
    }

    fn close_waves(&mut self) {
        self.0.close_waves();
    }
}

/// Some byte, the same one as long as an operation waits.
fn anything(tag: u32, salt: u32) -> u8 {
    ((tag ^ salt << 16).wrapping_mul(0x9e37_79b1) >> 24) as u8
}

fn loosen(flag: &mut u8, tag: u32, salt: u32) {
    if *flag != 0 {
        // Mostly of one bit.
        *flag = match anything(tag, salt) {
            n @ 128.. => 1 << (n & 7),
            n => n.max(1),
        };
    }
}

/// UD QPs, each on CQ `qpn % 2`, in INIT or beyond.
fn set_up(qps: u32, depths: [u32; 2], target: &[u8]) -> Vec<Operation> {
    let mut ops = Vec::new();
    for (cqn, depth) in depths.into_iter().enumerate() {
        // The second is never full.
        ops.push(Operation::CreateCq { cqn: cqn as u32, depth, ignore_overrun: cqn == 1 });
    }
    for qpn in 0..qps {
        ops.push(Operation::CreateQp {
            qpn,
            transport: Transport::Ud.number(),
            send_cqn: qpn % 2,
            recv_cqn: qpn % 2,
            sq_ceiling: 4,
            rq_ceiling: 4,
            sq_sig_all: true,
        });
        ops.extend(target.iter().map(|state| to(qpn, *state)));
    }
    ops.reverse();
    ops
}

/// The MODIFY_QP that takes a UD QP to this state.
fn to(qpn: u32, qp_state: u8) -> Operation {
    let mask = match qp_state {
        1 => AttrMask::PKEY_INDEX | AttrMask::PORT | AttrMask::QKEY,
        3 => AttrMask::SQ_PSN,
        _ => AttrMask::EMPTY,
    };
    let values = AttrValues { port: 1, ..Default::default() };
    let attr_mask = mask | AttrMask::STATE;
    Operation::ModifyQp(Modify { qpn, attr_mask, qp_state, values, ..Default::default() })
}

/// Both CQs go round: one of the greatest depth runs full, loses entries and is read in steps of
/// all sizes; one of an odd depth is never read and written over.
struct Rings {
    rng: fastrand::Rng,
    first: Vec<Operation>,
    left: u32,
    recv: u32,
}

impl Rings {
    const DEPTHS: [u32; 2] = [65_536, 40_001];
    /// Both producers and, in the ring that is written over, the consumer pass zero.
    const POSTS: u32 = 270_000;

    fn new() -> Rings {
        let rng = fastrand::Rng::with_seed(1);
        Rings { rng, first: set_up(4, Self::DEPTHS, &[1, 6]), left: Self::POSTS, recv: 0 }
    }
}

impl Source for Rings {
    fn next(
        &mut self,
        channel: Channel,
        view: &mut View<'_>,
    ) -> Result<Option<Operation>, Failure> {
        let cqn = self.rng.u32(..2);
        Ok(match channel {
            Channel::Cmd if !self.first.is_empty() => self.first.pop(),
            Channel::Cmd => (self.rng.u32(..1000) == 0).then_some(Operation::QueryCq { cqn }),
            // A QP in ERR flushes at once what is posted to it.
            Channel::Post if self.first.is_empty() && self.left > 0 => {
                self.left -= 1;
                self.recv += 1;
                Some(Operation::PostRecv { qpn: self.recv % 4, wqe_index: self.rng.u16(..) })
            }
            Channel::Cqdb if self.rng.u32(..500) == 0 => {
                Some(Operation::Arm { cqn, solicited_only: self.rng.bool() })
            }
            Channel::Cqdb if self.left < Self::POSTS / 2 - 500 && self.rng.u32(..50) == 0 => {
                let Some(cq) = view.machine().cq(0) else { return Ok(None) };
                let ring = 2 * cq.depth;
                let to_producer = (cq.producer + ring - cq.consumer) % ring;
                let step = match self.rng.u8(..4) {
                    0 => self.rng.u32(..=to_producer),
                    1 => to_producer.min(1 << self.rng.u32(..17)),
                    2 => to_producer + self.rng.u32(..3),
                    _ => to_producer.min(self.rng.u32(..200)),
                };
                let mut index = (cq.consumer + step) % ring;
                if self.rng.u8(..8) == 0 {
                    index ^= 1 << self.rng.u32(..32);
                }
                Some(Operation::Consume { cqn: 0, index })
            }
            _ => None,
        })
    }

    fn exhausted(&self) -> bool {
        self.left == 0
    }
}

/// One QP through so many lives that its epochs begin anew, with reports from earlier ones.
struct Lives {
    rng: fastrand::Rng,
    first: Vec<Operation>,
    plan: Vec<Operation>,
    left: u32,
}

impl Lives {
    fn new(lives: u32) -> Lives {
        let rng = fastrand::Rng::with_seed(2);
        Lives { rng, first: set_up(1, [16, 16], &[]), plan: Vec::new(), left: lives }
    }
}

impl Source for Lives {
    fn next(
        &mut self,
        channel: Channel,
        view: &mut View<'_>,
    ) -> Result<Option<Operation>, Failure> {
        let qpn = 0;
        if channel == Channel::Cmd && self.first.is_empty() && self.plan.is_empty() && self.left > 0
        {
            self.left -= 1;
            self.plan = vec![to(qpn, 0), to(qpn, 1)];
            match self.rng.u8(..32) {
                0 => self.plan.extend([2, 3].map(|state| to(qpn, state))),
                1 => self.plan.push(to(qpn, 6)),
                2 => self.plan.push(Operation::QueryQp { qpn }),
                _ => {}
            }
            self.plan.reverse();
        }
        Ok(match channel {
            Channel::Cmd => self.first.pop().or_else(|| self.plan.pop()),
            Channel::Post if self.rng.u8(..32) == 0 => {
                Some(Operation::PostRecv { qpn, wqe_index: self.rng.u16(..) })
            }
            Channel::Wire if self.rng.u8(..8) == 0 => {
                let queue = if self.rng.bool() { Queue::Send } else { Queue::Recv };
                let next = view.next_completion(qpn, queue);
                let wrong = if self.rng.bool() { 0 } else { 1 << self.rng.u32(..16) };
                Some(report(qpn, queue, next.epoch ^ wrong, next.slot))
            }
            Channel::Cqdb if self.rng.u8(..16) == 0 && view.poll(0)? => {
                Some(Operation::Consume { cqn: 0, index: view.host().consumer(0) })
            }
            _ => None,
        })
    }

    fn exhausted(&self) -> bool {
        self.left == 0 && self.plan.is_empty()
    }
}

fn report(qpn: u32, queue: Queue, epoch: u16, slot: u16) -> Operation {
    Operation::Complete(Complete {
        qpn,
        queue,
        epoch,
        slot,
        status: 0,
        byte_count: 1,
        opcode: 128,
        imm: 0,
        wc_flags: 0,
        solicited: false,
    })
}

/// Reports that come too late, one in each clock, and a look at how many they were.
struct Late {
    rng: fastrand::Rng,
    first: Vec<Operation>,
    left: u32,
}

impl Late {
    fn new(reports: u32) -> Late {
        let rng = fastrand::Rng::with_seed(3);
        Late { rng, first: set_up(2, [16, 16], &[1]), left: reports + reports / 64 + 100 }
    }
}

impl Source for Late {
    fn next(&mut self, channel: Channel, _: &mut View<'_>) -> Result<Option<Operation>, Failure> {
        Ok(match channel {
            Channel::Cmd if !self.first.is_empty() => self.first.pop(),
            Channel::Cmd if self.rng.u32(..2000) == 0 || self.left % (1 << 14) == 0 => {
                Some(Operation::QueryQp { qpn: self.rng.u32(..2) })
            }
            Channel::Wire if self.first.is_empty() && self.left > 0 => {
                self.left -= 1;
                // One of the QPs counts far, the other keeps its pace below.
                let qpn = u32::from(self.rng.u8(..128) == 0);
                Some(report(qpn, Queue::Send, self.rng.u16(..) | 0x100, self.rng.u16(..)))
            }
            _ => None,
        })
    }

    fn exhausted(&self) -> bool {
        self.left == 0
    }
}

/// Keys that come and go until their version begins anew, and WQEs that are walked meanwhile.
struct Keys {
    rng: fastrand::Rng,
    first: Vec<Operation>,
    left: u32,
    /// Sends of one of the QPs that were completed.
    sent: u32,
}

impl Keys {
    fn new(changes: u32) -> Keys {
        let rng = fastrand::Rng::with_seed(4);
        Keys { rng, first: set_up(2, [16, 16], &[1, 2, 3]), left: changes, sent: 0 }
    }
}

impl Source for Keys {
    fn next(
        &mut self,
        channel: Channel,
        view: &mut View<'_>,
    ) -> Result<Option<Operation>, Failure> {
        Ok(match channel {
            Channel::Cmd if !self.first.is_empty() => self.first.pop(),
            Channel::Cmd if self.left > 0 => {
                self.left -= 1;
                let lkey = Lkey::of(self.left / 2 % 8, 1);
                let base = self.rng.u64(..) >> self.rng.u32(..64);
                let length = 1 + (self.rng.u64(..) >> self.rng.u32(1..64)).min(u64::MAX - base);
                Some(if self.left % 2 == 1 {
                    Operation::RegKey { lkey, base, length, access: AccessFlags(1) }
                } else {
                    Operation::DeregKey { lkey }
                })
            }
            Channel::Wqe if self.first.is_empty() && self.rng.u8(..64) == 0 => {
                // A message of one pointer segment, to the last byte of a region or the one behind it.
                let regions: Vec<_> = view.machine().keys().iter().map(|(k, r)| (k, *r)).collect();
                let mut units = [[0; 4]; WQE_UNITS];
                units[0] = [0x0a, 1, 0, 0];
                if !regions.is_empty() {
                    let (lkey, region) = regions[self.rng.usize(..regions.len())];
                    let end = region.base().wrapping_add(region.length());
                    let at = match self.rng.u8(..6) {
                        0 => end,
                        1 => end.wrapping_sub(1) ^ 1 << self.rng.u32(..64),
                        2 => region.base() ^ 1 << self.rng.u32(..64),
                        3 => region.base().wrapping_sub(1),
                        4 => region.base(),
                        _ => end.wrapping_sub(1),
                    };
                    // Behind the control segment and the three units that name the peer.
                    units[4] = [1, lkey.0, (at >> 32) as u32, at as u32];
                }
                let qpn = self.rng.u32(..2);
                Some(Operation::PostWqe(PostWqe {
                    qpn,
                    transport: Transport::Ud,
                    format: WqeFormat::Book,
                    first_block: self.rng.u32(..),
                    ring_log2: 4,
                    units,
                }))
            }
            Channel::Wire => {
                let qpn = self.rng.u32(..2);
                let next = view.next_completion(qpn, Queue::Send);
                (next.outstanding > 0).then(|| report(qpn, Queue::Send, next.epoch, next.slot))
            }
            Channel::Cqdb if view.poll(0)? => {
                self.sent += 1;
                Some(Operation::Consume { cqn: 0, index: view.host().consumer(0) })
            }
            _ => None,
        })
    }

    fn exhausted(&self) -> bool {
        assert!(self.left > 0 || self.sent > 10, "hardly a walk found its key");
        self.left == 0
    }
}

/// Queue pairs of the greatest ceilings that come to one CQ, all of them, and go.
struct Shared {
    rng: fastrand::Rng,
    first: Vec<Operation>,
    look: bool,
    left: u32,
}

impl Shared {
    fn new(operations: u32) -> Shared {
        let rng = fastrand::Rng::with_seed(5);
        Shared { rng, first: set_up(0, [31, 33], &[]), look: false, left: operations }
    }
}

impl Source for Shared {
    fn next(
        &mut self,
        channel: Channel,
        view: &mut View<'_>,
    ) -> Result<Option<Operation>, Failure> {
        if channel != Channel::Cmd || self.left == 0 {
            return Ok(None);
        }
        if let Some(op) = self.first.pop() {
            return Ok(Some(op));
        }
        self.left -= 1;
        let sizes = HwConfig::Small.sizes();
        let (qpn, cqn) = (self.rng.u32(..sizes.num_qp), u32::from(self.rng.u8(..8) == 0));
        self.look = !self.look;
        if self.look {
            return Ok(Some(Operation::QueryCq { cqn }));
        }
        let there = view.machine().qp(qpn).is_some();
        Ok(Some(if there && self.rng.u8(..4) == 0 {
            Operation::DestroyQp { qpn }
        } else {
            Operation::CreateQp {
                qpn,
                transport: self.rng.u8(..3),
                send_cqn: cqn,
                recv_cqn: if self.rng.u8(..8) == 0 { cqn ^ 1 } else { cqn },
                sq_ceiling: sizes.sq_depth,
                rq_ceiling: sizes.rq_depth,
                sq_sig_all: false,
            }
        }))
    }

    fn exhausted(&self) -> bool {
        self.left == 0
    }
}

/// Random traffic with WQEs of every shape: inline segments and pointers in any class.
struct Shaped {
    generator: Generator,
    rng: fastrand::Rng,
}

impl Shaped {
    fn wqe(&mut self, view: &View<'_>) -> Option<Operation> {
        let rng = &mut self.rng;
        let sends = |qpn: &u32| {
            view.machine().qp(*qpn).is_some_and(|qp| {
                matches!(qp.state, QpState::Rts | QpState::Sqd) && qp.sq_queued < qp.sq_ceiling
            })
        };
        let able: Vec<u32> = (0..HwConfig::Small.sizes().num_qp).filter(sends).collect();
        let qpn = *able.get(rng.usize(..able.len().max(1)))?;
        let transport = view.machine().qp(qpn)?.transport;
        let format = if rng.bool() { WqeFormat::Mlx5 } else { WqeFormat::Book };
        let opcode = [0x0a, 0x0b, 0x01, 0x08, 0x09, 0x10, 0x11, 0x12][rng.usize(..8)];
        let fixed = match opcode {
            0x08 | 0x09 | 0x10 => 2,
            0x11 | 0x12 => 3,
            _ if transport == Transport::Ud => 4,
            _ => 1,
        };
        let segments = rng.usize(..=WQE_UNITS - fixed);
        let counted = if format == WqeFormat::Mlx5 { fixed } else { 0 } + segments;
        let ds = match rng.u8(..16) {
            0 => counted + 1,
            1 => counted.saturating_sub(1),
            2 => rng.usize(..64),
            _ => counted,
        };
        let mut units = [[0; 4]; WQE_UNITS];
        // Signaled, solicited and, in the book's format, inline; now and then any flag.
        let flags = if rng.u8(..16) == 0 { rng.u32(..) } else { rng.u32(..32) & 0x1a };
        units[0] = [opcode | rng.u32(..) & 0xff_ff00, ds as u32, flags, rng.u32(..)];
        let regions: Vec<_> = view.machine().keys().iter().map(|(k, r)| (k, *r)).collect();
        for unit in &mut units[fixed..] {
            let odd = if rng.u8(..16) == 0 { 1 << rng.u32(..32) } else { 0 };
            *unit = if rng.u8(..3) == 0 {
                [(1 << 31 | rng.u32(..40)) ^ odd, rng.u32(..), rng.u32(..), rng.u32(..)]
            } else {
                let bytes = [0, 1, 8, 8, 64, 0x7fff_ffff][rng.usize(..6)];
                let (lkey, at) = match regions.get(rng.usize(..regions.len() + 1)) {
                    Some((lkey, region)) => (lkey.0, region.base()),
                    None => (rng.u32(..), rng.u64(..)),
                };
                [bytes ^ odd, lkey, (at >> 32) as u32, at as u32]
            };
        }
        Some(Operation::PostWqe(PostWqe {
            qpn,
            transport,
            format,
            first_block: rng.u32(..),
            ring_log2: rng.u8(1..=16),
            units,
        }))
    }
}

impl Source for Shaped {
    fn next(
        &mut self,
        channel: Channel,
        view: &mut View<'_>,
    ) -> Result<Option<Operation>, Failure> {
        if channel == Channel::Wqe
            && self.rng.bool()
            && let Some(op) = self.wqe(view)
        {
            return Ok(Some(op));
        }
        self.generator.next(channel, view)
    }

    fn reset_now(&mut self, clock: u64) -> bool {
        self.generator.reset_now(clock)
    }

    fn exhausted(&self) -> bool {
        self.generator.exhausted()
    }
}

/// Random traffic in which every change of a context is looked at by the next operation.
struct Looked {
    generator: Generator,
    rng: fastrand::Rng,
    look: Option<Operation>,
    /// Clocks in which the other channels are silent.
    silent: u32,
}

impl Looked {
    fn new(generator: Generator, rng: fastrand::Rng) -> Looked {
        Looked { generator, rng, look: None, silent: 0 }
    }
}

impl Source for Looked {
    fn next(
        &mut self,
        channel: Channel,
        view: &mut View<'_>,
    ) -> Result<Option<Operation>, Failure> {
        if channel != Channel::Cmd {
            return if self.silent > 0 { Ok(None) } else { self.generator.next(channel, view) };
        }
        self.silent = self.silent.saturating_sub(1);
        if let Some(look) = self.look.take() {
            return Ok(Some(look));
        }
        let op = self.generator.next(channel, view)?;
        self.look = match op {
            Some(Operation::ModifyQp(m)) => Some(Operation::QueryQp { qpn: m.qpn }),
            Some(Operation::CreateQp { send_cqn, recv_cqn, .. }) => {
                Some(Operation::QueryCq { cqn: if self.rng.bool() { send_cqn } else { recv_cqn } })
            }
            Some(Operation::CreateCq { cqn, .. }) => Some(Operation::QueryCq { cqn }),
            _ => None,
        };
        if self.look.is_some() && self.rng.u8(..4) > 0 {
            self.silent = 4;
        }
        Ok(op)
    }

    fn reset_now(&mut self, clock: u64) -> bool {
        self.generator.reset_now(clock)
    }

    fn exhausted(&self) -> bool {
        self.generator.exhausted()
    }
}

/// Random traffic in which now and then one bit of one number is another.
struct Flipped {
    generator: Generator,
    rng: fastrand::Rng,
}

impl Flipped {
    fn flip(&mut self, op: &mut Operation) {
        let rng = &mut self.rng;
        let bit = |rng: &mut fastrand::Rng| 1_u32 << rng.u32(..32);
        match op {
            Operation::CreateCq { cqn, depth, .. } => match rng.u8(..4) {
                0 => *cqn ^= bit(rng),
                // At the greatest depth that there is.
                1 => *depth = 65_536 ^ bit(rng),
                _ => *depth ^= bit(rng),
            },
            Operation::CreateQp { qpn, send_cqn, recv_cqn, sq_ceiling, rq_ceiling, .. } => {
                let fields = [qpn, send_cqn, recv_cqn, sq_ceiling, rq_ceiling];
                let at = rng.usize(..fields.len());
                *fields.into_iter().nth(at).expect("one of them") ^= bit(rng);
            }
            Operation::DestroyCq { cqn: n }
            | Operation::QueryCq { cqn: n }
            | Operation::SetCqFault { cqn: n, .. }
            | Operation::DestroyQp { qpn: n }
            | Operation::QueryQp { qpn: n }
            | Operation::PostRecv { qpn: n, .. }
            | Operation::Arm { cqn: n, .. } => *n ^= bit(rng),
            Operation::ModifyQp(m) => flip_value(rng, m),
            Operation::RegKey { lkey, base, length, access } => match rng.u8(..4) {
                0 => lkey.0 ^= bit(rng),
                1 => *base ^= 1 << rng.u32(..64),
                2 => *length ^= 1 << rng.u32(..64),
                _ => access.0 ^= bit(rng),
            },
            Operation::DeregKey { lkey } => lkey.0 ^= bit(rng),
            Operation::PostSend(p) => match rng.u8(..8) {
                0 => p.qpn ^= bit(rng),
                1 => p.payload_len ^= bit(rng),
                2 => p.payload_len = rng.u32(..) >> rng.u32(..32),
                3 => p.payload_len = bit(rng).wrapping_add(rng.u32(..3)).wrapping_sub(1),
                _ => p.ctrl[rng.usize(..4)] ^= bit(rng),
            },
            Operation::PostWqe(w) => match rng.u8(..8) {
                0 => w.qpn ^= bit(rng),
                1 => w.first_block ^= bit(rng),
                _ => w.units[rng.usize(..WQE_UNITS)][rng.usize(..4)] ^= bit(rng),
            },
            Operation::Complete(c) => match rng.u8(..9) {
                0 => c.qpn ^= bit(rng),
                1 => c.epoch ^= 1 << rng.u32(..16),
                2 => c.slot ^= 1 << rng.u32(..16),
                3 => c.status ^= 1 << rng.u32(..8),
                // LOC_LEN_ERR, which a UD receive outlives.
                4 => c.status = 1,
                5 => c.byte_count ^= bit(rng),
                6 => c.opcode ^= 1 << rng.u32(..8),
                7 => c.imm ^= bit(rng),
                _ => c.wc_flags ^= 1 << rng.u32(..8),
            },
            Operation::Consume { cqn, index } => {
                *(if rng.u8(..4) == 0 { cqn } else { index }) ^= bit(rng);
            }
            _ => {}
        }
    }
}

fn flip_value(rng: &mut fastrand::Rng, m: &mut Modify) {
    let v = &mut m.values;
    let byte = 1_u8 << rng.u32(..8);
    let half = 1_u16 << rng.u32(..16);
    let word = 1_u32 << rng.u32(..32);
    match rng.u8(..30) {
        0 => m.qpn ^= word,
        1..=4 => m.attr_mask.0 ^= word,
        5 => m.qp_state ^= byte,
        6 => m.cur_qp_state ^= byte,
        7 => v.access_flags ^= word,
        8 => v.qkey ^= word,
        9 => v.rq_psn ^= word,
        10 => v.sq_psn ^= word,
        11 => v.dest_qpn ^= word,
        12 => v.pkey_index ^= half,
        13 => v.alt_pkey_index ^= half,
        14 => v.en_sqd_async_notify ^= byte,
        15 => v.port ^= byte,
        16 => v.path_mtu ^= byte,
        17 => v.timeout ^= byte,
        18 => v.retry_cnt ^= byte,
        19 => v.rnr_retry ^= byte,
        20 => v.max_qp_rd_atomic ^= byte,
        21 => v.min_rnr_timer ^= byte,
        22 => v.max_dest_rd_atomic ^= byte,
        23 => v.path_mig_state ^= byte,
        24 => v.alt_port ^= byte,
        25 => v.alt_timeout ^= byte,
        _ => {
            let av = if rng.bool() { &mut v.av } else { &mut v.alt_av };
            match rng.u8(..7) {
                0 => av.is_global ^= byte,
                1 => av.sgid_index ^= byte,
                2 => av.hop_limit ^= byte,
                3 => av.traffic_class ^= byte,
                4 => av.dlid ^= half,
                5 => av.sl ^= byte,
                _ => av.static_rate ^= byte,
            }
        }
    }
}

impl Source for Flipped {
    fn next(
        &mut self,
        channel: Channel,
        view: &mut View<'_>,
    ) -> Result<Option<Operation>, Failure> {
        let mut op = self.generator.next(channel, view)?;
        let often = if matches!(op, Some(Operation::ModifyQp(_))) { 4 } else { 10 };
        if let Some(op) = &mut op
            && self.rng.u8(..often) == 0
        {
            self.flip(op);
        }
        Ok(op)
    }

    fn reset_now(&mut self, clock: u64) -> bool {
        self.generator.reset_now(clock)
    }

    fn exhausted(&self) -> bool {
        self.generator.exhausted()
    }
}

fn passes(name: &str) {
    if HwConfig::Small.is_built() {
        play(name, Far::Test, |rtl, _: Option<Rtl>| rtl);
    } else {
        eprintln!("configuration small was left out by RNIC_CONFIGS");
    }
}

#[test]
fn rings_of_every_depth_run_full_and_go_round() {
    passes("rings");
}

#[test]
fn epochs_go_on_through_thousands_of_lives() {
    passes("lives");
}

#[test]
fn late_reports_are_counted_beyond_two_bytes() {
    passes("stale");
}

#[test]
fn walks_name_the_keys_that_they_saw_after_thousands_of_changes() {
    passes("keys");
}

#[test]
fn a_cq_knows_everybody_that_posts_into_it() {
    passes("shared");
}

#[test]
fn wqes_of_every_shape_are_judged_alike() {
    passes("shapes");
}

#[test]
fn what_was_stored_a_clock_ago_is_seen() {
    passes("looked");
}

#[test]
fn numbers_that_are_one_bit_off_are_judged_alike() {
    passes("flipped");
}
