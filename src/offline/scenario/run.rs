//! Running a scenario on an engine.

use std::collections::BTreeMap;

use super::check::{Checked, Seen, check};
use super::engine::{Defect, Engine};
use super::file::{
    Action, AttrsAsk, CompleteAsk, ConsumeAsk, CqDecl, ModifyAsk, QpDecl, Scenario, Step, WaitAsk,
};
use super::host::Host;
use super::naming::{Given, Names, Naming};
use super::parse_step::default_values;
use super::trace::{CqLane, Happening, Judgement, Note, QpLane, StateChange, StepTrace, Trace};
use super::{describe, limits};
use crate::model::{
    AttrMask, Complete, Modify, Operation, Outcome, QpState, Queue, Transport, transition_row,
};

/// Runs all steps and judges every expectation.
///
/// A failed expectation does not stop the run; a defect found by the engine does.
pub fn run(scenario: &Scenario, engine: &mut dyn Engine) -> Trace {
    let mut runner = Runner::new(scenario, engine);
    let defect = runner.all().err();
    runner.trace(defect)
}

/// Adds a further name of a lane.
fn also_named(lane: &mut String, name: String) {
    if !lane.split('/').any(|n| n == name) {
        *lane = format!("{lane}/{name}");
    }
}

struct Runner<'a> {
    scenario: &'a Scenario,
    engine: &'a mut dyn Engine,
    host: Host,
    steps: Vec<StepTrace>,
    qps: Vec<QpLane>,
    /// Place in `qps` by QP number.
    lane_of: BTreeMap<u32, usize>,
    cqs: Vec<CqLane>,
    /// The step that is being run.
    now: StepTrace,
    /// How the operations of the step ended, in order, each with its place among the happenings.
    outcomes: Vec<(usize, Outcome)>,
    /// Names given so far, and how often names were given.
    names: Names,
    moment: usize,
}

impl<'a> Runner<'a> {
    fn new(scenario: &'a Scenario, engine: &'a mut dyn Engine) -> Self {
        Self {
            scenario,
            engine,
            host: Host::new(scenario.config.num_key),
            steps: Vec::new(),
            qps: Vec::new(),
            lane_of: BTreeMap::new(),
            cqs: Vec::new(),
            now: StepTrace::default(),
            outcomes: Vec::new(),
            names: Names::default(),
            moment: 0,
        }
    }

    fn all(&mut self) -> Result<(), Defect> {
        let scenario = self.scenario;
        if !scenario.cqs.is_empty() || !scenario.qps.is_empty() {
            self.now.text = "Setup".to_owned();
            self.setup()?;
            let failed = !self.now.failures.is_empty();
            self.end_step()?;
            // Steps are about what the setup was to make.
            if failed {
                return self.engine.finish(&mut Vec::new());
            }
        }
        for (at, step) in scenario.steps.iter().enumerate() {
            self.now = StepTrace {
                number: at + 1,
                line: step.line,
                text: step.text.clone(),
                ..StepTrace::default()
            };
            self.outcomes.clear();
            self.step(step)?;
        }
        let mut rest = Vec::new();
        let result = self.engine.finish(&mut rest);
        self.take(rest);
        // What the end brings about belongs to no step, but is shown.
        if result.is_ok() && !self.now.happenings.is_empty() {
            self.now.number = self.steps.last().map_or(0, |s| s.number) + 1;
            self.now.text = "The end: the wire has room, and what is owed is done".to_owned();
            self.end_step()?;
        }
        result
    }

    fn setup(&mut self) -> Result<(), Defect> {
        let scenario = self.scenario;
        scenario.cqs.iter().for_each(|cq| self.names.give_cq(cq.given(0)));
        scenario.qps.iter().for_each(|qp| self.names.give_qp(qp.given(0)));
        for cq in &scenario.cqs {
            let outcome = self.ask(cq.operation())?;
            if outcome != Outcome::Ok {
                let limit = limits::of_cq(outcome, cq, &scenario.config);
                self.setup_failed(cq.line, &limit);
                return Ok(());
            }
        }
        for qp in &scenario.qps {
            for qpn in qp.qpns() {
                let outcome = self.create_one(qp, qpn)?;
                if outcome != Outcome::Ok {
                    let limit = limits::of_qp(outcome, qp, &scenario.config);
                    self.setup_failed(qp.line, &limit);
                    return Ok(());
                }
            }
        }
        self.settle()
    }

