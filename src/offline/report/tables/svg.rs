//! The state diagram, drawn from the model's table.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::states::falls;
use crate::explain::route::edges;
use crate::model::{Policy, QpState, Transport};

const RADIUS: f64 = 34.0;

/// Centre of a state. The life of a QP runs from left to right, errors lie below.
const fn place(state: QpState) -> (f64, f64) {
    match state {
        QpState::Reset => (70.0, 120.0),
        QpState::Init => (220.0, 120.0),
        QpState::Rtr => (370.0, 120.0),
        QpState::Rts => (520.0, 120.0),
        QpState::Sqd => (680.0, 120.0),
        QpState::Sqe => (600.0, 270.0),
        QpState::Err => (290.0, 300.0),
    }
}

/// Which transports take which arrow; those that only the hardware takes are dashed.
type Arrows = BTreeMap<(QpState, QpState), Vec<Transport>>;

/// The states with every legal move of MODIFY_QP (solid) and every move of the hardware after a
/// completion error (dashed). Moves to RESET and ERR that every state has are told in the legend.
pub fn states_svg(policy: &Policy) -> String {
    let (mut calls, mut own) = (Arrows::new(), Arrows::new());
    for t in Transport::ALL {
        for e in edges(*t, policy) {
            calls.entry((e.from, e.to)).or_default().push(*t);
        }
    }
    for f in falls(policy).iter().filter(|f| f.from != f.to) {
        let transports = own.entry((f.from, f.to)).or_default();
        if !transports.contains(&f.transport) {
            transports.push(f.transport);
        }
    }
    let mut out = String::from(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 760 420\" font-family=\"sans-serif\" font-size=\"12\">
<title>QP states</title>
<rect width=\"760\" height=\"420\" fill=\"#fff\"/>
<defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" orient=\"auto\"><path d=\"M0 0 8 4 0 8z\" fill=\"#333\"/></marker></defs>
",
    );
    let mut notes = Vec::new();
    for to in [QpState::Reset, QpState::Err] {
        let lacking: Vec<&str> = QpState::ALL
            .iter()
            .filter(|from| !calls.contains_key(&(**from, to)))
            .map(|s| s.name())
            .collect();
        notes.push(match lacking.as_slice() {
            [] => format!("Every state goes to {to} by a call."),
            some => format!("Every state except {} goes to {to} by a call.", some.join(", ")),
        });
    }
    notes.push("Solid: MODIFY_QP. Dashed: the hardware, after a completion error.".to_string());
    for ((from, to), transports) in &calls {
        // Drawn in full these would hide everything else; ERR to RESET is the way back to life.
        let everywhere = matches!(to, QpState::Reset | QpState::Err);
        if !everywhere || (*from, *to) == (QpState::Err, QpState::Reset) {
            arrow(&mut out, *from, *to, transports, false);
        }
    }
    for ((from, to), transports) in &own {
        arrow(&mut out, *from, *to, transports, true);
    }
    for state in QpState::ALL {
        let (x, y) = place(*state);
        let _ = writeln!(
            out,
            "<circle cx=\"{x}\" cy=\"{y}\" r=\"{RADIUS}\" fill=\"#eef3f8\" stroke=\"#333\"/><text x=\"{x}\" y=\"{}\" text-anchor=\"middle\" font-weight=\"bold\">{state}</text><text x=\"{x}\" y=\"{}\" text-anchor=\"middle\" fill=\"#666\">{}</text>",
            y + 1.0,
            y + 16.0,
            state.number()
        );
    }
    for (i, note) in notes.iter().enumerate() {
        let _ = writeln!(out, "<text x=\"20\" y=\"{}\" fill=\"#333\">{note}</text>", 372 + 18 * i);
    }
    out.push_str("</svg>\n");
    out
}

fn arrow(out: &mut String, from: QpState, to: QpState, transports: &[Transport], dashed: bool) {
    let ((x1, y1), (x2, y2)) = (place(from), place(to));
    let names: Vec<&str> = transports.iter().map(|t| t.name()).collect();
    let label =
        if transports.len() == Transport::ALL.len() { String::new() } else { names.join(" ") };
    let style = if dashed { "stroke=\"#a33\" stroke-dasharray=\"5 4\"" } else { "stroke=\"#333\"" };
    let (path, lx, ly) = if from == to {
        let (l, r, top) = (x1 - 14.0, x1 + 14.0, y1 - 31.0);
        (
            format!(
                "M{l} {top} C{} {} {} {} {r} {top}",
                l - 22.0,
                top - 44.0,
                r + 22.0,
                top - 44.0
            ),
            x1,
            top - 38.0,
        )
    } else {
        let length = (x2 - x1).hypot(y2 - y1);
        let (ux, uy) = ((x2 - x1) / length, (y2 - y1) / length);
        // Bent to its own left, so that there and back do not lie on each other.
        let bend = 0.14 * length;
        let (cx, cy) = ((x1 + x2) / 2.0 + uy * bend, (y1 + y2) / 2.0 - ux * bend);
        let edge = |x: f64, y: f64| {
            let d = (cx - x).hypot(cy - y);
            (x + (cx - x) / d * RADIUS, y + (cy - y) / d * RADIUS)
        };
        let ((sx, sy), (tx, ty)) = (edge(x1, y1), edge(x2, y2));
        let mid = (0.25 * sx + 0.5 * cx + 0.25 * tx, 0.25 * sy + 0.5 * cy + 0.25 * ty);
        (
            format!("M{sx:.1} {sy:.1} Q{cx:.1} {cy:.1} {tx:.1} {ty:.1}"),
            mid.0 + uy * (8.0 + 12.0 * uy.abs()),
            mid.1 - ux * 10.0 + 4.0,
        )
    };
    let _ = writeln!(
        out,
        "<path d=\"{path}\" fill=\"none\" {style} marker-end=\"url(#tip)\"><title>{from} to {to}: {}</title></path>",
        names.join(" ")
    );
    if !label.is_empty() {
        let _ = writeln!(
            out,
            "<text x=\"{lx:.1}\" y=\"{ly:.1}\" text-anchor=\"middle\" font-size=\"10\" fill=\"#555\">{label}</text>"
        );
    }
}
