//! A window as a picture in the style of the reports.

use maud::{Markup, PreEscaped, html};

use super::{Lane, Window};
use crate::report::svg::STYLE;

/// Pixels per clock, height of a lane, of the headings, width of the names.
const CLOCK: usize = 30;
const LANE: usize = 24;
const HEAD: usize = 62;
const NAMES: usize = 190;

const OWN_STYLE: &str = include_str!("waves.css");

/// The picture.
pub fn svg(window: &Window, title: &str) -> String {
    let lanes: usize = window.groups.iter().map(|g| g.lanes.len()).sum();
    let gaps = window.groups.len() * 10;
    let (width, height) = (NAMES + window.clocks * CLOCK + 16, HEAD + lanes * LANE + gaps + 12);
    let mut y = HEAD;
    let page = html! {
        svg.timeline.waves xmlns="http://www.w3.org/2000/svg" width=(width) height=(height)
            viewBox=(format!("0 0 {width} {height}")) role="img" {
            title { (title) }
            style { (PreEscaped(STYLE)) (PreEscaped(OWN_STYLE)) }
            rect.paper x="0" y="0" width=(width) height=(height) {}
            text.heading x="12" y="26" { (title) }
            @for n in 0..window.clocks {
                @let x = NAMES + n * CLOCK;
                @let clock = window.from + n as u64;
                @if clock % 5 == 0 {
                    line.tick x1=(x) x2=(x) y1=(HEAD - 8) y2=(height - 8) {}
                    text.sub x=(x + 3) y=(HEAD - 8) { (clock) }
                }
            }
            @for group in &window.groups {
                line.rule x1="0" x2=(width) y1=(y) y2=(y) {}
                @for (n, lane) in group.lanes.iter().enumerate() {
                    @let top = y + 5 + n * LANE;
                    g {
                        @if n == 0 && !group.name.is_empty() {
                            text.name x="12" y=(top + 15) { (group.name) }
                        }
                        text.lane x=(NAMES - 8) y=(top + 14) { (lane.name) }
                        title { (lane.path) ", " (lane.width) @if lane.width == 1 { " bit" } @else { " bits" } }
                        @if lane.is_bit() { (line(lane, top)) } @else { (boxes(lane, top)) }
                    }
                }
                ({ y += group.lanes.len() * LANE + 10; "" })
            }
        }
    };
    format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{}\n", page.into_string())
}

fn line(lane: &Lane, top: usize) -> Markup {
    let (high, low) = (top + 3, top + LANE - 7);
    let mut path = String::new();
    let mut filled = Vec::new();
    for (at, clocks, value) in lane.runs() {
        let (from, to) = (NAMES + at * CLOCK, NAMES + (at + clocks) * CLOCK);
        let y = match value {
            Some("1") => high,
            Some("0") => low,
            _ => (high + low) / 2,
        };
        path += &format!("{}{from} {y}H{to}", if path.is_empty() { "M" } else { "L" });
        if value == Some("1") {
            filled.push((from, to - from));
        }
    }
    html! {
        @for (x, width) in &filled {
            rect.high x=(x) y=(high) width=(width) height=(low - high) {}
        }
        path.wave d=(path) {}
    }
}

fn boxes(lane: &Lane, top: usize) -> Markup {
    let runs = lane.runs();
    html! {
        @for (n, (at, clocks, value)) in runs.iter().enumerate() {
            @if let Some(value) = value {
                @let (x, width) = (NAMES + at * CLOCK, clocks * CLOCK);
                // What is too long for its box may stand behind it, where nothing is meant.
                @let gap = runs.get(n + 1).map_or(0, |(_, n, v)| if v.is_none() { n * CLOCK } else { 0 });
                g class={ "state s-" (value) } {
                    rect.value x=(x + 1) y=(top + 1) width=(width - 2) height=(LANE - 6) rx="4" {}
                    @let room = (width - 4) / 7;
                    @if value.chars().count() <= room {
                        text x=(x + 4) y=(top + 14) { (value) }
                    } @else if value.chars().count() * 6 + 2 <= gap {
                        text.behind x=(x + width + 2) y=(top + 14) { (value) }
                    } @else if room >= 2 {
                        text.tiny x=(x + 3) y=(top + 13) { (clip(value, (width - 4) * 10 / 57)) }
                    }
                    title { (lane.name) " = " (value) }
                }
            }
        }
    }
}

fn clip(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    text.chars().take(most.saturating_sub(1)).chain(['…']).collect()
}