    /// The last operation of the setup was refused.
    fn setup_failed(&mut self, line: usize, limit: &str) {
        let Some((place, outcome)) = self.outcomes.last().copied() else { return };
        let Some(h) = self.now.happenings.get(place) else { return };
        let what = describe::operation(&h.operation, &self.names.at(h.moment));
        let got = match limit {
            "" if outcome == Outcome::ModifyRefused => describe::answer(outcome, &h.effects.answer),
            "" => outcome.to_string(),
            limit => format!("{outcome}: {limit}"),
        };
        self.fail(line, what, "ok", got);
        self.note("the setup failed: no step is run".to_owned());
    }

    fn step(&mut self, step: &Step) -> Result<(), Defect> {
        for action in &step.actions {
            self.action(action, step.line)?;
            if step.settle {
                self.settle()?;
            }
        }
        self.look()?;
        let seen = Seen {
            names: self.names.at(self.moment),
            host: &self.host,
            outcomes: &self.outcomes,
            step: &self.now,
        };
        let Checked { count, met, failures } = check(step, &seen);
        self.now.checked += count;
        self.now.met.extend(met);
        self.now.failures.extend(failures);
        self.end_step()
    }

    fn end_step(&mut self) -> Result<(), Defect> {
        if self.now.number == 0 {
            self.look()?;
        }
        self.now.moment = self.moment;
        self.steps.push(std::mem::take(&mut self.now));
        Ok(())
    }

    fn look(&mut self) -> Result<(), Defect> {
        let qpns: Vec<u32> = self.qps.iter().map(|q| q.qpn).collect();
        let cqns: Vec<u32> = self.cqs.iter().map(|c| c.cqn).collect();
        let mut out = Vec::new();
        let result = self.engine.look(&qpns, &cqns, &mut out);
        self.take(out);
        self.now.after = result?;
        Ok(())
    }

    fn take(&mut self, mut out: Vec<Happening>) {
        for h in &mut out {
            h.moment = self.moment;
            self.host.notice(h);
        }
        self.now.happenings.extend(out);
    }

    fn settle(&mut self) -> Result<(), Defect> {
        let mut out = Vec::new();
        let result = self.engine.settle(&mut out);
        self.take(out);
        result
    }

    /// Performs one operation that the scenario asks for.
    fn ask(&mut self, op: Operation) -> Result<Outcome, Defect> {
        let mut out = Vec::new();
        let result = self.engine.perform(&op, &mut out);
        let place = out.iter().rposition(|h| h.operation == op);
        let answered = place.map(|at| (self.now.happenings.len() + at, out[at].effects.outcome));
        self.take(out);
        result?;
        let answered = answered.ok_or_else(|| Defect(format!("no answer to {op:?}")))?;
        self.outcomes.push(answered);
        let outcome = answered.1;
        let names = self.names.at(self.moment);
        match op {
            Operation::CreateQp { qpn, transport, .. } => {
                let transport = Transport::from_number(transport);
                if let Some(at) = self.lane_of.get(&qpn) {
                    // A refused one leaves the QP of that number as it is.
                    if outcome == Outcome::Ok {
                        let lane = &mut self.qps[*at];
                        lane.transport = transport;
                        also_named(&mut lane.name, names.qp(qpn));
                    }
                } else {
                    self.lane_of.insert(qpn, self.qps.len());
                    self.qps.push(QpLane { qpn, name: names.qp(qpn), transport });
                }
            }
            Operation::CreateCq { cqn, depth, .. } if outcome == Outcome::Ok => {
                if let Some(lane) = self.cqs.iter_mut().find(|c| c.cqn == cqn) {
                    lane.depth = depth;
                    also_named(&mut lane.name, names.cq(cqn));
                } else {
                    self.cqs.push(CqLane { cqn, name: names.cq(cqn), depth });
                }
            }
            _ => {}
        }
        Ok(outcome)
    }

