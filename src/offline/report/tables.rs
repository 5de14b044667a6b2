//! The tables that model and RTL obey, as the golden model has them: nothing here is written down
//! a second time, every cell is asked of the model.

mod probe;
mod states;
mod svg;
mod transitions;
mod wqe;

use comfy_table::presets::ASCII_MARKDOWN;
use comfy_table::{ContentArrangement, Table as Grid};
use serde_json::{Map, Value};

use crate::model::Policy;
use crate::policies::{KNOBS, Knob, PROFILES};

pub use svg::states_svg;

/// Which table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Topic {
    /// Attributes of each legal MODIFY_QP.
    Transitions,
    /// What each state takes and where it leads.
    States,
    /// What can be chosen, and what the profiles choose.
    Policies,
    /// Send opcodes.
    Opcodes,
    /// Effect of the send flags per opcode and transport.
    Flags,
    /// Bits of the control segment.
    WqeLayout,
    /// Sizes of send WQEs.
    WqeSizes,
}

/// One cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cell {
    /// Text.
    Text(String),
    /// A number.
    Number(u64),
    /// Several words.
    List(Vec<String>),
}

impl Cell {
    fn join(&self, separator: &str) -> String {
        match self {
            Cell::Text(t) => t.clone(),
            Cell::Number(n) => n.to_string(),
            Cell::List(l) => l.join(separator),
        }
    }

    fn json(&self) -> Value {
        match self {
            Cell::Text(t) => t.clone().into(),
            Cell::Number(n) => (*n).into(),
            Cell::List(l) => l.clone().into(),
        }
    }
}

impl From<&str> for Cell {
    fn from(t: &str) -> Self {
        Cell::Text(t.to_string())
    }
}

impl From<String> for Cell {
    fn from(t: String) -> Self {
        Cell::Text(t)
    }
}

impl From<u32> for Cell {
    fn from(n: u32) -> Self {
        Cell::Number(n.into())
    }
}

impl From<u8> for Cell {
    fn from(n: u8) -> Self {
        Cell::Number(n.into())
    }
}

impl From<Vec<String>> for Cell {
    fn from(l: Vec<String>) -> Self {
        Cell::List(l)
    }
}

/// A table: names of columns, and rows of as many cells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// Columns.
    pub columns: &'static [&'static str],
    /// Rows.
    pub rows: Vec<Vec<Cell>>,
}

impl Table {
    /// Markdown.
    pub fn markdown(&self) -> String {
        let mut grid = Grid::new();
        grid.load_style(ASCII_MARKDOWN)
            .set_content_arrangement(ContentArrangement::Disabled)
            .set_header(self.columns.to_vec());
        for row in &self.rows {
            grid.add_row(row.iter().map(|c| c.join(", ").replace('|', "\\|")));
        }
        grid.trim_fmt() + "\n"
    }

    /// Comma-separated values with a head line; lists within a cell are joined by `;`.
    pub fn csv(&self) -> String {
        let quote = |t: String| match t.contains([',', '"', '\n']) {
            true => format!("\"{}\"", t.replace('"', "\"\"")),
            false => t,
        };
        let mut out = self.columns.join(",") + "\n";
        for row in &self.rows {
            let cells: Vec<String> = row.iter().map(|c| quote(c.join(";"))).collect();
            out += &(cells.join(",") + "\n");
        }
        out
    }

    /// A list with one object per row.
    pub fn json(&self) -> Value {
        let object = |row: &Vec<Cell>| {
            let fields = self.columns.iter().zip(row);
            Value::Object(fields.map(|(n, c)| (n.to_string(), c.json())).collect::<Map<_, _>>())
        };
        self.rows.iter().map(object).collect()
    }
}

/// The table under that policy.
pub fn table(topic: Topic, policy: &Policy) -> Table {
    match topic {
        Topic::Transitions => transitions::transitions(policy),
        Topic::States => states::states(policy),
        Topic::Policies => policies(),
        Topic::Opcodes => wqe::opcodes(),
        Topic::Flags => wqe::flags(policy),
        Topic::WqeLayout => wqe::layout(),
        Topic::WqeSizes => wqe::sizes(policy),
    }
}

fn policies() -> Table {
    let row = |k: &Knob| {
        let values = match k.values {
            [] => vec!["a number of bytes".to_string()],
            some => some.iter().map(|v| v.to_string()).collect(),
        };
        let mut row: Vec<Cell> = vec![k.name.into(), values.into()];
        row.extend(PROFILES.iter().map(|(_, p)| Cell::from(k.get(p))));
        row
    };
    Table { columns: &["name", "values", "book", "linux"], rows: KNOBS.iter().map(row).collect() }
}
