//! From the text of a scenario file to a checked [`Scenario`].

use std::collections::BTreeMap;
use std::ops::Range;

use toml::de::DeTable;

use super::fields::{Fields, Node, Result};
use super::file::{CqDecl, QpDecl, Scenario, TransportCode};
use super::names;
use super::naming::{Given, Names, QpGroup};
use super::problem::{BadScenario, Problem};
use crate::model::{Config, Policy, QpState, Transport};
use crate::policies::{self, PolicyError};

/// Reads one scenario.
///
/// # Errors
/// The first thing that is unknown, misspelt, out of range or contradictory, with its place.
pub fn parse(file: &str, text: &str) -> std::result::Result<Scenario, BadScenario> {
    read(file, text).map_err(|p| p.in_file(file, text))
}

const TOP: &[&str] = &["title", "text", "config", "profile", "policy", "cq", "qp", "step"];

fn read(file: &str, text: &str) -> Result<Scenario> {
    let root = DeTable::parse(text).map_err(|e| {
        Problem::new(e.span().unwrap_or(0..0), "this is not TOML", e.message().trim())
    })?;
    let top = Fields::new("the scenario", 0..0, root.get_ref()).only(TOP)?;
    let title = read_title(&top.need("title")?)?;
    let (profile, base) = match top.get("profile") {
        None => policies::PROFILES[0],
        Some(n) => {
            let choices: Vec<_> = policies::PROFILES.iter().map(|(s, p)| (*s, (*s, *p))).collect();
            n.one_of("policy profile", &choices)?
        }
    };
    let mut settings = Vec::new();
    let policy = top.get("policy").map_or(Ok(base), |n| read_policy(n, base, &mut settings))?;
    let config = match top.get("config") {
        None => Config::DEFAULT,
        Some(n) => n.one_of("configuration", names::CONFIGS)?,
    };
    let mut scope = Scope {
        lines: line_starts(text),
        config,
        names: Names::default(),
        live: Live::default(),
        transports: BTreeMap::new(),
        transports_by_name: BTreeMap::new(),
    };

    let mut cqs = Vec::new();
    for node in tables(&top, "cq", "[[cq]]")? {
        let (decl, span) = scope.cq(&node)?;
        let taken = cqs.iter().map(|c: &CqDecl| c.cqn..c.cqn + 1);
        free(&span, "CQ", decl.cqn..decl.cqn + 1, taken)?;
        let range = u64::from(config.num_cq) - 1;
        in_range(&span, "CQ", decl.cqn, range, &config, |c| c.num_cq)?;
        cqs.push(decl);
    }
    let mut qps = Vec::new();
    for node in tables(&top, "qp", "[[qp]]")? {
        let (decl, span) = scope.qp(&node)?;
        let range = u64::from(config.num_qp) - 1;
        in_range(&span, "QP", decl.qpn, range, &config, |c| c.num_qp)?;
        // One is in range: of many it is their count that goes too far.
        let count = node.get("count").map_or(span.clone(), |n| n.span());
        let last = decl.qpn + (decl.count - 1);
        in_range(&count, "QP", last, range, &config, |c| c.num_qp)?;
        free(&span, "QP", decl.qpns(), qps.iter().map(QpDecl::qpns))?;
        qps.push(decl);
    }
    let mut steps = Vec::new();
    for node in tables(&top, "step", "[[step]]")? {
        steps.push(scope.step(&node)?);
    }
    if steps.is_empty() {
        return Err(Problem::new(
            0..0,
            "the scenario has no [[step]]",
            "add at least one [[step]]",
        ));
    }
    Ok(Scenario {
        file: file.to_owned(),
        title,
        text: top.get("text").map_or(Ok(""), |n| n.str())?.trim().to_owned(),
        config,
        settings,
        profile,
        policy,
        cqs,
        qps,
        names: scope.names,
        steps,
    })
}

/// The elements of an array of tables; absent is empty.
fn tables<'a>(top: &Fields<'a>, name: &str, shown: &'a str) -> Result<Vec<Fields<'a>>> {
    let Some(node) = top.get(name) else { return Ok(Vec::new()) };
    if !node.is_array() {
        return Err(Problem::new(
            top.key_span(name),
            format!("`{name}` is one table"),
            format!("write {shown}, each with double brackets"),
        ));
    }
    node.list()?.iter().map(|n| n.any_fields().map(|f| f.called(shown))).collect()
}

