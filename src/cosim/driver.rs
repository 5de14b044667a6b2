//! Puts operations on the five channels, serves the memory that WQEs are read from, and clocks
//! the device.

use super::convert;
use super::timing::{self, Levels, Pattern, Timing};
use super::wqe_memory::WqeMemory;
use crate::hw::{Dut, DutError, abi};
use crate::model::{Channel, Operation, Policy};

/// Channels from outside.
pub const CHANNELS: [Channel; 5] =
    [Channel::Cmd, Channel::Post, Channel::Wire, Channel::Cqdb, Channel::Wqe];

/// Position of a channel in [`CHANNELS`]; `None` for the hardware's own steps.
pub(super) const fn position(channel: Channel) -> Option<usize> {
    match channel {
        Channel::Cmd => Some(0),
        Channel::Post => Some(1),
        Channel::Wire => Some(2),
        Channel::Cqdb => Some(3),
        Channel::Wqe => Some(4),
        Channel::Internal => None,
    }
}

/// A device with one operation at most offered per channel.
pub struct Driver<D> {
    dut: D,
    stim: abi::rnic_stim,
    resp: abi::rnic_resp,
    pattern: Pattern,
    memory: WqeMemory,
    levels: Levels,
    /// Outputs that stay closed whatever the pattern says.
    closed: u8,
    clock: u64,
    next_tag: u32,
    /// Inputs of every clock, kept only on demand.
    recorded: Option<Vec<abi::rnic_stim>>,
}

impl<D: Dut> Driver<D> {
    /// Takes a device, resets it with these straps.
    pub fn new(mut dut: D, policy: &Policy, timing: &Timing) -> Result<Driver<D>, DutError> {
        dut.reset(&convert::policy_record(policy))?;
        Ok(Driver {
            dut,
            stim: abi::rnic_stim::default(),
            resp: abi::rnic_resp::default(),
            pattern: Pattern::new(timing),
            memory: WqeMemory::new(timing),
            levels: Levels::FREE,
            closed: 0,
            clock: 0,
            // Anywhere, so that every bit of a tag is seen; with plain timing from 1.
            next_tag: timing.seed as u32 | 1,
            recorded: None,
        })
    }

    /// Resets the device; what was offered is gone.
    pub fn reset(&mut self, policy: &Policy) -> Result<(), DutError> {
        self.stim = abi::rnic_stim::default();
        self.memory.forget();
        self.dut.reset(&convert::policy_record(policy))
    }

    /// Changes readiness and holds from the next clock on.
    pub fn set_timing(&mut self, timing: &Timing) {
        self.pattern = Pattern::new(timing);
        self.memory.set_timing(timing);
    }

    /// Keeps these outputs from being ready from the next clock on; 0 gives all back to the
    /// pattern.
    pub fn close(&mut self, outputs: u8) {
        self.closed = outputs;
    }

    /// Keeps the inputs of every clock from now on.
    pub fn record(&mut self) {
        self.recorded = Some(Vec::new());
    }

    /// The inputs kept so far.
    pub fn take_recorded(&mut self) -> Vec<abi::rnic_stim> {
        self.recorded.take().unwrap_or_default()
    }

    /// Is an operation offered on this channel and not accepted?
    #[inline]
    pub fn busy(&self, channel: Channel) -> bool {
        let s = &self.stim;
        match channel {
            Channel::Cmd => s.cmd_valid != 0,
            Channel::Post => s.post_valid != 0,
            Channel::Wire => s.wire_valid != 0,
            Channel::Cqdb => s.cqdb_valid != 0,
            Channel::Wqe => s.wqe_valid != 0,
            Channel::Internal => true,
        }
    }

    /// Offers an operation from the next clock on; returns its tag.
    ///
    /// # Panics
    /// If the channel is busy, or the operation is one of the hardware's own steps.
    pub fn offer(&mut self, op: &Operation) -> u32 {
        let channel = convert::channel(op);
        assert!(!self.busy(channel), "channel {channel} is busy or takes no operations");
        let tag = self.next_tag;
        // 0 is the tag of internal steps.
        self.next_tag = self.next_tag.checked_add(1).unwrap_or(1);
        convert::put(tag, op, &mut self.stim);
        if let Operation::PostWqe(wqe) = op {
            self.memory.hold(wqe);
        }
        tag
    }

    /// One clock. Afterwards [`Driver::shown`] has what the ports showed.
    #[inline]
    pub fn step(&mut self) -> Result<(), DutError> {
        self.levels = self.pattern.clock();
        self.levels.ready &= !self.closed;
        let s = &mut self.stim;
        let ready = self.levels.ready;
        s.rsp_ready = u8::from(ready & timing::RSP != 0);
        s.issue_ready = u8::from(ready & timing::ISSUE != 0);
        s.cqe_ready = u8::from(ready & timing::CQE != 0);
        s.event_ready = u8::from(ready & timing::EVENT != 0);
        s.retire_ready = u8::from(ready & timing::RETIRE != 0);
        s.hold_internal = self.levels.hold;
        self.memory.offer(s);
        if let Some(recorded) = &mut self.recorded {
            recorded.push(*s);
        }
        self.dut.step(s, &mut self.resp)?;
        self.clock += 1;
        let r = &self.resp;
        s.cmd_valid &= u8::from(r.cmd_ready == 0);
        s.post_valid &= u8::from(r.post_ready == 0);
        s.wire_valid &= u8::from(r.wire_ready == 0);
        s.cqdb_valid &= u8::from(r.cqdb_ready == 0);
        self.memory.serve(s, r);
        s.wqe_valid &= u8::from(r.wqe_ready == 0);
        Ok(())
    }

    /// Readiness of the last clock, and what the ports showed in it.
    pub fn shown(&self) -> (Levels, &abi::rnic_resp) {
        (self.levels, &self.resp)
    }

    /// Clocks so far.
    pub fn clocks(&self) -> u64 {
        self.clock
    }

    /// The device itself, for its waveforms.
    pub fn dut(&mut self) -> &mut D {
        &mut self.dut
    }

    /// Gives the device back.
    pub fn into_dut(self) -> D {
        self.dut
    }
}
