//! The three shapes of a send: what the standard asks, the work request, the segments.

use proptest::collection::vec;
use proptest::prelude::*;

use rnic_cosim::model::shapes::*;
use rnic_cosim::model::*;

const FORMATS: [WqeFormat; 2] = [WqeFormat::Book, WqeFormat::Mlx5];

// ---- any request that can be written ------------------------------------------------------

/// The keys of these tests: one may be written, one only read.
const RW: Lkey = Lkey::of(3, 0x5a);
const RO: Lkey = Lkey::of(6, 0xa5);
const BASE: u64 = 0x7f00_0000_1000;
const LENGTH: u64 = 1 << 33;

fn keys() -> KeyTable {
    let mut keys = KeyTable::new(8);
    keys.register(RW, BASE, LENGTH, AccessFlags::LOCAL_WRITE).expect("legal");
    keys.register(RO, BASE, LENGTH, AccessFlags::EMPTY).expect("legal");
    keys
}

fn sge(bytes: std::ops::Range<u32>, write: bool) -> impl Strategy<Value = Sge> {
    (bytes, 0..=LENGTH - (1 << 31), any::<bool>()).prop_map(move |(bytes, offset, rw)| Sge {
        address: BASE + offset,
        bytes,
        lkey: if write || rw { RW } else { RO },
    })
}

/// As many as fit whatever the class: at most 59. None is without bytes, whose meaning depends
/// on the format.
fn sges(write: bool) -> impl Strategy<Value = Vec<Sge>> {
    prop_oneof![
        3 => vec(sge(1..4096, write), 1..4),
        1 => vec(sge(1..1 << 25, write), 1..60),
        1 => vec(sge((1 << 31) - 1..1 << 31, write), 1..2),
    ]
}

fn payload() -> impl Strategy<Value = Payload> {
    prop_oneof![
        Just(Payload::Gather(Vec::new())),
        sges(false).prop_map(Payload::Gather),
        vec(any::<u8>(), 0..=940).prop_map(Payload::Inline),
    ]
}

fn qpn() -> impl Strategy<Value = Qpn> {
    (0..1u32 << 24).prop_map(|n| Qpn::new(n).expect("24 bits"))
}

fn remote() -> impl Strategy<Value = Remote> {
    any::<(u64, u32)>().prop_map(|(address, rkey)| Remote { address, rkey })
}

fn address() -> impl Strategy<Value = Address> {
    any::<([u8; 4], u16, [u8; 6], u32, [u8; 16])>().prop_map(|(a, rlid, rmac, gid_fl, rgid)| {
        let [stat_rate_sl, fl_mlid, tclass, hop_limit] = a;
        Address { stat_rate_sl, fl_mlid, rlid, rmac, tclass, hop_limit, grh_gid_fl: gid_fl, rgid }
    })
}

fn form() -> impl Strategy<Value = SendForm> {
    let datagram = (qpn(), any::<u32>(), address())
        .prop_map(|(remote_qpn, remote_qkey, ah)| Datagram { remote_qpn, remote_qkey, ah });
    prop_oneof![
        Just(SendForm::Rc(RcSend::Plain)),
        any::<u32>().prop_map(|w| SendForm::Rc(RcSend::Imm(w))),
        any::<u32>().prop_map(|w| SendForm::Rc(RcSend::Invalidate(w))),
        any::<Option<u32>>().prop_map(SendForm::Uc),
        (datagram, any::<Option<u32>>()).prop_map(|(d, imm)| SendForm::Ud(d, imm)),
    ]
}

fn content() -> impl Strategy<Value = Content> {
    let atomic = prop_oneof![
        any::<(u64, u64)>().prop_map(|(compare, swap)| Atomic::CompareSwap { compare, swap }),
        any::<u64>().prop_map(|add| Atomic::FetchAdd { add }),
    ];
    let imm = any::<Option<(u32, bool)>>()
        .prop_map(|o| o.map(|(imm, solicited)| WriteImm { imm, solicited }));
    let transport = prop_oneof![Just(Connected::Rc), Just(Connected::Uc)];
    prop_oneof![
        (form(), payload(), any::<bool>()).prop_map(|(form, payload, solicited)| Content::Send {
            form,
            payload,
            solicited
        }),
        (transport, remote(), payload(), imm).prop_map(|(transport, remote, payload, imm)| {
            Content::Write { transport, remote, payload, imm }
        }),
        (remote(), sges(true)).prop_map(|(remote, into)| Content::Read { remote, into }),
        (remote(), atomic, sge(8..9, true)).prop_map(|(remote, atomic, s)| Content::Atomic {
            remote,
            atomic,
            into: AtomicTarget { address: s.address, lkey: s.lkey },
        }),
    ]
}