fn free(
    span: &Range<usize>,
    what: &str,
    numbers: Range<u32>,
    taken: impl Iterator<Item = Range<u32>>,
) -> Result<()> {
    let mut both = taken.map(|t| t.start.max(numbers.start)..t.end.min(numbers.end));
    let Some(number) = both.find(|b| !b.is_empty()).map(|b| b.start) else { return Ok(()) };
    Err(Problem::new(
        span.clone(),
        format!("{what} number {number} is taken"),
        "expected a number that no other entry has",
    ))
}

fn in_range(
    span: &Range<usize>,
    what: &str,
    n: u32,
    last: u64,
    config: &Config,
    numbers: fn(&Config) -> u32,
) -> Result<()> {
    if u64::from(n) <= last {
        return Ok(());
    }
    let problem = Problem::new(
        span.clone(),
        format!("{what} number {n} is out of range"),
        format!("configuration `{}` has numbers 0 to {last}", config.name),
    );
    let larger = names::CONFIGS.iter().map(|(_, c)| (c.name, numbers(c))).find(|(_, m)| n < *m);
    Err(match larger {
        Some((name, m)) => problem.help(format!("config = \"{name}\" has numbers 0 to {}", m - 1)),
        None => problem,
    })
}

/// One line, not empty.
fn read_title(node: &Node<'_>) -> Result<String> {
    let title = node.str()?;
    if title.trim().is_empty() {
        return Err(node.problem("the title is empty", "expected one line of text"));
    }
    if title.chars().any(char::is_control) {
        return Err(node.problem(
            "the title is more than one line",
            "expected one line; the rest goes to `text`",
        ));
    }
    Ok(title.to_owned())
}

/// Where the lines of a text start.
fn line_starts(text: &str) -> Vec<usize> {
    [0].into_iter().chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect()
}

fn read_policy(
    node: Node<'_>,
    base: Policy,
    settings: &mut Vec<(String, String)>,
) -> Result<Policy> {
    let mut policy = base;
    for (key, value) in node.fields(&policies::NAMES)?.entries() {
        let written = if value.is_integer() {
            value.uint(0..=u64::from(u32::MAX))?.to_string()
        } else {
            value.str()?.to_owned()
        };
        policies::set(&mut policy, value.name, &written).map_err(|bad| match bad {
            PolicyError::Value { known: [], .. } => value.problem(
                format!("`{written}` is no value of the policy `{}`", value.name),
                "expected a number of bytes from 0 to 4294967295",
            ),
            PolicyError::Value { known, .. } => value
                .problem(
                    format!("`{written}` is no value of the policy `{}`", value.name),
                    format!("expected one of: {}", known.join(", ")),
                )
                .did_you_mean(&written, known.iter().copied()),
            _ => Problem::new(key, "no such policy", "unknown"),
        })?;
        settings.push((value.name.to_owned(), written));
    }
    Ok(policy)
}

/// What is known while a file is read from top to bottom.
pub(super) struct Scope {
    /// Where each line of the file starts.
    lines: Vec<usize>,
    pub config: Config,
    pub names: Names,
    pub live: Live,
    /// Of QPs declared so far, by number, and by name where one number has had several names.
    pub transports: BTreeMap<u32, Transport>,
    pub transports_by_name: BTreeMap<String, Transport>,
}

/// What exists at this place of the file if nothing is refused: numbers and the names they have.
/// A name is free again once nothing has it any more.
#[derive(Default)]
pub(super) struct Live {
    qps: BTreeMap<u32, String>,
    cqs: BTreeMap<u32, String>,
    /// By name, how many QPs have it.
    qps_of: BTreeMap<String, u32>,
}

impl Live {
    fn add_qps(&mut self, given: &Given) {
        for qpn in given.numbers() {
            self.remove_qp(qpn);
            self.qps.insert(qpn, given.name.clone());
        }
        *self.qps_of.entry(given.name.clone()).or_default() += given.numbers().len() as u32;
    }

