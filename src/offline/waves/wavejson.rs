//! A window as WaveJSON, the format of WaveDrom.

use serde_json::{Value, json};

use super::{Lane, Window};

/// The window as WaveJSON: a clock, then each group with its lanes.
pub fn wavejson(window: &Window, title: &str) -> Value {
    let rest = ".".repeat(window.clocks.saturating_sub(1));
    let mut signal = vec![json!({ "name": "clock", "wave": format!("p{rest}") })];
    for group in &window.groups {
        let lanes = group.lanes.iter().map(lane);
        if group.name.is_empty() {
            signal.extend(lanes);
        } else {
            let named: Vec<Value> = [json!(group.name)].into_iter().chain(lanes).collect();
            signal.push(json!(named));
        }
    }
    json!({
        "signal": signal,
        "head": { "text": title, "tick": window.from },
        "config": { "hscale": 1 },
    })
}

fn lane(lane: &Lane) -> Value {
    let mut wave = String::new();
    let mut data: Vec<&str> = Vec::new();
    for (_, clocks, value) in lane.runs() {
        match value {
            None => wave.push('z'),
            Some(bit) if lane.is_bit() => wave.push_str(bit),
            Some(text) => {
                wave.push('=');
                data.push(text);
            }
        }
        wave.push_str(&".".repeat(clocks - 1));
    }
    match data.as_slice() {
        [] => json!({ "name": lane.name, "wave": wave }),
        some => json!({ "name": lane.name, "wave": wave, "data": some }),
    }
}
