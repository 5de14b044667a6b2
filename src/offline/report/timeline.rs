//! The timeline as one page that needs nothing else: no network, no other file.

use std::collections::BTreeMap;

use maud::{DOCTYPE, PreEscaped, html};
use serde_json::{Value, json};

use super::digest::{digest, hold};
use super::layout::Glyph;
use super::svg::{Drawing, STYLE, glyph};
use crate::policies;
use crate::scenario::{Judgement, StepTrace, Trace};

const PAGE_STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

const LEGEND: &[(Glyph, &str)] = &[
    (Glyph::Command, "command"),
    (Glyph::Post, "post, waits"),
    (Glyph::PostIssued, "post, on the wire at once"),
    (Glyph::Issue, "waiting WQE goes out"),
    (Glyph::Complete, "completion"),
    (Glyph::Flush, "flush"),
    (Glyph::Cascade, "CQ error reaches a QP"),
    (Glyph::Doorbell, "consume, arm"),
    (Glyph::Refused, "refused, or CQE lost"),
    (Glyph::Stale, "stale"),
    (Glyph::Reset, "hardware reset"),
];

/// What a button does, its name, its key, its sign.
const BUTTONS: &[(&str, &str, &str, &str)] = &[
    ("previous", "Previous step", "←", "◀"),
    ("next", "Next step", "→", "▶"),
    ("all", "All steps", "Esc", "All"),
    ("farther", "Smaller", "-", "−"),
    ("closer", "Larger", "+", "+"),
    ("fit", "Fit the width", "0", "Fit"),
];

/// Expectations of one step that are written out; a storm has thousands.
const MOST_SHOWN: usize = 40;
const MOST_WITH_A_MARK: usize = 12;

/// What was expected of the step that a mark belongs to, and what was seen.
fn expectations(step: &StepTrace) -> Option<Value> {
    if step.met.is_empty() && step.failures.is_empty() {
        return None;
    }
    let failures = step
        .failures
        .iter()
        .map(|f| format!("✗ {}: expected {}, got {} (line {})", f.what, f.expected, f.got, f.line));
    let lines: Vec<String> = failures.chain(met(&step.met, MOST_WITH_A_MARK)).collect();
    let of =
        if step.number == 0 { "the setup".to_owned() } else { format!("step {}", step.number) };
    Some(json!({ "title": format!("Expected of {of}"), "lines": lines }))
}

/// Expectations that hold, in words.
fn met(met: &[Judgement], most: usize) -> Vec<String> {
    let shown = met.iter().take(most).map(|m| match m.expected == m.got {
        true => format!("✓ {}: {}", m.what, m.got),
        false => format!("✓ {}: expected {}, got {}", m.what, m.expected, m.got),
    });
    let more = met.len().saturating_sub(most);
    shown.chain((more > 0).then(|| format!("… and {more} more"))).collect()
}

/// The lanes, for those who do not see them.
fn lanes(trace: &Trace) -> String {
    let groups = trace.names.groups.iter().map(|g| format!("{} QPs {}", g.count, g.name));
    let alone = trace.qps.iter().filter(|q| trace.names.group(q.qpn).is_none());
    let qps = alone.map(|q| format!("QP {}", q.name));
    let cqs = trace.cqs.iter().map(|c| format!("CQ {} of depth {}", c.name, c.depth));
    groups.chain(qps).chain(cqs).collect::<Vec<_>>().join(", ")
}

