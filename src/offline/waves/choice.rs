//! Which signals are shown.

use super::read::{BadWaves, Known};

/// A group of lanes to be read.
pub(super) struct Ask {
    pub name: String,
    pub lanes: Vec<AskLane>,
    /// Left out if this signal never has a bit set in the window.
    pub busy: Option<usize>,
}

/// Places in the list of known signals.
pub(super) struct AskLane {
    pub name: String,
    pub signal: usize,
    /// The signal means something only where this one is set.
    pub gate: Option<usize>,
    /// Each clock in which it means something is a value of its own, also beside an equal one.
    pub each: bool,
}

/// Channels by their stem, with the direction of `valid` and `ready`.
const INPUTS: [&str; 5] = ["cmd", "post", "wqe", "wire", "cqdb"];
const OUTPUTS: [&str; 5] = ["rsp", "issue", "cqe", "event", "retire"];

/// What the watch shows of the operation in EX, of CQEs, and of what retires.
const EXECUTED: [&str; 5] =
    ["ex_kind", "ex_qpn", "ex_state_before", "ex_state_after", "ex_outcome"];
const ENTRY: [&str; 4] = ["cqe_cqn", "cqe_index", "cqe_qpn", "cqe_status"];
const RETIRED: [&str; 3] = ["retired_op", "retired_qpn", "retired_outcome"];

/// Contexts of the watch, with what of them is shown.
const CONTEXTS: [(&str, &str, &[&str]); 2] =
    [("QP", "g_qp", &["state", "sq_queued", "rq_queued"]), ("CQ", "g_cq", &["occupancy", "lost"])];

/// The signal that is 0 in reset, when nothing means anything.
pub(super) fn reset(known: &[Known]) -> Option<usize> {
    known.iter().position(|k| k.width == 1 && tail(&k.path, "rst_ni"))
}

/// The signals that tell most, as far as the file has them.
pub(super) fn telling(known: &[Known]) -> Vec<Ask> {
    // The last place of a name is the deepest one: in the watch, which knows the enums.
    let find = |name: &str| known.iter().rposition(|k| tail(&k.path, name));
    let lane = |name: &str, gate: Option<usize>| {
        Some(AskLane { name: name.to_owned(), signal: find(name)?, gate, each: gate.is_some() })
    };
    let mut all = Vec::new();
    let mut add = |name: &str, busy: Option<usize>, lanes: Vec<AskLane>| {
        if !lanes.is_empty() {
            all.push(Ask { name: name.to_owned(), lanes, busy });
        }
    };
    let port = |stem: &str, valid: &str, ready: &str| {
        let (valid, ready) = (format!("{stem}_{valid}"), format!("{stem}_{ready}"));
        let lanes = [lane(&valid, None), lane(&ready, None)].into_iter().flatten();
        (find(&valid), lanes.collect::<Vec<_>>())
    };
    for stem in INPUTS {
        let (busy, lanes) = port(stem, "valid_i", "ready_o");
        add(stem, busy, lanes);
    }
    let gated = |names: &[&str], gate: &str| -> Vec<AskLane> {
        names.iter().filter_map(|n| lane(n, find(gate))).collect()
    };
    add("in EX", find("ex_retires"), gated(&EXECUTED, "ex_retires"));
    for stem in OUTPUTS {
        let (busy, mut lanes) = port(stem, "valid_o", "ready_i");
        match stem {
            "cqe" => lanes.extend(gated(&ENTRY, "cqe_accepted")),
            "retire" => lanes.extend(gated(&RETIRED, "retired")),
            _ => {}
        }
        add(stem, busy, lanes);
    }
    for (title, scope, names) in CONTEXTS {
        for n in 0.. {
            let of = |name: &str| find(&format!("{scope}[{n}].{name}"));
            let Some(exists) = of("exists") else { break };
            let lanes = names.iter().filter_map(|name| {
                let gate = Some(exists);
                Some(AskLane { name: (*name).to_owned(), signal: of(name)?, gate, each: false })
            });
            add(&format!("{title} {n}"), Some(exists), lanes.collect());
        }
    }
    all
}