fn request() -> impl Strategy<Value = Request> {
    (content(), any::<bool>(), any::<bool>()).prop_map(|(content, fence, signaled)| Request {
        content,
        fence,
        signaled,
    })
}

fn header() -> impl Strategy<Value = WqeHeader> {
    (qpn(), any::<u16>()).prop_map(|(sqn, wqe_index)| WqeHeader { sqn, wqe_index })
}

/// Longer than what the standard allows: packing refuses it, and so these tests skip it.
fn within(request: &Request) -> bool {
    request.content.length() <= u64::from(MAX_MESSAGE)
}

// ---- there and back -----------------------------------------------------------------------

proptest! {
    #[test]
    fn a_request_survives_the_send_queue(r in request(), h in header(), mlx5 in any::<bool>()) {
        prop_assume!(within(&r));
        let format = FORMATS[usize::from(mlx5)];
        let units = pack(&r, h, format).expect("it fits");
        let t = r.content.transport();
        // A datagram above the port's MTU is the one thing that the shapes do not know.
        if t == Transport::Ud && r.content.length() > 4096 {
            let e = unpack(|k| units[k as usize], format, t);
            prop_assert_eq!(e, Err(CannotUnpack::Malformed(WqeErrors::BAD_LENGTH)));
        } else {
            prop_assert_eq!(unpack(|k| units[k as usize], format, t), Ok((h, r)));
        }
    }

    #[test]
    fn a_request_survives_the_program(requests in vec(request(), 1..5)) {
        let mut memory = ProcessMemory::default();
        let mut chain = None;
        for (wr_id, r) in requests.iter().enumerate().rev() {
            let mut wr = WorkRequest::from_request(r, wr_id as u64, &mut memory);
            wr.next = chain.take().map_or_else(Link::default, Link::to);
            chain = Some(wr);
        }
        let chain = chain.expect("one at least");
        prop_assert_eq!(chain.chain().count(), requests.len());
        for ((wr, r), wr_id) in chain.chain().zip(&requests).zip(0u64..) {
            prop_assert_eq!(wr.wr_id, wr_id);
            let back = wr.to_request(r.content.transport(), &memory);
            prop_assert_eq!(back.as_ref(), Ok(r));
        }
    }

    #[test]
    fn any_work_request_is_taken_or_refused(
        opcode in 0u32..12,
        flags in 0u32..32,
        n in 0usize..3,
        of in 0u8..4,
        t in 0u8..3,
        word in any::<u32>(),
    ) {
        let wr = WorkRequest {
            opcode,
            send_flags: SendFlags(flags),
            sg_list: vec![WrSge { addr: 64, length: 8, lkey: word }; n],
            imm_data: word,
            wr: match of {
                0 => Wr::None,
                1 => Wr::Rdma(WrRdma::default()),
                2 => Wr::Atomic(WrAtomic::default()),
                _ => Wr::Ud(WrUd { remote_qpn: word, ..WrUd::default() }),
            },
            ..WorkRequest::default()
        };
        let transport = Transport::from_number(t).expect("0..3");
        let mut memory = ProcessMemory::default();
        if let Ok(r) = wr.to_request(transport, &memory) {
            prop_assert_eq!(r.content.transport(), transport);
            prop_assert_eq!(r.content.class().wr_opcode(), opcode);
            let again = WorkRequest::from_request(&r, 0, &mut memory);
            prop_assert_eq!(again.to_request(transport, &memory), Ok(r));
        }
    }

    /// Whatever lies around it, wherever it begins: the walk finds the segments and no fault.
    #[test]
    fn a_packed_request_walks_from_every_block(
        r in request(),
        h in header(),
        mlx5 in any::<bool>(),
        spare in 0u8..3,
        seed in any::<u64>(),
    ) {
        prop_assume!(within(&r));
        let format = FORMATS[usize::from(mlx5)];
        let units = pack(&r, h, format).expect("it fits");
        let least = units.len().div_ceil(4).next_power_of_two().ilog2() as u8;
        let mut ring = SendQueueRing::new(least + spare).expect("small");
        let mut rng = fastrand::Rng::with_seed(seed);
        let transport = r.content.transport();
        let mut first = None;
        for block in 0..ring.blocks() {
            rng.fill(ring.bytes_mut());
            ring.put(block, &units).expect("it fits");
            let w = walk(ring.wqe(block), format, transport, &keys());
            prop_assert_eq!(&w.faults, &[]);
            prop_assert_eq!(w.units_read as usize, units.len());
            prop_assert_eq!(u64::from(w.length), r.content.length());
            let w = first.get_or_insert_with(|| w.clone());
            prop_assert_eq!(&walk(ring.wqe(block), format, transport, &keys()), w);
        }
    }
}

