//! The answer: the golden model's verdict, and what it means in words.

use super::device::Device;
use super::knobs::Profile;
use super::names::{and, list, state_name, unlisted};
use super::question::Question;
use super::route::{self, Edge};
use super::values::{Field, Given};
use crate::model::{
    AttrMask, CurState, Drain, Layer, LinkLayer, QpState, Row, Transport, transition_row,
};

/// A sentence, and the layer it speaks of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// The check that refused.
    pub layer: Layer,
    /// In words.
    pub text: String,
}

/// What became of one call and why.
#[derive(Clone, Debug)]
pub struct Answer {
    /// Transport of the QP.
    pub transport: Transport,
    /// State numbers.
    pub from: u8,
    /// Target state.
    pub to: u8,
    /// Profile.
    pub profile: String,
    /// `roce` or `infiniband`.
    pub link_layer: &'static str,
    /// Attribute mask that was judged.
    pub mask: Option<AttrMask>,
    /// The layer that refused, [`Layer::None`] if the call is accepted; nothing if no mask
    /// was given.
    pub layer: Option<Layer>,
    /// Required attributes that were not given.
    pub missing: AttrMask,
    /// Attributes given that are not allowed.
    pub disallowed: AttrMask,
    /// Attributes whose value is out of range.
    pub bad_values: AttrMask,
    /// What the table says about the pair, if it is legal.
    pub row: Option<Row>,
    /// Usual layer of the errno, if one was given.
    pub errno_layer: Option<&'static str>,
    /// Remarks for a person.
    pub say: Vec<Note>,
}

impl Answer {
    /// True if the call is accepted or nothing was asked that could be refused.
    pub fn accepted(&self) -> bool {
        self.layer.is_none_or(|l| l == Layer::None)
    }
}

/// Judges the call and explains the verdict.
pub fn explain(q: &Question) -> Answer {
    let mut say = Speech { q, notes: Vec::new(), only_linux_refuses: false };
    say.about_errno();
    let row = row_of(q);
    let mut answer = Answer {
        transport: q.transport,
        from: q.from,
        to: q.target(),
        profile: q.profile.label(),
        link_layer: match q.profile.policy.link_layer {
            LinkLayer::Roce => "roce",
            LinkLayer::Infiniband => "infiniband",
        },
        mask: q.mask,
        layer: None,
        missing: AttrMask::EMPTY,
        disallowed: AttrMask::EMPTY,
        bad_values: AttrMask::EMPTY,
        row,
        errno_layer: q.errno.map(|e| e.layer),
        say: Vec::new(),
    };
    match q.mask {
        Some(mask) => {
            let (layer, verdict) = verdict(q, mask);
            answer.layer = Some(layer);
            answer.missing = verdict.missing;
            answer.disallowed = verdict.extra;
            answer.bad_values = verdict.bad_values;
            say.about_linux(mask, &answer);
            say.about_call(mask, &answer);
        }
        None if q.errno.is_none_or(|e| e.from_table) => {
            say.about_needs(row);
            say.about_values_without_mask();
        }
        None => {}
    }
    say.about_idle_flags();
    answer.say = say.notes;
    answer
}

/// The model's verdict, and on top of it what it never sees: values that are wider than their
/// field, since the model's fields are as wide as the struct's, and fields that only Linux judges.
fn verdict(q: &Question, mask: AttrMask) -> (Layer, crate::model::ModifyVerdict) {
    let mut v = q.judge(mask, &q.values, &q.profile.policy);
    let unseen = q
        .values
        .iter()
        .filter(|g| !g.fits() || linux_refuses(q, g) || q.device.refuses(g))
        .filter(|g| mask.contains(g.field.attr))
        .fold(AttrMask::EMPTY, |all, g| all | g.field.attr);
    if !unseen.is_empty() && matches!(v.layer, Layer::None | Layer::Value | Layer::Drain) {
        v.layer = Layer::Value;
        v.bad_values |= unseen;
    }
    (v.layer, v)
}

