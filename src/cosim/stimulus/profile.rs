//! Named mixtures of stimulus.

/// What a run is mostly made of. Chances are per mille.
#[derive(Debug)]
pub struct Profile {
    /// Name.
    pub name: &'static str,
    /// In one sentence, for people.
    pub about: &'static str,
    /// QPs and CQs in play, from and to.
    pub(super) qps: (u32, u32),
    pub(super) cqs: (u32, u32),
    /// Mean clocks between operations of cmd, post, wire, cqdb, wqe; 0: as fast as it goes.
    pub(super) gap: [u32; 5],
    /// Depth of a CQ, from and to.
    pub(super) depth: (u32, u32),
    /// A QP that is not in RTS moves on towards it.
    pub(super) climb: u32,
    /// A QP in RTS is moved elsewhere.
    pub(super) leave_rts: u32,
    /// Of these moves: to SQD, ERR, RESET, onto itself (weights).
    pub(super) leave_to: [u32; 4],
    /// The mask of a MODIFY_QP is one attribute off.
    pub(super) one_off: u32,
    /// A command is bent in one place.
    pub(super) bent: u32,
    /// QUERY instead.
    pub(super) query: u32,
    /// DESTROY_QP or DESTROY_CQ instead.
    pub(super) destroy: u32,
    /// A destroyed QP's number is taken again at once.
    pub(super) reborn: u32,
    /// SET_CQ_FAULT instead.
    pub(super) fault: u32,
    /// An unknown operation code.
    pub(super) unknown: u32,
    /// A command is about a key; a turn of the channel `wqe` is taken.
    pub(super) keys: u32,
    pub(super) walked: u32,
    /// A posted WQE is bad.
    pub(super) bad_wqe: u32,
    /// A send is fenced; a READ or atomic.
    pub(super) fence: u32,
    pub(super) reads: u32,
    /// POST_RECV among the posts.
    pub(super) recv: u32,
    /// A completion is an error, is stale.
    pub(super) errors: u32,
    pub(super) stale: u32,
    /// Doorbells: ARM, a bad index, a poll.
    pub(super) arm: u32,
    pub(super) bad_index: u32,
    pub(super) poll: u32,
    /// CREATE_CQ with ignore_overrun.
    pub(super) ignore_overrun: u32,
    /// Operations between resets of the whole device; 0: none.
    pub(super) reset_every: u64,
}

const STEADY: Profile = Profile {
    name: "steady",
    about: "posts, completions and polls on QPs in RTS, little else",
    qps: (2, 6),
    cqs: (1, 3),
    gap: [60, 0, 0, 1, 0],
    depth: (8, 64),
    climb: 950,
    leave_rts: 10,
    leave_to: [2, 1, 1, 6],
    one_off: 0,
    bent: 20,
    query: 60,
    destroy: 2,
    reborn: 100,
    fault: 2,
    unknown: 1,
    keys: 150,
    walked: 300,
    bad_wqe: 10,
    fence: 150,
    reads: 200,
    recv: 400,
    errors: 5,
    stale: 20,
    arm: 150,
    bad_index: 10,
    poll: 900,
    ignore_overrun: 50,
    reset_every: 0,
};

