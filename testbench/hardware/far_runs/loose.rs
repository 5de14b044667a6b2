//! Flags of any nonzero byte, nonsense in reserved fields.

use std::path::Path;

use rnic_cosim::hw::{Dut, DutError, abi};
use rnic_cosim::model::CqScope;

/// Hardware that is told `true` by any number but 0, and anything in reserved fields.
pub(super) struct Loose<D>(pub(super) D);

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
