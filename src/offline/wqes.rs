//! Send WQEs at random, as they lie in a send queue: stimulus for everything that walks them.
//!
//! A WQE is first chosen by meaning, packed, and then often broken in one way that is told
//! ([`Flaw`]). What a walk must find is for the golden model to say, not for this module.

use fastrand::Rng;

use crate::model::shapes::{
    Address, Atomic, AtomicTarget, Connected, Content, Datagram, Payload, Qpn, RcSend, Remote,
    Request, SendForm, WqeHeader, WriteImm, pack,
};
use crate::model::{
    AccessFlags, ControlSegment, KeyTable, Lkey, OpClass, Region, SendQueueRing, Sge, Transport,
    Unit, WqeFormat,
};

/// A WQE in its send queue. Everything around it is noise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlacedWqe {
    /// Bytes of the ring.
    pub ring: SendQueueRing,
    /// Block of the control segment.
    pub block: u32,
    /// Layout of the WQE.
    pub format: WqeFormat,
    /// The transport that its poster names.
    pub transport: Transport,
    /// What was broken; `None`: a walk over the keys it was made for finds nothing.
    pub flaw: Option<Flaw>,
}

macro_rules! flaws {
    ($($(#[$m:meta])* $v:ident),+ $(,)?) => {
        /// One thing broken in a WQE that was legal, or unusual. A few break nothing in some WQEs.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Flaw { $($(#[$m])* $v),+ }
        impl Flaw {
            /// All of them.
            pub const ALL: &'static [Flaw] = &[$(Self::$v),+];
        }
    };
}

flaws! {
    /// Bit 31 of a data segment's first word is the other one.
    InlineFlipped,
    /// An inline segment that goes on beyond the WQE.
    InlineTooLong,
    /// A bit above the ten of an inline count.
    InlineCountWide,
    /// An inline segment where pointers are, or the other way round.
    Mixed,
    /// An inline segment in a READ or an atomic.
    InlineNotCarried,
    /// Book format: flags bit 4 is the other one.
    InlineBit,
    /// `ds` is too large or too small.
    Ds,
    /// A key index that is not registered, or beyond the table.
    KeyIndex,
    /// The variant of another registration.
    KeyVariant,
    /// One byte before a region.
    RegionBefore,
    /// One byte behind a region.
    RegionBehind,
    /// A pointer that wraps around the end of memory.
    AddressWraps,
    /// A key that does not permit what the class does.
    Permission,
    /// A byte count of 0.
    CountZero,
    /// One more data segment.
    OneMore,
    /// Counts that add up to more than 32 bits, or nearly so.
    HugeSum,
    /// Another opcode, most of them unknown.
    Opcode,
    /// The layout of another transport.
    OtherTransport,
    /// Random bytes behind the control segment.
    Noise,
}

/// Registers keys at random: about three of four indices, regions small and huge, also up to the
/// ends of memory, with every legal set of access flags.
pub fn random_keys(rng: &mut Rng, num_key: u32) -> KeyTable {
    let mut keys = KeyTable::new(num_key);
    for index in 0..num_key {
        if rng.u8(..4) > 0 || index < 2 {
            // The first two are what every WQE can use.
            let access = match index {
                0 => AccessFlags::LOCAL_WRITE,
                1 => AccessFlags::EMPTY,
                _ => random_access(rng),
            };
            let (base, length) = random_region(rng);
            // Legal by construction; an index is used once.
            let _ = keys.register(Lkey::of(index, rng.u8(..)), base, length, access);
        }
    }
    keys
}

fn random_access(rng: &mut Rng) -> AccessFlags {
    let any = AccessFlags(rng.u32(..16));
    let remote = AccessFlags::REMOTE_WRITE | AccessFlags::REMOTE_ATOMIC;
    if any.contains(AccessFlags::LOCAL_WRITE) { any } else { any.minus(remote) }
}

/// Base and length.
fn random_region(rng: &mut Rng) -> (u64, u64) {
    let length = match rng.u8(..6) {
        0 => 8,
        1 => rng.u64(8..64),
        2 => rng.u64(64..1 << 20),
        3 => 1 << 31,
        4 => rng.u64(1 << 31..1 << 36),
        _ => 1 << 63,
    };
    let room = u64::MAX - length + 1;
    let base = match rng.u8(..4) {
        0 => 0,
        1 => room,
        _ => rng.u64(..=room),
    };
    (base, length)
}

/// A WQE for these keys, anywhere in a ring of up to 128 blocks. `keys` must hold a key with and
/// one without LOCAL_WRITE, of 8 bytes or more, for everything to be reached.
pub fn random_wqe(rng: &mut Rng, keys: &KeyTable) -> PlacedWqe {
    let format = if rng.bool() { WqeFormat::Book } else { WqeFormat::Mlx5 };
    let (mut draft, content) = loop {
        let content = Maker { rng, keys }.content();
        let request = Request { content, fence: rng.u8(..8) == 0, signaled: rng.bool() };
        let sqn = Qpn::new(rng.u32(..1 << 24)).unwrap_or_default();
        let header = WqeHeader { sqn, wqe_index: rng.u16(..) };
        // What is too long for the format is chosen anew.
        if let Ok(units) = pack(&request, header, format) {
            let class = request.content.class();
            let transport = request.content.transport();
            break (Draft::new(class, transport, format, &units), request.content);
        }
    };
    let flaw = rng.bool().then(|| Flaw::ALL[rng.usize(..Flaw::ALL.len())]);
    if let Some(flaw) = flaw {
        draft.break_it(flaw, &mut Maker { rng, keys });
    }
    let transport = match flaw {
        Some(Flaw::OtherTransport) => Transport::ALL[rng.usize(..3)],
        _ => content.transport(),
    };
    let units = draft.units();
    let least = units.len().div_ceil(4).next_power_of_two().ilog2() as u8;
    let log_blocks = least + rng.u8(..=7u8.saturating_sub(least));
    // At most 2^7 blocks, and the WQE fits: neither is refused.
    let mut ring = SendQueueRing::new(log_blocks).unwrap_or_else(|e| unreachable!("{e}"));
    rng.fill(ring.bytes_mut());
    // Every other one close to the end of its ring, where many go on at its start.
    let last = if rng.bool() { ring.blocks() } else { ring.blocks().min(4) };
    let block = ring.blocks() - 1 - rng.u32(..last);
    ring.put(block, &units).unwrap_or_else(|e| unreachable!("{e}"));
    PlacedWqe { ring, block, format, transport, flaw }
}

/// A WQE that can still be changed; `ds` is counted at the end.
struct Draft {
    class: OpClass,
    format: WqeFormat,
    control: ControlSegment,
    fixed: Vec<Unit>,
    data: Vec<Unit>,
    ds: Option<u8>,
}

impl Draft {
    fn new(class: OpClass, transport: Transport, format: WqeFormat, units: &[Unit]) -> Self {
        let (fixed, data) = units.split_at(usize::from(class.fixed_units(transport)));
        let control = ControlSegment::from_be_bytes(&fixed[0]);
        Self { class, format, control, fixed: fixed[1..].to_vec(), data: data.to_vec(), ds: None }
    }

    fn counted(&self) -> usize {
        let before = if self.format == WqeFormat::Mlx5 { 1 + self.fixed.len() } else { 0 };
        (before + self.data.len()).min(63)
    }

    fn units(&self) -> Vec<Unit> {
        let ds = self.ds.unwrap_or(self.counted() as u8);
        let control = ControlSegment { ds, ..self.control };
        // Every field came from a control segment.
        let first = control.to_be_bytes().unwrap_or_else(|e| unreachable!("{e}"));
        std::iter::once(&first).chain(&self.fixed).chain(&self.data).copied().collect()
    }

    /// A place for a data segment that holds one: an old one, or a new one at either end.
    fn some_segment(&mut self, rng: &mut Rng) -> &mut Unit {
        if self.data.is_empty() || self.inline() {
            self.data = vec![[0; 16]];
            self.control.inline = false;
        }
        let at = rng.usize(..self.data.len());
        &mut self.data[at]
    }

    /// Payload lies in place.
    fn inline(&self) -> bool {
        self.data.first().is_some_and(|u| u[0] & 0x80 != 0)
    }

    /// Puts a segment before or behind the others.
    fn add(&mut self, segment: &[Unit], rng: &mut Rng) {
        let at = if rng.bool() { 0 } else { self.data.len() };
        self.data.splice(at..at, segment.iter().copied());
        self.data.truncate(63);
    }

    fn break_it(&mut self, flaw: Flaw, make: &mut Maker<'_>) {
        let write = !self.class.carries_payload();
        match flaw {
            Flaw::InlineFlipped => {
                if self.data.is_empty() {
                    self.data.push(make.pointer(write));
                }
                let at = make.rng.usize(..self.data.len());
                self.data[at][0] ^= 0x80;
            }
            Flaw::InlineTooLong => {
                self.data.truncate(50);
                if !self.inline() {
                    self.data.clear();
                }
                self.control.inline = self.format == WqeFormat::Book;
                let cut = make.rng.usize(1..4);
                let count = make.rng.u32(60..=0x3ff);
                let mut segment = make.inline(count);
                segment.truncate(cut);
                self.data.append(&mut segment);
            }
            Flaw::InlineCountWide => {
                let count = make.rng.u32(..40);
                let mut segment = make.inline(count);
                let bit = make.rng.u32(10..31);
                let word = 0x8000_0000 | 1 << bit | count;
                segment[0][..4].copy_from_slice(&word.to_be_bytes());
                self.control.inline = self.format == WqeFormat::Book;
                self.data = segment;
            }
            Flaw::Mixed => {
                let inline = !self.inline();
                self.control.inline = self.format == WqeFormat::Book;
                if self.data.is_empty() {
                    self.data.push(make.pointer(write));
                }
                let segment = if inline { make.short_inline() } else { vec![make.pointer(write)] };
                self.add(&segment, make.rng);
            }
            Flaw::InlineNotCarried => {
                let of = [OpClass::Read, OpClass::CompareSwap, OpClass::FetchAdd];
                let class = of[make.rng.usize(..3)];
                self.control.opcode = class.mlx5();
                self.control.inline = self.format == WqeFormat::Book;
                let fixed = usize::from(class.fixed_units(Transport::Rc)) - 1;
                self.fixed.resize(fixed, [0; 16]);
                self.data = make.inline(8);
            }
            Flaw::InlineBit => {
                if self.data.is_empty() {
                    self.data = make.short_inline();
                }
                self.control.inline = !self.control.inline;
            }
            Flaw::Ds => {
                let now = self.counted() as u8;
                let ds = match make.rng.u8(..6) {
                    0 => 0,
                    1 => 63,
                    2 => now.saturating_sub(1),
                    3 => now.saturating_sub(2),
                    4 => now + 1,
                    _ => make.rng.u8(..64),
                };
                self.ds = Some(ds.min(63));
            }
            Flaw::KeyIndex => {
                let num_key = make.keys.num_key();
                let free: Vec<u32> = (0..num_key)
                    .filter(|i| !make.keys.iter().any(|(k, _)| k.index() == *i))
                    .collect();
                let index = match make.rng.u8(..4) {
                    0 | 1 if !free.is_empty() => free[make.rng.usize(..free.len())],
                    2 => num_key,
                    _ => make.rng.u32(num_key..1 << 24),
                };
                let sge = Sge { lkey: Lkey::of(index, make.rng.u8(..)), ..make.sge(write) };
                *self.some_segment(make.rng) = pointer(sge);
            }
            Flaw::KeyVariant => {
                let mut sge = make.sge(write);
                sge.lkey.0 ^= 1 << make.rng.u8(..8);
                *self.some_segment(make.rng) = pointer(sge);
            }
            Flaw::RegionBefore | Flaw::RegionBehind => {
                let sge = make.at_edge(flaw == Flaw::RegionBehind, write);
                *self.some_segment(make.rng) = pointer(sge);
            }
            Flaw::AddressWraps => {
                let under = make.rng.u64(..7);
                let sge = Sge { address: u64::MAX - under, bytes: 8, ..make.sge(write) };
                *self.some_segment(make.rng) = pointer(sge);
            }
            Flaw::Permission => {
                let segment = make.pointer(false);
                *self.some_segment(make.rng) = segment;
            }
            Flaw::CountZero => {
                let sge = Sge { bytes: 0, ..make.sge(write) };
                // In book format no bytes are named, so any key will do.
                let lkey = if make.rng.bool() { sge.lkey } else { Lkey(make.rng.u32(..)) };
                *self.some_segment(make.rng) = pointer(Sge { lkey, ..sge });
            }
            Flaw::OneMore => {
                let segment =
                    if self.inline() { make.short_inline() } else { vec![make.pointer(write)] };
                self.add(&segment, make.rng);
            }
            Flaw::HugeSum => {
                let sge = make.sge(write);
                let count = [0x7fff_ffff, 0x7fff_ffff, 1, 2, 0];
                let n = make.rng.usize(2..=count.len());
                self.data = count[..n].iter().map(|c| pointer(Sge { bytes: *c, ..sge })).collect();
                self.control.inline = false;
            }
            Flaw::Opcode => self.control.opcode = make.rng.u8(..),
            Flaw::OtherTransport => {}
            Flaw::Noise => {
                for unit in self.fixed.iter_mut().chain(&mut self.data) {
                    make.rng.fill(unit);
                }
            }
        }
    }
}

fn pointer(sge: Sge) -> Unit {
    let high = u64::from(sge.bytes & 0x7fff_ffff) << 32 | u64::from(sge.lkey.0);
    (u128::from(high) << 64 | u128::from(sge.address)).to_be_bytes()
}

/// Makes parts of WQEs.
struct Maker<'a> {
    rng: &'a mut Rng,
    keys: &'a KeyTable,
}

impl Maker<'_> {
    fn content(&mut self) -> Content {
        let misc = self.rng.u32(..);
        let solicited = self.rng.bool();
        let remote = Remote { address: self.rng.u64(..), rkey: self.rng.u32(..) };
        let imm = if self.rng.bool() { Some(misc) } else { None };
        match self.rng.u8(..7) {
            0 => {
                let form = match self.rng.u8(..3) {
                    0 => RcSend::Plain,
                    1 => RcSend::Imm(misc),
                    _ => RcSend::Invalidate(misc),
                };
                Content::Send { form: SendForm::Rc(form), payload: self.payload(), solicited }
            }
            1 => Content::Send { form: SendForm::Uc(imm), payload: self.payload(), solicited },
            2 => {
                let mut ah = Address { rlid: self.rng.u16(..), ..Address::default() };
                self.rng.fill(&mut ah.rgid);
                let remote_qpn = Qpn::new(self.rng.u32(..1 << 24)).unwrap_or_default();
                let to = Datagram { remote_qpn, remote_qkey: self.rng.u32(..), ah };
                Content::Send { form: SendForm::Ud(to, imm), payload: self.payload(), solicited }
            }
            3 | 4 => Content::Write {
                transport: if self.rng.bool() { Connected::Rc } else { Connected::Uc },
                remote,
                payload: self.payload(),
                imm: imm.map(|imm| WriteImm { imm, solicited }),
            },
            5 => Content::Read { remote, into: self.sges(true) },
            _ => {
                let (a, b) = (self.rng.u64(..), self.rng.u64(..));
                let atomic = if self.rng.bool() {
                    Atomic::CompareSwap { compare: a, swap: b }
                } else {
                    Atomic::FetchAdd { add: a }
                };
                let Sge { address, lkey, .. } = self.sge_of(8, true);
                Content::Atomic { remote, atomic, into: AtomicTarget { address, lkey } }
            }
        }
    }

    fn payload(&mut self) -> Payload {
        if self.rng.u8(..3) > 0 {
            return Payload::Gather(self.sges(false));
        }
        let n = match self.rng.u8(..4) {
            0 => [0, 12, 13, 28, 29][self.rng.usize(..5)],
            1 | 2 => self.rng.usize(..64),
            _ => self.rng.usize(..1004),
        };
        let mut bytes = vec![0; n];
        self.rng.fill(&mut bytes);
        Payload::Inline(bytes)
    }

    fn sges(&mut self, write: bool) -> Vec<Sge> {
        let n = match self.rng.u8(..8) {
            0 => 0,
            1..=3 => 1,
            4..=6 => self.rng.usize(2..6),
            _ => self.rng.usize(..64),
        };
        (0..n).map(|_| self.sge(write)).collect()
    }

    /// A registered key that permits the access.
    fn key(&mut self, write: bool) -> Option<(Lkey, Region)> {
        let fits = |r: &Region| {
            (!write || r.access().contains(AccessFlags::LOCAL_WRITE)) && r.length() >= 8
        };
        let n = self.keys.iter().filter(|(_, r)| fits(r)).count();
        let nth = self.rng.usize(..n.max(1));
        self.keys.iter().filter(|(_, r)| fits(r)).nth(nth).map(|(k, r)| (k, *r))
    }

    /// Bytes inside a region.
    fn sge(&mut self, write: bool) -> Sge {
        let bytes = match self.rng.u8(..16) {
            0 => 1 << 31,
            1..=4 => self.rng.u32(1..1 << 20),
            _ => self.rng.u32(1..64),
        };
        self.sge_of(bytes, write)
    }

    /// So many bytes inside a region, or as many as it has; without a key nothing that resolves.
    fn sge_of(&mut self, bytes: u32, write: bool) -> Sge {
        let Some((lkey, region)) = self.key(write) else {
            return Sge { address: 0, bytes, lkey: Lkey(0) };
        };
        let length = region.length();
        let bytes = u32::try_from(length).unwrap_or(u32::MAX).min(bytes);
        let room = length - u64::from(bytes);
        let offset = match self.rng.u8(..4) {
            0 => 0,
            1 => room,
            _ => self.rng.u64(..=room),
        };
        Sge { address: region.base() + offset, bytes, lkey }
    }

    /// One byte too many at the first or behind the last byte of a region.
    fn at_edge(&mut self, behind: bool, write: bool) -> Sge {
        let sge = self.sge(write);
        let Some(region) = self.keys.region(sge.lkey) else { return sge };
        // Where memory ends at the edge the address wraps, and is outside all the more.
        let address = if behind {
            let end = region.base().wrapping_add(region.length());
            end.wrapping_add(1).wrapping_sub(u64::from(sge.bytes))
        } else {
            region.base().wrapping_sub(1)
        };
        Sge { address, ..sge }
    }

    fn pointer(&mut self, write: bool) -> Unit {
        let sge = if write { self.sge(true) } else { self.read_only() };
        pointer(sge)
    }

    /// Bytes of a region without LOCAL_WRITE, if there is one.
    fn read_only(&mut self) -> Sge {
        let only: Vec<(Lkey, Region)> = self
            .keys
            .iter()
            .filter(|(_, r)| !r.access().contains(AccessFlags::LOCAL_WRITE))
            .map(|(k, r)| (k, *r))
            .collect();
        if only.is_empty() {
            return self.sge(false);
        }
        let (lkey, region) = only[self.rng.usize(..only.len())];
        Sge { address: region.base(), bytes: region.length().min(8) as u32, lkey }
    }

    fn inline(&mut self, count: u32) -> Vec<Unit> {
        let mut units = vec![[0; 16]; (4 + count as usize).div_ceil(16)];
        for unit in &mut units {
            self.rng.fill(unit);
        }
        units[0][..4].copy_from_slice(&(0x8000_0000 | count).to_be_bytes());
        units
    }

    fn short_inline(&mut self) -> Vec<Unit> {
        let count = self.rng.u32(..30);
        self.inline(count)
    }
}
