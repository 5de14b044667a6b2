//! The work request of a program: `struct ibv_send_wr`.

use std::collections::BTreeMap;

use super::{
    Address, Atomic, AtomicTarget, Connected, Content, Datagram, Payload, Qpn, RcSend, Remote,
    Request, SendForm, WriteImm,
};
use crate::{FieldTooWide, Lkey, OpClass, SendFlags, Sge, Transport};

/// `struct ibv_send_wr`; `num_sge` is the length of `sg_list`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorkRequest {
    /// The caller's number.
    pub wr_id: u64,
    /// The next request of the list.
    pub next: Link,
    /// Scatter/gather list.
    pub sg_list: Vec<WrSge>,
    /// `ibv_wr_opcode`, whatever the program wrote there.
    pub opcode: u32,
    /// `ibv_send_flags`.
    pub send_flags: SendFlags,
    /// Immediate, or the union's other member `invalidate_rkey`.
    pub imm_data: u32,
    /// What depends on the opcode.
    pub wr: Wr,
}

/// `struct ibv_sge`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WrSge {
    /// Address in memory.
    pub addr: u64,
    /// Bytes.
    pub length: u32,
    /// Local key.
    pub lkey: u32,
}

/// The union `wr`, with its member told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Wr {
    /// None of them.
    #[default]
    None,
    /// READ and WRITE.
    Rdma(WrRdma),
    /// An atomic.
    Atomic(WrAtomic),
    /// UD.
    Ud(WrUd),
}

/// `wr.rdma`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WrRdma {
    /// Address at the far end.
    pub remote_addr: u64,
    /// Remote key.
    pub rkey: u32,
}

/// `wr.atomic`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WrAtomic {
    /// Address at the far end.
    pub remote_addr: u64,
    /// Value to compare with, or to add.
    pub compare_add: u64,
    /// Value to swap in.
    pub swap: u64,
    /// Remote key.
    pub rkey: u32,
}

/// `wr.ud`; the address itself stands for its handle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WrUd {
    /// Address handle.
    pub ah: Address,
    /// Number of the remote QP.
    pub remote_qpn: u32,
    /// Q_Key of the remote QP.
    pub remote_qkey: u32,
}

/// The pointer `next`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Link(Option<Box<WorkRequest>>);

impl Link {
    /// To another request.
    pub fn to(next: WorkRequest) -> Self {
        Self(Some(Box::new(next)))
    }

    /// The next request, or the end of the chain.
    pub fn get(&self) -> Option<&WorkRequest> {
        self.0.as_deref()
    }
}

/// A chain may be as long as a send queue: it is let go one by one, not one inside the other.
impl Drop for Link {
    fn drop(&mut self) {
        let mut next = self.0.take();
        while let Some(mut wr) = next {
            next = wr.next.0.take();
        }
    }
}

/// A chain in the order of posting.
#[derive(Clone, Debug)]
pub struct Chain<'a>(Option<&'a WorkRequest>);

impl<'a> Iterator for Chain<'a> {
    type Item = &'a WorkRequest;

    fn next(&mut self) -> Option<&'a WorkRequest> {
        let wr = self.0?;
        self.0 = wr.next.get();
        Some(wr)
    }
}

/// The memory of the program, as far as it is known: inline payload is read when it is posted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProcessMemory {
    /// By first address; they do not overlap.
    buffers: BTreeMap<u64, Vec<u8>>,
}

impl ProcessMemory {
    /// Puts bytes into a buffer of their own and tells its address.
    pub fn place(&mut self, bytes: Vec<u8>) -> u64 {
        let free = self.buffers.last_key_value().map_or(0x1_0000, |(a, b)| a + b.len() as u64);
        let address = free.next_multiple_of(64);
        if !bytes.is_empty() {
            self.buffers.insert(address, bytes);
        }
        address
    }

    /// `None` if not all of it lies in one buffer.
    pub fn read(&self, address: u64, length: u32) -> Option<&[u8]> {
        if length == 0 {
            return Some(&[]);
        }
        let (start, bytes) = self.buffers.range(..=address).next_back()?;
        let from = usize::try_from(address - start).ok()?;
        bytes.get(from..from.checked_add(length as usize)?)
    }
}

