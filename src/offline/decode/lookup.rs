//! Numbers without a dump: what does this one mean in its own name space?

use super::cqe;
use super::devices::{self, Device};
use super::events::{self, Event};
use super::lex::Entry;
use super::names::{self, Meaning, Namespace};
use super::record::{LookUp, Record, Report, Source};
use super::{Refusal, from_message};

/// Numbers to look up; each in its own name space.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Query {
    /// CQE syndrome.
    pub syndrome: Option<u8>,
    /// Vendor code.
    pub vendor: Option<u32>,
    /// Syndrome of a CQ error event.
    pub cq_event: Option<u8>,
    /// `ibv_event_type`.
    pub event: Option<u8>,
    /// `ibv_wc_status`.
    pub status: Option<u8>,
}

/// Looks numbers up.
///
/// # Errors
/// [`Refusal`] for a verbs status or CQ event that does not exist.
pub fn look_up(q: &Query) -> Result<Report, Refusal> {
    let mut records = Vec::new();
    let mut vendor = q.vendor;
    if let Some(syndrome) = q.syndrome {
        let e = Entry { syndrome: Some(syndrome), vendor: vendor.take(), ..Entry::default() };
        records.push(from_message(None, &e, Source::Option));
    }
    if let Some(s) = q.status {
        if names::find(names::WC_STATUSES, s).is_none() {
            return Err(Refusal(format!(
                "verbs status {s} does not exist; expected 0..={}, or --syndrome if it is an mlx5 CQE syndrome",
                names::WC_STATUSES.len() - 1
            )));
        }
        records.push(Record::WcStatus(status(s, vendor.take(), None)));
    }
    if let Some(v) = vendor {
        records.push(Record::VendorCode(LookUp {
            say: say_vendor(v, None, None),
            ..plain(Namespace::VendorCode, v)
        }));
    }
    if let Some(e) = q.cq_event {
        if names::find(names::CQ_EVENTS, e).is_none() {
            return Err(Refusal(format!(
                "CQ error event syndrome {e} is not public; expected 1 (CQ_OVERRUN) or 2 (CQ_ACCESS_VIOLATION_ERROR)"
            )));
        }
        records.push(Record::CqEvent(cq_event(e, None)));
    }
    if let Some(value) = q.event {
        if names::find(events::ASYNC_EVENTS, value).is_none() {
            return Err(Refusal(format!(
                "asynchronous event {value} does not exist; expected 0..={}",
                events::ASYNC_EVENTS.len() - 1
            )));
        }
        let event = Event { value, ..Event::default() };
        records.push(Record::AsyncEvent(async_event(&event, None)));
    }
    // Numbers asked for are no paste: there is no first error among them.
    Ok(Report { records, ..Report::default() })
}

fn plain(namespace: Namespace, value: u32) -> LookUp {
    LookUp {
        namespace,
        value,
        line: None,
        name: None,
        wc_status: None,
        vendor_err_synd: None,
        qpn: None,
        cqn: None,
        side: None,
        say: Vec::new(),
    }
}

fn named(namespace: Namespace, value: u8, m: Option<&Meaning>) -> LookUp {
    LookUp {
        name: m.map(|m| m.name),
        side: m.map(|m| m.side),
        say: m.map(|m| m.say.to_owned()).into_iter().collect(),
        ..plain(namespace, value.into())
    }
}

/// Vendor codes are not one table: mlx5 has none, others have.
fn say_vendor(code: u32, status: Option<u8>, device: Option<Device>) -> Vec<String> {
    let mut say = Vec::new();
    if code <= 0xff && device.is_none_or(|d| d == Device::Mlx5) {
        say.push(names::SAY_VENDOR_ANY.to_owned());
    }
    say.extend(devices::vendor_code(code, status, device));
    if code > 0xff {
        say.push("mlx5 has vendor codes of 8 bits: this one is of another device".into());
    }
    say
}

/// A verbs status with the vendor code and the device that were told with it.
pub(super) fn status(value: u8, vendor: Option<u32>, device: Option<Device>) -> LookUp {
    let mut l = named(Namespace::VerbsStatus, value, names::find(names::WC_STATUSES, value));
    l.wc_status = Some(value);
    l.vendor_err_synd = vendor;
    if l.name.is_none() {
        l.say.push(format!("verbs has no status {value}"));
    }
    if value != 0 {
        // The same sentences as for an entry with the bytes at hand.
        let mut r = cqe::empty(Source::Message);
        r.syndrome = (value == names::FLUSH).then_some(names::FLUSH);
        cqe::explain_error(&mut r, None);
        l.say.extend(vendor.into_iter().flat_map(|v| say_vendor(v, Some(value), device)));
        l.say.append(&mut r.say);
    }
    l
}

/// A CQ error event, with line and CQ if a message told it.
pub(super) fn cq_event(value: u8, seen: Option<(usize, u32)>) -> LookUp {
    let mut l = named(Namespace::CqEvent, value, names::find(names::CQ_EVENTS, value));
    l.line = seen.map(|s| s.0);
    l.cqn = seen.map(|s| s.1);
    if l.name.is_none() {
        l.say.push("CQ error event syndrome that is not public".into());
    } else {
        l.say.push("the syndrome of a CQ error event is not the syndrome of a completion".into());
    }
    l
}

/// An asynchronous event, with its line if a message told it.
pub(super) fn async_event(e: &Event, line: Option<usize>) -> LookUp {
    let mut l = named(Namespace::AsyncEvent, e.value, names::find(events::ASYNC_EVENTS, e.value));
    l.line = line;
    l.qpn = e.qpn;
    l.cqn = e.cqn;
    l.say.push("an asynchronous event is no completion; its number is none of a status".into());
    if e.ethernet {
        l.say.push("'event' of the Ethernet driver is a number of mlx5, not of verbs".into());
    }
    l
}
