//! Operations of the `cmd` channel.

use super::Generator;
use crate::cosim::engine::View;
use crate::model::{
    AddressVector, AttrMask, AttrValues, Channel, LinkLayer, Modify, Operation, Policy, QpSnapshot,
    QpState, transition_row,
};

impl Generator {
    pub(super) fn command(&mut self, view: &mut View<'_>) -> Option<Operation> {
        if let Some(op) = self.plan.pop_front() {
            return Some(op);
        }
        if self.chance(self.profile.unknown) {
            let code = self.pick(&[10, 11, 16, 24, 255]);
            return Some(Operation::Unknown { channel: Channel::Cmd, code });
        }
        self.bringing_up = false;
        // CQs first: nothing can be done without them.
        let cqn = self.some_cq();
        if view.machine().cq(cqn).is_none() && cqn < self.config.num_cq && self.chance(900) {
            return Some(self.create_cq(cqn));
        }
        if self.chance(self.profile.query) {
            return Some(if self.rng.bool() {
                Operation::QueryCq { cqn }
            } else {
                Operation::QueryQp { qpn: self.some_qp() }
            });
        }
        if self.chance(self.profile.keys) {
            return Some(self.key(view));
        }
        if self.chance(self.profile.fault) {
            return Some(Operation::SetCqFault { cqn, inaccessible: self.rng.u8(..3) > 0 });
        }
        if view.machine().cq(cqn).is_some_and(|c| c.in_error && c.attached == 0 || c.fault)
            && self.chance(300)
        {
            return Some(if self.rng.bool() {
                Operation::DestroyCq { cqn }
            } else {
                Operation::SetCqFault { cqn, inaccessible: false }
            });
        }
        if self.chance(self.profile.destroy) {
            return Some(match self.rng.u8(..10) {
                0 | 1 => Operation::DestroyCq { cqn },
                // A CQ that exists, or a number that none can have.
                2 if self.rng.bool() => {
                    let odd = self.odd_number(self.config.num_cq);
                    self.create_cq(odd)
                }
                2 => self.create_cq(cqn),
                _ => {
                    let qpn = self.some_qp();
                    if self.chance(self.profile.reborn) {
                        self.plan_rebirth(qpn, view);
                    }
                    Operation::DestroyQp { qpn }
                }
            });
        }
        let qpn = self.some_qp();
        match view.machine().qp(qpn) {
            None => {
                self.bringing_up = true;
                Some(self.create_qp(qpn, view))
            }
            Some(qp) => self.move_qp(qpn, &qp, view),
        }
    }

    /// A QP whose number is taken again at once by one that goes straight to ERR; what is posted
    /// to it meanwhile is for the old one, for none, or is flushed.
    fn plan_rebirth(&mut self, qpn: u32, view: &View<'_>) {
        let created = self.create_qp(qpn, view);
        let m = Modify {
            qpn,
            attr_mask: AttrMask::STATE,
            qp_state: QpState::Err.number(),
            cur_qp_state: QpState::Reset.number(),
            values: AttrValues::default(),
        };
        self.plan.extend([created, Operation::ModifyQp(m)]);
        self.reborn = Some(qpn);
        self.gap[1] = self.rng.u32(..8);
        // Half of the time nothing else comes between.
        if self.rng.bool() {
            self.gap[2..].fill(16);
        }
    }

    /// A query right behind the modify: it must see what has been stored a clock before.
    fn plan_look(&mut self, qpn: u32) {
        self.plan.push_back(Operation::QueryQp { qpn });
        // Half of the time nothing else comes between.
        if self.rng.bool() {
            for gap in &mut self.gap[1..] {
                *gap = (*gap).max(6);
            }
        }
    }

    fn create_cq(&mut self, cqn: u32) -> Operation {
        let (from, to) = self.profile.depth;
        let mut depth = self.rng.u32(from..=to).min(self.config.cq_depth_max);
        if self.chance(self.profile.bent) {
            let max = self.config.cq_depth_max;
            depth = self.pick(&[0, max, max + 1, max << 1, u32::MAX, 1]);
        }
        Operation::CreateCq { cqn, depth, ignore_overrun: self.chance(self.profile.ignore_overrun) }
    }

    fn create_qp(&mut self, qpn: u32, view: &View<'_>) -> Operation {
        let (sq, rq) = (self.config.sq_depth, self.config.rq_depth);
        let mut transport = self.rng.u8(..3);
        let mut sq_ceiling = self.rng.u32(1..=sq);
        let mut rq_ceiling = self.rng.u32(1..=rq);
        let mut cqns = [self.working_cq(view), self.working_cq(view)];
        if self.chance(self.profile.bent) {
            match self.rng.u8(..4) {
                0 => transport = self.pick(&[3, 4, 255]),
                1 => sq_ceiling = self.pick(&[0, sq + 1, sq << 8, u32::MAX]),
                2 => cqns[self.rng.usize(..2)] = self.odd_number(self.config.num_cq),
                _ => rq_ceiling = self.pick(&[0, rq + 1, rq << 8, u32::MAX]),
            }
        }
        Operation::CreateQp {
            qpn,
            transport,
            send_cqn: cqns[0],
            recv_cqn: cqns[1],
            sq_ceiling,
            rq_ceiling,
            sq_sig_all: self.rng.u8(..4) == 0,
        }
    }