/// A work request that no send queue takes. Fields are named as in `struct ibv_send_wr`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadWorkRequest {
    /// No such opcode.
    #[error("opcode: {0} is none of the eight that a send queue takes (ibv_wr_opcode)")]
    Opcode(u32),
    /// The transport does not have it.
    #[error("opcode: {transport} has no {class}")]
    Transport {
        /// Kind of operation.
        class: OpClass,
        /// Transport of the QP.
        transport: Transport,
    },
    /// Bits beyond those of `ibv_send_flags`.
    #[error("send_flags: bits {:#x}; expected bits 0..3 of ibv_send_flags", .0.0)]
    Flags(SendFlags),
    /// Inline payload of an operation that carries none.
    #[error("send_flags: IBV_SEND_INLINE with {0}; expected SEND or RDMA_WRITE")]
    Inline(OpClass),
    /// The wrong part of `wr` is filled.
    #[error("wr: {class} on {transport} needs wr.{expected}")]
    Union {
        /// Kind of operation.
        class: OpClass,
        /// Transport of the QP.
        transport: Transport,
        /// What was expected.
        expected: &'static str,
    },
    /// A value is too wide for its field.
    #[error("wr.ud: {0}")]
    Wide(#[from] FieldTooWide),
    /// An atomic needs one entry of eight bytes.
    #[error("num_sge: an atomic has one element of 8 bytes, not {num_sge} with {bytes} in all")]
    AtomicTarget {
        /// Scatter/gather entries.
        num_sge: usize,
        /// Bytes.
        bytes: u64,
    },
    /// The memory cannot be read.
    #[error("sg_list[{index}]: {length} bytes at {addr:#x} cannot be read to go inline")]
    Unreadable {
        /// Place in the list.
        index: usize,
        /// Address in memory.
        addr: u64,
        /// Bytes.
        length: u32,
    },
}

