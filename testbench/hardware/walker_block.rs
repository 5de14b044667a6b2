//! The segment walker with its key table: RTL (`wqe_segment_walker`, `key_table`) and golden
//! model (`walk`, `KeyTable`) agree on every unit that is read, every pointer that is yielded
//! and every field of the summary, whatever the memory's latency.

use std::collections::{BTreeMap, VecDeque};
use std::time::Instant;

use fastrand::Rng;
use rnic_cosim::hw::BlockBench;
use rnic_cosim::model::*;
use rnic_cosim::wqes::{Flaw, random_keys, random_wqe};

use crate::exhaustive::exhaustive;

const STIM: usize = 16;
const RESP: usize = 17;
const NUM_KEY: u32 = 64;

// Bits of the first word of the bench's stimulus and answer.
const RUN: u32 = 1 << 0;
const WQE_VALID: u32 = 1 << 1;
const FETCH_READY: u32 = 1 << 2;
const UNIT_VALID: u32 = 1 << 3;
const WALKED_READY: u32 = 1 << 4;
const CHANGE_VALID: u32 = 1 << 5;
const CHANGE_EXISTS: u32 = 1 << 6;
const CHANGE_LOCAL_WRITE: u32 = 1 << 7;
const WQE_READY: u32 = 1 << 0;
const FETCH_VALID: u32 = 1 << 1;
const UNIT_READY: u32 = 1 << 2;
const WALKED_VALID: u32 = 1 << 3;
const APPLIED: u32 = 1 << 4;
const KEYS_READY: u32 = 1 << 5;
const SGE_VALID: u32 = 1 << 6;

/// A WQE in its ring, as a doorbell names it.
struct Job<'a> {
    tag: u32,
    qpn: u32,
    ring: &'a SendQueueRing,
    block: u32,
    format: WqeFormat,
    transport: Transport,
}

/// Everything that a walk showed.
#[derive(Debug, Default, PartialEq, Eq)]
struct Shown {
    /// Units of the ring in the order in which they were asked for.
    fetched: Vec<u32>,
    /// Bytes, lkey, address.
    sges: Vec<(u32, u32, u64)>,
    /// The record of POST_SEND.
    post: [u32; 8],
    transport: u32,
    key_version: u32,
}

struct Walker {
    bench: BlockBench,
    stim: [u32; STIM],
    resp: Vec<u32>,
    /// A change of the table to be sent in the middle of a walk.
    change: Option<(u32, [u32; STIM])>,
    version: u32,
    clocks: u64,
}

impl Walker {
    fn new() -> Self {
        let bench = BlockBench::new("walker_bench", 1).expect("it is built with the tests");
        assert_eq!((bench.stim_words(), bench.resp_words()), (STIM, RESP));
        let mut walker =
            Self { bench, stim: [0; STIM], resp: vec![], change: None, version: 0, clocks: 0 };
        walker.reset();
        walker
    }

    fn clock(&mut self) -> u32 {
        self.bench.run(&self.stim, &mut self.resp).expect("the walker has no assertion");
        self.clocks += 1;
        self.resp[0]
    }

    /// Empties the key table.
    fn reset(&mut self) {
        self.stim = [0; STIM];
        self.clock();
        self.stim[0] = RUN;
        while self.clock() & KEYS_READY == 0 {}
        self.version = 0;
    }

    fn change_of(lkey: Lkey, region: Option<&Region>) -> (u32, [u32; STIM]) {
        let mut s = [0; STIM];
        s[9] = lkey.index() | u32::from(lkey.variant()) << 24;
        let mut flags = CHANGE_VALID;
        if let Some(region) = region {
            let last = region.base().wrapping_add(region.length() - 1);
            s[10..14].copy_from_slice(&[
                region.base() as u32,
                (region.base() >> 32) as u32,
                last as u32,
                (last >> 32) as u32,
            ]);
            flags |= CHANGE_EXISTS;
            if region.access().contains(AccessFlags::LOCAL_WRITE) {
                flags |= CHANGE_LOCAL_WRITE;
            }
        }
        (flags, s)
    }

    /// Makes the table one with these keys.
    fn load(&mut self, keys: &KeyTable) {
        self.reset();
        for (lkey, region) in keys.iter() {
            let (flags, words) = Self::change_of(lkey, Some(region));
            self.stim = words;
            self.stim[0] = RUN | flags;
            self.clock();
            self.stim[0] = RUN;
            while self.clock() & APPLIED == 0 {}
            self.version += 1;
        }
    }

