//! The memory and the list over it: `ram_1r1w` and `work_list` against a vector and a queue.

use std::collections::VecDeque;

use rnic_cosim::hw::BlockBench;

const STIM: usize = 7;
const RESP: usize = 13;

fn bench(seed: u64) -> BlockBench {
    let bench = BlockBench::new("memory_bench", seed).expect("it is built with the tests");
    assert_eq!((bench.stim_words(), bench.resp_words()), (STIM, RESP));
    bench
}

/// One of the memories on the bench, byte by byte. Nobody knows what an unwritten byte holds.
struct Ram {
    name: &'static str,
    depth: usize,
    bytes: usize,
    /// Bytes per write lane.
    lane: usize,
    /// First of the words that show its answer.
    resp: usize,
    content: Vec<Vec<Option<u8>>>,
    /// What the answer must be after the next edge.
    next: Vec<Option<u8>>,
    last_write: Vec<Option<usize>>,
    /// Reads by clocks since the last write to their address; the last one is "more".
    distances: [u64; 6],
    /// Reads in the clock of a write to some of their lanes, not all.
    partial: u64,
}

impl Ram {
    fn new(name: &'static str, depth: usize, bytes: usize, lane: usize, resp: usize) -> Self {
        Self {
            name,
            depth,
            bytes,
            lane,
            resp,
            content: vec![vec![None; bytes]; depth],
            next: vec![None; bytes],
            last_write: vec![None; depth],
            distances: [0; 6],
            partial: 0,
        }
    }

    fn check(&self, clock: usize, resp: &[u32]) {
        for (i, &expected) in self.next.iter().enumerate() {
            let shown = resp[self.resp + i / 4].to_le_bytes()[i % 4];
            if let Some(expected) = expected {
                assert_eq!(shown, expected, "{}, clock {clock}, byte {i}", self.name);
            }
        }
    }

    fn step(&mut self, clock: usize, access: &Access) {
        let raddr = access.raddr as usize % self.depth;
        let waddr = access.waddr as usize % self.depth;
        if access.write {
            let mut lanes = 0;
            for i in (0..self.bytes).filter(|i| access.lanes >> (i / self.lane) & 1 == 1) {
                self.content[waddr][i] = Some(access.data.to_le_bytes()[i]);
                lanes += 1;
            }
            if lanes > 0 {
                self.last_write[waddr] = Some(clock);
                self.partial += u64::from(waddr == raddr && lanes < self.bytes);
            }
        }
        if let Some(written) = self.last_write[raddr] {
            self.distances[(clock - written).min(5)] += 1;
        }
        self.next.clone_from(&self.content[raddr]);
    }
}

#[derive(Clone, Copy)]
struct Access {
    raddr: u8,
    waddr: u8,
    write: bool,
    lanes: u8,
    data: u64,
}

fn rams() -> [Ram; 4] {
    [
        Ram::new("256 words of 64 bits", 256, 8, 8, 0),
        Ram::new("8 words with lanes of 8 bits", 8, 8, 1, 2),
        Ram::new("4 words with lanes of 16 bits", 4, 6, 2, 4),
        Ram::new("a single word", 1, 4, 4, 6),
    ]
}

fn stim_of(a: &Access) -> [u32; STIM] {
    let first = u32::from(a.raddr)
        | u32::from(a.waddr) << 8
        | u32::from(a.write) << 16
        | u32::from(a.lanes) << 20;
    [first, a.data as u32, (a.data >> 32) as u32, 0, 0, 0, 0]
}

/// A read sees every write up to the one of its own clock, lane by lane.
#[test]
fn a_read_sees_all_writes_up_to_its_own_clock() {
    const CLOCKS: usize = 1 << 20;
    let mut r = fastrand::Rng::with_seed(1);
    let mut hot = 0;
    let accesses: Vec<Access> = (0..CLOCKS)
        .map(|clock| {
            if clock % 64 == 0 {
                hot = r.u8(..);
            }
            // Around one address most of the time, so that reads and writes meet.
            let mut address = || if r.u8(..8) == 0 { r.u8(..) } else { hot ^ r.u8(..2) };
            let (raddr, waddr) = (address(), address());
            let write = r.u8(..3) != 0;
            let lanes = if r.bool() { 0xff } else { r.u8(..) };
            Access { raddr, waddr, write, lanes, data: r.u64(..) }
        })
        .collect();
    let stim: Vec<u32> = accesses.iter().flat_map(stim_of).collect();
    let mut resp = vec![];
    bench(1).run(&stim, &mut resp).expect("the memory has no assertion");
    let mut rams = rams();
    for (clock, (access, resp)) in accesses.iter().zip(resp.chunks_exact(RESP)).enumerate() {
        for ram in &mut rams {
            ram.check(clock, resp);
            ram.step(clock, access);
        }
    }
    for ram in &rams {
        println!("{}: reads by distance {:?}, of a part {}", ram.name, ram.distances, ram.partial);
        assert!(ram.distances.iter().all(|&n| n > 1000), "{}: {:?}", ram.name, ram.distances);
        assert!(ram.lane == ram.bytes || ram.partial > 1000, "{}", ram.name);
    }
}

