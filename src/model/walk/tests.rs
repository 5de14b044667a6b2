//! One test per decision G1 to G17 and G22; the tables themselves are tested with the keys.

use std::cell::RefCell;

use super::*;
use crate::AccessFlags;

const RW: u32 = 0x0102;
const RO: u32 = 0x0203;

fn keys() -> KeyTable {
    let mut t = KeyTable::new(8);
    t.register(Lkey(RW), 0x1000, 0x1000, AccessFlags::LOCAL_WRITE).expect("legal");
    t.register(Lkey(RO), 0, u64::MAX, AccessFlags::EMPTY).expect("legal");
    t
}

/// A WQE: the control segment with this `ds`, fixed units of ones, then `data`.
struct Wqe {
    class: u8,
    ds: u8,
    format: WqeFormat,
    transport: Transport,
    inline_bit: bool,
    fixed: usize,
    data: Vec<Unit>,
}

use OpClass::{CompareSwap, FetchAdd, Read, Send, Write};
use Transport::{Rc, Ud};
use WqeFormat::{Book, Mlx5};

fn wqe(class: OpClass, format: WqeFormat, transport: Transport, data: Vec<Unit>) -> Wqe {
    let fixed = class.fixed_units(transport);
    let ds = data.len() as u8 + if format == Mlx5 { fixed } else { 0 };
    let (class, fixed) = (class.mlx5(), usize::from(fixed));
    Wqe { class, ds, format, transport, inline_bit: false, fixed, data }
}

impl Wqe {
    /// Walks it and holds the units that were read against `units_read`.
    fn walk(&self) -> Walk {
        let control = ControlSegment {
            opcode: self.class,
            ds: self.ds,
            inline: self.inline_bit,
            ..ControlSegment::default()
        };
        let mut units = vec![control.to_be_bytes().expect("fits")];
        units.resize(self.fixed, [0xff; 16]);
        units.extend(&self.data);
        let seen = RefCell::new(Vec::new());
        let w = walk(
            |k| {
                seen.borrow_mut().push(k);
                units.get(k as usize).copied().unwrap_or([0xee; 16])
            },
            self.format,
            self.transport,
            &keys(),
        );
        assert_eq!(seen.into_inner(), (0..w.units_read).collect::<Vec<_>>());
        w
    }

    fn errors(&self) -> WqeErrors {
        self.walk().errors()
    }
}

fn pointer(count: u32, lkey: u32, address: u64) -> Unit {
    let word = u128::from(count) << 96 | u128::from(lkey) << 64 | u128::from(address);
    word.to_be_bytes()
}

/// An inline segment whose first word is `word`, with payload 1, 2, 3...
fn inline(word: u32) -> Vec<Unit> {
    let bytes = word & 0x3ff;
    let mut flat = (INLINE_SEG | word).to_be_bytes().to_vec();
    flat.extend((1..=bytes).map(|n| n as u8));
    flat.resize(flat.len().next_multiple_of(16), 0xdd);
    flat.chunks(16).map(|c| c.try_into().expect("16 bytes")).collect()
}

fn small() -> Unit {
    pointer(8, RW, 0x1000)
}

const NONE: WqeErrors = WqeErrors::EMPTY;
const FORMAT: WqeErrors = WqeErrors::WALK_FORMAT;
const KEY: WqeErrors = WqeErrors::WALK_KEY;

/// G1, G2: units that are read.
#[test]
fn never_a_byte_beyond_what_ds_says() {
    let fixed = [(Send, Rc, 1), (Send, Ud, 4), (Write, Rc, 2), (Write, Ud, 2), (Read, Rc, 2)];
    for (class, transport, fixed) in
        fixed.into_iter().chain([(CompareSwap, Rc, 3), (FetchAdd, Rc, 3)])
    {
        for ds in 0..64 {
            let mut w = wqe(class, Mlx5, transport, vec![small(); 70]);
            w.ds = ds;
            let walked = w.walk();
            let expected = if u32::from(ds) < fixed { 1 } else { u32::from(ds) };
            assert_eq!(walked.units_read, expected, "{class} ds {ds}");
            assert_eq!(walked.segments.len() as u32, u32::from(ds).saturating_sub(fixed));
            w.format = Book;
            let walked = w.walk();
            assert_eq!(walked.units_read, fixed + u32::from(ds), "{class} ds {ds}, book");
            assert_eq!(walked.segments.len(), usize::from(ds));
        }
    }
}