    fn fail(&mut self, line: usize, what: String, expected: &str, got: impl ToString) {
        self.now.failures.push(Judgement {
            line,
            what,
            expected: expected.to_owned(),
            got: got.to_string(),
        });
    }

    /// Tells something that is no operation, where it was done.
    fn note(&mut self, text: String) {
        let after = self.now.happenings.len();
        self.now.notes.push(Note { after, text, moment: self.moment, ..Note::default() });
    }

    fn create_qp(&mut self, decl: &QpDecl) -> Result<(), Defect> {
        self.moment += 1;
        let before: Vec<Given> = {
            let names = self.names.at(self.moment);
            let mut given: Vec<_> = decl.qpns().filter_map(|q| names.given_qp(q)).collect();
            given.dedup();
            given.into_iter().cloned().collect()
        };
        self.names.give_qp(decl.given(self.moment));
        let first = self.outcomes.len();
        for qpn in decl.qpns() {
            self.create_one(decl, qpn)?;
        }
        // Where all of them are there already, they keep the names that they have.
        if self.outcomes[first..].iter().all(|(_, outcome)| *outcome == Outcome::QpExists) {
            self.moment += 1;
            before.into_iter().for_each(|g| self.names.give_qp(Given { since: self.moment, ..g }));
        }
        Ok(())
    }

    fn create_cq(&mut self, decl: &CqDecl) -> Result<(), Defect> {
        self.moment += 1;
        let before = self.names.at(self.moment).given_cq(decl.cqn).cloned();
        self.names.give_cq(decl.given(self.moment));
        if self.ask(decl.operation())? == Outcome::CqExists {
            self.moment += 1;
            before.into_iter().for_each(|g| self.names.give_cq(Given { since: self.moment, ..g }));
        }
        Ok(())
    }

    /// Creates a QP and brings it up, as far as nothing is refused.
    fn create_one(&mut self, decl: &QpDecl, qpn: u32) -> Result<Outcome, Defect> {
        let created = self.ask(decl.operation(qpn))?;
        if created != Outcome::Ok {
            return Ok(created);
        }
        let climb: &[QpState] = match decl.state {
            QpState::Reset | QpState::Sqe => &[],
            QpState::Init => &[QpState::Init],
            QpState::Rtr => &[QpState::Init, QpState::Rtr],
            QpState::Rts => &[QpState::Init, QpState::Rtr, QpState::Rts],
            QpState::Sqd => &[QpState::Init, QpState::Rtr, QpState::Rts, QpState::Sqd],
            QpState::Err => &[QpState::Init, QpState::Err],
        };
        for to in climb {
            let modify = self.modify(&ModifyAsk {
                qpn,
                to: Some(to.number()),
                cur_state: None,
                attrs: AttrsAsk::Required { also: AttrMask::STATE, omit: AttrMask::EMPTY },
                values: default_values(),
            });
            let outcome = self.ask(modify)?;
            if outcome != Outcome::Ok {
                return Ok(outcome);
            }
        }
        Ok(Outcome::Ok)
    }

    /// What the row of a transition requires at this moment. Without a row there is nothing to
    /// require: the gate will refuse the pair.
    fn required(&self, ask: &ModifyAsk) -> Option<AttrMask> {
        let transport = self.lane_of.get(&ask.qpn).and_then(|at| self.qps[*at].transport)?;
        let stated = ask.cur_state.and_then(QpState::from_number);
        let from = stated.or_else(|| self.host.state(ask.qpn))?;
        let to = ask.to.and_then(QpState::from_number)?;
        transition_row(transport, from, to, &self.scenario.policy).map(|r| r.required)
    }

    /// What there is to say about an `omit` of attributes that the transition does not require.
    fn omitted_in_vain(&self, ask: &ModifyAsk) -> Option<String> {
        let AttrsAsk::Required { also, omit } = ask.attrs else { return None };
        let vain = omit.minus(self.required(ask)? | also);
        let text = describe::mask(vain);
        let why = "has no effect because the transition does not require it";
        (!vain.is_empty()).then(|| format!("omit {text} {why}"))
    }

