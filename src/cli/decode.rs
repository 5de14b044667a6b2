//! `rnic-cosim decode`: what does this dump say?

use std::io::{IsTerminal, Read};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use clap::ValueEnum;

use super::BadInput;
#[cfg(feature = "rtl")]
use crate::decode::Compared;
use crate::decode::{
    self, ASYNC_EVENTS, CQ_EVENTS, CQE_SYNDROMES, ControlDecoder, Meaning, ModelDecoder, Options,
    Query, Report, Style, WC_STATUSES,
};
use crate::files;
use crate::model::{Transport, WqeFormat};
use crate::spelling::likest;

const EXAMPLES: &str = "\
Examples:
  dmesg | rnic-cosim decode                  every mlx5 dump and error message in a log
  rnic-cosim decode crash.txt --summary      the first real error per QP, flushes counted
  rnic-cosim decode --json < dump.txt        the same for programs
  rnic-cosim decode --syndrome 0x14 --vendor 0x89   numbers of a log line, no dump
  rnic-cosim decode --status 5               a work completion status
  rnic-cosim decode --cq-event 1             syndrome of a CQ error event (not of a CQE)
  rnic-cosim decode --event QP_ACCESS_ERR    an asynchronous event of verbs
  echo '00000a0a 00012001 00000018 00000000' | rnic-cosim decode --format book

Understood: byte rows with offsets (kernel, hexdump -C, xxd, gdb x/16xw; log prefixes, mail
quoting and wrapped lines allowed), four 32-bit words per line (user space), plain hex, header
lines, messages with a syndrome or with a status by number, name or text (libraries, NCCL, SPDK,
UCX, Open MPI, gdb, kernel users), asynchronous events, failed ibv_modify_qp and ibv_post_send,
refused firmware commands, many of them in one paste. The bytes of mthca, mlx4 and hns entries and
the lines of other drivers are recognised and refused: their layout is another one.

Exit codes: 0 decoded, 1 decoded but a cross-check failed, 2 refused or not understood.";

#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// File with the paste; `-` or nothing: standard input
    #[arg(conflicts_with_all = ["syndrome", "vendor", "cq_event", "event", "status"])]
    file: Option<PathBuf>,
    /// Format of control segments. auto: mlx5 where the bytes look like it; mlx5: whatever is no
    /// error entry; the book's format is never guessed
    #[arg(long, value_enum, default_value_t = Format::Auto)]
    format: Format,
    /// Transport of the QP; without it RC, and the layout behind the control segment is guessed
    #[arg(long, value_enum)]
    transport: Option<TransportArg>,
    /// Path MTU in bytes, for the number of packets
    #[arg(long, value_name = "BYTES", default_value_t = 1024, value_parser = mtu)]
    path_mtu: u32,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Only root cause, flush counts, checks and warnings
    #[arg(long)]
    summary: bool,
    /// Look up a CQE syndrome (number or name)
    #[arg(long, value_name = "N", value_parser = |s: &str| number_or_name(s, CQE_SYNDROMES))]
    syndrome: Option<u8>,
    /// Vendor code that came with it
    #[arg(long, value_name = "N", value_parser = vendor)]
    vendor: Option<u32>,
    /// Look up the syndrome of a CQ error event (number or name)
    #[arg(long, value_name = "N", value_parser = |s: &str| number_or_name(s, CQ_EVENTS))]
    cq_event: Option<u8>,
    /// Look up an asynchronous event of verbs (number, name or text)
    #[arg(long, value_name = "N", value_parser = event)]
    event: Option<u8>,
    /// Look up a work completion status (number or name)
    #[arg(long, value_name = "N", value_parser = |s: &str| number_or_name(s, WC_STATUSES))]
    status: Option<u8>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Format {
    Auto,
    Book,
    Mlx5,
}

#[derive(Clone, Copy, ValueEnum)]
enum TransportArg {
    Rc,
    Uc,
    Ud,
}

fn mtu(s: &str) -> Result<u32, String> {
    match s.parse() {
        Ok(n @ (256 | 512 | 1024 | 2048 | 4096)) => Ok(n),
        _ => Err("expected 256, 512, 1024, 2048 or 4096".into()),
    }
}

