//! A window for the terminal: clock by clock, what changed.

use std::fmt::Write;

use super::Window;

/// One line per clock in which something changed; the first clock shows everything.
pub fn text(window: &Window) -> String {
    let mut out = String::new();
    let lanes: Vec<(String, &super::Lane)> = window
        .groups
        .iter()
        .flat_map(|g| g.lanes.iter().map(|l| (named(&g.name, &l.name), l)))
        .collect();
    let digits = (window.from + window.clocks as u64).to_string().len().max(5);
    for clock in 0..window.clocks {
        let changed = lanes.iter().filter_map(|(name, lane)| {
            let now = lane.values[clock].as_deref();
            let before = clock.checked_sub(1).map(|c| lane.values[c].as_deref());
            let again = lane.each && now.is_some();
            let news = before.is_none_or(|b| b != now) || again;
            // That a value is no longer meant is no news.
            now.filter(|_| news).map(|v| format!("{name}={v}"))
        });
        let changed: Vec<String> = changed.collect();
        if !changed.is_empty() {
            let number = window.from + clock as u64;
            let _ = writeln!(out, "{number:>digits$}  {}", changed.join(" "));
        }
    }
    out
}

/// `QP 1.state`; a port's name says itself to what it belongs.
fn named(group: &str, lane: &str) -> String {
    match group.split_once(' ') {
        Some((kind @ ("QP" | "CQ"), n)) => format!("{kind}{n}.{lane}"),
        _ => lane.to_owned(),
    }
}