    /// The operation that an ask means at this moment.
    fn modify(&self, ask: &ModifyAsk) -> Operation {
        let attr_mask = match ask.attrs {
            AttrsAsk::Mask(mask) => mask,
            AttrsAsk::Required { also, omit } => {
                (self.required(ask).unwrap_or(AttrMask::EMPTY) | also).minus(omit)
            }
        };
        Operation::ModifyQp(Modify {
            qpn: ask.qpn,
            attr_mask,
            qp_state: ask.to.unwrap_or(0),
            cur_qp_state: ask.cur_state.unwrap_or(0),
            values: ask.values,
        })
    }

    fn action(&mut self, action: &Action, line: usize) -> Result<(), Defect> {
        match action {
            Action::CreateCq(d) => self.create_cq(d)?,
            Action::CreateQp(d) => self.create_qp(d)?,
            Action::DestroyCq { cqn } => drop(self.ask(Operation::DestroyCq { cqn: *cqn })?),
            Action::DestroyQp { qpn } => drop(self.ask(Operation::DestroyQp { qpn: *qpn })?),
            Action::QueryCq { cqn } => drop(self.ask(Operation::QueryCq { cqn: *cqn })?),
            Action::QueryQp { qpn } => drop(self.ask(Operation::QueryQp { qpn: *qpn })?),
            Action::Modify(m) => {
                let vain = self.omitted_in_vain(m);
                self.ask(self.modify(m))?;
                vain.into_iter().for_each(|text| self.note(text));
            }
            Action::PostSend { wqe, count, first } => {
                let mut index = first.unwrap_or_else(|| self.host.next_index(wqe.qpn, Queue::Send));
                for _ in 0..*count {
                    let mut wqe = *wqe;
                    wqe.ctrl[0] = wqe.ctrl[0] & !0x00ff_ff00 | u32::from(index) << 8;
                    self.ask(Operation::PostSend(wqe))?;
                    index = index.wrapping_add(1);
                }
            }
            Action::PostWqe { wqe, first, remarks } => {
                let mut wqe = **wqe;
                let index = first.unwrap_or_else(|| self.host.next_index(wqe.qpn, Queue::Send));
                wqe.units[0][0] = wqe.units[0][0] & !0x00ff_ff00 | u32::from(index) << 8;
                let faults = self.host.faults(&wqe);
                let outcome = self.ask(Operation::PostWqe(wqe))?;
                remarks.iter().for_each(|text| self.note(text.clone()));
                // The hardware reads the WQE of a QP that takes it.
                if matches!(outcome, Outcome::Ok | Outcome::BadWqe) {
                    faults.iter().for_each(|fault| self.note(format!("the WQE's {fault}")));
                }
            }
            Action::RegKey { lkey, region } => {
                self.ask(Operation::RegKey {
                    lkey: *lkey,
                    base: region.base,
                    length: region.length,
                    access: region.access,
                })?;
            }
            Action::DeregKey { lkey } => drop(self.ask(Operation::DeregKey { lkey: *lkey })?),
            Action::PostRecv { qpn, count, first } => {
                let mut index = first.unwrap_or_else(|| self.host.next_index(*qpn, Queue::Recv));
                for _ in 0..*count {
                    self.ask(Operation::PostRecv { qpn: *qpn, wqe_index: index })?;
                    index = index.wrapping_add(1);
                }
            }
            Action::Complete(c) => self.complete(std::slice::from_ref(c), line)?,
            Action::Fault { cqn, inaccessible } => {
                let op = Operation::SetCqFault { cqn: *cqn, inaccessible: *inaccessible };
                self.ask(op)?;
            }
            Action::Poll { cqn, count } => {
                self.poll(*cqn, count.unwrap_or(u32::MAX));
            }
            Action::Consume { cqn, what } => {
                let index = match what {
                    ConsumeAsk::All => {
                        self.poll(*cqn, u32::MAX);
                        self.host.index(*cqn)
                    }
                    ConsumeAsk::More(n) => {
                        let read = self.poll(*cqn, *n);
                        if read < *n {
                            let what = format!("entries to read from {}", self.cq_name(*cqn));
                            self.fail(line, what, &format!("at least {n}"), read);
                        }
                        self.host.index(*cqn)
                    }
                    ConsumeAsk::Index(n) => *n,
                };
                self.ask(Operation::Consume { cqn: *cqn, index })?;
            }
            Action::Arm { cqn, solicited_only } => {
                let op = Operation::Arm { cqn: *cqn, solicited_only: *solicited_only };
                self.ask(op)?;
            }
            Action::Wire { room } => {
                self.engine.set_wire_room(*room);
                let text = if *room { "the wire has room again" } else { "the wire is full" };
                self.note(text.to_owned());
            }
            Action::Wait(WaitAsk::Settle) => self.settle()?,
            Action::Wait(WaitAsk::Clocks(n)) => {
                let mut out = Vec::new();
                let result = self.engine.wait(*n, &mut out);
                self.take(out);
                result?;
                self.note(format!("wait {n} clocks"));
            }
            Action::Each { qpns, action } => match &**action {
                Action::Complete(ask) => {
                    let of = |qpn| CompleteAsk { report: Complete { qpn, ..ask.report }, ..*ask };
                    let each: Vec<CompleteAsk> = qpns.clone().map(of).collect();
                    self.complete(&each, line)?;
                }
                action => {
                    for qpn in qpns.clone() {
                        self.action(&action.on(qpn), line)?;
                    }
                }
            },
            Action::Reset => {
                self.engine.reset()?;
                let ended = |q: &QpLane| {
                    let from = self.host.state(q.qpn)?;
                    Some(StateChange { qpn: q.qpn, from: Some(from), to: None })
                };
                let changes = self.qps.iter().filter_map(ended).collect();
                self.host = Host::new(self.scenario.config.num_key);
                self.note("hardware reset: every QP and CQ is gone".to_owned());
                if let Some(note) = self.now.notes.last_mut() {
                    note.reset = true;
                    note.changes = changes;
                }
            }
        }
        Ok(())
    }