/// G3: whatever stands in the fixed units.
#[test]
fn fixed_units_are_not_judged() {
    for class in OpClass::ALL {
        let w = wqe(class, Mlx5, Rc, vec![small()]).walk();
        assert_eq!((w.errors(), w.length, w.inline), (NONE, 8, false), "{class}");
    }
}

/// G4: the transport is the poster's.
#[test]
fn the_layout_is_that_of_the_named_transport() {
    let mut w = wqe(Send, Mlx5, Ud, vec![small()]);
    assert_eq!(w.walk().sges().count(), 1);
    // Read as RC, the three units of the datagram are data segments: inline ones of 1,023 bytes.
    w.transport = Rc;
    let as_rc = w.walk();
    assert!(as_rc.inline);
    assert_eq!((as_rc.length, as_rc.errors()), (1023, FORMAT));
    assert_eq!(as_rc.post_send(9).walked_as, Some(Rc));
}

/// G5: bit 31 tells inline from pointer, in both formats.
#[test]
fn bit_31_of_the_first_word_is_inline() {
    for format in [Book, Mlx5] {
        let mut w = wqe(Write, format, Rc, inline(12));
        w.inline_bit = format == Book;
        let walked = w.walk();
        let payload = (1..=12).collect();
        assert_eq!(walked.segments, [DataSegment::Inline { bytes: 12, payload }]);
        assert_eq!((walked.inline, walked.length, walked.errors()), (true, 12, NONE));
        let w = wqe(Write, format, Rc, vec![small()]).walk();
        let sge = Sge { address: 0x1000, bytes: 8, lkey: Lkey(RW) };
        assert_eq!(w.segments, [DataSegment::Pointer(sge)]);
        assert!(!w.inline);
    }
}

/// G6: a byte count of 0.
#[test]
fn a_count_of_zero_is_2_to_31_in_mlx5_and_none_in_book() {
    let zero = |format, address| wqe(Write, format, Rc, vec![pointer(0, RO, address)]).walk();
    assert_eq!((zero(Mlx5, 0).length, zero(Mlx5, 0).errors()), (1 << 31, NONE));
    assert_eq!((zero(Book, 0).length, zero(Book, 0).errors()), (0, NONE));
    // And these bytes are looked for in the region.
    let last = u64::MAX - (1 << 31);
    assert_eq!((zero(Mlx5, last).errors(), zero(Mlx5, last + 1).errors()), (NONE, KEY));
    let most = pointer(0x7fff_ffff, RO, 0);
    assert_eq!(wqe(Write, Book, Rc, vec![most]).walk().length, 0x7fff_ffff, "31 bits");
}

/// G7: the ten bits of an inline count.
#[test]
fn bits_above_an_inline_count_are_malformed_and_not_counted() {
    for bit in 10..31 {
        let w = wqe(Write, Mlx5, Rc, inline(1 << bit | 5)).walk();
        assert_eq!((w.length, w.errors()), (5, FORMAT), "bit {bit}");
    }
}

/// G7: units of an inline segment.
#[test]
fn inline_segments_take_whole_units() {
    for (count, takes) in [(0, 1), (12, 1), (13, 2), (28, 2), (29, 3), (960, 61), (972, 61)] {
        let mut data = inline(count);
        assert_eq!(data.len(), takes);
        let w = wqe(Send, Mlx5, Rc, data.clone()).walk();
        assert_eq!((w.length, w.errors(), w.segments.len()), (count, NONE, 1), "{count}");
        // What follows is the next segment.
        data.extend(inline(1));
        let w = wqe(Send, Mlx5, Rc, data).walk();
        assert_eq!((w.length, w.errors(), w.segments.len()), (count + 1, NONE, 2), "{count}");
    }
}

