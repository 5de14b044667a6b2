//! The walker on WQEs of every kind: random ones, broken ones, noise.

use std::collections::BTreeMap;

use proptest::prelude::*;

use crate::exhaustive::exhaustive;
use rnic_cosim::model::*;
use rnic_cosim::wqes::{Flaw, random_keys, random_wqe};

/// Units that a walk may read, as `ds` says: at most what `fixed_units` and six bits allow.
fn may_read(first: &Unit, format: WqeFormat, transport: Transport) -> u32 {
    let (opcode, ds) = (first[3], u32::from(first[7] & 0x3f));
    let fixed = match (opcode, transport) {
        (1 | 10 | 11, Transport::Ud) => 4,
        (1 | 10 | 11, _) => 1,
        (8 | 9 | 16, _) => 2,
        (17 | 18, _) => 3,
        _ => return 1,
    };
    match format {
        WqeFormat::Book => fixed + ds,
        WqeFormat::Mlx5 => {
            if ds < fixed {
                1
            } else {
                ds
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 20_000, ..ProptestConfig::default() })]

    /// Any bytes: a result, the same each time, from the units that `ds` counts and no others.
    #[test]
    fn any_bytes_walk(
        seed in any::<u64>(),
        opcode in prop_oneof![Just(1u8), 8u8..12, 16u8..19, any::<u8>()],
        log_blocks in 0u8..6,
        mlx5 in any::<bool>(),
        t in 0u8..3,
    ) {
        let mut rng = fastrand::Rng::with_seed(seed);
        let mut ring = SendQueueRing::new(log_blocks).expect("small");
        rng.fill(ring.bytes_mut());
        let block = rng.u32(..ring.blocks());
        let mut first = ring.unit(block, 0);
        first[3] = opcode;
        ring.put(block, &[first]).expect("one unit");
        let keys = random_keys(&mut rng, 8);
        let format = if mlx5 { WqeFormat::Mlx5 } else { WqeFormat::Book };
        let transport = Transport::from_number(t).expect("0..3");

        let mut read = Vec::new();
        let w = walk(
            |k| {
                read.push(k);
                ring.unit(block, k)
            },
            format,
            transport,
            &keys,
        );
        let allowed = may_read(&first, format, transport);
        prop_assert_eq!(w.units_read, allowed);
        prop_assert_eq!(read, (0..allowed).collect::<Vec<_>>());
        prop_assert!(allowed <= 67);
        let sum: u64 = w.segments.iter().map(|s| u64::from(s.bytes())).sum();
        prop_assert_eq!(u64::from(w.length), sum.min(u64::from(u32::MAX)));
        prop_assert_eq!(w.errors().contains(WqeErrors::WALK_LENGTH), sum > u64::from(u32::MAX));
        let inline = w.segments.iter().any(|s| matches!(s, DataSegment::Inline { .. }));
        prop_assert_eq!(w.inline, inline);

        // What lies behind the WQE does not matter.
        for k in allowed..ring.blocks() * 4 {
            let mut other = ring.unit(block, k);
            other.iter_mut().for_each(|b| *b = !*b);
            ring.put(block + k / 4, &beside(&ring, block, k, other)).expect("one block");
        }
        prop_assert_eq!(walk(ring.wqe(block), format, transport, &keys), w);
    }
}

/// The block that holds unit `k`, with that unit replaced.
fn beside(ring: &SendQueueRing, block: u32, k: u32, unit: Unit) -> Vec<Unit> {
    let mut units: Vec<Unit> = (0..4).map(|i| ring.unit(block, k / 4 * 4 + i)).collect();
    units[(k % 4) as usize] = unit;
    units
}

