//! The timeline as one page that needs nothing else: no network, no other file.

use std::collections::BTreeMap;

use maud::{DOCTYPE, PreEscaped, html};
use serde_json::json;

use super::digest::digest;
use super::layout::Glyph;
use super::svg::{Drawing, STYLE, glyph};
use crate::scenario::Trace;

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
];

/// The page.
pub fn page(trace: &Trace) -> String {
    let d = Drawing::new(trace);
    let details: BTreeMap<usize, _> = d
        .layout
        .marks
        .iter()
        .enumerate()
        .filter_map(|(n, m)| Some((n, m.as_ref()?)))
        .map(|(n, m)| {
            let step = trace.steps.iter().find(|s| s.number == m.step);
            let failures = step.into_iter().flat_map(|s| &s.failures).map(|f| {
                format!("✗ {} in this step: expected {}, got {}", f.what, f.expected, f.got)
            });
            let lines: Vec<String> = m.lines.iter().cloned().chain(failures).collect();
            (n, json!({ "title": m.title, "lines": lines }))
        })
        .collect();
    // Inside a script element only "</" could end it early.
    let details = json!(details).to_string().replace("</", "<\\/");
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
                            li.pass { (trace.checked()) " expectations hold" }
                        } @else if trace.defect.is_some() {
                            li.fail { "the hardware failed" }
                        } @else {
                            li.fail { (failed) " of " (trace.checked()) " expectations failed" }
                        }
                        li { "engine " (trace.engine) }
                        li { "configuration " (trace.config.name) }
                        li { "profile " (trace.profile) }
                        li { (trace.file) }
                    }
                    @if let Some(defect) = &trace.defect { pre { (defect) } }
                    section.player aria-label="Steps" {
                        div.buttons {
                            button data-act="previous" title="Previous step (←)" { "◀" }
                            button data-act="next" title="Next step (→)" { "▶" }
                            button data-act="all" title="All steps (Esc)" { "All" }
                            button data-act="farther" title="Smaller (-)" { "−" }
                            button data-act="closer" title="Larger (+)" { "+" }
                            button data-act="fit" title="Fit (0)" { "Fit" }
                        }
                        p.caption aria-live="polite" {}
                    }
                    div.frame {
                        svg.timeline width=(d.label_width()) height=(d.height)
                            viewBox=(format!("0 0 {} {}", d.label_width(), d.height)) {
                            (d.labels())
                        }
                        div.scroll tabindex="0" role="region" aria-label="Timeline" {
                            svg.timeline width=(d.width()) height=(d.height) role="img"
                                viewBox=(format!("0 0 {} {}", d.width(), d.height)) {
                                title { (trace.title) }
                                (d.picture())
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
                        kbd { "j" } " " kbd { "k" } " marks, " kbd { "+" } " " kbd { "-" } " " kbd { "0" } " zoom"
                    }
                    h2 { "Steps" }
                    ol.steps {
                        @for step in &trace.steps {
                            @let s = digest(step, &trace.names);
                            li.failed[!step.failures.is_empty()] data-step=(step.number)
                                id=(format!("step-{}", step.number)) {
                                p {
                                    b { @if step.number == 0 { "Setup" } @else { (step.number) } }
                                    @if step.number > 0 { (step.text) }
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