/// `ah_attr.port_num` in profile `linux`: the verbs layer of the kernel refuses a port that is not
/// there, and at RTR one that is not the QP's (`modify_qp` of `uverbs_cmd.c`).
fn linux_refuses(q: &Question, g: &Given) -> bool {
    let there = 1..=i128::from(q.device.ports());
    g.field.linux_only && q.profile.is_linux() && !there.contains(&g.value)
}

fn states(q: &Question) -> Option<(QpState, QpState)> {
    Some((QpState::from_number(q.from)?, QpState::from_number(q.target())?))
}

/// The row that judges the mask: that of CUR_STATE where the policy lets it override.
fn row_of(q: &Question) -> Option<Row> {
    let (mut from, to) = states(q)?;
    if q.mask.is_some_and(|m| q.policy_overrides(m)) {
        from = QpState::from_number(q.cur_state.unwrap_or(q.from))?;
    }
    transition_row(q.transport, from, to, &q.profile.policy)
}

/// `RTR to RTS`, or `RTS` for the pair of a state with itself.
fn place(from: u8, to: u8) -> String {
    if from == to {
        state_name(from)
    } else {
        format!("{} to {}", state_name(from), state_name(to))
    }
}

fn pair(from: QpState, to: QpState) -> String {
    format!("{from} to {to}")
}

struct Speech<'a> {
    q: &'a Question,
    notes: Vec<Note>,
    /// The call is accepted here, and Linux would refuse it.
    only_linux_refuses: bool,
}