impl Profile {
    /// All of them.
    pub const ALL: &'static [Profile] = &[
        STEADY,
        Profile {
            name: "bring-up",
            about: "QPs climb from RESET to RTS and are torn down again",
            qps: (2, 4),
            gap: [0, 10, 10, 10, 10],
            leave_rts: 700,
            leave_to: [3, 2, 4, 3],
            bent: 150,
            query: 100,
            destroy: 60,
            ..STEADY
        },
        Profile {
            name: "error-storm",
            about: "completions fail, QPs fall and are flushed and brought back",
            qps: (2, 4),
            cqs: (1, 2),
            gap: [3, 0, 0, 1, 0],
            depth: (2, 32),
            leave_rts: 100,
            leave_to: [2, 4, 2, 1],
            errors: 250,
            stale: 100,
            recv: 500,
            ..STEADY
        },
        Profile {
            name: "tiny-cqs",
            about: "CQs of a few entries that overflow, get faults, are polled late",
            qps: (2, 4),
            cqs: (1, 2),
            gap: [3, 0, 0, 4, 0],
            depth: (1, 5),
            leave_rts: 60,
            fault: 40,
            destroy: 30,
            arm: 300,
            poll: 500,
            bad_index: 80,
            ignore_overrun: 200,
            ..STEADY
        },
        Profile {
            name: "drain",
            about: "RTS to SQD and back with work under way",
            qps: (2, 3),
            cqs: (1, 2),
            gap: [2, 1, 2, 1, 1],
            leave_rts: 500,
            leave_to: [12, 1, 1, 2],
            bent: 80,
            errors: 20,
            reads: 400,
            fence: 300,
            ..STEADY
        },
        Profile {
            name: "late-posts",
            about: "posts into ERR, SQE and SQD while flushes are under way",
            qps: (2, 3),
            cqs: (1, 2),
            gap: [8, 0, 1, 1, 0],
            climb: 500,
            leave_rts: 200,
            leave_to: [1, 6, 2, 0],
            errors: 150,
            ..STEADY
        },
        Profile {
            name: "stale",
            about: "completions for slots and epochs that are not the right ones",
            qps: (2, 3),
            cqs: (1, 2),
            gap: [6, 1, 0, 1, 1],
            leave_rts: 150,
            leave_to: [1, 3, 5, 1],
            stale: 500,
            errors: 40,
            ..STEADY
        },
        Profile {
            name: "illegal",
            about: "requests that must be refused, on every layer",
            qps: (2, 4),
            cqs: (1, 3),
            gap: [0, 0, 2, 1, 0],
            climb: 800,
            leave_rts: 300,
            bent: 600,
            bad_wqe: 500,
            bad_index: 400,
            stale: 300,
            unknown: 30,
            destroy: 60,
            ..STEADY
        },
        Profile {
            name: "gate",
            about: "one MODIFY_QP after the other, from any state to any, half of them one attribute off",
            qps: (2, 4),
            cqs: (1, 2),
            gap: [0, 16, 16, 16, 16],
            climb: 500,
            leave_rts: 900,
            leave_to: [3, 1, 1, 3],
            one_off: 500,
            bent: 150,
            query: 30,
            destroy: 60,
            ..STEADY
        },
        Profile {
            name: "many-qps",
            about: "as many QPs and CQs as there are",
            qps: (u32::MAX, u32::MAX),
            cqs: (u32::MAX, u32::MAX),
            gap: [0, 0, 0, 0, 0],
            depth: (4, 300),
            leave_rts: 60,
            leave_to: [2, 2, 2, 1],
            errors: 30,
            stale: 30,
            ..STEADY
        },
        Profile {
            name: "cascade",
            about: "CQ errors that take many QPs with them",
            qps: (3, 8),
            cqs: (2, 3),
            gap: [1, 0, 0, 4, 0],
            depth: (1, 8),
            leave_rts: 80,
            leave_to: [1, 2, 4, 1],
            fault: 60,
            destroy: 30,
            poll: 500,
            fence: 400,
            reads: 500,
            query: 80,
            ..STEADY
        },
        Profile {
            name: "bad-sends",
            about: "bad sends, found at the post or at the issue, into CQs that fail too",
            qps: (2, 4),
            cqs: (1, 2),
            gap: [0, 0, 0, 3, 0],
            depth: (1, 5),
            leave_rts: 30,
            bad_wqe: 150,
            fault: 40,
            destroy: 20,
            recv: 100,
            poll: 400,
            arm: 300,
            ignore_overrun: 250,
            reset_every: 2000,
            ..STEADY
        },
        Profile {
            name: "rebirth",
            about: "QPs that live for a few operations, on CQs that fail at once",
            qps: (2, 3),
            cqs: (2, 2),
            gap: [12, 8, 4, 40, 8],
            depth: (1, 2),
            climb: 600,
            leave_rts: 400,
            leave_to: [1, 4, 2, 1],
            query: 10,
            destroy: 250,
            reborn: 400,
            fault: 40,
            errors: 100,
            recv: 500,
            poll: 200,
            ..STEADY
        },
        Profile {
            name: "churn",
            about: "QPs and CQs are created, reset and destroyed under way, the device too",
            qps: (2, 3),
            cqs: (1, 2),
            gap: [0, 1, 1, 1, 1],
            depth: (1, 8),
            leave_rts: 600,
            leave_to: [1, 2, 6, 1],
            destroy: 200,
            fault: 20,
            errors: 50,
            stale: 200,
            reset_every: 3000,
            ..STEADY
        },
    ];

    /// The profile of that name, if there is one.
    pub fn from_name(name: &str) -> Option<&'static Profile> {
        Self::ALL.iter().find(|p| p.name == name)
    }

    pub(super) fn qps(&self, rng: &mut fastrand::Rng) -> u32 {
        rng.u32(self.qps.0..=self.qps.1)
    }

    pub(super) fn cqs(&self, rng: &mut fastrand::Rng) -> u32 {
        rng.u32(self.cqs.0..=self.cqs.1)
    }
}
