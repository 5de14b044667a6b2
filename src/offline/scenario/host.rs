//! What software and the far end know: rings in memory, and WQEs that are out on the wire.

use std::collections::{BTreeMap, VecDeque};

use super::trace::Happening;
use crate::model::{
    Answer, Cqe, KeyTable, Operation, Outcome, PostWqe, QpState, Queue, WalkFault, walk,
};

/// A completion ring in host memory, read by the phase bit.
#[derive(Clone, Debug, Default)]
struct Ring {
    slots: Vec<Option<Cqe>>,
    /// Software's own index, modulo 2 × depth.
    index: u64,
}

impl Ring {
    /// The entry at software's index plus `ahead`, if its phase says that it is new.
    fn at(&self, ahead: u64) -> Option<Cqe> {
        let depth = self.slots.len() as u64;
        if ahead >= depth {
            return None;
        }
        let index = (self.index + ahead) % (2 * depth);
        let cqe = self.slots[(index % depth) as usize]?;
        (cqe.phase == (index < depth)).then_some(cqe)
    }
}

/// Everything outside the hardware that a scenario needs to remember.
#[derive(Debug)]
pub struct Host {
    rings: BTreeMap<u32, Ring>,
    /// Epoch and slot of WQEs that the transport engine may report on, oldest first.
    outstanding: BTreeMap<(u32, Queue), VecDeque<(u16, u16)>>,
    /// WQE index that the next post takes.
    next_index: BTreeMap<(u32, Queue), u16>,
    states: BTreeMap<u32, QpState>,
    keys: KeyTable,
}

impl Host {
    /// Beside hardware just out of reset, with room for so many keys.
    pub fn new(num_key: u32) -> Self {
        Self {
            rings: BTreeMap::new(),
            outstanding: BTreeMap::new(),
            next_index: BTreeMap::new(),
            states: BTreeMap::new(),
            keys: KeyTable::new(num_key),
        }
    }

    /// Takes notice of something that retired.
    pub fn notice(&mut self, h: &Happening) {
        for c in &h.changes {
            match c.to {
                Some(state) => self.states.insert(c.qpn, state),
                None => self.states.remove(&c.qpn),
            };
        }
        if let Some((slot, cqe)) =
            h.effects.cqe.and_then(|c| Some((c.cqn, c.written?))).and_then(|(cqn, (slot, cqe))| {
                Some((self.rings.get_mut(&cqn)?.slots.get_mut(slot as usize)?, cqe))
            })
        {
            *slot = Some(cqe);
        }
        if let Some(i) = &h.effects.issue {
            self.queue(i.qpn, Queue::Send).push_back((i.epoch, i.slot));
        }
        if h.effects.outcome != Outcome::Ok {
            return;
        }
        match &h.operation {
            Operation::CreateCq { cqn, depth, .. } => {
                let ring = Ring { slots: vec![None; *depth as usize], index: 0 };
                self.rings.insert(*cqn, ring);
            }
            Operation::PostRecv { qpn, wqe_index } => {
                self.next_index.insert((*qpn, Queue::Recv), wqe_index.wrapping_add(1));
                if let Answer::Posted { slot, epoch } = h.effects.answer {
                    self.queue(*qpn, Queue::Recv).push_back((epoch, slot));
                }
            }
            Operation::PostSend(p) => {
                let index = (p.ctrl[0] >> 8) as u16;
                self.next_index.insert((p.qpn, Queue::Send), index.wrapping_add(1));
            }
            Operation::PostWqe(w) => {
                let index = (w.units[0][0] >> 8) as u16;
                self.next_index.insert((w.qpn, Queue::Send), index.wrapping_add(1));
            }
            Operation::Complete(c) => {
                self.queue(c.qpn, c.queue).pop_front();
            }
            Operation::Flush { qpn, queue } => {
                self.queue(*qpn, *queue).pop_front();
            }
            Operation::DestroyQp { qpn } => self.forget(*qpn),
            // The hardware has accepted them; the table cannot say otherwise.
            Operation::RegKey { lkey, base, length, access } => {
                let _ = self.keys.register(*lkey, *base, *length, *access);
            }
            Operation::DeregKey { lkey } => {
                let _ = self.keys.deregister(*lkey);
            }
            Operation::ModifyQp(m)
                if h.effects.state_after == Some(QpState::Reset)
                    && m.attr_mask.contains(crate::model::AttrMask::STATE) =>
            {
                self.forget(m.qpn);
            }
            _ => {}
        }
    }

    fn forget(&mut self, qpn: u32) {
        for queue in [Queue::Send, Queue::Recv] {
            self.queue(qpn, queue).clear();
        }
    }

    fn queue(&mut self, qpn: u32, queue: Queue) -> &mut VecDeque<(u16, u16)> {
        self.outstanding.entry((qpn, queue)).or_default()
    }

    /// What is wrong with a WQE in its queue, with the keys as they are now.
    pub fn faults(&self, wqe: &PostWqe) -> Vec<WalkFault> {
        let read = |n| {
            let words = wqe.unit(n).map(u32::to_be_bytes);
            std::array::from_fn(|byte| words[byte / 4][byte % 4])
        };
        walk(read, wqe.format, wqe.transport, &self.keys).faults
    }

    /// State of a QP as it was last seen.
    pub fn state(&self, qpn: u32) -> Option<QpState> {
        self.states.get(&qpn).copied()
    }

    /// Epoch and slot of the oldest WQEs that completion reports can be about, at most `most`.
    pub fn outstanding(&self, qpn: u32, queue: Queue, most: u32) -> Vec<(u16, u16)> {
        let all = self.outstanding.get(&(qpn, queue)).into_iter().flatten();
        all.take(most as usize).copied().collect()
    }

    /// WQE index for the next post on this queue.
    pub fn next_index(&self, qpn: u32, queue: Queue) -> u16 {
        self.next_index.get(&(qpn, queue)).copied().unwrap_or(0)
    }

    /// What software can read from this CQ, in order, without reading it.
    pub fn unread(&self, cqn: u32) -> Vec<Cqe> {
        self.rings.get(&cqn).map_or_else(Vec::new, |r| (0..).map_while(|n| r.at(n)).collect())
    }

    /// Reads up to `most` entries.
    pub fn poll(&mut self, cqn: u32, most: u32) -> Vec<Cqe> {
        let Some(ring) = self.rings.get_mut(&cqn) else { return Vec::new() };
        let read: Vec<Cqe> = (0..u64::from(most)).map_while(|n| ring.at(n)).collect();
        let laps = 2 * ring.slots.len().max(1) as u64;
        ring.index = (ring.index + read.len() as u64) % laps;
        read
    }

    /// Software's own index into this ring, modulo 2 × depth.
    pub fn index(&self, cqn: u32) -> u32 {
        self.rings.get(&cqn).map_or(0, |r| r.index as u32)
    }

    /// What the memory of the ring holds, slot by slot; slots never written are left out.
    pub fn memory(&self, cqn: u32) -> Vec<Cqe> {
        self.rings.get(&cqn).map_or_else(Vec::new, |r| r.slots.iter().flatten().copied().collect())
    }
}