    /// A QP is destroyed.
    pub fn remove_qp(&mut self, qpn: u32) {
        let Some(name) = self.qps.remove(&qpn) else { return };
        if let Some(n) = self.qps_of.get_mut(&name) {
            *n = n.saturating_sub(1);
        }
    }

    /// A CQ is destroyed.
    pub fn remove_cq(&mut self, cqn: u32) {
        self.cqs.remove(&cqn);
    }

    /// Everything is gone.
    pub fn reset(&mut self) {
        *self = Self::default();
    }

    fn has_qp(&self, name: &str) -> bool {
        self.qps_of.get(name).is_some_and(|n| *n > 0)
    }

    fn has_cq(&self, name: &str) -> bool {
        self.cqs.values().any(|n| n == name)
    }
}

/// What a name was given to; the latest wins.
fn look_up<'a>(list: &'a [Given], name: &str) -> Option<&'a Given> {
    list.iter().rev().find(|g| g.name == name)
}

impl Scope {
    /// The line of a place in the file, from 1.
    pub fn line(&self, span: &Range<usize>) -> usize {
        self.lines.partition_point(|start| *start <= span.start)
    }

    /// A QP by name or by number.
    pub fn qpn(&self, node: &Node<'_>) -> Result<u32> {
        let qpns = self.qpns(node)?;
        if qpns.len() == 1 {
            return Ok(qpns.start);
        }
        let name = node.str().unwrap_or_default();
        let group = name.split('[').next().unwrap_or_default();
        Err(node.problem(
            format!("`{name}` are {} QPs", qpns.len()),
            format!("expected one of them, for example {group}[0]"),
        ))
    }

    /// One QP by name or number, or several: `Q` of a group, `Q[0..99]` some of it.
    pub fn qpns(&self, node: &Node<'_>) -> Result<Range<u32>> {
        if node.is_integer() {
            let qpn = node.uint(0..=u64::from(u32::MAX) - 1)? as u32;
            return Ok(qpn..qpn + 1);
        }
        self.named_qps(node, node.str()?)
    }

    /// The QPs that a text means; `node` is where it stands.
    pub fn named_qps(&self, node: &Node<'_>, text: &str) -> Result<Range<u32>> {
        // A key of a table says a number in letters.
        let number = || text.parse().ok().filter(|qpn| *qpn < u32::MAX);
        let alone = look_up(&self.names.qps, text).filter(|g| g.members.is_none());
        if let Some(qpn) = alone.map(|g| g.first).or_else(number) {
            return Ok(qpn..qpn + 1);
        }
        let (name, members) = match text.strip_suffix(']').and_then(|t| t.split_once('[')) {
            Some((name, members)) => (name, Some(members)),
            None => (text, None),
        };
        if let Some(given) = look_up(&self.names.qps, name)
            && let Some(count) = given.members
        {
            let group = QpGroup { name: name.to_owned(), first: given.first, count };
            return members.map_or(Ok(group.qpns()), |m| members_of(node, &group, m));
        }
        let names: Vec<&str> = self.names.qps.iter().map(|g| g.name.as_str()).collect();
        Err(unknown(node, "QP", name, &names))
    }

    /// The transport that `node` means by naming this QP: a name keeps what it was declared with,
    /// also when a later QP takes its number.
    pub fn transport_of(&self, node: &Node<'_>, qpn: u32) -> Transport {
        let name = node.str().ok().and_then(|text| text.split('[').next());
        let named = name.and_then(|name| self.transports_by_name.get(name));
        named.or_else(|| self.transports.get(&qpn)).copied().unwrap_or_default()
    }

    /// A CQ by name or by number.
    pub fn cqn(&self, node: &Node<'_>) -> Result<u32> {
        reference(node, "CQ", &self.names.cqs)
    }