/// The page.
pub fn page(trace: &Trace) -> String {
    let d = Drawing::new(trace);
    let details: BTreeMap<usize, _> = d
        .layout
        .marks
        .iter()
        .enumerate()
        .filter_map(|(n, m)| Some((n, m.as_ref()?)))
        .map(|(n, m)| (n, json!({ "title": m.title, "lines": m.lines })))
        .collect();
    let expected: BTreeMap<usize, _> =
        trace.steps.iter().filter_map(|s| Some((s.number, expectations(s)?))).collect();
    let details = json!({ "marks": details, "steps": expected });
    // Inside a script element only "</" could end it early.
    let details = details.to_string().replace("</", "<\\/");
    let failed: usize = trace.steps.iter().map(|s| s.failures.len()).sum();
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (trace.title) }
                style { (PreEscaped(STYLE)) (PreEscaped(PAGE_STYLE)) }
            }
            body {
                main {
                    h1 { (trace.title) }
                    @if !trace.text.is_empty() { p.intro { (trace.text) } }
                    ul.facts {
                        @if trace.passed() {
                            li.pass { (hold(trace.checked())) }
                        } @else if trace.defect.is_some() {
                            li.fail { "the hardware failed" }
                        } @else {
                            li.fail { (failed) " of " (trace.checked()) " expectations failed" }
                        }
                        li { "engine " (trace.engine) }
                        li { "configuration " (trace.config.name) }
                        li { "profile " (policies::label(trace.profile, &trace.policy)) }
                        li { (trace.file) }
                    }
                    @if let Some(defect) = &trace.defect { pre { (defect) } }
                    section.player aria-label="Steps" {
                        div.buttons {
                            @for (act, name, key, sign) in BUTTONS {
                                button data-act=(act) title={ (name) " (" (key) ")" } aria-label=(name) {
                                    (sign)
                                }
                            }
                        }
                        p.caption aria-live="polite" {}
                    }
                    div.frame {
                        svg.timeline width=(d.label_width()) height=(d.height) aria-hidden="true"
                            viewBox=(format!("0 0 {} {}", d.label_width(), d.height)) {
                            (d.labels())
                        }
                        div.scroll {
                            svg.timeline width=(d.width()) height=(d.height) role="group"
                                aria-label={ "Timeline: " (lanes(trace)) }
                                viewBox=(format!("0 0 {} {}", d.width(), d.height)) {
                                (d.picture(true))
                                rect.veil x="0" y="0" width="0" height=(d.height) {}
                            }
                        }
                    }
                    section.detail aria-live="polite" aria-label="Details" {
                        h3 { "Details" }
                        ul { li { "Point at a mark, or press j and k to walk through them." } }
                    }
                    ul.legend {
                        @for (sign, meaning) in LEGEND {
                            li {
                                svg.timeline width="18" height="18" aria-hidden="true" { (glyph(*sign, 9, 9)) }
                                (meaning)
                            }
                        }
                        @for (class, meaning) in [("success", "CQE"), ("error", "error CQE"), ("flush", "flush CQE")] {
                            li {
                                svg.timeline width="14" height="14" aria-hidden="true" {
                                    circle class={ "e-" (class) } cx="7" cy="7" r="6" {}
                                }
                                (meaning)
                            }
                        }
                    }
                    p.keys {
                        kbd { "←" } " " kbd { "→" } " steps, " kbd { "Esc" } " all, "
                        kbd { "j" } " " kbd { "k" } " marks (on a mark also the arrow keys), " kbd { "+" } " " kbd { "-" } " " kbd { "0" } " zoom"
                    }
                    h2 { "Steps" }
                    ol.steps {
                        @for step in &trace.steps {
                            @let s = digest(step, &trace.names);
                            li.failed[!step.failures.is_empty()] data-step=(step.number)
                                id=(format!("step-{}", step.number)) {
                                p {
                                    a href=(format!("#at-{}", step.number)) {
                                        @if step.number == 0 { "Setup" } @else { (step.number) }
                                    }
                                    span { @if step.number > 0 { (step.text) } }
                                }
                                dl {
                                    @for (name, lines) in [
                                        ("Done", &s.done),
                                        ("On the wire", &s.issued),
                                        ("States", &s.states),
                                        ("CQEs", &s.cqes),
                                        ("Events", &s.events),
                                    ] {
                                        @if !lines.is_empty() {
                                            dt { (name) }
                                            dd { @for l in lines.iter() { (l) br; } }
                                        }
                                    }
                                    @for f in &step.failures {
                                        dt.difference { "Failed" }
                                        dd.difference {
                                            (f.what) ": expected " (f.expected) ", got " (f.got)
                                            " (line " (f.line) ")"
                                        }
                                    }
                                }
                                @if !step.met.is_empty() {
                                    details {
                                        summary {
                                            (hold(step.checked - step.failures.len().min(step.checked)))
                                        }
                                        ul { @for l in met(&step.met, MOST_SHOWN) { li { (l) } } }
                                    }
                                }
                            }
                        }
                    }
                }
                script type="application/json" id="details" { (PreEscaped(details)) }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    };
    page.into_string()
}
