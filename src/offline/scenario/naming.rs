//! What a person calls a QP or a CQ, at each moment of a run.
//!
//! A number can have several names one after the other, and a name several numbers: a QP is
//! destroyed and another one created. Names are given at moments, which the run counts.

use std::ops::Range;

/// A name, the numbers that it was given to, and when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Given {
    /// Name.
    pub name: String,
    /// Number, of a group that of member 0.
    pub first: u32,
    /// Members of a group; `None` for a QP or CQ alone.
    pub members: Option<u32>,
    /// The moment from which on it holds.
    pub since: usize,
}

impl Given {
    /// The numbers that it was given to.
    pub fn numbers(&self) -> Range<u32> {
        self.first..self.first.saturating_add(self.members.unwrap_or(1))
    }
}

/// Names of QPs and CQs in the order in which they were given.
#[derive(Clone, Debug, Default)]
pub struct Names {
    /// QPs and groups of them.
    pub qps: Vec<Given>,
    /// CQs.
    pub cqs: Vec<Given>,
    /// QPs alike that share a name; each is a lane.
    pub groups: Vec<QpGroup>,
}

/// QPs alike with numbers in a row: `Q` means all of them, `Q[7]` one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QpGroup {
    /// Name.
    pub name: String,
    /// Number of member 0.
    pub first: u32,
    /// How many.
    pub count: u32,
}

impl QpGroup {
    /// QP numbers of the members.
    pub fn qpns(&self) -> Range<u32> {
        self.first..self.first.saturating_add(self.count)
    }
}

impl Names {
    /// Gives a name to a QP or to a group.
    pub fn give_qp(&mut self, given: Given) {
        if let Some(count) = given.members {
            let group = QpGroup { name: given.name.clone(), first: given.first, count };
            if !self.groups.contains(&group) {
                self.groups.push(group);
            }
        }
        self.qps.push(given);
    }

    /// Gives a name to a CQ.
    pub fn give_cq(&mut self, given: Given) {
        self.cqs.push(given);
    }

    /// The group that this QP is a member of.
    pub fn group(&self, qpn: u32) -> Option<&QpGroup> {
        self.groups.iter().find(|g| g.qpns().contains(&qpn))
    }

    /// The names that hold at this moment.
    pub fn at(&self, moment: usize) -> NamesAt<'_> {
        NamesAt { names: self, moment, together: false }
    }

    /// The names that hold at the end.
    pub fn at_end(&self) -> NamesAt<'_> {
        self.at(usize::MAX)
    }
}

/// What a person calls a QP or a CQ.
pub trait Naming {
    /// Name of a QP.
    fn qp(&self, qpn: u32) -> String;
    /// Name of a CQ.
    fn cq(&self, cqn: u32) -> String;
}

/// The names of one moment, see [`Names::at`].
#[derive(Clone, Copy, Debug)]
pub struct NamesAt<'a> {
    names: &'a Names,
    moment: usize,
    /// Members of a group are not told apart, for summaries.
    together: bool,
}

impl<'a> NamesAt<'a> {
    /// The same names without telling members of a group apart.
    pub fn collective(self) -> Self {
        Self { together: true, ..self }
    }

    /// The names of all moments.
    pub fn all(self) -> &'a Names {
        self.names
    }

    /// The latest name that holds for this number.
    fn find(self, list: &'a [Given], number: u32) -> Option<&'a Given> {
        let known = || list.iter().enumerate().rev().filter(|(_, g)| g.since <= self.moment);
        let (at, given) = known().find(|(_, g)| g.numbers().contains(&number))?;
        // It went on to something else.
        let gone = known().take_while(|(n, _)| *n > at).any(|(_, g)| g.name == given.name);
        (!gone).then_some(given)
    }

    /// How the QP of this number was named, if it was.
    pub fn given_qp(self, qpn: u32) -> Option<&'a Given> {
        self.find(&self.names.qps, qpn)
    }

    /// How the CQ of this number was named, if it was.
    pub fn given_cq(self, cqn: u32) -> Option<&'a Given> {
        self.find(&self.names.cqs, cqn)
    }
}

impl Naming for NamesAt<'_> {
    fn qp(&self, qpn: u32) -> String {
        match self.given_qp(qpn) {
            Some(g) if g.members.is_none() || self.together => g.name.clone(),
            Some(g) => format!("{}[{}]", g.name, qpn - g.first),
            None => format!("QP {qpn}"),
        }
    }

    fn cq(&self, cqn: u32) -> String {
        self.given_cq(cqn).map_or_else(|| format!("CQ {cqn}"), |g| g.name.clone())
    }
}