    /// Walks one WQE with a memory that takes up to `slowness` clocks for each thing.
    fn walk(&mut self, job: &Job<'_>, slowness: u32, rng: &mut Rng) -> Shown {
        let mut shown = Shown::default();
        let mut answers: VecDeque<u32> = VecDeque::new();
        let pause = |rng: &mut Rng| if slowness == 0 { 0 } else { rng.u32(..=slowness) };
        let (mut fetch_pause, mut unit_pause) = (0, 0);
        let log = job.ring.blocks().ilog2();
        let mlx5 = u32::from(job.format == WqeFormat::Mlx5);
        self.stim[1..5].copy_from_slice(&[
            job.tag,
            job.qpn,
            job.block,
            log | u32::from(job.transport.number()) << 8 | mlx5 << 16,
        ]);
        let mut accepted = false;
        let start = self.clocks;
        loop {
            let mut flags = RUN;
            if !accepted {
                flags |= WQE_VALID;
            }
            if fetch_pause == 0 {
                flags |= FETCH_READY;
            }
            if let (Some(&unit), 0) = (answers.front(), unit_pause) {
                flags |= UNIT_VALID;
                let bytes = job.ring.unit(unit / 4, unit % 4);
                for (word, bytes) in self.stim[5..9].iter_mut().zip(bytes.chunks_exact(4)) {
                    *word = u32::from_le_bytes(bytes.try_into().expect("four"));
                }
            }
            if pause(rng) == 0 {
                flags |= WALKED_READY;
            }
            let change = if accepted && rng.u8(..8) == 0 { self.change.take() } else { None };
            if let Some((change_flags, words)) = change {
                flags |= change_flags;
                self.stim[9..14].copy_from_slice(&words[9..14]);
            }
            self.stim[0] = flags;
            let r = self.clock();
            accepted |= r & WQE_READY != 0;
            fetch_pause = if r & FETCH_VALID != 0 && flags & FETCH_READY != 0 {
                assert_eq!(self.resp[1..3], [job.tag, job.qpn], "a fetch names its WQE");
                shown.fetched.push(self.resp[3]);
                answers.push_back(self.resp[3]);
                pause(rng)
            } else {
                fetch_pause.saturating_sub(1)
            };
            unit_pause = if flags & UNIT_VALID != 0 && r & UNIT_READY != 0 {
                answers.pop_front();
                pause(rng)
            } else {
                unit_pause.saturating_sub(1)
            };
            if r & SGE_VALID != 0 {
                let [bytes, lkey, low, high] = self.resp[13..17] else { unreachable!() };
                shown.sges.push((bytes, lkey, u64::from(high) << 32 | u64::from(low)));
            }
            if r & WALKED_VALID != 0 && flags & WALKED_READY != 0 {
                shown.post.copy_from_slice(&self.resp[4..12]);
                shown.transport = r >> 16 & 0xff;
                shown.key_version = self.resp[12];
                return shown;
            }
            let limit = u64::from(70 * 2 * (slowness + 3) + 20);
            assert!(self.clocks - start < limit, "no summary after {limit} clocks");
        }
    }

    /// What a change that was sent during a walk must have become by now.
    fn settle(&mut self) {
        self.stim[0] = RUN;
        while self.clock() & KEYS_READY == 0 {}
    }
}

/// What the model says the walk shows.
fn expected(job: &Job<'_>, keys: &KeyTable, key_version: u32) -> (Shown, Walk) {
    let walked = walk(job.ring.wqe(job.block), job.format, job.transport, keys);
    let p = walked.post_send(job.qpn);
    let bit = |set: bool, n: u32| u32::from(set) << n;
    let flags = bit(p.format == WqeFormat::Mlx5, 0)
        | bit(p.inline, 1)
        | bit(p.walk_format, 2)
        | bit(p.walk_length, 3)
        | bit(p.walk_key, 4);
    let [opcode, sq_ds, wqe_flags, misc] = p.ctrl;
    let ring_units = 4 * job.ring.blocks();
    let shown = Shown {
        fetched: (0..walked.units_read).map(|k| (4 * job.block + k) % ring_units).collect(),
        sges: walked.sges().map(|s| (s.bytes, s.lkey.0, s.address)).collect(),
        post: [
            job.tag,
            job.qpn,
            opcode,
            sq_ds,
            wqe_flags,
            misc,
            p.payload_len,
            16 << 16 | flags << 24,
        ],
        transport: job.transport.number().into(),
        key_version,
    };
    (shown, walked)
}