/// Decimal or with 0x.
fn number(s: &str) -> Option<u32> {
    match s.strip_prefix("0x").or_else(|| s.strip_prefix("0X")) {
        Some(h) => u32::from_str_radix(h, 16).ok(),
        None => s.parse().ok(),
    }
}

/// `vendor_err` of a work completion has 32 bits.
fn vendor(s: &str) -> Result<u32, String> {
    number(s).ok_or_else(|| "expected a number of 32 bits (decimal or 0x..)".into())
}

/// A number, decimal or with 0x, or a name of the table with or without its usual prefix.
fn number_or_name(s: &str, table: &'static [Meaning]) -> Result<u8, String> {
    if let Some(n) = number(s) {
        return u8::try_from(n).map_err(|_| "expected a number of 8 bits, 0..=255 (0xff)".into());
    }
    let up = s.to_ascii_uppercase();
    let bare = decode::PREFIXES.iter().find_map(|p| up.strip_prefix(p)).unwrap_or(&up);
    if let Some(m) = table.iter().find(|m| m.name == bare) {
        return Ok(m.value);
    }
    let near = likest(bare, table.iter().map(|m| m.name));
    Err(match near {
        Some(name) => format!("expected a number or a name; did you mean {name}?"),
        None => "expected a number or a name".into(),
    })
}

/// A number, a name, or the text that libibverbs and the kernel print for it.
fn event(s: &str) -> Result<u8, String> {
    decode::event_of_words(s).map_or_else(|| number_or_name(s, ASYNC_EVENTS), Ok)
}

pub fn run(a: Args) -> anyhow::Result<ExitCode> {
    let query = Query {
        syndrome: a.syndrome,
        vendor: a.vendor,
        cq_event: a.cq_event,
        event: a.event,
        status: a.status,
    };
    let report = if query == Query::default() {
        let (name, text) = read(a.file.as_deref())?;
        let options = Options {
            format: match a.format {
                Format::Auto => None,
                Format::Book => Some(WqeFormat::Book),
                Format::Mlx5 => Some(WqeFormat::Mlx5),
            },
            transport: a.transport.map(|t| match t {
                TransportArg::Rc => Transport::Rc,
                TransportArg::Uc => Transport::Uc,
                TransportArg::Ud => Transport::Ud,
            }),
            path_mtu: (a.path_mtu / 128).ilog2() as u8,
        };
        decode::decode_with(&text, &options, &*engine())
            .map_err(|e| BadInput(format!("{name}: {e}")))?
    } else {
        decode::look_up(&query).map_err(|e| BadInput(e.to_string()))?
    };
    print(&report, a.json, a.summary)?;
    Ok(ExitCode::from(u8::from(!report.consistent())))
}

/// The golden model, and the RTL beside it where this program holds its decoder.
#[cfg(feature = "rtl")]
fn engine() -> Box<dyn ControlDecoder> {
    let model = ModelDecoder::default();
    match crate::cosim::RtlDecoder::new(model.policy) {
        Ok(rtl) => Box::new(Compared(model, rtl)),
        Err(_) => Box::new(model),
    }
}

#[cfg(not(feature = "rtl"))]
fn engine() -> Box<dyn ControlDecoder> {
    Box::new(ModelDecoder::default())
}

/// Name for messages and text. Bytes that are no UTF-8 are kept as replacement characters: a
/// log may hold anything around its dumps.
fn read(file: Option<&Path>) -> anyhow::Result<(String, String)> {
    let mut bytes = Vec::new();
    let name = match file.filter(|f| *f != Path::new("-")) {
        None => {
            if std::io::stdin().is_terminal() {
                eprintln!("paste the dump, then Ctrl-D");
            }
            std::io::stdin().read_to_end(&mut bytes).context("standard input")?;
            "<stdin>".to_owned()
        }
        Some(f) => {
            bytes = files::read(f).map_err(BadInput)?;
            f.display().to_string()
        }
    };
    Ok((name, String::from_utf8_lossy(&bytes).into_owned()))
}

fn print(report: &Report, json: bool, summary: bool) -> anyhow::Result<()> {
    let stdout = std::io::stdout();
    let text = if json {
        serde_json::to_string_pretty(report)? + "\n"
    } else {
        decode::render(
            report,
            Style {
                color: stdout.is_terminal() && std::env::var_os("NO_COLOR").is_none(),
                summary,
            },
        )
    };
    super::print(&text)
}