/// G7: an inline segment that is longer than the WQE.
#[test]
fn a_cut_inline_segment_is_malformed_and_the_last() {
    let mut data = vec![inline(4)[0]];
    data.extend(&inline(44)[..2]);
    let w = wqe(Send, Mlx5, Rc, data).walk();
    assert_eq!((w.length, w.errors(), w.segments.len()), (48, FORMAT, 2));
    let payload: Vec<u8> = (1..=28).collect();
    assert_eq!(w.segments[1], DataSegment::Inline { bytes: 44, payload }, "no byte invented");
    assert_eq!(w.faults, [WalkFault::InlineTooLong { unit: 2, takes: 3, left: 2 }]);
}

/// G8: more bytes than 32 bits count.
#[test]
fn the_length_saturates() {
    let of = |data| {
        let w = wqe(Write, Mlx5, Rc, data).walk();
        (w.length, w.errors())
    };
    let big = pointer(0x7fff_ffff, RO, 0);
    let one = pointer(1, RO, 0);
    assert_eq!(of(vec![big, big, one]), (u32::MAX, NONE), "2^32 - 1 itself");
    let two = pointer(2, RO, 0);
    assert_eq!(of(vec![big, big, two]), (u32::MAX, WqeErrors::WALK_LENGTH));
    assert_eq!(of(vec![pointer(0, RO, 0); 61]), (u32::MAX, WqeErrors::WALK_LENGTH));
}

/// G9: payload is in one place.
#[test]
fn inline_and_pointers_do_not_mix() {
    let mut data = inline(12);
    data.push(small());
    assert_eq!(wqe(Write, Mlx5, Rc, data.clone()).errors(), FORMAT);
    data.reverse();
    assert_eq!(wqe(Write, Mlx5, Rc, data).errors(), FORMAT);
    let mut twice = inline(12);
    twice.extend(inline(3));
    assert_eq!(wqe(Write, Mlx5, Rc, twice).errors(), NONE, "two inline ones may");
}

/// G10: READs and atomics carry nothing out.
#[test]
fn inline_of_a_read_or_an_atomic_is_malformed() {
    for class in OpClass::ALL {
        let errors = wqe(class, Mlx5, Rc, inline(8)).errors();
        let expected = if class.carries_payload() { NONE } else { FORMAT };
        assert_eq!(errors, expected, "{class}");
    }
}

/// G11, G12: flags bit 4 of the book format.
#[test]
fn the_inline_bit_of_the_book_and_the_segments() {
    let mut w = wqe(Write, Book, Rc, inline(8));
    assert_eq!(w.errors(), FORMAT, "inline, not asked for");
    w.inline_bit = true;
    assert_eq!(w.errors(), NONE);
    let mut w = wqe(Write, Book, Rc, vec![small()]);
    w.inline_bit = true;
    let walked = w.walk();
    assert_eq!((walked.errors(), walked.inline), (NONE, false), "a request to place inline");
    w.data = vec![pointer(8, RW + 1, 0x1000)];
    assert_eq!(w.errors(), KEY, "its keys count where it falls to DMA");
    // The bit says nothing about segments in mlx5, where it is reserved.
    let w = wqe(Write, Mlx5, Rc, inline(8));
    assert_eq!(w.errors(), NONE);
}

/// G13: the second data segment of an atomic.
#[test]
fn an_atomic_has_one_data_segment() {
    for class in OpClass::ALL {
        let w = wqe(class, Mlx5, Rc, vec![small(), small()]).walk();
        let expected = if class.is_atomic() { FORMAT } else { NONE };
        assert_eq!((w.errors(), w.length), (expected, 16), "{class}");
    }
    let none = wqe(FetchAdd, Mlx5, Rc, vec![]).walk();
    assert_eq!((none.errors(), none.length), (NONE, 0), "its length tells the decoder");
}