impl Speech<'_> {
    fn say(&mut self, layer: Layer, text: impl Into<String>) {
        self.notes.push(Note { layer, text: text.into() });
    }

    fn edges(&self) -> Vec<Edge> {
        route::edges(self.q.transport, &self.q.profile.policy)
    }

    fn about_errno(&mut self) {
        let Some(e) = self.q.errno else { return };
        self.say(
            Layer::None,
            format!("errno {} ({}) usually means {}: {}", e.number, e.name, e.layer, e.advice),
        );
        if !e.from_table {
            self.say(
                Layer::None,
                format!("the check of states and masks only ever gives 22, so with errno {} the mask was usually accepted already", e.number),
            );
        }
    }

    /// No mask was given: say what one would need.
    fn about_needs(&mut self, row: Option<Row>) {
        let q = self.q;
        match row {
            Some(row) => {
                let always = if q.to.is_some() { AttrMask::STATE } else { AttrMask::EMPTY };
                self.say(
                    Layer::Mask,
                    format!(
                        "{} of {} needs: {}",
                        place(q.from, q.target()),
                        q.transport,
                        names_or_nothing(row.required | always)
                    ),
                );
                self.say(
                    Layer::Mask,
                    format!("and takes besides: {}", names_or_nothing(row.optional)),
                );
            }
            None if states(q).is_none() => self.about_encoding(AttrMask::EMPTY),
            None => self.about_transition(AttrMask::EMPTY),
        }
    }

    fn about_values_without_mask(&mut self) {
        let named: Vec<&str> = self.q.values.iter().map(|g| g.field.names[0]).collect();
        if !named.is_empty() {
            let text =
                format!("values are judged with a mask only, not judged: {}", named.join(", "));
            self.say(Layer::Value, text);
        }
    }

    /// What was said of the QP and means nothing in its state.
    fn about_idle_flags(&mut self) {
        if self.q.draining && self.q.from != QpState::Sqd.number() {
            self.say(
                Layer::None,
                "draining: a QP drains in SQD only, so this changes nothing here",
            );
        }
        let rearms = |g: &Given| g.field.attr == AttrMask::PATH_MIG_STATE && g.value == 1;
        if self.q.mig_armed && !self.q.values.iter().any(rearms) {
            self.say(
                Layer::None,
                "mig_armed: only a call that gives path_mig_state=1 (REARM) asks for it, so this changes nothing here",
            );
        }
    }

    fn about_call(&mut self, mask: AttrMask, answer: &Answer) {
        let q = self.q;
        if q.state_implied {
            self.say(
                Layer::None,
                "STATE was added to the attributes because a target state was named",
            );
        }
        if !mask.contains(AttrMask::STATE) {
            let mut text = format!(
                "the mask has no STATE, so this is judged as {0} to {0}",
                state_name(q.from)
            );
            if let Some(to) = q.to.filter(|to| *to != q.from) {
                text += &format!("; a move to {} needs STATE", state_name(to));
            }
            self.say(Layer::None, text);
        }
        if q.cur_state.is_some() && !mask.contains(AttrMask::CUR_STATE) {
            self.say(
                Layer::CurState,
                "the current state given is not looked at: the mask has no CUR_STATE",
            );
        }
        if q.cur_state.is_none() && mask.contains(AttrMask::CUR_STATE) {
            self.say(
                Layer::CurState,
                format!("CUR_STATE is taken to be the real state, {}", state_name(q.from)),
            );
        }
        if q.transport == Transport::Rc && q.from == QpState::Sqe.number() {
            self.say(
                Layer::None,
                "an RC QP is never in SQE: its send errors lead to ERR. This is what the table would say",
            );
        }
        let layer = answer.layer.unwrap_or_default();
        match layer {
            Layer::None | Layer::Qp => {}
            Layer::Encoding => self.about_encoding(mask),
            Layer::CurState => self.about_cur_state(mask),
            Layer::Transition => self.about_transition(mask),
            Layer::Mask => self.about_mask(mask, answer),
            Layer::Value | Layer::Drain => {}
        }
        if matches!(layer, Layer::None | Layer::Value | Layer::Drain) {
            self.say(Layer::Mask, "attribute mask is complete");
            self.about_values(mask, "");
            self.about_unasked(mask);
        }
        let sqd = QpState::Sqd.number();
        if layer == Layer::None && q.from != sqd && answer.to == sqd {
            self.about_mlx5(Layer::Transition);
        }
        if layer == Layer::Drain {
            self.say(
                Layer::Drain,
                format!(
                    "the send queue still drains: wait for the drained event (SQ_DRAINED; without EN_SQD_ASYNC_NOTIFY on the way to SQD there is none, ask ibv_query_qp for sq_draining), then {} is accepted; the way to RESET or ERR is open at any time",
                    place(q.from, q.target())
                ),
            );
            self.about_other_policies(mask);
        }
        let unexplained = q.errno.is_some_and(|e| e.from_table) && !self.only_linux_refuses;
        if layer == Layer::None && unexplained {
            self.say(Layer::None, "states and mask are accepted here: look at values, GID and address, and at what this driver adds");
            self.about_limits(mask);
            self.about_irdma();
        }
    }

    /// What a call through the kernel meets besides: a caller who does not know of profiles asks
    /// about the first of them.
    fn about_linux(&mut self, mask: AttrMask, answer: &Answer) {
        let q = self.q;
        if !answer.accepted() || q.profile.is_linux() {
            return;
        }
        let Ok(mut linux) = Profile::named("linux") else { return };
        linux.policy.link_layer = q.profile.policy.link_layer;
        let asked = Question { profile: linux, ..q.clone() };
        let (layer, _) = verdict(&asked, mask);
        if layer != Layer::None {
            self.only_linux_refuses = true;
            self.say(
                layer,
                format!(
                    "accepted in profile {}, but Linux refuses it with 22, by its {layer} check: ask again with --profile linux",
                    q.profile.label()
                ),
            );
        }
    }

    /// A way that a call or several take; `lead` stands before it.
    fn say_way(
        &mut self,
        layer: Layer,
        lead: &str,
        from: QpState,
        way: &[Edge],
        carrier: Option<(usize, AttrMask)>,
    ) {
        self.say(layer, format!("{lead}: {}", walk(from, way, carrier)));
        if way.iter().any(|e| e.to == QpState::Sqd && e.from != QpState::Sqd) {
            self.about_mlx5(layer);
        }
    }

    /// A driver that refuses what the tables allow.
    fn about_mlx5(&mut self, layer: Layer) {
        self.say(
            layer,
            "mlx5 (Connect-IB, ConnectX-4 and later) has no way from RTS to SQD and refuses it with 22: there such a change takes the QP through RESET",
        );
    }

    /// Values are accepted that another device would refuse, with the same number.
    fn about_limits(&mut self, mask: AttrMask) {
        let untold = self.q.device.untold(mask);
        if !untold.is_empty() {
            let text = format!(
                "what is beyond the limits of the device itself is refused with 22, too: ibv_devinfo -v tells {}; --device NAME=N judges by them",
                untold.join(", ")
            );
            self.say(Layer::Value, text);
        }
    }

    /// `irdma_modify_qp_roce`: RESET takes the hardware's QP to its error state, and neither INIT
    /// nor RTR is allowed behind that.
    fn about_irdma(&mut self) {
        let (from, to) = (self.q.from, self.q.target());
        if from == QpState::Reset.number() && to == QpState::Init.number() {
            self.say(
                Layer::Transition,
                "irdma (Intel E810, X722) refuses INIT with 22 once a QP was moved to RESET or ERR, a first RESET to RESET included: there it must be destroyed and created anew",
            );
        }
    }

    fn about_encoding(&mut self, mask: AttrMask) {
        let q = self.q;
        let mut one = |what: &str, n: u8| {
            if QpState::from_number(n).is_none() {
                self.say(Layer::Encoding, format!("{what} {n} is not a state: there are seven, 0 (RESET) to 6 (ERR); nothing changes"));
            }
        };
        one("present state", q.from);
        one("target state", q.target());
        if let Some(cur) = q.cur_state.filter(|_| mask.contains(AttrMask::CUR_STATE)) {
            one("CUR_STATE", cur);
        }
    }

    fn about_cur_state(&mut self, mask: AttrMask) {
        let q = self.q;
        let cur = q.cur_state.unwrap_or(q.from);
        // Were it one of the allowed four, an override would let it pass this layer.
        let mut replaced = q.profile.policy;
        replaced.cur_state = CurState::Override;
        if q.judge(mask, &q.values, &replaced).layer == Layer::CurState {
            self.say(
                Layer::CurState,
                format!("CUR_STATE may be RTR, RTS, SQD or SQE, not {}", state_name(cur)),
            );
        } else {
            self.say(
                Layer::CurState,
                format!(
                    "CUR_STATE says {}, but the QP is in {}",
                    state_name(cur),
                    state_name(q.from)
                ),
            );
            self.about_other_policies(mask);
        }
    }

    fn about_transition(&mut self, mask: AttrMask) {
        let q = self.q;
        let Some((from, to)) = states(q) else { return };
        let edges = self.edges();
        let cur = q
            .cur_state
            .filter(|_| mask.contains(AttrMask::CUR_STATE))
            .and_then(QpState::from_number);
        if let (Some(cur), true) = (cur, edges.iter().any(|e| (e.from, e.to) == (from, to))) {
            self.say(
                Layer::Transition,
                format!(
                    "{} is not a legal pair for {}, and CUR_STATE = {cur} makes that row the judge",
                    pair(cur, to),
                    q.transport
                ),
            );
            return;
        }
        self.say(
            Layer::Transition,
            format!("{}: no legal pair for {}", pair(from, to), q.transport),
        );
        let next: Vec<String> =
            edges.iter().filter(|e| e.from == from).map(|e| e.to.to_string()).collect();
        self.say(Layer::Transition, format!("from {from} a call may lead to {}", and(&next)));
        let named = q.profile.label();
        for (change, policy) in q.profile.neighbours() {
            if transition_row(q.transport, from, to, &policy).is_some() {
                let whose = if named == "linux" { "Linux".to_string() } else { named.clone() };
                self.say(
                    Layer::Transition,
                    format!(
                        "{}: refused in the {whose} profile; with {change} it is accepted",
                        pair(from, to)
                    ),
                );
            }
        }
        let wanted = mask.minus(AttrMask::STATE | AttrMask::CUR_STATE);
        if from == to && !wanted.is_empty() {
            self.about_route(&edges, wanted);
        } else if from != to {
            match route::path(&edges, from, to) {
                Some(way) => self.say_way(Layer::Transition, "legal way", from, &way, None),
                None if to == QpState::Sqe => self.say(Layer::Transition, "SQE is never entered by a call: the hardware goes there when a send of a UC or UD QP fails"),
                None => self.say(Layer::Transition, format!("no sequence of calls leads from {from} to {to}")),
            }
        }
    }

    fn about_mask(&mut self, mask: AttrMask, answer: &Answer) {
        let q = self.q;
        let edges = self.edges();
        let overrides = q.policy_overrides(mask);
        let judged_from = q.cur_state.filter(|_| overrides).unwrap_or(q.from);
        let here = place(judged_from, q.target());
        if !answer.missing.is_empty() {
            self.say(Layer::Mask, format!("missing: {}", sorted(answer.missing)));
        }
        let extra = answer.disallowed;
        if !extra.is_empty() {
            let (never, elsewhere): (Vec<_>, Vec<_>) =
                bits(extra).partition(|b| !edges.iter().any(|e| e.takes(*b)));
            if !never.is_empty() {
                self.say(
                    Layer::Mask,
                    format!("not allowed for {}: {}", q.transport, sorted(union(&never))),
                );
            }
            if !elsewhere.is_empty() {
                self.say(Layer::Mask, format!("not allowed here: {}", sorted(union(&elsewhere))));
            }
            for bit in &elsewhere {
                let rows: Vec<String> =
                    edges.iter().filter(|e| e.takes(*bit)).map(|e| pair(e.from, e.to)).collect();
                self.say(
                    Layer::Mask,
                    format!("{} is not allowed in {here}; allowed in {}", list(*bit), and(&rows)),
                );
            }
            for text in reasons(q.transport, union(&never)) {
                self.say(Layer::Mask, text);
            }
            if answer.missing.is_empty() && q.from == q.target() && never.is_empty() && !overrides {
                self.about_route(&edges, extra);
            }
        }
        if overrides {
            self.say(
                Layer::Mask,
                format!(
                    "the row of CUR_STATE = {} judges the mask (cur_state = override)",
                    state_name(judged_from)
                ),
            );
            let without = q.judge(mask.minus(AttrMask::CUR_STATE), &q.values, &q.profile.policy);
            if without.layer == Layer::None {
                self.say(
                    Layer::Mask,
                    format!(
                        "without CUR_STATE, or with {}, where the QP is, the same mask is accepted",
                        state_name(q.from)
                    ),
                );
            }
        }
        // The values are judged as if the mask were right, so that nobody mends one fault to
        // find the next.
        self.about_values(mask, "once the mask is right: ");
    }

    /// How to give these attributes to a QP that is to end in the target state.
    fn about_route(&mut self, edges: &[Edge], attrs: AttrMask) {
        let Some((from, to)) = states(self.q) else { return };
        match route::detour(edges, from, to, attrs) {
            Some((way, at)) if !route::destroys(&way) => {
                self.say_way(Layer::Mask, "legal way", from, &way, Some((at, attrs)));
            }
            // There and back would cost the QP its life: name the place where they are given.
            _ => {
                if let Some(way) = route::to_carrier(edges, from, attrs) {
                    let at = way.len() - 1;
                    let lead = format!("{} can be given on this way", list(attrs));
                    self.say_way(Layer::Mask, &lead, from, &way, Some((at, attrs)));
                }
            }
        }
    }

    /// Every given value that a complete mask would still be refused for.
    fn about_values(&mut self, mask: AttrMask, lead: &str) {
        let q = self.q;
        let Some(row) = row_of(q) else { return };
        let state = AttrMask(mask.0 & AttrMask::STATE.0);
        let legal = row.required | (mask & row.optional) | state;
        for g in q.values.iter().filter(|g| legal.contains(g.field.attr)) {
            let refused = q.judge(legal, &[*g], &q.profile.policy);
            if !g.fits()
                || linux_refuses(q, g)
                || q.device.refuses(g)
                || refused.layer == Layer::Value && refused.bad_values.contains(g.field.attr)
            {
                let text = self.why_bad(legal, *g);
                self.say(Layer::Value, format!("{lead}{text}"));
            }
        }
    }

    fn why_bad(&self, legal: AttrMask, g: Given) -> String {
        let q = self.q;
        let name = g.field.names[0];
        if name.ends_with("is_global") && g.fits() && q.profile.policy.link_layer == LinkLayer::Roce
        {
            return format!(
                "Ethernet link needs {name} = 1 with a valid GID index; {name}={} has no GRH",
                g.value
            );
        }
        if g.field.linux_only && g.fits() {
            return format!(
                "{name}={} is no port: Linux judges the port of an address vector before any table, 1 to {} here",
                g.value,
                q.device.ports()
            );
        }
        if g.field.attr == AttrMask::PATH_MIG_STATE && q.mig_armed {
            let disarmed = Question { mig_armed: false, ..q.clone() };
            if !disarmed.judge(legal, &[g], &q.profile.policy).bad_values.contains(g.field.attr) {
                return format!(
                    "{name}={} (REARM) is refused while the QP's stored path migration state is ARMED",
                    g.value
                );
            }
        }
        let accepted = accepted_values(q, legal, g.field);
        let (low, high) = (accepted.first().map_or(0, |r| r.0), accepted.last().map_or(0, |r| r.1));
        let mut text = if g.value > i128::from(high) {
            format!("{name}={} is larger than {high}", g.value)
        } else if g.value < i128::from(low) {
            format!("{name}={} is smaller than {low}", g.value)
        } else {
            let some: Vec<String> = accepted
                .iter()
                .map(|(a, b)| if a == b { a.to_string() } else { format!("{a}..{b}") })
                .collect();
            format!(
                "{name}={} is not accepted in {}; accepted: {}",
                g.value,
                place(q.from, q.target()),
                and(&some)
            )
        };
        if !g.fits() {
            text += &format!(" (it does not even fit the {}-bit field)", g.field.bits);
        }
        if let Some(word) = g.field.meant(g.value) {
            text += &format!("; the field holds the enum number: {word}");
        } else if let Some(reason) = self.limit(legal, g) {
            text += &format!(", {reason}");
        }
        text
    }

    /// If another device might take the value: what this one's limit rests on.
    fn limit(&self, legal: AttrMask, g: Given) -> Option<String> {
        let widest = Question { device: Device::widest(), ..self.q.clone() };
        let taken = g.fits()
            && !widest.judge(legal, &[g], &self.q.profile.policy).bad_values.contains(g.field.attr);
        if taken { self.q.device.reason(g.field.attr) } else { None }
    }

    /// Values that nobody looks at: their attribute is not in the mask, or has no such field here.
    fn about_unasked(&mut self, mask: AttrMask) {
        if !self.q.unjudged.is_empty() {
            let text = format!("not judged: {}", self.q.unjudged.join(", "));
            self.say(Layer::Value, text);
        }
        for g in &self.q.values {
            if g.field.linux_only && mask.contains(g.field.attr) && !self.q.profile.is_linux() {
                let text = format!(
                    "{} is not looked at by this hardware; Linux refuses a port that is not there, and at RTR one that is not the QP's (--profile linux)",
                    g.field.names[0]
                );
                self.say(Layer::Value, text);
            }
            if !mask.contains(g.field.attr) {
                let text = format!(
                    "{}={} is not looked at: the mask has no {}",
                    g.field.names[0],
                    g.value,
                    list(g.field.attr)
                );
                self.say(Layer::Value, text);
            }
        }
    }

    /// Which single change of policy would let the call pass the layer that refused it?
    fn about_other_policies(&mut self, mask: AttrMask) {
        let refused = self.q.judge(mask, &self.q.values, &self.q.profile.policy).layer;
        let profile = self.q.profile.label();
        for (change, policy) in self.q.profile.neighbours() {
            let layer = self.q.judge(mask, &self.q.values, &policy).layer;
            if layer == Layer::None || layer > refused {
                self.say(
                    refused,
                    format!(
                        "profile {profile} refuses this; with {change} it is accepted on this layer"
                    ),
                );
            }
        }
    }
}