    /// A CQ to create. Its name is known from here on.
    pub fn cq(&mut self, f: &Fields<'_>) -> Result<(CqDecl, Range<usize>)> {
        let f = f.again().only(&["name", "number", "depth", "ignore_overrun"])?;
        let name = new_name(&f, "CQ", |name| self.live.has_cq(name))?;
        let again = look_up(&self.names.cqs, &name).map(|g| g.first);
        let again = again.filter(|cqn| !self.live.cqs.contains_key(cqn));
        let (cqn, span) = number(&f, &self.names.cqs, 1, again)?;
        self.live.cqs.insert(cqn, name.clone());
        let decl = CqDecl {
            line: self.line(&f.span),
            name,
            cqn,
            depth: f.need("depth")?.uint(0..=u64::from(u32::MAX))? as u32,
            ignore_overrun: f.bool_or("ignore_overrun", false)?,
        };
        self.names.give_cq(decl.given(0));
        Ok((decl, span))
    }

    /// A QP to create. Its name is known from here on.
    pub fn qp(&mut self, f: &Fields<'_>) -> Result<(QpDecl, Range<usize>)> {
        let f = f.again().only(&[
            "name",
            "number",
            "transport",
            "cq",
            "send_cq",
            "recv_cq",
            "sq_depth",
            "rq_depth",
            "sig_all",
            "state",
            "count",
        ])?;
        let name = new_name(&f, "QP", |name| self.live.has_qp(name))?;
        if name.contains(['[', ']']) {
            return Err(f.need("name")?.problem(
                format!("`{name}` is no name for a QP"),
                "expected a name without brackets: they tell the members of a group apart",
            ));
        }
        let count = f.uint_or("count", 1..=65_536, 1)? as u32;
        let group = f.get("count").is_some();
        let (qpn, span) = number(&f, &self.names.qps, count, self.again(&name, count))?;
        let given =
            Given { name: name.clone(), first: qpn, members: group.then_some(count), since: 0 };
        self.live.add_qps(&given);
        self.names.give_qp(given);
        f.not_both("cq", "send_cq")?;
        f.not_both("cq", "recv_cq")?;
        let (send_cqn, recv_cqn) = match f.get("cq") {
            Some(n) => (self.cqn(&n)?, self.cqn(&n)?),
            None => match (f.get("send_cq"), f.get("recv_cq"), self.only_cq()) {
                (Some(s), Some(r), _) => (self.cqn(&s)?, self.cqn(&r)?),
                (None, None, Some(only)) => (only, only),
                _ => {
                    return Err(Problem::new(
                        f.key_span("name"),
                        format!("QP `{name}` does not say which CQs it uses"),
                        "give `cq`, or both `send_cq` and `recv_cq`",
                    ));
                }
            },
        };
        let transport = match f.get("transport") {
            None => TransportCode(0),
            Some(n) if n.is_integer() => TransportCode(n.uint(0..=3)? as u8),
            Some(n) => {
                let choices = [("RC", 0), ("UC", 1), ("UD", 2)];
                TransportCode(n.one_of_verbs("transport", "IBV_QPT_", &choices)?)
            }
        };
        self.transports_by_name.remove(&name);
        if let Some(t) = transport.transport() {
            self.transports.extend((qpn..qpn + count).map(|q| (q, t)));
            self.transports_by_name.insert(name.clone(), t);
        }
        let state = f.get("state").map_or(Ok(QpState::Reset), |n| read_state(&n))?;
        if transport.transport().is_none() && state != QpState::Reset {
            return Err(Problem::new(
                f.key_span("state"),
                "a QP of transport 3 cannot be brought up",
                "leave `state` out, or give transport RC, UC or UD",
            ));
        }
        if state == QpState::Sqe {
            return Err(Problem::new(
                f.key_span("state"),
                "a QP cannot be brought up to SQE",
                "expected RESET, INIT, RTR, RTS, SQD or ERR; a failed send leads to SQE",
            ));
        }
        let any = 0..=u64::from(u32::MAX);
        let decl = QpDecl {
            line: self.line(&f.span),
            name,
            qpn,
            count,
            group,
            transport,
            send_cqn,
            recv_cqn,
            sq_ceiling: f.uint_or("sq_depth", any.clone(), self.config.sq_depth.min(16).into())?
                as u32,
            rq_ceiling: f.uint_or("rq_depth", any, self.config.rq_depth.min(16).into())? as u32,
            sq_sig_all: f.bool_or("sig_all", false)?,
            state,
        };
        Ok((decl, span))
    }

