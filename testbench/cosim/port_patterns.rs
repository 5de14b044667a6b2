//! The patterns of ready and hold: as often as they say, and again for the same seed.

use rnic_cosim::cosim::timing::*;

fn share(t: Timing, bit: impl Fn(Levels) -> bool) -> f64 {
    let mut p = Pattern::new(&t);
    let n = 100_000;
    (0..n).filter(|_| bit(p.clock())).count() as f64 / f64::from(n)
}

#[test]
fn patterns_have_their_shares() {
    let t = |pressure| Timing { pressure, hold: Hold::Never, seed: 3 };
    assert_eq!(share(Timing::READY, |l| l == Levels::FREE), 1.0);
    let cqe = |l: Levels| l.ready & CQE != 0;
    assert!((share(t(Pressure::Random), cqe) - 0.75).abs() < 0.02);
    assert!((share(t(Pressure::Slow), cqe) - 0.25).abs() < 0.02);
    assert!((share(t(Pressure::Bursty), cqe) - 0.5).abs() < 0.05);
    let stalled = share(t(Pressure::OneStalled), |l| (l.ready ^ ALL_READY).count_ones() == 1);
    assert!(stalled > 0.6 && stalled < 0.95, "{stalled}");
    assert_eq!(share(t(Pressure::WireStalled), cqe), 1.0);
    let held = Timing { hold: Hold::Random, ..Timing::READY };
    assert!((share(held, |l| l.hold & 1 == 1) - 0.5).abs() < 0.05);
}

#[test]
fn same_seed_same_pattern() {
    let t = Timing { pressure: Pressure::Bursty, hold: Hold::Long, seed: 9 };
    let (mut a, mut b) = (Pattern::new(&t), Pattern::new(&t));
    assert!((0..10_000).all(|_| a.clock() == b.clock()));
}