    fn move_qp(&mut self, qpn: u32, qp: &QpSnapshot, view: &View<'_>) -> Option<Operation> {
        if self.chance(15) {
            // An existing number once more.
            return Some(self.create_qp(qpn, view));
        }
        let broken = |cqn| view.machine().cq(cqn).is_some_and(|c| c.in_error);
        if (broken(qp.send_cqn) || broken(qp.recv_cqn)) && self.chance(150) {
            // A CQ in error can be re-created only when no QP is attached to it.
            return Some(Operation::DestroyQp { qpn });
        }
        self.bringing_up = matches!(qp.state, QpState::Reset | QpState::Init | QpState::Rtr);
        let policy = *view.machine().policy();
        let target = if qp.state == QpState::Rts {
            if !self.chance(self.profile.leave_rts) {
                return None;
            }
            let [sqd, err, reset, stay] = self.profile.leave_to;
            let n = self.rng.u32(..(sqd + err + reset + stay).max(1));
            if n < sqd {
                QpState::Sqd
            } else if n < sqd + err {
                QpState::Err
            } else if n < sqd + err + reset {
                QpState::Reset
            } else {
                QpState::Rts
            }
        } else if self.chance(self.profile.climb) {
            match qp.state {
                QpState::Reset => QpState::Init,
                QpState::Init => QpState::Rtr,
                QpState::Rtr => QpState::Rts,
                QpState::Sqd if self.rng.u8(..4) == 0 => QpState::Sqd,
                QpState::Sqd => QpState::Rts,
                QpState::Sqe => QpState::Rts,
                QpState::Err => QpState::Reset,
                QpState::Rts => QpState::Rts,
            }
        } else {
            QpState::ALL[self.rng.usize(..7)]
        };
        // Whoever wants out of SQE over a missing row must take the long way at times.
        let target =
            if qp.state == QpState::Sqe && self.rng.u8(..4) == 0 { QpState::Reset } else { target };
        let row = transition_row(qp.transport, qp.state, target, &policy);
        let (required, optional) =
            row.map_or((AttrMask::EMPTY, AttrMask::EMPTY), |r| (r.required, r.optional));
        let with_state = target != qp.state || self.rng.u8(..4) > 0;
        let some = if self.rng.bool() { self.rng.u32(..) } else { 0 };
        let mut mask = required | AttrMask(optional.0 & some);
        if with_state {
            mask |= AttrMask::STATE;
        }
        let mut m = Modify {
            qpn,
            attr_mask: mask,
            qp_state: if with_state { target.number() } else { self.rng.u8(..) },
            cur_qp_state: qp.state.number(),
            values: self.good_values(policy.link_layer, target),
        };
        // No draw where it is 0: a seed of another profile stays the run that it was.
        if self.profile.one_off > 0 && self.chance(self.profile.one_off) {
            m.attr_mask.0 ^= 1 << self.rng.u32(..21);
        }
        if self.chance(self.profile.bent) {
            self.bend(&mut m, qp, &policy);
            // What is wrong twice must be refused by the first layer that objects.
            if self.rng.u8(..4) == 0 {
                self.bend(&mut m, qp, &policy);
            }
        }
        if self.chance(100) {
            self.plan_look(qpn);
        }
        Some(Operation::ModifyQp(m))
    }

    /// Values that pass, at their limits half of the time.
    fn good_values(&mut self, link: LinkLayer, target: QpState) -> AttrValues {
        let c = self.config;
        let mut at_most = |max: u64| match self.rng.u8(..4) {
            0 => 0,
            1 => max,
            _ => self.rng.u64(..=max),
        };
        let av = |n: u64| AddressVector {
            is_global: if link == LinkLayer::Roce { (n as u8).max(1) } else { n as u8 },
            sgid_index: (n >> 8) as u8,
            hop_limit: (n >> 16) as u8,
            traffic_class: (n >> 24) as u8,
            dlid: (n >> 32) as u16,
            sl: (n >> 48) as u8,
            static_rate: (n >> 56) as u8,
        };
        let mig = at_most(2) as u8;
        AttrValues {
            access_flags: at_most(u32::MAX.into()) as u32,
            qkey: at_most(u32::MAX.into()) as u32,
            rq_psn: at_most(0xff_ffff) as u32,
            sq_psn: at_most(0xff_ffff) as u32,
            dest_qpn: at_most(0xff_ffff) as u32,
            av: av(at_most(u64::MAX)),
            alt_av: av(at_most(u64::MAX)),
            pkey_index: at_most(u64::from(c.pkey_len) - 1) as u16,
            alt_pkey_index: at_most(u64::from(c.pkey_len) - 1) as u16,
            en_sqd_async_notify: at_most(2) as u8,
            port: 1 + at_most(u64::from(c.num_ports) - 1) as u8,
            path_mtu: 1 + at_most(u64::from(c.max_mtu) - 1) as u8,
            timeout: at_most(31) as u8,
            retry_cnt: at_most(7) as u8,
            rnr_retry: at_most(7) as u8,
            max_qp_rd_atomic: at_most(c.max_rd_atomic.into()) as u8,
            min_rnr_timer: at_most(31) as u8,
            max_dest_rd_atomic: at_most(c.max_rd_atomic.into()) as u8,
            // MIGRATED and REARM depend on where the QP goes; ARMED always passes.
            path_mig_state: if target == QpState::Rts { mig } else { 2 },
            alt_port: 1 + at_most(u64::from(c.num_ports) - 1) as u8,
            alt_timeout: at_most(31) as u8,
        }
    }

