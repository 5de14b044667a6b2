//! What is printed.

use std::time::Duration;

use comfy_table::{CellAlignment, Table, presets};
use serde_json::json;

use super::super::say;
use super::with_rtl::Kept;
use crate::cosim::campaign::{ProfileSum, total};
use crate::cosim::recording::Recording;
use crate::cosim::results::{Results, Verdict, first_line};
use crate::cosim::{Coverage, coverage_report};
use crate::model::Outcome;

/// A failure that was thinned out.
pub fn failure(f: &Kept) {
    say!(
        "\nFAILED: profile {}, config {}, seed {}",
        f.case.profile.name,
        f.case.config.name(),
        f.case.seed
    );
    say!("\n{}", f.failure);
    say!("the {} steps that it takes:", f.recording.steps.len());
    print_steps(&f.recording);
    if let Some(waves) = &f.waves {
        say!("waveforms: {}", waves.display());
    }
    say!("run it again: rnic-cosim replay {}", f.file.display());
}

/// The failures beyond those: a line and a command each.
pub fn more_failures(results: &Results, shown: &[Kept]) {
    const MOST: usize = 20;
    let others: Vec<_> =
        results.failed().filter(|r| shown.iter().all(|k| k.case.number != r.number)).collect();
    for run in others.iter().take(MOST) {
        let Verdict::Failed { again, .. } = &run.verdict else { continue };
        say!("\nFAILED: {}\n  {again}", first_line(run));
    }
    if others.len() > MOST {
        say!("\n… and {} more failures", others.len() - MOST);
    }
}

pub fn print_steps(recording: &Recording) {
    const MOST: usize = 60;
    for step in recording.steps.iter().take(MOST) {
        say!("  {}", step.plain());
    }
    if recording.steps.len() > MOST {
        say!("  … and {} more", recording.steps.len() - MOST);
    }
    if !recording.policy.is_empty() {
        let set: Vec<String> = recording.policy.iter().map(|(k, v)| format!("{k}={v}")).collect();
        say!("policy: {}", set.join(" "));
    }
    say!("timing: {}", recording.timing);
}

pub fn short(n: u64) -> String {
    match n {
        0..10_000 => n.to_string(),
        10_000..9_999_500 => format!("{} k", (n + 500) / 1000),
        _ => format!("{} M", n.saturating_add(500_000) / 1_000_000),
    }
}

fn table(profiles: &[ProfileSum]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header([
        "profile",
        "runs",
        "operations",
        "clocks",
        "refused",
        "stale",
        "flushed",
        "CQEs",
        "lost",
        "full",
        "fault",
        "in error",
        "cascades",
        "drained",
        "no room",
        "same QP next",
    ]);
    let mut row = |name: &str, runs: u64, operations: u64, clocks: u64, c: &Coverage| {
        let refused: u64 =
            Outcome::ALL.iter().filter(|o| o.number() >= 16).map(|&o| c.outcome(o)).sum();
        let numbers = [
            runs,
            operations,
            clocks,
            refused,
            c.outcome(Outcome::Stale),
            c.operation(25),
            c.cqes_written,
            c.cqes_lost,
            c.failed_full,
            c.failed_fault,
            c.failed_in_error,
            c.operation(26),
            c.sq_drained,
            c.no_wire_room,
            c.same_qp[0],
        ];
        let mut cells = vec![name.to_string()];
        cells.extend(numbers.map(short));
        table.add_row(cells);
    };
    for p in profiles {
        row(&p.profile, p.runs, p.operations, p.clocks, &p.coverage);
    }
    if profiles.len() > 1 {
        let (operations, clocks, all) = total(profiles);
        row("all", profiles.iter().map(|p| p.runs).sum(), operations, clocks, &all);
    }
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

/// The summary; `elapsed` if it was run here.
pub fn summary(results: &Results, elapsed: Option<Duration>) {
    say!("{}", table(&results.profiles));
    let (operations, clocks, all) = total(&results.profiles);
    let outcomes: Vec<String> = Outcome::ALL
        .iter()
        .filter(|&&o| all.outcome(o) > 0)
        .map(|&o| format!("{o} {}", short(all.outcome(o))))
        .collect();
    say!("outcomes: {}", outcomes.join(", "));
    let failed = results.failed().count();
    let missing = all.missing_outcomes();
    if !missing.is_empty() && failed == 0 {
        let names: Vec<&str> = missing.iter().map(|o| o.name()).collect();
        say!("never reached: {}", names.join(", "));
    }
    let (hit, reachable) = coverage_report::reached(&all.bins);
    say!("functional coverage: {hit} of {reachable} bins");
    let impossible = coverage_report::impossible(&all.bins);
    if !impossible.is_empty() {
        say!("hit although listed as unreachable: {}", impossible.join(", "));
    }
    if let Some(elapsed) = elapsed {
        let seconds = elapsed.as_secs_f64().max(1e-9);
        say!(
            "{} operations in {} clocks, {seconds:.1} s: {} operations/s, {} clocks/s",
            short(operations),
            short(clocks),
            short((operations as f64 / seconds) as u64),
            short((clocks as f64 / seconds) as u64),
        );
    }
    if failed == 0 && operations == 0 {
        say!("nothing was compared");
    } else if failed == 0 {
        say!("no difference");
    } else {
        say!("{failed} of {} runs failed", results.runs.len());
    }
}

/// The same for machines.
pub fn as_json(
    results: &Results,
    elapsed: Option<Duration>,
    kept: &[Kept],
) -> anyhow::Result<serde_json::Value> {
    // The bins of each profile are many; they are in --coverage and in results.json.
    let without_bins = |coverage: &Coverage| -> serde_json::Result<serde_json::Value> {
        let mut value = serde_json::to_value(coverage)?;
        if let Some(fields) = value.as_object_mut() {
            fields.remove("bins");
        }
        Ok(value)
    };
    let (operations, clocks, coverage) = total(&results.profiles);
    let mut profiles = Vec::new();
    for p in &results.profiles {
        profiles.push(json!({
            "profile": p.profile, "runs": p.runs, "operations": p.operations,
            "clocks": p.clocks, "coverage": without_bins(&p.coverage)?,
        }));
    }
    let failures: Vec<_> = results
        .failed()
        .map(|run| {
            let Verdict::Failed { clock, text, again } = &run.verdict else {
                return json!(null);
            };
            let kept = kept.iter().find(|k| k.case.number == run.number);
            json!({
                "profile": run.profile, "config": run.config, "seed": run.seed, "clock": clock,
                "text": text, "again": again,
                "thinned": kept.map(|k| json!({
                    "clock": k.failure.clock(), "text": k.failure.to_string(),
                    "steps": k.recording.steps.len(), "recording": k.file, "waves": k.waves,
                })),
            })
        })
        .collect();
    let (hit, reachable) = coverage_report::reached(&coverage.bins);
    Ok(json!({
        "verdict": if failures.is_empty() { "passed" } else { "failed" },
        "operations": operations,
        "clocks": clocks,
        "seconds": elapsed.map(|e| e.as_secs_f64()),
        "runs": results.runs.len(),
        "runs_left_out": results.not_run(),
        "functional_coverage": { "hit": hit, "reachable": reachable },
        "coverage": without_bins(&coverage)?,
        "profiles": profiles,
        "failures": failures,
    }))
}