    fn cq_name(&self, cqn: u32) -> String {
        self.names.at(self.moment).cq(cqn)
    }

    fn poll(&mut self, cqn: u32, most: u32) -> u32 {
        let read = self.host.poll(cqn, most);
        let count = read.len() as u32;
        let entries = if count == 1 { "entry" } else { "entries" };
        self.note(format!("read {count} {entries} of {}", self.cq_name(cqn)));
        self.now.read.extend(read.into_iter().map(|c| (cqn, c)));
        count
    }

    /// What is reported on is chosen before the first report: how far the hardware has come with a
    /// flush in the meantime depends on the engine.
    fn complete(&mut self, asks: &[CompleteAsk], line: usize) -> Result<(), Defect> {
        let mut reports = Vec::new();
        for ask in asks {
            if ask.explicit {
                reports.push(ask.report);
                continue;
            }
            let out = self.host.outstanding(ask.report.qpn, ask.report.queue, ask.count);
            if out.len() < ask.count as usize {
                let name = self.names.at(self.moment).qp(ask.report.qpn);
                self.fail(
                    line,
                    format!("{} WQEs to complete on {name}", ask.report.queue),
                    &format!("{} outstanding", ask.count),
                    format!("{} outstanding", out.len()),
                );
            }
            reports.extend(out.into_iter().map(|(epoch, slot)| Complete {
                epoch,
                slot,
                ..ask.report
            }));
        }
        for report in reports {
            self.ask(Operation::Complete(report))?;
        }
        Ok(())
    }

    fn trace(self, defect: Option<Defect>) -> Trace {
        let mut steps = self.steps;
        if defect.is_some() {
            steps.push(self.now);
        }
        let s = self.scenario;
        Trace {
            file: s.file.clone(),
            title: s.title.clone(),
            text: s.text.clone(),
            config: s.config,
            profile: s.profile,
            policy: s.policy,
            engine: self.engine.label(),
            names: self.names,
            unread: self.cqs.iter().map(|c| (c.cqn, self.host.unread(c.cqn))).collect(),
            qps: self.qps,
            cqs: self.cqs,
            steps,
            defect: defect.map(|d| d.0),
        }
    }
}
