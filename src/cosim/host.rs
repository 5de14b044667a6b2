//! Host memory: the completion rings as software sees them.

use std::collections::VecDeque;

use crate::hw::abi;

/// One completion ring in host memory.
///
/// The consumer index is software's own: it moves by polling and runs ahead of what the
/// device was told by CONSUME.
#[derive(Clone, Debug, Default)]
struct Ring {
    entries: Vec<abi::rnic_cqe>,
    /// Modulo 2 × depth.
    consumer: u32,
    /// Entries that the model wrote and software has not polled yet, oldest first.
    unread: VecDeque<abi::rnic_cqe>,
    /// Entries may be written over before they are read: nothing is promised to a poller.
    lossy: bool,
    generation: u32,
}

/// All rings of one device.
#[derive(Clone, Debug)]
pub struct Host {
    rings: Vec<Ring>,
}

/// What a poll of one ring found against what lies there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadPoll {
    /// CQ number.
    pub cqn: u32,
    /// The next entry by the model; `None` if the ring should read as empty.
    pub expected: Option<abi::rnic_cqe>,
    /// What the phase bit shows; `None`: empty.
    pub found: Option<abi::rnic_cqe>,
}

impl Host {
    /// A new one.
    pub fn new(num_cq: u32) -> Host {
        Host { rings: vec![Ring::default(); num_cq as usize] }
    }

    /// Fresh, zeroed memory for a CQ. `lossy` rings may be overwritten by the device.
    pub fn create(&mut self, cqn: u32, depth: u32, lossy: bool) {
        let ring = &mut self.rings[cqn as usize];
        ring.entries.clear();
        ring.entries.resize(depth as usize, abi::rnic_cqe::default());
        ring.consumer = 0;
        ring.unread.clear();
        ring.lossy = lossy;
        ring.generation += 1;
    }

    /// Which life of the ring this is.
    pub fn generation(&self, cqn: u32) -> u32 {
        self.rings[cqn as usize].generation
    }

    /// The device wrote `got` where the model says that `expected` is written. An entry that
    /// belongs to an earlier life of the ring is dropped, as its memory is gone.
    pub fn deliver(
        &mut self,
        expected: &abi::rnic_cqe_write,
        got: &abi::rnic_cqe_write,
        generation: u32,
    ) {
        let Some(ring) = self.rings.get_mut(expected.cqn as usize) else { return };
        if ring.generation != generation {
            return;
        }
        if !ring.lossy {
            ring.unread.push_back(expected.cqe);
        }
        if let Some(entry) = ring.entries.get_mut(got.index as usize) {
            *entry = got.cqe;
        }
    }

    /// Polls one entry by its phase bit. `Ok(None)`: empty.
    pub fn poll(&mut self, cqn: u32) -> Result<Option<abi::rnic_cqe>, BadPoll> {
        let Some(ring) = self.rings.get_mut(cqn as usize) else { return Ok(None) };
        let depth = ring.entries.len() as u32;
        if depth == 0 {
            return Ok(None);
        }
        let lap = u8::from(ring.consumer < depth);
        let entry = ring.entries[(ring.consumer % depth) as usize];
        // The memory starts as zeros and the first lap is phase 1.
        let found = (entry.phase & 1 == lap).then_some(entry);
        if !ring.lossy {
            let expected = ring.unread.front().copied();
            if expected != found {
                return Err(BadPoll { cqn, expected, found });
            }
        }
        if found.is_some() {
            ring.consumer = (ring.consumer + 1) % (2 * depth);
            ring.unread.pop_front();
        }
        Ok(found)
    }

    /// Software's own consumer index, modulo 2 × depth.
    pub fn consumer(&self, cqn: u32) -> u32 {
        self.rings.get(cqn as usize).map_or(0, |r| r.consumer)
    }

    /// The device was told that entries up to `index` are consumed: software that has not
    /// polled them has given them up.
    pub fn consumed(&mut self, cqn: u32, index: u32) {
        let Some(ring) = self.rings.get_mut(cqn as usize) else { return };
        let double = 2 * ring.entries.len() as u32;
        if double == 0 {
            return;
        }
        let ahead = ((index + double - ring.consumer) % double) as usize;
        // Only entries that lie there can be given up; else the index is one that software has
        // passed while the doorbell was under way.
        if ring.lossy || ahead <= ring.unread.len() {
            ring.consumer = index;
            ring.unread.drain(..ahead.min(ring.unread.len()));
        }
    }

    /// Polls every ring until it reads as empty. Returns how many entries were read.
    pub fn poll_all(&mut self) -> Result<u64, BadPoll> {
        let mut n = 0;
        for cqn in 0..self.rings.len() as u32 {
            if self.rings[cqn as usize].lossy {
                continue;
            }
            while self.poll(cqn)?.is_some() {
                n += 1;
            }
        }
        Ok(n)
    }
}