/// G14: any inline segment, also one that is wrong.
#[test]
fn inline_seen_is_told() {
    let mut data = vec![small()];
    data.extend(inline(0));
    assert!(wqe(Write, Mlx5, Rc, data).walk().inline);
    assert!(wqe(Read, Mlx5, Rc, inline(500)[..1].to_vec()).walk().inline);
    assert!(!wqe(Read, Mlx5, Rc, vec![]).walk().inline);
}

/// G16: what a pointer needs; the edges of a region are tested with the table.
#[test]
fn a_pointer_resolves_or_not() {
    let one = |class, count, lkey, address| {
        wqe(class, Mlx5, Rc, vec![small(), pointer(count, lkey, address)]).errors()
    };
    assert_eq!(one(Write, 1, RW, 0x1fff), NONE);
    for (count, lkey, address) in
        [(1, RW ^ 1, 0x1fff), (1, 0x300, 0), (1, 0x800, 0), (2, RW, 0x1fff), (1, RW, 0xfff)]
    {
        assert_eq!(one(Write, count, lkey, address), KEY, "{count} {lkey:#x} {address:#x}");
    }
    // Into memory that may not be written, nothing may come.
    for class in OpClass::ALL {
        let errors = wqe(class, Mlx5, Rc, vec![pointer(8, RO, 0)]).errors();
        let incoming = matches!(class, Read | CompareSwap | FetchAdd);
        assert_eq!(errors, if incoming { KEY } else { NONE }, "{class}");
    }
}

/// G17: no bytes, no key.
#[test]
fn a_pointer_of_no_bytes_needs_no_key() {
    let w = wqe(Read, Book, Rc, vec![pointer(0, u32::MAX, u64::MAX)]);
    assert_eq!(w.errors(), NONE);
}

/// G22: what an unknown opcode counts is unknown too.
#[test]
fn an_unknown_opcode_is_the_decoders() {
    for opcode in (0..=255).filter(|n| OpClass::from_mlx5(*n).is_none()) {
        let mut w = wqe(Send, Mlx5, Rc, inline(500));
        w.class = opcode;
        let walked = w.walk();
        assert_eq!((walked.units_read, walked.length, walked.inline), (1, 0, false));
        assert_eq!(walked.errors(), NONE);
    }
}

#[test]
fn everything_wrong_is_found_at_once() {
    let big = pointer(0, RW, 0x1000);
    let mut data = vec![big, big];
    data.extend(&inline(1 << 20 | 30)[..1]);
    let w = wqe(FetchAdd, Mlx5, Rc, data).walk();
    assert_eq!(w.errors(), FORMAT | KEY | WqeErrors::WALK_LENGTH);
    let post = w.post_send(3);
    assert!(post.walk_format && post.walk_length && post.walk_key && post.inline);
    assert_eq!((post.qpn, post.payload_len), (3, u32::MAX));
    let texts: Vec<String> = w.faults.iter().map(WalkFault::to_string).collect();
    assert_eq!(
        texts,
        [
            "unit 3: lkey 0x102 does not resolve for 2147483648 bytes at 0x1000: the bytes are not all inside its region",
            "unit 4: another data segment of ATOMIC_FETCH_AND_ADD, which has exactly one",
            "unit 4: lkey 0x102 does not resolve for 2147483648 bytes at 0x1000: the bytes are not all inside its region",
            "unit 5: another data segment of ATOMIC_FETCH_AND_ADD, which has exactly one",
            "unit 5: inline payload and pointers in one WQE",
            "unit 5: ATOMIC_FETCH_AND_ADD carries no local payload, so none can be inline",
            "unit 5: inline byte count 0x10001e has bits above its 10",
            "unit 5: the inline segment takes 3 units, 1 are left of the WQE",
            "payload of 4294967326 bytes: more than 32 bits count",
        ]
    );
}
