//! Two sets with constant-time changes and no allocation after their creation.

const NIL: u32 = u32::MAX;

/// A set of QP numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct QpSet {
    members: Vec<u32>,
    place: Vec<u32>,
}

impl QpSet {
    pub fn new(num_qp: u32) -> Self {
        Self { members: Vec::with_capacity(num_qp as usize), place: vec![NIL; num_qp as usize] }
    }

    #[inline]
    pub fn set(&mut self, qpn: u32, member: bool) {
        let place = self.place[qpn as usize];
        if member == (place != NIL) {
            return;
        }
        if member {
            self.place[qpn as usize] = self.members.len() as u32;
            self.members.push(qpn);
        } else {
            self.members.swap_remove(place as usize);
            if let Some(&moved) = self.members.get(place as usize) {
                self.place[moved as usize] = place;
            }
            self.place[qpn as usize] = NIL;
        }
    }

    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.members.iter().copied()
    }
}

/// For each CQ, the queues (QP number and role) that report to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Attachments {
    first: Vec<u32>,
    next: Vec<u32>,
    prev: Vec<u32>,
}

impl Attachments {
    pub fn new(num_qp: u32, num_cq: u32) -> Self {
        let nodes = 2 * num_qp as usize;
        Self { first: vec![NIL; num_cq as usize], next: vec![NIL; nodes], prev: vec![NIL; nodes] }
    }

    pub fn attach(&mut self, cqn: u32, qpn: u32, role: usize) {
        let node = 2 * qpn + role as u32;
        let old = std::mem::replace(&mut self.first[cqn as usize], node);
        self.next[node as usize] = old;
        self.prev[node as usize] = NIL;
        if old != NIL {
            self.prev[old as usize] = node;
        }
    }

    pub fn detach(&mut self, cqn: u32, qpn: u32, role: usize) {
        let node = (2 * qpn) as usize + role;
        let (next, prev) = (self.next[node], self.prev[node]);
        match prev {
            NIL => self.first[cqn as usize] = next,
            _ => self.next[prev as usize] = next,
        }
        if next != NIL {
            self.prev[next as usize] = prev;
        }
    }

    /// QP numbers; one that is attached in both roles comes twice.
    pub fn qps_of(&self, cqn: u32) -> impl Iterator<Item = u32> + '_ {
        let some = |node: u32| (node != NIL).then_some(node);
        std::iter::successors(some(self.first[cqn as usize]), move |&n| some(self.next[n as usize]))
            .map(|node| node / 2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn a_qp_set_is_a_set(changes in prop::collection::vec((0u32..8, any::<bool>()), 0..60)) {
            let (mut ours, mut theirs) = (QpSet::new(8), BTreeSet::new());
            for (qpn, member) in changes {
                ours.set(qpn, member);
                if member { theirs.insert(qpn); } else { theirs.remove(&qpn); }
                let mut got: Vec<u32> = ours.iter().collect();
                got.sort_unstable();
                prop_assert_eq!(got, theirs.iter().copied().collect::<Vec<_>>());
                prop_assert_eq!(ours.is_empty(), theirs.is_empty());
            }
        }

        #[test]
        fn attachments_are_lists(changes in prop::collection::vec((0u32..4, 0u32..2, 0u32..2), 0..60)) {
            let mut ours = Attachments::new(4, 2);
            let mut theirs: [Option<(u32, u32)>; 4] = [None; 4];
            for (qpn, send, recv) in changes {
                match theirs[qpn as usize].take() {
                    Some((s, r)) => {
                        ours.detach(s, qpn, 0);
                        ours.detach(r, qpn, 1);
                    }
                    None => {
                        ours.attach(send, qpn, 0);
                        ours.attach(recv, qpn, 1);
                        theirs[qpn as usize] = Some((send, recv));
                    }
                }
                for cqn in 0..2 {
                    let mut got: Vec<u32> = ours.qps_of(cqn).collect();
                    got.sort_unstable();
                    let mut want = Vec::new();
                    for (q, pair) in theirs.iter().enumerate() {
                        if let Some((s, r)) = *pair {
                            want.extend([s, r].iter().filter(|&&c| c == cqn).map(|_| q as u32));
                        }
                    }
                    prop_assert_eq!(got, want);
                }
            }
        }
    }
}
