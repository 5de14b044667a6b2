//! The step-by-step account for the terminal.

use std::fmt::Write;

use comfy_table::{ColumnConstraint, ContentArrangement, Table, Width, presets};

use super::digest::{digest, hold};
use crate::policies;
use crate::scenario::{StepTrace, Trace};

/// The whole run as text. With a width in columns it is a table for a terminal, without one
/// plain lines that can be searched and compared.
pub fn steps(trace: &Trace, width: Option<u16>) -> String {
    let mut text = String::new();
    let _ = writeln!(text, "{}", trace.title);
    let _ = writeln!(
        text,
        "{}: engine {}, configuration {}, profile {}",
        trace.file,
        trace.engine,
        trace.config.name,
        policies::label(trace.profile, &trace.policy)
    );
    match width {
        Some(width) => {
            let _ = writeln!(text, "{}", table(trace, width).trim_fmt());
        }
        None => {
            for step in &trace.steps {
                plain(&mut text, step, trace);
            }
        }
    }
    text + &verdict(trace)
}

/// The last lines: what failed, or that nothing did.
pub fn verdict(trace: &Trace) -> String {
    let mut text = String::new();
    for step in &trace.steps {
        for f in &step.failures {
            let _ = writeln!(
                text,
                "FAILED {}:{}: {}: {}\n  expected: {}\n  got:      {}",
                trace.file,
                f.line,
                place(step.number),
                f.what,
                f.expected,
                f.got
            );
        }
    }
    if let Some(defect) = &trace.defect {
        let at = trace.steps.last().map_or(0, |s| s.number);
        let _ = writeln!(text, "FAILED {}: {}: {defect}", trace.file, place(at));
    }
    if trace.passed() {
        let steps = trace.steps.iter().filter(|s| s.number > 0).count();
        let _ = writeln!(text, "ok: {steps} steps, {}", hold(trace.checked()));
    }
    text
}

fn place(step: usize) -> String {
    if step == 0 { "setup".to_owned() } else { format!("step {step}") }
}

fn heading(step: &StepTrace) -> String {
    match (step.number, step.text.as_str()) {
        (0, _) => "Setup".to_owned(),
        (n, "") => format!("Step {n}"),
        (_, text) => text.to_owned(),
    }
}

fn table(trace: &Trace, width: u16) -> Table {
    let mut table = Table::new();
    table
        .load_style(presets::UTF8_HORIZONTAL_ONLY)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(width)
        .set_header(["#", "What was done, and the answer", "States", "CQEs", "Events"]);
    for step in &trace.steps {
        let d = digest(step, &trace.names);
        let mut what = heading(step);
        for line in &d.done {
            let _ = write!(what, "\n· {line}");
        }
        if !d.issued.is_empty() {
            let _ = write!(what, "\n  on the wire: {}", d.issued.join(", "));
        }
        let mark = if step.failures.is_empty() { "" } else { "\nFAILED" };
        table.add_row([
            format!("{}{mark}", step.number),
            what,
            d.states.join("\n"),
            d.cqes.join("\n"),
            d.events.join("\n"),
        ]);
    }
    if let Some(first) = table.column_mut(0) {
        first.set_constraint(ColumnConstraint::UpperBoundary(Width::Fixed(8)));
    }
    table
}

fn plain(text: &mut String, step: &StepTrace, trace: &Trace) {
    let d = digest(step, &trace.names);
    let _ = match step.number {
        0 => writeln!(text, "setup"),
        n if step.text.is_empty() => writeln!(text, "step {n}"),
        n => writeln!(text, "step {n}: {}", step.text),
    };
    let parts = [
        ("  ", &d.done),
        ("  on the wire: ", &d.issued),
        ("  state: ", &d.states),
        ("  cqe: ", &d.cqes),
        ("  event: ", &d.events),
    ];
    for (before, lines) in parts {
        for line in lines {
            let _ = writeln!(text, "{before}{line}");
        }
    }
}
