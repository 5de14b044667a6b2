//! Running a scenario on an engine.

use std::collections::BTreeMap;

use super::check::{Checked, Seen, check};
use super::engine::{Defect, Engine};
use super::file::{
    Action, AttrsAsk, CompleteAsk, ConsumeAsk, ModifyAsk, QpDecl, Scenario, Step, WaitAsk,
};
use super::host::Host;
use super::parse_step::default_values;
use super::trace::{CqLane, Happening, Judgement, Note, QpLane, StateChange, StepTrace, Trace};
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
    /// How the operations of the step ended, in order.
    outcomes: Vec<Outcome>,
}

impl<'a> Runner<'a> {
    fn new(scenario: &'a Scenario, engine: &'a mut dyn Engine) -> Self {
        Self {
            scenario,
            engine,
            host: Host::default(),
            steps: Vec::new(),
            qps: Vec::new(),
            lane_of: BTreeMap::new(),
            cqs: Vec::new(),
            now: StepTrace::default(),
            outcomes: Vec::new(),
        }
    }

    fn all(&mut self) -> Result<(), Defect> {
        let scenario = self.scenario;
        if !scenario.cqs.is_empty() || !scenario.qps.is_empty() {
            self.now.text = "Setup".to_owned();
            self.setup()?;
            for at in 0..self.outcomes.len() {
                let outcome = self.outcomes[at];
                if outcome != Outcome::Ok {
                    self.fail(1, format!("operation {} of the setup", at + 1), "ok", outcome);
                }
            }
            self.end_step()?;
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
        for cq in &self.scenario.cqs {
            self.ask(cq.operation())?;
        }
        for qp in &self.scenario.qps {
            self.create_qp(qp)?;
        }
        self.settle()
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
            names: &self.scenario.names,
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

    fn take(&mut self, out: Vec<Happening>) {
        for h in &out {
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
        let outcome = out.iter().rev().find(|h| h.operation == op).map(|h| h.effects.outcome);
        self.take(out);
        result?;
        let outcome = outcome.ok_or_else(|| Defect(format!("no answer to {op:?}")))?;
        self.outcomes.push(outcome);
        match op {
            Operation::CreateQp { qpn, transport, .. } => {
                let transport = Transport::from_number(transport);
                if let Some(at) = self.lane_of.get(&qpn) {
                    // A refused one leaves the QP of that number as it is.
                    if outcome == Outcome::Ok {
                        self.qps[*at].transport = transport;
                    }
                } else {
                    self.lane_of.insert(qpn, self.qps.len());
                    self.qps.push(QpLane { qpn, name: self.scenario.names.qp(qpn), transport });
                }
            }
            Operation::CreateCq { cqn, depth, .. } if outcome == Outcome::Ok => {
                if let Some(lane) = self.cqs.iter_mut().find(|c| c.cqn == cqn) {
                    lane.depth = depth;
                } else {
                    self.cqs.push(CqLane { cqn, name: self.scenario.names.cq(cqn), depth });
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
        self.now.notes.push(Note { after, text, ..Note::default() });
    }

    fn create_qp(&mut self, decl: &QpDecl) -> Result<(), Defect> {
        for qpn in decl.qpns() {
            self.create_one(decl, qpn)?;
        }
        Ok(())
    }

    fn create_one(&mut self, decl: &QpDecl, qpn: u32) -> Result<(), Defect> {
        if self.ask(decl.operation(qpn))? != Outcome::Ok {
            return Ok(());
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
            if self.ask(modify)? != Outcome::Ok {
                break;
            }
        }
        Ok(())
    }

    /// The operation that an ask means at this moment.
    fn modify(&self, ask: &ModifyAsk) -> Operation {
        let attr_mask = match ask.attrs {
            AttrsAsk::Mask(mask) => mask,
            AttrsAsk::Required { also, omit } => {
                let transport = self.lane_of.get(&ask.qpn).and_then(|at| self.qps[*at].transport);
                let from = ask
                    .cur_state
                    .and_then(QpState::from_number)
                    .or_else(|| self.host.state(ask.qpn));
                let to = ask.to.and_then(QpState::from_number);
                // Without a row there is nothing to require: the gate will refuse the pair.
                let required = match (transport, from, to) {
                    (Some(t), Some(from), Some(to)) => {
                        transition_row(t, from, to, &self.scenario.policy)
                            .map_or(AttrMask::EMPTY, |r| r.required)
                    }
                    _ => AttrMask::EMPTY,
                };
                (required | also).minus(omit)
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
            Action::CreateCq(d) => drop(self.ask(d.operation())?),
            Action::CreateQp(d) => self.create_qp(d)?,
            Action::DestroyCq { cqn } => drop(self.ask(Operation::DestroyCq { cqn: *cqn })?),
            Action::DestroyQp { qpn } => drop(self.ask(Operation::DestroyQp { qpn: *qpn })?),
            Action::QueryCq { cqn } => drop(self.ask(Operation::QueryCq { cqn: *cqn })?),
            Action::QueryQp { qpn } => drop(self.ask(Operation::QueryQp { qpn: *qpn })?),
            Action::Modify(m) => drop(self.ask(self.modify(m))?),
            Action::PostSend { wqe, count, first } => {
                let mut index = first.unwrap_or_else(|| self.host.next_index(wqe.qpn, Queue::Send));
                for _ in 0..*count {
                    let mut wqe = *wqe;
                    wqe.ctrl[0] = wqe.ctrl[0] & !0x00ff_ff00 | u32::from(index) << 8;
                    self.ask(Operation::PostSend(wqe))?;
                    index = index.wrapping_add(1);
                }
            }
            Action::PostWqe { wqe, first } => {
                let mut wqe = **wqe;
                let index = first.unwrap_or_else(|| self.host.next_index(wqe.qpn, Queue::Send));
                wqe.units[0][0] = wqe.units[0][0] & !0x00ff_ff00 | u32::from(index) << 8;
                self.ask(Operation::PostWqe(wqe))?;
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
                self.host = Host::default();
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
        self.scenario.names.cq(cqn)
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
                let name = self.scenario.names.qp(ask.report.qpn);
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
            names: s.names.clone(),
            unread: self.cqs.iter().map(|c| (c.cqn, self.host.unread(c.cqn))).collect(),
            qps: self.qps,
            cqs: self.cqs,
            steps,
            defect: defect.map(|d| d.0),
        }
    }
}