    /// One thing is made wrong, or merely unusual.
    fn bend(&mut self, m: &mut Modify, qp: &QpSnapshot, policy: &Policy) {
        match self.rng.u8(..11) {
            0 | 1 => m.attr_mask.0 ^= 1 << self.rng.u32(..21),
            2 => m.attr_mask.0 |= 1 << self.rng.u32(19..32),
            3 => {
                m.attr_mask |= AttrMask::STATE;
                m.qp_state = self.pick(&[0, 1, 2, 3, 4, 5, 6, 7, 8, 255]);
            }
            4 | 5 => {
                m.attr_mask |= AttrMask::CUR_STATE;
                m.cur_qp_state = self.pick(&[0, 1, 2, 3, 4, 5, 6, 7, 255, qp.state.number()]);
            }
            6 => {
                // Another state is claimed, with what its row asks for.
                let claimed = self.pick(&[QpState::Rtr, QpState::Rts, QpState::Sqd, QpState::Sqe]);
                let target = QpState::from_number(m.qp_state).unwrap_or(qp.state);
                let Some(row) = transition_row(qp.transport, claimed, target, policy) else {
                    return;
                };
                let some = self.rng.u32(..);
                m.attr_mask = row.required | AttrMask(row.optional.0 & some);
                m.attr_mask |= AttrMask::STATE | AttrMask::CUR_STATE;
                m.qp_state = target.number();
                m.cur_qp_state = claimed.number();
                if self.rng.bool() {
                    self.bend_value(m);
                }
            }
            _ => self.bend_value(m),
        }
    }

    fn bend_value(&mut self, m: &mut Modify) {
        let c = self.config;
        let v = &mut m.values;
        // Of the attributes that are named, else of any.
        let named: Vec<u32> =
            (0..21).filter(|b| m.attr_mask.0 >> b & 1 == 1 && *b > AttrMask::CUR_STATE.0).collect();
        let bit = if named.is_empty() {
            self.rng.u32(..21)
        } else {
            named[self.rng.usize(..named.len())]
        };
        let above = |limit: u8, n: u8| limit.saturating_add(1 + n % 4).max(n & 0x80);
        let n = self.rng.u8(..);
        match AttrMask(1 << bit) {
            AttrMask::PKEY_INDEX => v.pkey_index = c.pkey_len + u16::from(n),
            AttrMask::PORT => v.port = if n & 1 == 0 { 0 } else { above(c.num_ports, n) },
            AttrMask::AV => v.av.is_global = 0,
            AttrMask::PATH_MTU => v.path_mtu = if n & 1 == 0 { 0 } else { above(c.max_mtu, n) },
            AttrMask::TIMEOUT => v.timeout = above(31, n),
            AttrMask::RETRY_CNT => v.retry_cnt = above(7, n),
            AttrMask::RNR_RETRY => v.rnr_retry = above(7, n),
            AttrMask::RQ_PSN => v.rq_psn |= 1 << (24 + n % 8),
            AttrMask::SQ_PSN => v.sq_psn |= 1 << (24 + n % 8),
            AttrMask::DEST_QPN => v.dest_qpn |= 1 << (24 + n % 8),
            AttrMask::MAX_QP_RD_ATOMIC => v.max_qp_rd_atomic = above(c.max_rd_atomic, n),
            AttrMask::MAX_DEST_RD_ATOMIC => v.max_dest_rd_atomic = above(c.max_rd_atomic, n),
            AttrMask::MIN_RNR_TIMER => v.min_rnr_timer = above(31, n),
            AttrMask::PATH_MIG_STATE => v.path_mig_state = n % 5,
            AttrMask::ALT_PATH => match n % 4 {
                0 => v.alt_timeout = above(31, n),
                1 => v.alt_port = 0,
                2 => v.alt_pkey_index = c.pkey_len,
                _ => v.alt_av.is_global = 0,
            },
            _ => m.attr_mask.0 |= 1 << bit,
        }
    }
}