    /// The numbers that this name had before, if they are free for as many QPs again.
    fn again(&self, name: &str, count: u32) -> Option<u32> {
        let given = look_up(&self.names.qps, name)?;
        let free = self.live.qps.range(given.numbers()).next().is_none();
        (free && given.numbers().len() == count as usize).then_some(given.first)
    }

    /// The CQ, where there is one and no other.
    fn only_cq(&self) -> Option<u32> {
        let mut all = self.live.cqs.keys();
        all.next().copied().filter(|_| all.next().is_none())
    }
}

/// A state by its name.
pub(super) fn read_state(node: &Node<'_>) -> Result<QpState> {
    let choices: Vec<_> = QpState::ALL.iter().map(|s| (s.name(), *s)).collect();
    node.one_of_verbs("QP state", "IBV_QPS_", &choices)
}

fn reference(node: &Node<'_>, what: &str, known: &[Given]) -> Result<u32> {
    if node.is_integer() {
        return Ok(node.uint(0..=u64::from(u32::MAX))? as u32);
    }
    let name = node.str()?;
    look_up(known, name).map(|g| g.first).ok_or_else(|| {
        let names: Vec<&str> = known.iter().map(|g| g.name.as_str()).collect();
        unknown(node, what, name, &names)
    })
}

fn unknown(node: &Node<'_>, what: &str, name: &str, known: &[&str]) -> Box<Problem> {
    let expected = if known.is_empty() {
        format!("no {what} is declared above")
    } else {
        format!("expected one of: {}, or a number", known.join(", "))
    };
    node.problem(format!("there is no {what} named `{name}`"), expected)
        .did_you_mean(name, known.iter().copied())
}

/// `7` or `0..99` of a group, both ends included.
fn members_of(node: &Node<'_>, group: &QpGroup, members: &str) -> Result<Range<u32>> {
    let number = |t: &str| t.trim().parse::<u32>().ok();
    let (from, to) = match members.split_once("..") {
        Some((from, to)) => (number(from), number(to)),
        None => (number(members), number(members)),
    };
    match (from, to) {
        (Some(from), Some(to)) if from <= to && to < group.count => {
            Ok(group.first + from..group.first + to + 1)
        }
        _ => Err(node.problem(
            format!("`{}` has no members `{members}`", group.name),
            format!(
                "expected a number, or a range like 0..{last}, from 0 to {last}",
                last = group.count - 1
            ),
        )),
    }
}

fn new_name(f: &Fields<'_>, what: &str, taken: impl Fn(&str) -> bool) -> Result<String> {
    let node = f.need("name")?;
    let name = node.str()?;
    if name.is_empty() || name.len() > 32 || name.chars().any(char::is_control) {
        return Err(node
            .problem(format!("`{name}` is no name for a {what}"), "expected 1 to 32 characters"));
    }
    if taken(name) {
        return Err(node.problem(
            format!("there already is a {what} named `{name}`"),
            "expected a name that is not taken; it is free again behind `destroy`",
        ));
    }
    Ok(name.to_owned())
}

/// The number given; else the one that the name had before; else the first one from 1 on from
/// which `count` numbers were never used.
fn number(
    f: &Fields<'_>,
    used: &[Given],
    count: u32,
    again: Option<u32>,
) -> Result<(u32, Range<usize>)> {
    if let Some(n) = f.get("number") {
        return Ok((n.uint(0..=u64::from(u32::MAX - count))? as u32, n.span()));
    }
    let span = f.get("name").map_or(f.span.clone(), |n| n.span());
    if let Some(number) = again {
        return Ok((number, span));
    }
    let mut used: Vec<Range<u32>> = used.iter().map(Given::numbers).collect();
    used.sort_unstable_by_key(|r| r.start);
    let mut free = 1u32;
    for r in used {
        if free.checked_add(count).is_some_and(|end| end <= r.start) {
            break;
        }
        free = free.max(r.end);
    }
    Ok((if free.checked_add(count).is_some() { free } else { 0 }, span))
}
