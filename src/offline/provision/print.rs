//! A report for people and for programs.

use std::fmt::Write;

use comfy_table::Table;
use comfy_table::presets::NOTHING;
use serde_json::{Value, json};

use super::count::Report;
use super::simulate::{RanOn, Simulation};
use crate::explain::print::Paint;

/// A table of the CQs and what to say about them.
pub fn text(report: &Report, simulation: Option<&Simulation>, paint: Paint) -> String {
    let mut grid = Table::new();
    grid.load_style(NOTHING)
        .set_header(["CQ", "need", "usable", "asked", "granted", "reserved", ""]);
    for c in &report.checks {
        grid.add_row([
            c.cq.clone(),
            c.need.to_string(),
            c.usable.to_string(),
            c.asked.to_string(),
            c.granted.to_string(),
            c.reserved.to_string(),
            if c.ok { "ok" } else { "TOO SMALL" }.to_string(),
        ]);
    }
    let mut out = grid.trim_fmt() + "\n";
    for s in &report.say {
        let _ = writeln!(out, "  {s}");
    }
    if let Some(sim) = simulation {
        let on = match &sim.ran_on {
            RanOn::Lockstep { config } => {
                format!("RTL (configuration {config}) and golden model in lockstep")
            }
            RanOn::Model { why } => format!("the golden model alone ({why})"),
        };
        let _ =
            writeln!(out, "simulated on {on}: everything posted, all QPs to ERR, nothing polled");
        for c in &sim.cqs {
            let end = match c.overflow_at {
                Some(n) => paint.bad(&format!("overflow at completion {n}")),
                None => paint.good("no overflow"),
            };
            let _ = writeln!(
                out,
                "  CQ {}: {} completions, {} written, {end}",
                c.cq, c.cqes_wanted, c.cqes_written
            );
        }
        let _ = writeln!(
            out,
            "  {} QPs in ERR; {} CQ error and {} fatal QP events",
            sim.qps_in_error, sim.cq_errors, sim.qp_fatals
        );
    }
    let verdict = match report.ok() {
        true => paint.good("every CQ is deep enough"),
        false => paint.bad("a CQ is too small"),
    };
    out + &verdict + "\n"
}

/// The report as JSON; its keys are described in docs/provision.md.
pub fn json(report: &Report, simulation: Option<&Simulation>) -> Value {
    let checks: Vec<Value> = report
        .checks
        .iter()
        .map(|c| {
            json!({
                "cq": c.cq, "need": c.need, "usable": c.usable, "ok": c.ok, "asked": c.asked,
                "granted": c.granted, "reserved": c.reserved, "ok_by_asked": c.ok_by_asked,
                "max_qps": c.max_qps, "cqs_needed": c.cqs_needed,
            })
        })
        .collect();
    let mut v = json!({
        "ok": report.ok(),
        "checks": checks,
        "max_safe_qps": report.max_safe_qps,
        "cqs_needed": report.cqs_needed,
        "say": report.say,
    });
    if let Some(sim) = simulation {
        let cqs: Vec<Value> = sim
            .cqs
            .iter()
            .map(|c| {
                json!({
                    "cq": c.cq, "cqes_wanted": c.cqes_wanted, "cqes_written": c.cqes_written,
                    "overflow_at": c.overflow_at,
                })
            })
            .collect();
        let (engine, config, why) = match &sim.ran_on {
            RanOn::Lockstep { config } => ("both", Some(*config), None),
            RanOn::Model { why } => ("model", None, Some(why.as_str())),
        };
        v["simulation"] = json!({
            "engine": engine, "config": config, "model_only_because": why,
            "cqs": cqs, "qps_in_error": sim.qps_in_error, "cq_errors": sim.cq_errors,
            "qp_fatals": sim.qp_fatals,
        });
    }
    v
}