impl Question {
    fn policy_overrides(&self, mask: AttrMask) -> bool {
        self.profile.policy.cur_state == CurState::Override
            && mask.contains(AttrMask::CUR_STATE)
            && self.cur_state.is_some_and(|c| c != self.from)
    }
}

fn bits(mask: AttrMask) -> impl Iterator<Item = AttrMask> {
    (0..32).map(|i| AttrMask(1 << i)).filter(move |b| mask.contains(*b))
}

fn union(all: &[AttrMask]) -> AttrMask {
    all.iter().fold(AttrMask::EMPTY, |a, b| a | *b)
}

/// Names in the order of the alphabet, as people compare lists.
fn sorted(mask: AttrMask) -> String {
    let mut names = mask.names();
    names.sort();
    names.join(", ")
}

fn names_or_nothing(mask: AttrMask) -> String {
    if mask.is_empty() { "nothing".to_string() } else { list(mask) }
}

/// Why a transport has no use for attributes.
fn reasons(transport: Transport, never: AttrMask) -> Vec<String> {
    let acknowledged = AttrMask::TIMEOUT
        | AttrMask::RETRY_CNT
        | AttrMask::RNR_RETRY
        | AttrMask::MIN_RNR_TIMER
        | AttrMask::MAX_QP_RD_ATOMIC
        | AttrMask::MAX_DEST_RD_ATOMIC;
    let address = AttrMask::AV | AttrMask::DEST_QPN | AttrMask::ALT_PATH;
    let mut out = Vec::new();
    if never.contains(AttrMask::CAP) {
        out.push(
            "no row of any transport takes CAP: the sizes of a QP are given when it is created"
                .to_string(),
        );
    }
    for bit in bits(never) {
        match unlisted(bit) {
            Some(name @ "RATE_LIMIT") => out
                .push(format!("{} is {name}: packet pacing belongs to raw packet QPs", list(bit))),
            Some(name) => {
                out.push(format!("{} was {name} in older kernels and is reserved now", list(bit)))
            }
            None => {}
        }
    }
    if transport != Transport::Rc && !(never & acknowledged).is_empty() {
        out.push(format!(
            "{transport} has no acknowledgements, so no timers, retries or read depth"
        ));
    }
    if transport == Transport::Ud && !(never & address).is_empty() {
        out.push("a UD QP has no address: it is in each work request".to_string());
    }
    if transport != Transport::Ud && never.contains(AttrMask::QKEY) {
        out.push("Q_Keys belong to UD: a connected QP has none".to_string());
    }
    if transport == Transport::Ud && never.contains(AttrMask::ACCESS_FLAGS) {
        out.push("UD has no RDMA, so no access flags; it takes QKEY in their place".to_string());
    }
    out
}