/// The random WQEs reach every fault of the walker, alone and together with what the decoder
/// finds, in both formats; and those that nothing was done to are without fault.
#[test]
fn random_wqes_reach_every_fault() {
    let mut rng = fastrand::Rng::with_seed(20);
    let mut faults: BTreeMap<&str, u32> = BTreeMap::new();
    let mut errors: BTreeMap<String, u32> = BTreeMap::new();
    let mut flaws: BTreeMap<Flaw, [u32; 2]> = BTreeMap::new();
    let (mut legal, mut wrapped, mut classes) = (0, 0, BTreeMap::new());
    let rounds = if exhaustive() { 400 } else { 100 };
    for round in 0..rounds {
        let keys = random_keys(&mut rng, [8, 64, 1024][(round % 3) as usize]);
        for _ in 0..100 {
            let p = random_wqe(&mut rng, &keys);
            let w = walk(p.ring.wqe(p.block), p.format, p.transport, &keys);
            for f in &w.faults {
                *faults.entry(name(f)).or_default() += 1;
            }
            let d = decode_wqe(&w.post_send(0), p.transport, 3, &Policy::BOOK, &Config::DEFAULT);
            for error in d.errors.names() {
                *errors.entry(error).or_default() += 1;
            }
            match p.flaw {
                None => {
                    legal += 1;
                    assert_eq!(w.faults, [], "legal: {p:?}");
                    let of_ud = WqeErrors::BAD_LENGTH;
                    assert!(d.errors.minus(of_ud).is_empty(), "legal: {:?} {p:?}", d.errors);
                    *classes.entry((d.class, p.transport, p.format)).or_insert(0) += 1;
                }
                Some(flaw) => {
                    let bad = usize::from(!d.errors.is_empty());
                    flaws.entry(flaw).or_default()[bad] += 1;
                }
            }
            wrapped += u32::from(p.block + w.units_read.div_ceil(4) > p.ring.blocks());
        }
    }
    println!("{legal} legal, {wrapped} over the end of their ring");
    println!("faults {faults:#?}\nerrors {errors:#?}\nflaws (unnoticed, found) {flaws:?}");
    assert!(legal > 37 * rounds && wrapped > 10 * rounds);
    // All eight on RC, SEND and WRITE with and without immediate on UC, SEND on UD.
    assert_eq!(classes.len(), 2 * (8 + 4 + 2), "{classes:?}");
    assert_eq!(faults.len(), FAULTS);
    for (fault, n) in &faults {
        assert!(*n >= rounds / 4, "{fault}: {n}");
    }
    for (_, error) in WqeErrors::NAMED {
        let n = errors.get(*error).copied().unwrap_or(0);
        // Fence modes are no business of a walk.
        assert!(*error == "BAD_FENCE" || n >= rounds / 4, "{error}: {n}");
    }
    for flaw in Flaw::ALL {
        let [_, found] = flaws.get(flaw).copied().unwrap_or_default();
        assert!(found >= rounds / 8, "{flaw:?}: {found}");
    }
}

const FAULTS: usize = 12;

fn name(f: &WalkFault) -> &'static str {
    match f {
        WalkFault::InlineCountTooWide { .. } => "InlineCountTooWide",
        WalkFault::InlineTooLong { .. } => "InlineTooLong",
        WalkFault::Mixed { .. } => "Mixed",
        WalkFault::InlineNotCarried { .. } => "InlineNotCarried",
        WalkFault::InlineUnasked { .. } => "InlineUnasked",
        WalkFault::SecondOfAtomic { .. } => "SecondOfAtomic",
        WalkFault::LengthOverflow { .. } => "LengthOverflow",
        WalkFault::Key { why, .. } => match why {
            Unresolved::Range => "key: range",
            Unresolved::NotRegistered => "key: not registered",
            Unresolved::Variant => "key: variant",
            Unresolved::Outside => "key: outside",
            Unresolved::Permission => "key: permission",
        },
    }
}

/// Two runs from one seed are the same.
#[test]
fn a_seed_is_a_run() {
    let run = || {
        let mut rng = fastrand::Rng::with_seed(3);
        let keys = random_keys(&mut rng, 64);
        (0..50).map(|_| random_wqe(&mut rng, &keys)).collect::<Vec<_>>()
    };
    assert_eq!(run(), run());
}
