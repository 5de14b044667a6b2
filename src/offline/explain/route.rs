//! Ways through the state table: how to get where a call wanted to go.

use crate::model::{AttrMask, Policy, QpState, Row, Transport, transition_row};

/// One legal modify call.
#[derive(Clone, Copy, Debug)]
pub struct Edge {
    /// State before.
    pub from: QpState,
    /// Target state.
    pub to: QpState,
    /// Row of the table that applies.
    pub row: Row,
}

impl Edge {
    /// Does the row take all of these attributes?
    pub fn takes(&self, attrs: AttrMask) -> bool {
        (self.row.required | self.row.optional).contains(attrs)
    }
}

/// Every legal pair of that transport, by state numbers.
pub fn edges(transport: Transport, policy: &Policy) -> Vec<Edge> {
    let pairs = QpState::ALL.iter().flat_map(|f| QpState::ALL.iter().map(move |t| (*f, *t)));
    pairs
        .filter_map(|(from, to)| {
            transition_row(transport, from, to, policy).map(|row| Edge { from, to, row })
        })
        .collect()
}

/// RESET and ERR throw queued work away, so a way around them is better even if it is longer.
const fn cost(to: QpState) -> u32 {
    match to {
        QpState::Reset | QpState::Err => 10,
        _ => 1,
    }
}

fn length(way: &[Edge]) -> u32 {
    way.iter().map(|e| cost(e.to)).sum()
}

/// The least destructive, then shortest way between two states; empty if they are one.
pub fn path(edges: &[Edge], from: QpState, to: QpState) -> Option<Vec<Edge>> {
    let mut best: [Option<Vec<Edge>>; QpState::ALL.len()] = Default::default();
    best[usize::from(from.number())] = Some(Vec::new());
    // Bellman-Ford: no way needs more steps than there are states.
    for _ in QpState::ALL {
        for edge in edges {
            let Some(way) = &best[usize::from(edge.from.number())] else { continue };
            let longer = length(way) + cost(edge.to);
            let known = &best[usize::from(edge.to.number())];
            if known.as_ref().is_none_or(|k| length(k) > longer) {
                let mut way = way.clone();
                way.push(*edge);
                best[usize::from(edge.to.number())] = Some(way);
            }
        }
    }
    best[usize::from(to.number())].take()
}

/// Does the way lead through RESET or ERR, where queued work is lost?
pub fn destroys(way: &[Edge]) -> bool {
    way.iter().any(|e| matches!(e.to, QpState::Reset | QpState::Err))
}

/// The best way from `from` whose last call takes all of `attrs`.
pub fn to_carrier(edges: &[Edge], from: QpState, attrs: AttrMask) -> Option<Vec<Edge>> {
    carriers(edges, from, attrs).min_by_key(|way| length(way))
}

/// The best way from `from` to `to` with one call on it that takes all of `attrs`, and the
/// position of that call.
pub fn detour(
    edges: &[Edge],
    from: QpState,
    to: QpState,
    attrs: AttrMask,
) -> Option<(Vec<Edge>, usize)> {
    carriers(edges, from, attrs)
        .filter_map(|mut way| {
            let carrier = *way.last()?;
            let at = way.len() - 1;
            way.extend(path(edges, carrier.to, to)?);
            Some((way, at))
        })
        .min_by_key(|(way, _)| length(way))
}

/// Every way that ends with a call that takes all of `attrs`.
fn carriers(edges: &[Edge], from: QpState, attrs: AttrMask) -> impl Iterator<Item = Vec<Edge>> {
    edges.iter().filter(move |e| e.takes(attrs)).filter_map(move |carrier| {
        let mut way = path(edges, from, carrier.from)?;
        way.push(*carrier);
        Some(way)
    })
}
