//! The kernel's line about an mlx5 QP that failed: `mlx5_0/1: QP 1234 error: fatal error (0x88
//! 0x0 0x0)`.
//!
//! `mlx5_ib_qp_err_syndrome` (`drivers/infiniband/hw/mlx5/qp.c`) prints it at the events QP_FATAL
//! and QP_ACCESS_ERR. The three numbers are vendor code, type and number of the hardware syndrome.
//! The text is that of a verbs status, looked up by the number of a CQE *syndrome*: two name
//! spaces. 'fatal error' is status 19 = 0x13, so the syndrome is REMOTE_ACCESS_ERR.

use super::cqe;
use super::lex::{Entry, QpError};
use super::names::{self, Side};
use super::record::{CqeRecord, Source};
use super::words::hex;

/// Reads a line.
pub fn read(body: &str) -> Option<Entry> {
    let (_, rest) = body.split_once(": QP ")?;
    let (qpn, rest) = rest.split_once(" error: ")?;
    let (text, numbers) = rest.trim_end().strip_suffix(')')?.rsplit_once(" (")?;
    let bytes: Vec<u8> =
        numbers.split(' ').map_while(|n| u8::try_from(hex(n.strip_prefix("0x")?)?).ok()).collect();
    let [vendor, hw_synd_type, hw_err_synd] = bytes[..] else { return None };
    Some(Entry {
        qpn: Some(qpn.parse().ok()?),
        syndrome: syndrome(text),
        vendor: Some(vendor.into()),
        of_qp: Some(QpError { text: text.to_owned(), hw_synd_type, hw_err_synd }),
        ..Entry::default()
    })
}

/// The number at which the kernel found the text. 'success' says that none is recorded.
fn syndrome(text: &str) -> Option<u8> {
    let text = text.to_ascii_lowercase();
    names::WC_TEXTS.iter().find(|(_, t)| *t == text).map(|(n, _)| *n)
}

/// Its record: no completion, but the syndrome is one of a CQE.
pub fn record(line: Option<usize>, e: &Entry, q: &QpError) -> CqeRecord {
    let mut r = cqe::empty(Source::Message);
    r.lines = line.map(|l| (l, l));
    r.qpn = e.qpn;
    r.vendor_err_synd = e.vendor;
    r.hw_synd_type = Some(q.hw_synd_type);
    r.hw_err_synd = Some(q.hw_err_synd);
    match e.syndrome {
        Some(n) => {
            cqe::set_syndrome(&mut r, n);
            cqe::of_responder(&mut r);
            r.say.push(format!(
                "the kernel's words '{}' are those of verbs status {n}; the number is a CQE syndrome, 0x{n:02x}",
                q.text
            ));
        }
        None => {
            r.side = Some(Side::Local);
            r.say.push(format!(
                "'{}': the kernel looks a CQE syndrome up among the verbs statuses, and this one has no words there; it is 0x16 or more, or 0 for none",
                q.text
            ));
        }
    }
    r.say.push("no completion: the syndrome of the QP itself, printed at an event QP_FATAL or QP_ACCESS_ERR".into());
    r.say.push(names::SAY_VENDOR.into());
    r
}