/// Every `ds` from the smallest to 63 in every block of a ring, both formats: the length is
/// right, and the noise around the WQE does not matter.
#[test]
fn every_ds_from_every_block() {
    let mut rng = fastrand::Rng::with_seed(7);
    let mut ring = SendQueueRing::new(5).expect("32 blocks");
    let mut walks = 0;
    for format in FORMATS {
        for ds in 1..64u32 {
            let fixed = if format == WqeFormat::Mlx5 { 2 } else { 0 };
            let n = ds.saturating_sub(fixed);
            let into = (0..n)
                .map(|k| Sge { address: BASE + u64::from(k), bytes: k + 1, lkey: RW })
                .collect();
            let content = Content::Read { remote: Remote { address: 1, rkey: 2 }, into };
            let request = Request { content, fence: false, signaled: true };
            if ds < fixed {
                continue;
            }
            let units = pack(&request, WqeHeader::default(), format).expect("it fits");
            assert_eq!(u32::from(units[0][7] & 0x3f), ds);
            for block in 0..ring.blocks() {
                let mut seen = Vec::new();
                for _ in 0..2 {
                    rng.fill(ring.bytes_mut());
                    ring.put(block, &units).expect("it fits");
                    seen.push(walk(ring.wqe(block), format, Transport::Rc, &keys()));
                    walks += 1;
                }
                assert_eq!(seen[0], seen[1], "ds {ds}, block {block}: noise matters");
                assert_eq!(seen[0].faults, [], "ds {ds}, block {block}");
                assert_eq!(seen[0].length, n * (n + 1) / 2, "ds {ds}, block {block}");
            }
        }
    }
    assert_eq!(walks, 2 * 32 * (62 + 63));
}

// ---- what is refused ----------------------------------------------------------------------

fn write(payload: Payload) -> Request {
    let remote = Remote { address: 1, rkey: 2 };
    let content = Content::Write { transport: Connected::Rc, remote, payload, imm: None };
    Request { content, fence: false, signaled: false }
}

fn read(into: Vec<Sge>) -> Request {
    let content = Content::Read { remote: Remote { address: 1, rkey: 2 }, into };
    Request { content, fence: false, signaled: false }
}

