//! One completion queue: ring arithmetic, arming, and the verdict on a completion attempt.

use super::{Arm, CqFull, CqScope, CqSnapshot, Cqe, Policy, status};

/// A ring whose indices count modulo 2 × depth, so that all its slots are usable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ring {
    depth: u32,
    producer: u32,
    consumer: u32,
}

/// A consumer index that the ring cannot be moved to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "consumer index {index} is refused: {occupancy} entries from {consumer} on, indices below {limit}"
)]
pub struct BadIndex {
    /// The index given.
    pub index: u32,
    /// Index of the oldest unread entry, modulo twice the depth.
    pub consumer: u32,
    /// Unread entries.
    pub occupancy: u32,
    /// Twice the depth.
    pub limit: u32,
}

impl Ring {
    /// An empty ring of `depth` slots, 1..2^31 − 1.
    pub const fn new(depth: u32) -> Self {
        Self { depth, producer: 0, consumer: 0 }
    }

    /// Entries.
    pub const fn depth(&self) -> u32 {
        self.depth
    }

    /// 0..2 × depth.
    pub const fn producer(&self) -> u32 {
        self.producer
    }

    /// 0..2 × depth.
    pub const fn consumer(&self) -> u32 {
        self.consumer
    }

    /// Entries between consumer and producer.
    #[inline]
    pub const fn occupancy(&self) -> u32 {
        self.ahead(self.producer)
    }

    /// No slot is free.
    pub const fn is_full(&self) -> bool {
        self.occupancy() == self.depth
    }

    /// Slot of the next entry, and its phase: true on the first lap.
    pub const fn next_entry(&self) -> (u32, bool) {
        if self.producer < self.depth {
            (self.producer, true)
        } else {
            (self.producer - self.depth, false)
        }
    }

    /// Takes the next slot. In a full ring the oldest entry is written over: the consumer index
    /// goes along.
    pub fn produce(&mut self) {
        if self.is_full() {
            self.consumer = self.after(self.consumer);
        }
        self.producer = self.after(self.producer);
    }

    /// Moves the consumer index.
    ///
    /// # Errors
    /// Out of range, or beyond the producer; nothing is moved.
    pub fn consume(&mut self, index: u32) -> Result<(), BadIndex> {
        let limit = 2 * self.depth;
        if index >= limit || self.ahead(index) > self.occupancy() {
            let (consumer, occupancy) = (self.consumer, self.occupancy());
            return Err(BadIndex { index, consumer, occupancy, limit });
        }
        self.consumer = index;
        Ok(())
    }

    const fn ahead(&self, index: u32) -> u32 {
        if index >= self.consumer {
            index - self.consumer
        } else {
            index + 2 * self.depth - self.consumer
        }
    }

    const fn after(&self, index: u32) -> u32 {
        if index + 1 == 2 * self.depth { 0 } else { index + 1 }
    }
}

/// What a completion attempt brought about in the CQ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Attempt {
    /// Slot and entry; `None` is lost.
    pub written: Option<(u32, Cqe)>,
    /// The QP must go to ERR.
    pub failed: bool,
    /// CQ_ERR is raised now.
    pub raises_cq_err: bool,
    /// The CQ has come into error now.
    pub enters_error: bool,
    /// A completion event fires.
    pub wakes: bool,
}

/// A completion queue context.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cq {
    pub exists: bool,
    pub ring: Ring,
    pub arm: Arm,
    pub ignore_overrun: bool,
    pub fault: bool,
    pub in_error: bool,
    pub err_raised: bool,
    pub lost: u32,
    /// Sum of the ceilings of the attached queues.
    pub ceiling_sum: u32,
    /// Attached queues.
    pub attached: u32,
}

impl Cq {
    pub fn create(depth: u32, ignore_overrun: bool) -> Self {
        Self { exists: true, ring: Ring::new(depth), ignore_overrun, ..Self::default() }
    }

    pub fn exceeds(&self) -> bool {
        self.ceiling_sum > self.ring.depth()
    }

    /// `next` is stronger than `solicited`: it is never downgraded.
    pub fn arm(&mut self, solicited_only: bool) {
        self.arm = if solicited_only { self.arm.max(Arm::Solicited) } else { Arm::Next };
    }

    /// Tries to write an entry. `solicited`: a receive whose message asked for a wake-up.
    pub fn attempt(&mut self, mut cqe: Cqe, solicited: bool, policy: &Policy) -> Attempt {
        let full = self.ring.is_full() && !self.ignore_overrun;
        let failed = full || self.fault || self.in_error;
        let raises_cq_err = failed && !self.err_raised;
        self.err_raised |= failed;
        let enters_error = failed && !self.in_error && policy.cq_scope != CqScope::Affected;
        self.in_error |= enters_error;

        let writes = !failed || (policy.cq_full == CqFull::Overwrite && !self.fault);
        if !writes {
            self.lost = self.lost.saturating_add(1);
            return Attempt { written: None, failed, raises_cq_err, enters_error, wakes: false };
        }
        let (slot, phase) = self.ring.next_entry();
        cqe.phase = phase;
        self.ring.produce();
        let wakes = match self.arm {
            Arm::None => false,
            Arm::Solicited => solicited || cqe.status != status::SUCCESS,
            Arm::Next => true,
        };
        if wakes {
            self.arm = Arm::None;
        }
        Attempt { written: Some((slot, cqe)), failed, raises_cq_err, enters_error, wakes }
    }