/// Does the path end with that name, as a whole part of it?
fn tail(path: &str, name: &str) -> bool {
    path.strip_suffix(name).is_some_and(|before| before.is_empty() || before.ends_with('.'))
}

/// The signals that fit a pattern, in the order of the patterns. A pattern is the end of a path,
/// from a dot on; `*` stands for anything.
pub(super) fn matching(known: &[Known], patterns: &[String]) -> Result<Vec<Ask>, BadWaves> {
    let mut taken: Vec<usize> = Vec::new();
    for pattern in patterns {
        let path = as_path(pattern);
        let mut found = 0;
        for (at, k) in known.iter().enumerate() {
            if !fits(&path, &k.path) {
                continue;
            }
            found += 1;
            let twin = taken.iter().position(|t| known[*t].signal == k.signal);
            match twin {
                // Another name of a signal: the one with names for its values is the better one.
                Some(place) if known[taken[place]].names.is_empty() && !k.names.is_empty() => {
                    taken[place] = at;
                }
                Some(_) => {}
                None => taken.push(at),
            }
        }
        if found == 0 {
            return Err(BadWaves::Signal { pattern: pattern.clone(), near: near(known, &path) });
        }
    }
    let lanes = taken.iter().map(|at| AskLane {
        name: short(known, &taken, *at),
        signal: *at,
        gate: None,
        each: false,
    });
    Ok(vec![Ask { name: String::new(), lanes: lanes.collect(), busy: None }])
}

/// `QP1.state`, as it is shown, is `g_qp[1].state`; anything else stays.
fn as_path(pattern: &str) -> String {
    let shown = CONTEXTS.iter().find_map(|(title, scope, _)| {
        let (number, name) = pattern.strip_prefix(title)?.split_once('.')?;
        Some(format!("{scope}[{}].{name}", number.trim().parse::<u32>().ok()?))
    });
    shown.unwrap_or_else(|| pattern.to_owned())
}

/// As many parts of the path as tell it from the others.
fn short(known: &[Known], taken: &[usize], at: usize) -> String {
    let path = &known[at].path;
    let starts = path.match_indices('.').map(|(i, _)| i + 1).rev().chain([0]);
    let mut names = starts.map(|i| &path[i..]);
    let alone = |name: &&str| taken.iter().filter(|t| tail(&known[**t].path, name)).count() < 2;
    names.find(alone).unwrap_or(path).to_owned()
}

fn fits(pattern: &str, path: &str) -> bool {
    let starts = path.match_indices('.').map(|(i, _)| i + 1).chain([0]);
    starts.into_iter().any(|i| glob(pattern.as_bytes(), &path.as_bytes()[i..]))
}

/// Goes back to the last star only, so the time is at most the product of the lengths.
fn glob(pattern: &[u8], text: &[u8]) -> bool {
    let (mut p, mut t) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while t < text.len() {
        match pattern.get(p) {
            Some(b'*') => {
                star = Some((p, t));
                p += 1;
            }
            Some(c) if *c == text[t] => {
                p += 1;
                t += 1;
            }
            _ => {
                let Some((at, from)) = star else { return false };
                star = Some((at, from + 1));
                (p, t) = (at + 1, from + 1);
            }
        }
    }
    pattern[p..].iter().all(|c| *c == b'*')
}

/// The name most like the pattern, with as many parts as the pattern has.
fn near(known: &[Known], pattern: &str) -> Option<String> {
    let parts = pattern.split('.').count();
    let names = known.iter().map(|k| {
        let start = k.path.match_indices('.').map(|(i, _)| i + 1).rev().nth(parts - 1);
        &k.path[start.unwrap_or(0)..]
    });
    crate::spelling::closest(pattern, names).map(str::to_owned)
}