impl WorkRequest {
    /// This request and those behind it.
    pub const fn chain(&self) -> Chain<'_> {
        Chain(Some(self))
    }

    /// Elements of `sg_list`.
    pub fn num_sge(&self) -> usize {
        self.sg_list.len()
    }

    /// What the program asks of a QP of that transport. `next` is not followed.
    ///
    /// SOLICITED where no receive is consumed asks for nothing, and neither does `imm_data`
    /// where the opcode has none.
    ///
    /// # Errors
    /// The first thing that cannot be meant.
    pub fn to_request(
        &self,
        transport: Transport,
        memory: &ProcessMemory,
    ) -> Result<Request, BadWorkRequest> {
        let class =
            OpClass::from_wr_opcode(self.opcode).ok_or(BadWorkRequest::Opcode(self.opcode))?;
        if !class.on(transport) {
            return Err(BadWorkRequest::Transport { class, transport });
        }
        let known = SendFlags(0xf);
        if !self.send_flags.minus(known).is_empty() {
            return Err(BadWorkRequest::Flags(self.send_flags));
        }
        let solicited = self.send_flags.contains(SendFlags::SOLICITED);
        let content = match class {
            OpClass::Send | OpClass::SendImm | OpClass::SendInvalidate => {
                let imm = (class == OpClass::SendImm).then_some(self.imm_data);
                let form = match transport {
                    Transport::Rc if class == OpClass::SendInvalidate => {
                        SendForm::Rc(RcSend::Invalidate(self.imm_data))
                    }
                    Transport::Rc => SendForm::Rc(imm.map_or(RcSend::Plain, RcSend::Imm)),
                    Transport::Uc => SendForm::Uc(imm),
                    Transport::Ud => SendForm::Ud(self.datagram(class)?, imm),
                };
                Content::Send { form, payload: self.payload(memory)?, solicited }
            }
            OpClass::Write | OpClass::WriteImm => Content::Write {
                transport: match transport {
                    Transport::Uc => Connected::Uc,
                    _ => Connected::Rc,
                },
                remote: self.rdma(class, transport)?,
                payload: self.payload(memory)?,
                imm: (class == OpClass::WriteImm)
                    .then_some(WriteImm { imm: self.imm_data, solicited }),
            },
            OpClass::Read => Content::Read {
                remote: self.rdma(class, transport)?,
                into: self.not_inline(class)?.sges(),
            },
            OpClass::CompareSwap | OpClass::FetchAdd => self.not_inline(class)?.atomic(class)?,
        };
        Ok(Request {
            content,
            fence: self.send_flags.contains(SendFlags::FENCE),
            signaled: self.send_flags.contains(SendFlags::SIGNALED),
        })
    }

    fn not_inline(&self, class: OpClass) -> Result<&Self, BadWorkRequest> {
        if self.send_flags.contains(SendFlags::INLINE) {
            return Err(BadWorkRequest::Inline(class));
        }
        Ok(self)
    }

    fn sges(&self) -> Vec<Sge> {
        self.sg_list
            .iter()
            .map(|s| Sge { address: s.addr, bytes: s.length, lkey: Lkey(s.lkey) })
            .collect()
    }

    fn payload(&self, memory: &ProcessMemory) -> Result<Payload, BadWorkRequest> {
        if !self.send_flags.contains(SendFlags::INLINE) {
            return Ok(Payload::Gather(self.sges()));
        }
        let mut bytes = Vec::new();
        for (index, &WrSge { addr, length, .. }) in self.sg_list.iter().enumerate() {
            let unreadable = BadWorkRequest::Unreadable { index, addr, length };
            bytes.extend(memory.read(addr, length).ok_or(unreadable)?);
        }
        Ok(Payload::Inline(bytes))
    }

    fn rdma(&self, class: OpClass, transport: Transport) -> Result<Remote, BadWorkRequest> {
        match self.wr {
            Wr::Rdma(r) => Ok(Remote { address: r.remote_addr, rkey: r.rkey }),
            _ => Err(BadWorkRequest::Union { class, transport, expected: "rdma" }),
        }
    }

    fn atomic(&self, class: OpClass) -> Result<Content, BadWorkRequest> {
        let Wr::Atomic(a) = self.wr else {
            let transport = Transport::Rc;
            return Err(BadWorkRequest::Union { class, transport, expected: "atomic" });
        };
        let &[WrSge { addr, length: 8, lkey }] = &self.sg_list[..] else {
            let bytes = self.sg_list.iter().map(|s| u64::from(s.length)).sum();
            return Err(BadWorkRequest::AtomicTarget { num_sge: self.num_sge(), bytes });
        };
        Ok(Content::Atomic {
            remote: Remote { address: a.remote_addr, rkey: a.rkey },
            atomic: if class == OpClass::FetchAdd {
                Atomic::FetchAdd { add: a.compare_add }
            } else {
                Atomic::CompareSwap { compare: a.compare_add, swap: a.swap }
            },
            into: AtomicTarget { address: addr, lkey: Lkey(lkey) },
        })
    }

    fn datagram(&self, class: OpClass) -> Result<Datagram, BadWorkRequest> {
        let Wr::Ud(u) = self.wr else {
            let transport = Transport::Ud;
            return Err(BadWorkRequest::Union { class, transport, expected: "ud" });
        };
        let wide = FieldTooWide { field: "remote_qpn", value: u.remote_qpn, bits: 24 };
        let remote_qpn = Qpn::new(u.remote_qpn).ok_or(wide)?;
        Ok(Datagram { remote_qpn, remote_qkey: u.remote_qkey, ah: u.ah })
    }

    /// The request as a program would write it. Inline payload is put into `memory`.
    pub fn from_request(request: &Request, wr_id: u64, memory: &mut ProcessMemory) -> Self {
        let content = &request.content;
        let flag = |set: bool, flag| if set { flag } else { SendFlags::EMPTY };
        let mut out = Self {
            wr_id,
            opcode: content.class().wr_opcode(),
            send_flags: flag(request.fence, SendFlags::FENCE)
                | flag(request.signaled, SendFlags::SIGNALED)
                | flag(content.solicited(), SendFlags::SOLICITED),
            imm_data: content.misc(),
            ..Self::default()
        };
        match content {
            Content::Send { form, payload, .. } => {
                if let SendForm::Ud(d, _) = form {
                    out.wr = Wr::Ud(WrUd {
                        ah: d.ah,
                        remote_qpn: d.remote_qpn.number(),
                        remote_qkey: d.remote_qkey,
                    });
                }
                out.carry(payload, memory);
            }
            Content::Write { remote, payload, .. } => {
                out.wr = Wr::Rdma(WrRdma { remote_addr: remote.address, rkey: remote.rkey });
                out.carry(payload, memory);
            }
            Content::Read { remote, into } => {
                out.wr = Wr::Rdma(WrRdma { remote_addr: remote.address, rkey: remote.rkey });
                out.sg_list = sg_list(into);
            }
            Content::Atomic { remote, atomic, into } => {
                let (compare_add, swap) = match *atomic {
                    Atomic::CompareSwap { compare, swap } => (compare, swap),
                    Atomic::FetchAdd { add } => (add, 0),
                };
                let Remote { address: remote_addr, rkey } = *remote;
                out.wr = Wr::Atomic(WrAtomic { remote_addr, compare_add, swap, rkey });
                out.sg_list = vec![WrSge { addr: into.address, length: 8, lkey: into.lkey.0 }];
            }
        }
        out
    }

    fn carry(&mut self, payload: &Payload, memory: &mut ProcessMemory) {
        match payload {
            Payload::Gather(sges) => self.sg_list = sg_list(sges),
            Payload::Inline(bytes) => {
                self.send_flags |= SendFlags::INLINE;
                // One element counts at most 2^32 - 1 bytes.
                for part in bytes.chunks(u32::MAX as usize) {
                    let addr = memory.place(part.to_vec());
                    self.sg_list.push(WrSge { addr, length: part.len() as u32, lkey: 0 });
                }
            }
        }
    }
}

fn sg_list(sges: &[Sge]) -> Vec<WrSge> {
    sges.iter().map(|s| WrSge { addr: s.address, length: s.bytes, lkey: s.lkey.0 }).collect()
}