#[test]
fn what_does_not_fit_is_refused_and_never_cut() {
    let packed = |r: &Request, format| pack(r, WqeHeader::default(), format).map(|u| u.len());
    let of = |bytes| Sge { address: BASE, bytes, lkey: RW };
    use WqeFormat::{Book, Mlx5};

    let inline = |n| write(Payload::Inline(vec![0; n]));
    assert_eq!(packed(&inline(972), Mlx5), Ok(63));
    assert_eq!(packed(&inline(973), Mlx5), Err(CannotPack::TooManyUnits { units: 64 }));
    assert_eq!(packed(&inline(1004), Book), Ok(65));
    assert_eq!(packed(&inline(1005), Book), Err(CannotPack::TooManyUnits { units: 64 }));
    assert_eq!(packed(&inline(1023), Book), Err(CannotPack::TooManyUnits { units: 65 }));
    for format in FORMATS {
        let e = CannotPack::InlineTooLong { bytes: 1024 };
        assert_eq!(packed(&inline(1024), format), Err(e));
    }

    let pointers = |n| write(Payload::Gather(vec![of(1); n]));
    assert_eq!(packed(&pointers(61), Mlx5), Ok(63));
    assert_eq!(packed(&pointers(62), Mlx5), Err(CannotPack::TooManyUnits { units: 64 }));
    assert_eq!(packed(&pointers(63), Book), Ok(65));
    assert_eq!(packed(&pointers(64), Book), Err(CannotPack::TooManyUnits { units: 64 }));
    assert_eq!(packed(&pointers(300), Mlx5), Err(CannotPack::TooManyUnits { units: 302 }));

    let one = |bytes| write(Payload::Gather(vec![of(bytes)]));
    assert_eq!(packed(&one(1 << 31), Mlx5), Ok(3));
    let e = CannotPack::SgeTooLong { index: 0, bytes: 1 << 31 };
    assert_eq!(packed(&one(1 << 31), Book), Err(e));
    let e = CannotPack::TooLong { bytes: (1 << 31) + 1 };
    for format in FORMATS {
        assert_eq!(packed(&one((1 << 31) + 1), format), Err(e));
        let two = write(Payload::Gather(vec![of(1 << 30), of((1 << 30) + 1)]));
        assert_eq!(packed(&two, format), Err(e));
    }

    // No bytes: left out of mlx5, where 0 means 2^31; book has room for it.
    assert_eq!(packed(&one(0), Mlx5), Ok(2));
    assert_eq!(packed(&one(0), Book), Ok(3));
    assert_eq!(packed(&read(vec![]), Mlx5), Ok(2));
    assert_eq!(packed(&read(vec![]), Book), Err(CannotPack::ReadIntoNothing));
    assert_eq!(packed(&read(vec![of(0)]), Book), Ok(3));

    assert_eq!(Qpn::new(1 << 24), None);
    assert_eq!(Qpn::new(0xff_ffff).map(Qpn::number), Some(0xff_ffff));
}

#[test]
fn nonsense_of_a_program_is_refused_by_field() {
    let mut memory = ProcessMemory::default();
    let at = memory.place(vec![1, 2, 3, 4]);
    let good = |class: OpClass, wr| WorkRequest {
        opcode: class.wr_opcode(),
        sg_list: vec![WrSge { addr: at, length: 8, lkey: 1 }],
        wr,
        ..WorkRequest::default()
    };
    let refused = |wr: &WorkRequest, t| wr.to_request(t, &memory).expect_err("refused").to_string();
    use Transport::{Rc, Uc, Ud};

    let rdma = Wr::Rdma(WrRdma::default());
    let mut wr = good(OpClass::Write, rdma);
    assert!(wr.to_request(Rc, &memory).is_ok());
    assert_eq!(refused(&wr, Ud), "opcode: UD has no RDMA_WRITE");
    wr.send_flags = SendFlags(0x11);
    assert_eq!(refused(&wr, Rc), "send_flags: bits 0x11; expected bits 0..3 of ibv_send_flags");
    wr.send_flags = SendFlags::INLINE;
    assert_eq!(
        refused(&wr, Rc),
        format!("sg_list[0]: 8 bytes at {at:#x} cannot be read to go inline")
    );
    wr.sg_list[0].length = 4;
    let request = wr.to_request(Rc, &memory).expect("four bytes are there");
    let Content::Write { payload, .. } = request.content else { panic!("a write") };
    assert_eq!(payload, Payload::Inline(vec![1, 2, 3, 4]));
    wr.opcode = OpClass::Read.wr_opcode();
    assert_eq!(
        refused(&wr, Rc),
        "send_flags: IBV_SEND_INLINE with RDMA_READ; expected SEND or RDMA_WRITE"
    );
    wr.opcode = 7;
    assert_eq!(
        refused(&wr, Rc),
        "opcode: 7 is none of the eight that a send queue takes (ibv_wr_opcode)"
    );

    assert_eq!(
        refused(&good(OpClass::SendInvalidate, Wr::None), Uc),
        "opcode: UC has no SEND_WITH_INV"
    );
    assert_eq!(refused(&good(OpClass::Read, Wr::None), Rc), "wr: RDMA_READ on RC needs wr.rdma");
    assert_eq!(
        refused(&good(OpClass::FetchAdd, rdma), Rc),
        "wr: ATOMIC_FETCH_AND_ADD on RC needs wr.atomic"
    );
    assert_eq!(refused(&good(OpClass::Send, rdma), Ud), "wr: SEND on UD needs wr.ud");
    let wide = Wr::Ud(WrUd { remote_qpn: 0x100_0000, ..WrUd::default() });
    assert!(
        refused(&good(OpClass::Send, wide), Ud)
            .contains("`remote_qpn`: 0x1000000 does not fit into 24 bits")
    );

    let mut atomic = good(OpClass::CompareSwap, Wr::Atomic(WrAtomic::default()));
    assert!(atomic.to_request(Rc, &memory).is_ok());
    atomic.sg_list.push(atomic.sg_list[0]);
    assert_eq!(
        refused(&atomic, Rc),
        "num_sge: an atomic has one element of 8 bytes, not 2 with 16 in all"
    );
    atomic.sg_list = vec![WrSge { addr: 0, length: 4, lkey: 0 }];
    assert!(refused(&atomic, Rc).contains("not 1 with 4 in all"));
}