    pub fn snapshot(&self) -> CqSnapshot {
        CqSnapshot {
            depth: self.ring.depth(),
            producer: self.ring.producer(),
            consumer: self.ring.consumer(),
            occupancy: self.ring.occupancy(),
            lost: self.lost,
            ceiling_sum: self.ceiling_sum,
            attached: self.attached,
            arm: self.arm,
            ignore_overrun: self.ignore_overrun,
            fault: self.fault,
            in_error: self.in_error,
            cq_err_raised: self.err_raised,
            exceeds: self.exceeds(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    fn entry(status: u8) -> Cqe {
        Cqe { status, ..Cqe::default() }
    }

    #[test]
    fn all_slots_of_any_depth_are_usable() {
        for depth in [1, 3, 5, 65_536] {
            let mut cq = Cq::create(depth, false);
            for slot in 0..depth {
                let a = cq.attempt(entry(0), false, &Policy::BOOK);
                let (at, cqe) = a.written.expect("room");
                assert_eq!((at, cqe.phase), (slot, true));
            }
            assert!(cq.attempt(entry(0), false, &Policy::BOOK).failed, "depth {depth}");
        }
    }

    #[test]
    fn a_stale_sixteen_bit_index_is_not_taken_for_a_long_way() {
        let mut ring = Ring::new(65_536);
        for _ in 0..10 {
            ring.produce();
        }
        ring.consume(10).expect("all of it");
        let e = ring.consume(9).expect_err("one behind is 131,071 ahead");
        assert_eq!(
            e.to_string(),
            "consumer index 9 is refused: 0 entries from 10 on, indices below 131072"
        );
    }

    /// What each combination of reason and policy does with the entry.
    #[test]
    fn a_failed_attempt() {
        for (fault, in_error, full, overrun) in
            (0..16).map(|n| (n & 1 > 0, n & 2 > 0, n & 4 > 0, n & 8 > 0))
        {
            for cq_full in [CqFull::KeepUnread, CqFull::Overwrite] {
                for cq_scope in [CqScope::Affected, CqScope::Sticky, CqScope::Cascade] {
                    let policy = Policy { cq_full, cq_scope, ..Policy::BOOK };
                    let mut cq = Cq::create(2, overrun);
                    for _ in 0..if full { 2 } else { 1 } {
                        cq.ring.produce();
                    }
                    (cq.fault, cq.in_error, cq.err_raised) = (fault, in_error, in_error);
                    cq.arm = Arm::Next;
                    let a = cq.attempt(entry(0), false, &policy);
                    let failed = fault || in_error || (full && !overrun);
                    let written = !failed || (cq_full == CqFull::Overwrite && !fault);
                    assert_eq!((a.failed, a.written.is_some()), (failed, written));
                    assert_eq!((cq.lost == 0, a.wakes), (written, written));
                    assert_eq!(a.raises_cq_err, failed && !in_error);
                    let sticks = failed && cq_scope != CqScope::Affected;
                    assert_eq!(cq.in_error, in_error || sticks);
                    assert_eq!(a.enters_error, sticks && !in_error);
                    assert_eq!(cq.ring.occupancy(), if full || written { 2 } else { 1 });
                    assert_eq!(cq.ring.consumer(), u32::from(full && written));
                }
            }
        }
    }

    #[test]
    fn lost_saturates() {
        let mut cq = Cq { fault: true, lost: u32::MAX, ..Cq::create(1, false) };
        cq.attempt(entry(0), false, &Policy::BOOK);
        assert_eq!(cq.lost, u32::MAX);
    }

    proptest! {
        /// The ring against a queue of what was written, with every reachable consumer index.
        #[test]
        fn the_ring_is_a_queue(depth in 1u32..7, steps in prop::collection::vec(any::<Option<u32>>(), 0..80)) {
            let mut ring = Ring::new(depth);
            let mut queue = VecDeque::new();
            let (mut written, mut read) = (0u32, 0u32);
            for step in steps {
                match step {
                    None => {
                        let (slot, phase) = ring.next_entry();
                        prop_assert_eq!(slot, written % depth);
                        prop_assert_eq!(phase, (written / depth).is_multiple_of(2));
                        ring.produce();
                        queue.push_back(written);
                        written += 1;
                        if queue.len() as u32 > depth {
                            queue.pop_front();
                            read += 1;
                        }
                    }
                    Some(index) => {
                        let index = index % (2 * depth + 2);
                        let ahead = (0..=queue.len() as u32)
                            .find(|n| (read + n) % (2 * depth) == index);
                        prop_assert_eq!(ring.consume(index).is_ok(), ahead.is_some());
                        if let Some(n) = ahead {
                            queue.drain(..n as usize);
                            read += n;
                        }
                    }
                }
                prop_assert_eq!(ring.occupancy(), queue.len() as u32);
                prop_assert_eq!(ring.is_full(), queue.len() as u32 == depth);
                prop_assert_eq!(ring.consumer(), read % (2 * depth));
                prop_assert_eq!(ring.producer(), written % (2 * depth));
            }
        }
    }
}
