//! Plans as files.

use toml::de::DeTable;

use super::plan::{Cq, Device, Plan, Qp, Srq};
use crate::explain::names;
use crate::explain::source::InputError;
use crate::model::Transport;
use crate::scenario::fields::{Fields, Node, Result};
use crate::scenario::problem::Problem;

/// Queue depths and numbers of QPs stay below this, so that no product overflows.
const MOST: u64 = 1 << 24;

/// Reads a plan. `name` stands for the file in messages.
///
/// # Errors
/// One message with line and column, the field, and what was expected there.
pub fn read(name: &str, text: &str) -> std::result::Result<Plan, InputError> {
    let table = DeTable::parse(text).map_err(|e| {
        let at = e.span().unwrap_or(0..0);
        InputError(
            Problem::new(at, "this is not TOML", e.message()).in_file(name, text).to_string(),
        )
    })?;
    plan(Fields::new("the file", 0..0, table.get_ref()))
        .map_err(|p| InputError(p.in_file(name, text).to_string()))
}

fn plan(top: Fields<'_>) -> Result<Plan> {
    let top = top.only(&["device", "cq", "qp", "srq"])?;
    let mut plan = Plan::default();
    if let Some(node) = top.get("device") {
        let f = node.fields(&["max_cqe", "adds", "never_exactly"])?;
        let number = |name| f.get(name).map(|n| n.uint(1..=MOST)).transpose();
        plan.device = Device {
            max_cqe: number("max_cqe")?,
            adds: f.uint_or("adds", 0..=MOST, 0)?,
            never_exactly: number("never_exactly")?,
        };
    }
    for node in top.need("cq")?.list()? {
        let cq = cq(&node, &plan)?;
        plan.cqs.push(cq);
    }
    for node in top.get("srq").map_or(Ok(Vec::new()), |n| n.list())? {
        let f = node.fields(&["id", "wr"])?;
        let id = fresh(&f, "id", plan.srqs.iter().map(|s| s.id.as_str()))?;
        plan.srqs.push(Srq { id, wr: f.need("wr")?.uint(1..=MOST)? });
    }
    for node in top.need("qp")?.list()? {
        let qp = qp(&node, &plan)?;
        plan.qps.push(qp);
    }
    Ok(plan)
}

/// A name that is not taken yet.
fn fresh<'a>(
    f: &Fields<'_>,
    field: &str,
    taken: impl IntoIterator<Item = &'a str>,
) -> Result<String> {
    let node = f.need(field)?;
    let id = node.str()?;
    if id.is_empty() {
        return Err(node.problem("a name must not be empty", "expected a name"));
    }
    if taken.into_iter().any(|t| t == id) {
        return Err(node.problem(format!("`{id}` is there twice"), "expected another name"));
    }
    Ok(id.to_string())
}

fn cq(node: &Node<'_>, plan: &Plan) -> Result<Cq> {
    let f = node.fields(&[
        "id",
        "name",
        "depth",
        "granted",
        "reserved",
        "resizable",
        "ignore_overrun",
    ])?;
    f.not_both("id", "name")?;
    let id = if f.get("name").is_some() { "name" } else { "id" };
    let cq = Cq {
        id: fresh(&f, id, plan.cqs.iter().map(|c| c.id.as_str()))?,
        asked: f.need("depth")?.uint(1..=MOST)?,
        granted: f.get("granted").map(|n| n.uint(1..=MOST)).transpose()?,
        reserved: f.uint_or("reserved", 0..=MOST, 0)?,
        resizable: f.bool_or("resizable", true)?,
        ignore_overrun: f.bool_or("ignore_overrun", false)?,
    };
    if let (Some(node), Some(granted), Some(max)) =
        (f.get("granted"), cq.granted, plan.device.max_cqe)
    {
        if granted > max {
            return Err(node.problem(
                format!("`granted` is {granted}, but the device has at most {max}"),
                "expected no more than max_cqe",
            ));
        }
    }
    Ok(cq)
}

fn qp(node: &Node<'_>, plan: &Plan) -> Result<Qp> {
    let f = node.fields(&[
        "id",
        "count",
        "transport",
        "send_cq",
        "recv_cq",
        "sq_wr",
        "rq_wr",
        "srq",
        "drain",
        "completions_per_request",
        "signaled",
    ])?;
    let transport = match f.get("transport") {
        // Only the way to RTS depends on it, never the count: XRC has that of RC.
        Some(n) if n.str()?.to_ascii_uppercase().contains("XRC") => Transport::Rc,
        Some(n) => names::transport(n.str()?)
            .map_err(|e| n.problem(e.to_string(), "expected RC, UC, UD or XRC"))?,
        None => Transport::Rc,
    };
    let srq = match f.get("srq") {
        Some(n) => Some(index(&n, "SRQ", plan.srqs.iter().map(|s| s.id.as_str()))?),
        None => None,
    };
    let qp = Qp {
        id: fresh(&f, "id", plan.qps.iter().map(|q| q.id.as_str()))?,
        count: f.uint_or("count", 1..=MOST, 1)?,
        transport,
        sq_wr: f.uint_or("sq_wr", 0..=MOST, 0)?,
        rq_wr: f.uint_or("rq_wr", 0..=MOST, 0)?,
        send_cq: 0,
        recv_cq: 0,
        srq,
        drain: f.bool_or("drain", false)?,
        completions_per_request: f.uint_or("completions_per_request", 1..=1024, 1)?,
        signaled: f.get("signaled").map(|n| n.uint(0..=MOST)).transpose()?,
    };
    if let (Some(n), true) = (f.get("rq_wr"), srq.is_some()) {
        return Err(
            n.problem("a QP with an SRQ has no receives of its own", "leave rq_wr or srq out")
        );
    }
    if let Some(n) = f.get("signaled").filter(|_| qp.signaled.is_some_and(|s| s > qp.sends())) {
        return Err(n.problem(
            format!("`signaled` is more than the {} work requests of the send queue", qp.sends()),
            "expected no more than there are",
        ));
    }
    if qp.sends() == 0 && qp.rq_wr == 0 && srq.is_none() {
        return Err(node.problem("this QP has no work requests at all", "give sq_wr, rq_wr or srq"));
    }
    let cq = |field: &str, used: bool| match f.get(field) {
        Some(n) => index(&n, "CQ", plan.cqs.iter().map(|c| c.id.as_str())),
        // With one CQ there is no choice; a queue without work requests reports nowhere.
        None if plan.cqs.len() == 1 || !used => Ok(0),
        None => f.need(field).map(|_| 0),
    };
    Ok(Qp {
        send_cq: cq("send_cq", qp.sq_wr > 0)?,
        recv_cq: cq("recv_cq", qp.rq_wr > 0 || srq.is_some())?,
        ..qp
    })
}

fn index<'a>(
    node: &Node<'_>,
    what: &str,
    ids: impl Iterator<Item = &'a str> + Clone,
) -> Result<usize> {
    let id = node.str()?;
    ids.clone().position(|i| i == id).ok_or_else(|| {
        let known: Vec<&str> = ids.clone().collect();
        let expected = match known.as_slice() {
            [] => format!("the file has no {what} at all"),
            some => format!("expected one of: {}", some.join(", ")),
        };
        node.problem(format!("there is no {what} `{id}`"), expected)
            .did_you_mean(id, known.iter().copied())
    })
}
