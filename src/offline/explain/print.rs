//! An answer for people and for programs.

use std::fmt::Write;
use std::io::IsTerminal;

use serde_json::{Value, json};

use super::answer::Answer;
use super::names::state_name;
use super::sequence::StepAnswer;
use crate::model::{AttrMask, Layer};

/// Marks for a terminal, or nothing.
#[derive(Clone, Copy)]
pub struct Paint(pub bool);

impl Paint {
    /// Colour if standard output is a terminal and NO_COLOR is not set.
    pub fn for_stdout() -> Self {
        Paint(std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none())
    }

    fn mark(self, code: &str, text: &str) -> String {
        if self.0 { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_string() }
    }

    /// Good news.
    pub fn good(self, text: &str) -> String {
        self.mark("32;1", text)
    }

    /// Bad news.
    pub fn bad(self, text: &str) -> String {
        self.mark("31;1", text)
    }

    /// A heading.
    pub fn head(self, text: &str) -> String {
        self.mark("1", text)
    }
}

/// The verdict in one word; nothing if no mask was given.
fn verdict(a: &Answer) -> Option<&'static str> {
    a.layer.map(|l| if l == Layer::None { "accept" } else { "refuse" })
}

/// The answer as lines of text: a head, then a block for each layer that has something to say.
pub fn text(a: &Answer, paint: Paint) -> String {
    let mut out = String::new();
    let pair = format!("{} {} → {}", a.transport, state_name(a.from), state_name(a.to));
    let _ = write!(out, "{}  (profile {}, {})", paint.head(&pair), a.profile, a.link_layer);
    if let Some(mask) = a.mask {
        let _ = write!(out, "\nmask {:#x} = {}", mask.0, mask.names().join(" | "));
    }
    match a.layer {
        Some(Layer::None) => {
            let _ = write!(out, "\n{}", paint.good("accepted"));
        }
        Some(layer) => {
            let _ = write!(out, "\n{} on layer {layer}", paint.bad("refused"));
        }
        None => {}
    }
    for layer in Layer::ALL {
        let mut notes = a.say.iter().filter(|n| n.layer == *layer).peekable();
        if notes.peek().is_some() && *layer != Layer::None {
            let _ = write!(out, "\n  {}", paint.head(layer.name()));
        }
        for note in notes {
            let indent = if *layer == Layer::None { "  " } else { "    " };
            let _ = write!(out, "\n{indent}{}", note.text);
        }
    }
    out.push('\n');
    out
}

/// The answers of a sequence, each under its number.
pub fn text_steps(steps: &[StepAnswer], paint: Paint) -> String {
    let mut out = String::new();
    for (i, s) in steps.iter().enumerate() {
        let _ =
            write!(out, "{}{}: {}", if i > 0 { "\n" } else { "" }, i + 1, text(&s.answer, paint));
    }
    out
}

/// The answer as JSON; its keys are described in docs/explain.md.
pub fn json(a: &Answer) -> Value {
    let say: Vec<&str> = a.say.iter().map(|n| n.text.as_str()).collect();
    let mut v = json!({
        "transport": a.transport.name(),
        "from": state_name(a.from),
        "to": state_name(a.to),
        "profile": a.profile,
        "link_layer": a.link_layer,
        "say": say,
    });
    if let (Some(layer), Some(mask)) = (a.layer, a.mask) {
        v["verdict"] = verdict(a).into();
        v["layer"] = layer.name().into();
        v["missing"] = a.missing.names().into();
        v["disallowed"] = a.disallowed.names().into();
        v["bad_values"] = a.bad_values.names().into();
        v["mask"] = mask.0.into();
        v["mask_names"] = mask.names().into();
    }
    // What a call would need is not said beside an errno that masks have nothing to do with.
    if let Some(row) = a.row.filter(|_| a.layer.is_some() || a.errno_layer.is_none()) {
        v["required"] = (row.required.minus(AttrMask::STATE)).names().into();
        v["optional"] = (row.optional.minus(AttrMask::STATE)).names().into();
    }
    if let Some(layer) = a.errno_layer {
        v["errno_layer"] = layer.into();
    }
    v
}

/// The answers of a sequence as JSON: `steps`, in order.
pub fn json_steps(steps: &[StepAnswer]) -> Value {
    let all: Vec<Value> = steps
        .iter()
        .map(|s| {
            let mut v = json(&s.answer);
            if let Some(n) = s.cascade_of {
                v["cascade_of"] = n.into();
            }
            v
        })
        .collect();
    json!({ "steps": all })
}