/// There is no reset: power-up content is arbitrary and differs by seed, and stays until it is
/// written.
#[test]
fn unwritten_words_hold_what_power_up_gave_them() {
    let reads: Vec<u32> = (0..=255u8)
        .chain(0..=255)
        .flat_map(|raddr| {
            stim_of(&Access { raddr, waddr: 0, write: false, lanes: 0xff, data: u64::MAX })
        })
        .collect();
    let content = |seed| {
        let mut resp = vec![];
        bench(seed).run(&reads, &mut resp).expect("the memory has no assertion");
        let words: Vec<u32> = resp.chunks_exact(RESP).skip(1).map(|words| words[0]).collect();
        assert_eq!(words[..255], words[256..], "read twice");
        words
    };
    assert_ne!(content(1), content(2));
}

const DEPTHS: [usize; 6] = [1, 2, 4, 5, 16, 64];

/// The six lists on the bench and the queues that they must be.
struct Lists {
    bench: BlockBench,
    queues: [VecDeque<u16>; 6],
    stim: Vec<u32>,
    /// Per clock and list what must be shown: the head, or nothing.
    expected: Vec<[Option<u16>; 6]>,
    number: u16,
    filled: [u64; 6],
    popped: [u64; 6],
}

impl Lists {
    fn new() -> Self {
        let mut lists = Self {
            bench: bench(1),
            queues: Default::default(),
            stim: vec![],
            expected: vec![],
            number: 0,
            filled: [0; 6],
            popped: [0; 6],
        };
        // What is shown before the first edge of reset is power-up content.
        let reset = [0, 0, 0, 1, 0, 0, 0];
        lists.bench.run(&reset, &mut vec![]).expect("the list has no assertion");
        lists
    }

    /// One clock. A push into a full list is left out, as its users do.
    fn clock(&mut self, reset: bool, push: impl Fn(usize) -> bool, pop: impl Fn(usize) -> bool) {
        let mut stim = [0; STIM];
        stim[3] = u32::from(reset);
        let mut shown = [None; 6];
        for (n, queue) in self.queues.iter_mut().enumerate() {
            shown[n] = queue.front().copied();
            let pushed = !reset && push(n) && queue.len() < DEPTHS[n];
            if pop(n) {
                stim[3] |= 1 << (16 + n);
                self.popped[n] += u64::from(queue.pop_front().is_some());
            }
            self.number = self.number.wrapping_mul(0x6255).wrapping_add(0x3619);
            stim[4 + n / 2] |= u32::from(self.number) << (16 * (n % 2));
            if pushed {
                stim[3] |= 1 << (8 + n);
                queue.push_back(self.number);
            }
            if reset {
                queue.clear();
            }
            self.filled[n] += u64::from(queue.len() == DEPTHS[n]);
        }
        self.stim.extend(stim);
        self.expected.push(shown);
    }

    fn check(&mut self) {
        let mut resp = vec![];
        self.bench.run(&self.stim, &mut resp).expect("the list has no assertion");
        for (clock, (expected, words)) in
            self.expected.iter().zip(resp.chunks_exact(RESP)).enumerate()
        {
            for (n, &head) in expected.iter().enumerate() {
                let word = words[7 + n];
                let shown = (word >> 16 & 1 == 1).then_some(word as u16);
                assert_eq!(shown, head, "list of depth {}, clock {clock}", DEPTHS[n]);
            }
        }
    }
}

/// Filled to its last place without a pop, then one pop per clock until it is empty.
#[test]
fn a_list_takes_its_depth_and_gives_one_per_clock() {
    let mut lists = Lists::new();
    for gap in 0..8 {
        for _ in 0..64 {
            lists.clock(false, |_| true, |_| false);
        }
        for (queue, depth) in lists.queues.iter().zip(DEPTHS) {
            assert_eq!(queue.len(), depth, "exactly filled");
        }
        for _ in 0..gap {
            lists.clock(false, |_| false, |_| false);
        }
        for _ in 0..65 {
            lists.clock(false, |_| false, |_| true);
        }
        assert!(lists.queues.iter().all(VecDeque::is_empty));
    }
    lists.check();
    assert_eq!(lists.popped, DEPTHS.map(|depth| 8 * depth as u64));
}

/// Pushed in one clock, offered in the next, also while it is popped in every clock.
#[test]
fn a_list_passes_one_per_clock() {
    let mut lists = Lists::new();
    for held in 0..40 {
        for _ in 0..held {
            lists.clock(false, |_| true, |_| false);
        }
        for _ in 0..100 {
            lists.clock(false, |_| true, |_| true);
        }
        for _ in 0..70 {
            lists.clock(false, |_| false, |_| true);
        }
    }
    lists.check();
}

/// Nothing is lost, doubled or overtaken under any mixture, resets included.
#[test]
fn a_list_is_a_queue() {
    let mut lists = Lists::new();
    let mut r = fastrand::Rng::with_seed(4);
    for _ in 0..4000 {
        // Out of 16, from a list that fills to one that stays empty.
        let (pushes, pops) = (r.u8(..17), r.u8(..17));
        for _ in 0..r.u8(..) {
            let (push, pop): (u64, u64) = (r.u64(..), r.u64(..));
            let nibble = |word: u64, n: usize| (word >> (4 * n)) as u8 & 15;
            let reset = r.u16(..2000) == 0;
            lists.clock(reset, |n| nibble(push, n) < pushes, |n| nibble(pop, n) < pops);
        }
    }
    for _ in 0..70 {
        lists.clock(false, |_| false, |_| true);
    }
    lists.check();
    println!("clocks full {:?}, popped {:?}", lists.filled, lists.popped);
    assert!(lists.filled.iter().chain(&lists.popped).all(|&n| n > 1000));
}
