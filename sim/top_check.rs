//! Does a top module fit the C++ that drives it? Said in the words of the RTL, before the C++
//! compiler says it in its own.

use std::fmt::Write as _;
use std::path::Path;

/// The streams of `rnic_top`: name, whether records come in by it, record, bits of the record.
const STREAMS: [(&str, bool, &str, u32); 12] = [
    ("cmd", true, "cmd_t", 928),
    ("post", true, "post_t", 256),
    ("wire", true, "wire_t", 224),
    ("cqdb", true, "cqdb_t", 128),
    ("wqe", true, "wqe_t", 128),
    ("fetch", false, "fetch_t", 96),
    ("unit", true, "unit_t", 128),
    ("rsp", false, "rsp_t", 1248),
    ("issue", false, "issue_t", 256),
    ("cqe", false, "cqe_write_t", 224),
    ("event", false, "event_t", 96),
    ("retire", false, "retire_t", 192),
];

/// One port, as it must be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Port {
    pub name: String,
    pub input: bool,
    pub bits: u32,
    /// `cmd_t`, or nothing for plain bits.
    pub record: &'static str,
}

/// Every port that `rnic_top` must have.
pub fn expected_ports() -> Vec<Port> {
    let port = |name: &str, input, bits, record| {
        let suffix = if input { "i" } else { "o" };
        Port { name: format!("{name}_{suffix}"), input, bits, record }
    };
    let mut ports = vec![
        port("clk", true, 1, ""),
        Port { name: "rst_ni".into(), input: true, bits: 1, record: "" },
        port("policy", true, 128, "policy_t"),
        port("hold_internal", true, 3, ""),
        port("slot_kind", false, 8, "slot_kind_e"),
    ];
    for (name, comes_in, record, bits) in STREAMS {
        ports.push(port(&format!("{name}_valid"), comes_in, 1, ""));
        ports.push(port(&format!("{name}_ready"), !comes_in, 1, ""));
        ports.push(port(name, comes_in, bits, record));
    }
    ports
}

/// The ports in the C++ header that Verilator wrote: name, input, bits.
fn ports_of(header: &str) -> Vec<(String, bool, u32)> {
    let mut found = vec![];
    for line in header.lines().map(str::trim) {
        let input = line.starts_with("VL_IN");
        if !input && !line.starts_with("VL_OUT") {
            continue;
        }
        // VL_INW(&cmd_i,927,0,29);
        let Some(inside) = line.split_once('(').and_then(|(_, rest)| rest.split_once(')')) else {
            continue;
        };
        let mut parts = inside.0.split(',').map(str::trim);
        let (name, msb, lsb) = (parts.next(), parts.next(), parts.next());
        let number = |text: Option<&str>| text.and_then(|t| t.parse::<u32>().ok());
        if let (Some(name), Some(msb), Some(lsb)) = (name, number(msb), number(lsb)) {
            found.push((name.trim_start_matches('&').to_owned(), input, msb - lsb + 1));
        }
    }
    found
}

fn described(input: bool, bits: u32, record: &str) -> String {
    let way = if input { "an input" } else { "an output" };
    let width = if bits == 1 { "1 bit".to_owned() } else { format!("{bits} bits") };
    if record.is_empty() {
        format!("{way} of {width}")
    } else {
        format!("{way} of {width} ({record})")
    }
}

/// Holds the ports in a header of Verilator's against those that are expected.
///
/// # Errors
/// Every port that is missing or different, one a line.
pub fn check_ports(header: &str) -> Result<(), String> {
    let there = ports_of(header);
    let expected = expected_ports();
    let mut wrong = String::new();
    for Port { name, input, bits, record } in &expected {
        let must = described(*input, *bits, record);
        match there.iter().find(|(n, ..)| n == name) {
            None => {
                let _ = writeln!(wrong, "  port {name} is missing: {must}");
            }
            Some((_, i, b)) if (i, b) != (input, bits) => {
                let is = described(*i, *b, "");
                let _ = writeln!(wrong, "  port {name} is {is}, and must be {must}");
            }
            Some(_) => {}
        }
    }
    if wrong.is_empty() {
        return Ok(());
    }
    let unknown: Vec<&str> = there
        .iter()
        .map(|(name, ..)| name.as_str())
        .filter(|name| expected.iter().all(|p| p.name != *name))
        .collect();
    if !unknown.is_empty() {
        let _ = writeln!(wrong, "  ports that nobody drives or reads: {}", unknown.join(", "));
    }
    Err(format!("rnic_top does not have the ports that it is driven by:\n{}", wrong.trim_end()))
}

/// What Verilator's message means where its words are about the command line or about files
/// that the user did not write.
pub fn explained(list: &Path, stderr: &str) -> Option<String> {
    let list = list.display();
    if stderr.contains("Specified --top-module 'rnic_top' was not found") {
        return Some(format!("none of the files in {list} has a module rnic_top"));
    }
    if let Some((_, rest)) =
        stderr.split_once("Parameters from the command line were not found in the design:")
    {
        let names = rest.lines().next().unwrap_or("").trim();
        return Some(format!("rnic_top in {list} lacks parameters that set its sizes: {names}"));
    }
    if stderr.contains("sim/rnic_watch.sv") {
        return Some(format!(
            "sim/rnic_watch.sv, which names signals for waveforms, looks at insides that this \
             rnic_top does not have.\nPut a rnic_watch.sv of your own beside {list}; an empty \
             file will do."
        ));
    }
    None
}

/// What a compiler says about numbers of the package that differ from the C header, or are not
/// there.
pub fn numbers_that_differ(stderr: &str) -> Vec<String> {
    stderr
        .lines()
        .filter_map(|line| line.split_once("error: "))
        .map(|(_, text)| match text.split_once("static assertion failed") {
            // GCC: ": text", clang: " due to requirement '...': text"
            Some((_, rest)) => {
                rest.rsplit_once("': ").map_or(rest, |(_, t)| t).trim_start_matches([':', ' ', '"'])
            }
            None => text,
        })
        .map(|text| format!("  {}", text.trim_end_matches('"')))
        .collect()
}