/// `RTS → SQD (STATE) → SQD (AV) → RTS`: every call with what it must carry.
fn walk(from: QpState, way: &[Edge], carrier: Option<(usize, AttrMask)>) -> String {
    let mut text = from.to_string();
    for (i, edge) in way.iter().enumerate() {
        let mut carries = edge.row.required;
        if let Some((_, attrs)) = carrier.filter(|(at, _)| *at == i) {
            carries |= attrs;
        }
        let drains = edge.to == QpState::Sqd && edge.from != QpState::Sqd;
        let with = match (carries.is_empty(), drains) {
            (_, true) => format!(
                " (with {}, then wait until {})",
                list(AttrMask::EN_SQD_ASYNC_NOTIFY),
                Drain::Drained
            ),
            (false, _) => format!(" (with {})", list(carries)),
            (true, _) => String::new(),
        };
        text += &format!(" → {}{with}", edge.to);
    }
    text
}

/// The values of one field that the gate accepts, as ranges, found by asking it.
fn accepted_values(q: &Question, legal: AttrMask, field: &'static Field) -> Vec<(u32, u32)> {
    let passes = |n: u32| {
        let g = Given { field, value: i128::from(n) };
        !q.device.refuses(&g)
            && !q.judge(legal, &[g], &q.profile.policy).bad_values.contains(field.attr)
    };
    if field.bits > 16 {
        // PSNs and QP numbers: everything up to some limit.
        let (mut low, mut high) = (0, field.holds());
        while low < high {
            let middle = low + (high - low).div_ceil(2);
            if passes(middle) { low = middle } else { high = middle - 1 }
        }
        return vec![(0, low)];
    }
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for n in (0..=field.holds()).filter(|n| passes(*n)) {
        match ranges.last_mut() {
            Some(last) if last.1 + 1 == n => last.1 = n,
            _ => ranges.push((n, n)),
        }
    }
    ranges
}