#[test]
fn what_is_malformed_is_not_unpacked() {
    let units = pack(
        &read(vec![Sge { address: 1, bytes: 2, lkey: RW }]),
        WqeHeader::default(),
        WqeFormat::Mlx5,
    )
    .expect("fits");
    let mut cut = units.clone();
    cut[0][7] = 1;
    cut[0][11] |= 5 << 5;
    let e = unpack(|k| cut[k as usize], WqeFormat::Mlx5, Transport::Uc).expect_err("malformed");
    assert_eq!(e.to_string(), "malformed: BAD_TRANSPORT, BAD_FENCE, BAD_DS");
    let mut inline = units;
    inline[2][0] |= 0x80;
    let e = unpack(|k| inline[k as usize], WqeFormat::Mlx5, Transport::Rc).expect_err("malformed");
    assert_eq!(e, CannotUnpack::Malformed(WqeErrors::WALK_FORMAT));
}

#[test]
fn a_chain_as_long_as_the_longest_queue_is_let_go() {
    let mut chain = WorkRequest::default();
    for wr_id in 1..200_000 {
        chain = WorkRequest { wr_id, next: Link::to(chain), ..WorkRequest::default() };
    }
    assert_eq!(chain.chain().count(), 200_000);
    drop(chain);
}

// ---- the public layout --------------------------------------------------------------------

/// A field of a segment that lies at `base` units, where the public header has it.
fn field(units: &[Unit], base: usize, segment: &str, name: &str) -> u128 {
    let rows = include_str!("../data/wqe_layout.csv").lines().filter(|l| !l.starts_with('#'));
    let row: Vec<&str> = rows
        .map(|l| l.split(',').collect::<Vec<_>>())
        .find(|r| r[0] == segment && r[1] == name)
        .unwrap_or_else(|| panic!("no {segment}.{name} in the layout"));
    let n: Vec<usize> = row[2..].iter().map(|s| s.parse().expect("a number")).collect();
    let [offset, bits, high, low] = n[..] else { panic!("{row:?}") };
    let bytes = &units.as_flattened()[base * 16 + offset..][..bits / 8];
    let word = bytes.iter().fold(0u128, |w, b| w << 8 | u128::from(*b));
    word << (127 - high) >> (127 - high) >> low
}

