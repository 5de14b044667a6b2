//! Functional coverage as text, page and data.

use std::fmt::Write as _;

use maud::{DOCTYPE, Markup, PreEscaped, html};
use serde_json::json;

use super::bins::{Bins, GROUPS, NAMES};
use super::unreachable::REASONS;
pub use super::unreachable::reasons;

/// One group, counted.
struct Sum {
    name: &'static str,
    about: &'static str,
    hit: usize,
    reachable: usize,
    unreachable: usize,
    /// Reachable and not hit.
    holes: Vec<&'static str>,
    /// Hit although listed as unreachable.
    impossible: Vec<&'static str>,
}

fn sums(bins: &Bins) -> Vec<Sum> {
    let sum = |group: &super::bins::Group| {
        let mut s = Sum {
            name: group.name,
            about: group.about,
            hit: 0,
            reachable: 0,
            unreachable: 0,
            holes: Vec::new(),
            impossible: Vec::new(),
        };
        for i in group.range() {
            let hit = bins.counts()[i] > 0;
            match (&REASONS[i], hit) {
                (None, true) => s.hit += 1,
                (None, false) => s.holes.push(NAMES[i].as_str()),
                (Some(_), true) => s.impossible.push(NAMES[i].as_str()),
                (Some(_), false) => s.unreachable += 1,
            }
            s.reachable += usize::from(REASONS[i].is_none());
        }
        s
    };
    GROUPS.iter().map(sum).collect()
}

/// Bins that can be hit and were, and how many can be.
pub fn reached(bins: &Bins) -> (usize, usize) {
    sums(bins).iter().fold((0, 0), |(hit, all), s| (hit + s.hit, all + s.reachable))
}

/// Reachable bins that were not hit, by name.
pub fn holes(bins: &Bins) -> Vec<&'static str> {
    sums(bins).into_iter().flat_map(|s| s.holes).collect()
}

/// Bins that were hit though they are listed as unreachable.
pub fn impossible(bins: &Bins) -> Vec<&'static str> {
    sums(bins).into_iter().flat_map(|s| s.impossible).collect()
}

fn percent(hit: usize, of: usize) -> String {
    // Never rounded up to 100.
    let tenths = (hit * 1000).checked_div(of).unwrap_or(1000);
    format!("{}.{} %", tenths / 10, tenths % 10)
}

/// As text: a line per group, then the holes by name.
pub fn text(bins: &Bins) -> String {
    let sums = sums(bins);
    let (hit, reachable) = reached(bins);
    let mut out = format!(
        "functional coverage: {hit} of {reachable} reachable bins, {}\n\n",
        percent(hit, reachable)
    );
    for s in &sums {
        let _ = writeln!(
            out,
            "{:18} {:>5} of {:>5}  {:>7}   {:>4} unreachable",
            s.name,
            s.hit,
            s.reachable,
            percent(s.hit, s.reachable),
            s.unreachable + s.impossible.len(),
        );
    }
    for (title, names) in [
        ("holes", sums.iter().flat_map(|s| s.holes.clone()).collect::<Vec<_>>()),
        (
            "hit although listed as unreachable",
            sums.iter().flat_map(|s| s.impossible.clone()).collect(),
        ),
    ] {
        if !names.is_empty() {
            let _ = write!(out, "\n{title}:\n  {}\n", names.join("\n  "));
        }
    }
    out
}

/// As data: counts by bin, and the holes.
pub fn json(bins: &Bins) -> String {
    let (hit, reachable) = reached(bins);
    let value = json!({
        "hit": hit, "reachable": reachable, "holes": holes(bins), "bins": bins,
    });
    let mut text = serde_json::to_string_pretty(&value).expect("plain data");
    text.push('\n');
    text
}

const STYLE: &str = "body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:64rem;\
padding:0 1rem;color:#222;background:#fff}table{border-collapse:collapse}td,th{padding:.2rem .8rem;\
text-align:left;border-bottom:1px solid #ddd}td.n{text-align:right;white-space:nowrap;\
font-variant-numeric:tabular-nums}.hole{color:#a40000}.not{color:#777}code{font-size:90%}summary{cursor:pointer}\
@media(prefers-color-scheme:dark){body{color:#ddd;background:#181818}td,th{border-color:#444}\
.hole{color:#ff8a80}.not{color:#999}}";

fn group_bins(bins: &Bins, group: &super::bins::Group) -> Markup {
    html! {
        details {
            summary { (group.name) ": every bin" }
            table {
                @for i in group.range() {
                    @let n = bins.counts()[i];
                    @match (&REASONS[i], n) {
                        (Some(why), 0) => tr.not { td { code { (NAMES[i]) } } td.n { "–" } td { (why) } },
                        (Some(_), n) => tr.hole { td { code { (NAMES[i]) } } td.n { (n) } td { "listed as unreachable" } },
                        (None, 0) => tr.hole { td { code { (NAMES[i]) } } td.n { "0" } td { "hole" } },
                        (None, n) => tr { td { code { (NAMES[i]) } } td.n { (n) } td {} },
                    }
                }
            }
        }
    }
}

/// As a page that needs nothing else.
pub fn page(bins: &Bins) -> String {
    let sums = sums(bins);
    let (hit, reachable) = reached(bins);
    let holes = holes(bins);
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { "Functional coverage" }
                style { (PreEscaped(STYLE)) }
            }
            body {
                h1 { "Functional coverage" }
                p { (hit) " of " (reachable) " reachable bins: " strong { (percent(hit, reachable)) } }
                table {
                    tr { th { "group" } th { "hit" } th { "reachable" } th { "share" } th { "unreachable" } th { "what" } }
                    @for s in &sums {
                        tr {
                            td { (s.name) } td.n { (s.hit) } td.n { (s.reachable) }
                            td.n { (percent(s.hit, s.reachable)) }
                            td.n { (s.unreachable + s.impossible.len()) } td { (s.about) }
                        }
                    }
                }
                h2 { "Holes" }
                @if holes.is_empty() { p { "None." } } @else {
                    ul { @for name in holes { li.hole { code { (name) } } } }
                }
                h2 { "Bins" }
                @for group in &GROUPS { (group_bins(bins, group)) }
            }
        }
    }
    .into_string()
}