/// Compares `wqes` random WQEs; the count of every error bit and every flaw.
fn compare_random(wqes: u64, seed: u64, slow: bool) -> BTreeMap<String, u64> {
    let mut rng = Rng::with_seed(seed);
    let mut walker = Walker::new();
    let mut keys = KeyTable::new(NUM_KEY);
    let mut reached: BTreeMap<String, u64> = BTreeMap::new();
    for n in 0..wqes {
        if n % 1000 == 0 {
            keys = random_keys(&mut rng, NUM_KEY);
            walker.load(&keys);
        }
        let placed = random_wqe(&mut rng, &keys);
        let job = Job {
            tag: rng.u32(..),
            qpn: rng.u32(..),
            ring: &placed.ring,
            block: placed.block,
            format: placed.format,
            transport: placed.transport,
        };
        // A key goes in the middle of the walk: too late for it, in time for the next one.
        let gone = keys.iter().map(|(lkey, _)| lkey).nth(2).filter(|_| rng.u8(..16) == 0);
        if let Some(lkey) = gone {
            walker.change = Some(Walker::change_of(lkey, None));
        }
        let slowness = if slow { rng.u32(..4) } else { 0 };
        let got = walker.walk(&job, slowness, &mut rng);
        let (want, walked) = expected(&job, &keys, walker.version);
        if got != want {
            panic!(
                "WQE {n} ({:?}, {:?}, {:?})\nRTL:   {got:x?}\nmodel: {want:x?}\n{walked:x?}",
                placed.format, placed.transport, placed.flaw
            );
        }
        if let Some(lkey) = gone
            && walker.change.take().is_none()
        {
            walker.settle();
            walker.version += 1;
            keys.deregister(lkey).expect("it is registered");
        }
        let errors = walked.errors();
        for (error, name) in [
            (WqeErrors::WALK_FORMAT, "format"),
            (WqeErrors::WALK_LENGTH, "length"),
            (WqeErrors::WALK_KEY, "key"),
        ] {
            *reached.entry(format!("error {name}")).or_default() +=
                u64::from(errors.contains(error));
        }
        for fault in &walked.faults {
            let name = format!("{fault:?}");
            let name = name.split([' ', '{']).next().unwrap_or_default();
            *reached.entry(format!("fault {name}")).or_default() += 1;
        }
        *reached.entry(format!("flaw {:?}", placed.flaw)).or_default() += 1;
        *reached.entry("clean".into()).or_default() += u64::from(errors.is_empty());
        *reached.entry("change during a walk".into()).or_default() += u64::from(gone.is_some());
    }
    *reached.entry("clocks".into()).or_default() += walker.clocks;
    reached
}

/// Ten million with RNIC_EXHAUSTIVE=1.
#[test]
fn random_wqes_walk_alike() {
    let wqes = if exhaustive() { 10_000_000 } else { 100_000 };
    let start = Instant::now();
    let half = wqes / 2;
    let mut reached = BTreeMap::new();
    std::thread::scope(|scope| {
        let jobs = [(1, false), (2, true)]
            .map(|(seed, slow)| scope.spawn(move || compare_random(half, seed, slow)));
        for job in jobs {
            for (name, count) in job.join().expect("a difference is reported above") {
                *reached.entry(name).or_default() += count;
            }
        }
    });
    println!("{wqes} WQEs in {:.1} s: {reached:#?}", start.elapsed().as_secs_f64());
    for name in ["error format", "error length", "error key", "clean", "change during a walk"] {
        assert!(reached.get(name).is_some_and(|&n: &u64| n > 100), "{name} is hardly reached");
    }
    for flaw in Flaw::ALL {
        let name = format!("flaw {:?}", Some(flaw));
        assert!(reached.get(&name).is_some_and(|&n| n > 50), "{name} is hardly reached");
    }
}

/// Every start block of a ring that the longest WQE nearly fills, every `ds`.
#[test]
fn every_start_block_and_length_wraps_alike() {
    let mut rng = Rng::with_seed(3);
    let mut walker = Walker::new();
    let keys = random_keys(&mut rng, NUM_KEY);
    walker.load(&keys);
    let mut compared = 0;
    for log in [4, 5] {
        for block in 0..1u32 << log {
            for ds in 0..64 {
                for format in [WqeFormat::Book, WqeFormat::Mlx5] {
                    let mut ring = SendQueueRing::new(log).expect("small");
                    rng.fill(ring.bytes_mut());
                    let class = OpClass::ALL[rng.usize(..OpClass::ALL.len())];
                    let control = ControlSegment { opcode: class.mlx5(), ds, ..Default::default() };
                    let first = control.to_be_bytes().expect("it fits");
                    ring.put(block, &[first]).expect("one unit fits");
                    let transport = Transport::ALL[rng.usize(..3)];
                    let job =
                        Job { tag: ds.into(), qpn: block, ring: &ring, block, format, transport };
                    let got = walker.walk(&job, 0, &mut rng);
                    let (want, _) = expected(&job, &keys, walker.version);
                    assert_eq!(got, want, "{class} block {block} of 2^{log} ds {ds} {format}");
                    compared += 1;
                }
            }
        }
    }
    assert_eq!(compared, (16 + 32) * 64 * 2);
}

/// A unit per clock: a WQE of n units from a memory that answers in the next clock.
#[test]
fn a_unit_per_clock() {
    let mut rng = Rng::with_seed(4);
    let mut walker = Walker::new();
    let mut ring = SendQueueRing::new(5).expect("small");
    for ds in 1..64u32 {
        let control = ControlSegment { opcode: 10, ds: ds as u8, ..Default::default() };
        ring.put(0, &[control.to_be_bytes().expect("it fits")]).expect("one unit fits");
        let job = Job {
            tag: 1,
            qpn: 1,
            ring: &ring,
            block: 0,
            format: WqeFormat::Mlx5,
            transport: Transport::Rc,
        };
        walker.settle();
        let before = walker.clocks;
        walker.walk(&job, 0, &mut rng);
        let clocks = walker.clocks - before;
        // One to take it, n units, one clock of latency for the first and one for the second
        // unit, one for the last look-up, one to hand it over.
        assert!(clocks <= u64::from(ds) + 5, "{ds} units took {clocks} clocks");
    }
}