#[test]
fn every_field_lies_where_the_public_headers_have_it() {
    let h = WqeHeader { sqn: Qpn::new(0xabcdef).expect("24 bits"), wqe_index: 0x1234 };
    let ah = Address {
        stat_rate_sl: 0x9a,
        fl_mlid: 0xbc,
        rlid: 0xdef1,
        rmac: [1, 2, 3, 4, 5, 6],
        tclass: 0x77,
        hop_limit: 0x88,
        grh_gid_fl: 0x4567_89ab,
        rgid: *b"0123456789abcdef",
    };
    let remote_qpn = Qpn::new(0xfe_dcba).expect("24 bits");
    let datagram = Datagram { remote_qpn, remote_qkey: 0x8011_2233, ah };
    let sge = Sge { address: 0x0123_4567_89ab_cdef, bytes: 0x6543_2100, lkey: Lkey(0xdead_beef) };
    let content = Content::Send {
        form: SendForm::Ud(datagram, Some(0xcafe_f00d)),
        payload: Payload::Gather(vec![sge]),
        solicited: true,
    };
    let request = Request { content, fence: true, signaled: true };
    let u = pack(&request, h, WqeFormat::Mlx5).expect("fits");
    for (base, segment, name, value) in [
        (0, "ctrl", "opmod", 0),
        (0, "ctrl", "wqe_index", 0x1234),
        (0, "ctrl", "opcode", 11),
        (0, "ctrl", "qpn_or_sqn", 0xabcdef),
        (0, "ctrl", "reserved", 0),
        (0, "ctrl", "ds", 5),
        (0, "ctrl", "signature", 0),
        (0, "ctrl", "dci_stream_channel_id", 0),
        (0, "ctrl", "fm_fence_mode", 4),
        (0, "ctrl", "reserved2", 0),
        (0, "ctrl", "ce_completion_mode", 2),
        (0, "ctrl", "se_solicited", 1),
        (0, "ctrl", "reserved3", 0),
        (0, "ctrl", "imm_or_inv_rkey_or_misc", 0xcafe_f00d),
        (1, "datagram", "qkey", 0x8011_2233),
        (1, "datagram", "reserved_or_dc_key_low", 0),
        (1, "datagram", "ext_av", 1),
        (1, "datagram", "dqp", 0xfe_dcba),
        (1, "datagram", "stat_rate_sl", 0x9a),
        (1, "datagram", "fl_mlid", 0xbc),
        (1, "datagram", "rlid_or_udp_sport", 0xdef1),
        (1, "datagram", "reserved0", 0),
        (1, "datagram", "rmac_47_16", 0x0102_0304),
        (1, "datagram", "rmac_15_0", 0x0506),
        (1, "datagram", "tclass", 0x77),
        (1, "datagram", "hop_limit", 0x88),
        (1, "datagram", "grh_gid_fl", 0x4567_89ab),
        (1, "datagram", "rgid", u128::from_be_bytes(*b"0123456789abcdef")),
        (4, "data_ptr", "inline_flag", 0),
        (4, "data_ptr", "byte_count", 0x6543_2100),
        (4, "data_ptr", "lkey", 0xdead_beef),
        (4, "data_ptr", "addr", 0x0123_4567_89ab_cdef),
    ] {
        assert_eq!(field(&u, base, segment, name), value, "{segment}.{name}");
    }

    let remote = Remote { address: 0xfedc_ba98_7654_3210, rkey: 0x0bad_cafe };
    for (atomic, swap_add, compare) in [
        (Atomic::CompareSwap { compare: 1 << 63, swap: 7 }, 7, 1 << 63),
        (Atomic::FetchAdd { add: 1 << 62 }, 1 << 62, 0),
    ] {
        let into = AtomicTarget { address: 8, lkey: RW };
        let content = Content::Atomic { remote, atomic, into };
        let request = Request { content, fence: false, signaled: false };
        for format in FORMATS {
            let u = pack(&request, h, format).expect("fits");
            let ds = if format == WqeFormat::Mlx5 { 4 } else { 1 };
            for (base, segment, name, value) in [
                (0, "ctrl", "ds", ds),
                (0, "ctrl", "fm_fence_mode", 0),
                (0, "ctrl", "ce_completion_mode", 0),
                (1, "raddr", "raddr", 0xfedc_ba98_7654_3210),
                (1, "raddr", "rkey", 0x0bad_cafe),
                (1, "raddr", "reserved", 0),
                (2, "atomic", "swap_add", swap_add),
                (2, "atomic", "compare", compare),
                (3, "data_ptr", "byte_count", 8),
            ] {
                assert_eq!(field(&u, base, segment, name), value, "{segment}.{name}");
            }
        }
    }

    let u = pack(&write(Payload::Inline((1..=28).collect())), h, WqeFormat::Mlx5).expect("fits");
    assert_eq!(u.len(), 4, "36 bytes before 28 of payload: one block");
    assert_eq!(field(&u, 2, "data_inline_hdr", "inline_flag"), 1);
    assert_eq!(field(&u, 2, "data_inline_hdr", "byte_count"), 28);
    let payload: Vec<u8> = (1..=28).collect();
    assert_eq!(u.as_flattened()[36..], payload);
}
