//! The timeline as SVG: a lane per QP, a lane per CQ, and the events.

use maud::{Markup, PreEscaped, html};

use super::layout::{Entry, Glyph, Layout, Mark, layout};
use crate::model::QpState;
use crate::scenario::{CqLane, QpGroup, QpLane, Trace};

/// Width of one column.
const COLUMN: usize = 34;
const LABELS: usize = 132;
const HEAD: usize = 34;
const QP_LANE: usize = 66;
const CQ_LANE: usize = 96;
/// Height of one row of events; labels that would overlap go to further rows.
const EVENT_ROW: usize = 22;
const BAND: usize = 22;

/// Colours and shapes, in light and dark.
pub const STYLE: &str = include_str!("timeline.css");

/// A lane, for picture and labels alike.
enum Lane<'a> {
    Qp(&'a QpLane),
    /// With its place among the groups.
    Group(usize, &'a QpGroup),
    Cq(&'a CqLane),
    /// With the number of rows.
    Events(usize),
}

impl Lane<'_> {
    const fn height(&self) -> usize {
        match self {
            Self::Qp(_) => QP_LANE,
            Self::Cq(_) | Self::Group(..) => CQ_LANE,
            Self::Events(rows) => *rows * EVENT_ROW + 24,
        }
    }
}

/// A drawn trace.
pub struct Drawing<'a> {
    trace: &'a Trace,
    /// Where things stand.
    pub layout: Layout,
    lanes: Vec<(usize, Lane<'a>)>,
    /// Row of the event in each column that has one.
    event_rows: Vec<usize>,
    /// Height in pixels.
    pub height: usize,
}

impl<'a> Drawing<'a> {
    /// Lays the trace out; lanes that nothing happens on are left away.
    pub fn new(trace: &'a Trace) -> Self {
        let layout = layout(trace);
        let event_rows = event_rows(&layout);
        let rows = event_rows.iter().max().map_or(1, |r| r + 1);
        let mut lanes = Vec::new();
        let mut y = HEAD;
        let busy = |c: &&CqLane| {
            trace.cqs.len() <= 2
                || layout.contents.get(&c.cqn).is_some_and(|l| l.iter().any(|c| !c.is_empty()))
        };
        let alone = |q: &&QpLane| trace.names.group(q.qpn).is_none();
        let groups = trace.names.groups.iter().enumerate().map(|(n, g)| Lane::Group(n, g));
        let all = groups
            .chain(trace.qps.iter().filter(alone).map(Lane::Qp))
            .chain(trace.cqs.iter().filter(busy).map(Lane::Cq))
            .chain([Lane::Events(rows)]);
        for lane in all {
            let height = lane.height();
            lanes.push((y, lane));
            y += height;
        }
        Self { trace, layout, lanes, event_rows, height: y + 8 }
    }

    /// Width of the picture without its labels.
    pub fn width(&self) -> usize {
        let marks = self.layout.marks.iter().enumerate();
        let labels = marks.filter_map(|(column, m)| {
            let label = m.as_ref()?.event.as_ref()?;
            Some(column * COLUMN + 48 + 7 * label.chars().count())
        });
        labels.fold(self.layout.columns * COLUMN + 12, usize::max)
    }

    /// Width of the labels.
    pub const fn label_width(&self) -> usize {
        LABELS
    }

    /// Names of the lanes.
    pub fn labels(&self) -> Markup {
        html! {
            @for (y, lane) in &self.lanes {
                @match lane {
                    Lane::Qp(q) => {
                        text.name x="12" y=(y + 40) { (clip(&q.name, 15)) }
                        text.sub x="12" y=(y + 56) {
                            (q.transport.map_or("transport 3", |t| t.name())) " QP " (q.qpn)
                        }
                    }
                    Lane::Group(_, g) => {
                        text.name x="12" y=(y + 40) { (clip(&g.name, 15)) }
                        text.sub x="12" y=(y + 56) {
                            (g.count) " QPs from " (g.first)
                        }
                    }
                    Lane::Cq(c) => {
                        text.name x="12" y=(y + 40) { (clip(&c.name, 15)) }
                        text.sub x="12" y=(y + 56) { "CQ " (c.cqn) ", depth " (c.depth) }
                    }
                    Lane::Events(_) => text.name x="12" y=(y + 27) { "Events" }
                }
            }
        }
    }

    /// Everything right of the labels. In a page that can be worked with, each mark can be
    /// reached by keyboard and has a name.
    pub fn picture(&self, live: bool) -> Markup {
        let bottom = self.height - 8;
        html! {
            @for (n, band) in self.layout.bands.iter().enumerate() {
                @let step = &self.trace.steps[band.step];
                @let failed = !step.failures.is_empty();
                g.band.failed[failed] data-step=(step.number) {
                    rect.ground.odd[n % 2 == 1] x=(band.first * COLUMN) y="0"
                        width=((band.end - band.first) * COLUMN) height=(bottom) {}
                    text.step x=(band.first * COLUMN + 8) y="22" {
                        @if step.number == 0 { "setup" } @else { (step.number) }
                        @if failed { " ✗" }
                    }
                    title { (step.text) }
                }
            }
            @for (y, lane) in &self.lanes {
                line.rule x1="0" x2=(self.width()) y1=(y) y2=(y) {}
                @match lane {
                    Lane::Qp(q) => (self.states(q, *y)),
                    Lane::Group(n, g) => (self.crowd(*n, g, *y)),
                    Lane::Cq(c) => (self.ring(c, *y)),
                    Lane::Events(_) => {}
                }
            }
            @for (column, mark) in self.layout.marks.iter().enumerate() {
                @if let Some(mark) = mark { (self.mark(column, mark, live)) }
            }
        }
    }

    fn states(&self, qp: &QpLane, y: usize) -> Markup {
        let segments = self.layout.segments.get(&qp.qpn).map(Vec::as_slice).unwrap_or_default();
        html! {
            @for s in segments {
                @let x = s.first * COLUMN + 3;
                @let width = ((s.end - s.first) * COLUMN).saturating_sub(1);
                @let name = s.state.name();
                g class={ "state s-" (name) } {
                    rect x=(x) y=(y + 34) width=(width) height=(BAND) rx="5" {}
                    @if width > name.len() * 8 {
                        text x=(x + 7) y=(y + 49) { (name) }
                    } @else if width > 18 {
                        text.tiny x=(x + 3) y=(y + 49) { (&name[..3]) }
                    }
                    title { (qp.name) " in " (name) }
                }
            }
        }
    }

    /// How many members are in which state, stacked, ERR at the bottom.
    fn crowd(&self, place: usize, group: &QpGroup, y: usize) -> Markup {
        let columns = self.layout.crowds.get(place).map(Vec::as_slice).unwrap_or_default();
        let (top, tall) = (y + 26, CQ_LANE - 36);
        let unit = tall as f64 / f64::from(group.count.max(1));
        let floor = (top + tall) as f64;
        html! {
            rect.well x="0" y=(top) width=(self.layout.columns * COLUMN) height=(tall) {}
            @for (column, states) in columns.iter().enumerate() {
                @let mut below = 0;
                @for state in QpState::ALL.iter().rev() {
                    @let n = states[usize::from(state.number())];
                    @if n > 0 {
                        @let h = unit * f64::from(n);
                        @let at = floor - unit * f64::from(below) - h;
                        g class={ "state s-" (state.name()) } {
                            rect x=(column * COLUMN) y=(format!("{at:.1}")) width=(COLUMN)
                                height=(format!("{h:.1}")) {}
                        }
                        ({ below += n; "" })
                    }
                }
            }
            @for band in &self.layout.bands {
                @let states = columns.get(band.end - 1).copied().unwrap_or_default();
                @let shown: Vec<String> = QpState::ALL.iter().rev()
                    .map(|s| (s.name(), states[usize::from(s.number())]))
                    .filter(|(_, n)| *n > 0)
                    .map(|(s, n)| format!("{n} {s}"))
                    .collect();
                text.level x=(band.end * COLUMN - 6) y=(top + 15) { (shown.join(", ")) }
            }
        }
    }

    fn ring(&self, cq: &CqLane, y: usize) -> Markup {
        let columns = self.layout.contents.get(&cq.cqn).map(Vec::as_slice).unwrap_or_default();
        let (top, tall) = (y + 26, CQ_LANE - 36);
        let unit = tall as f64 / f64::from(cq.depth.max(1));
        let floor = (top + tall) as f64;
        let total = |c: &[(Entry, u32)]| c.iter().map(|(_, n)| *n).sum::<u32>();
        // The lane ends with the CQ.
        let right = columns.len() * COLUMN;
        html! {
            rect.well x="0" y=(top) width=(right) height=(tall) {}
            @for (column, content) in columns.iter().enumerate() {
                @let mut below = 0;
                @for (entry, n) in content {
                    @let h = (unit * f64::from(*n)).max(1.0);
                    @let at = floor - unit * f64::from(below) - h;
                    rect class={ "e-" (entry.name()) } x=(column * COLUMN)
                        y=(format!("{at:.1}")) width=(COLUMN) height=(format!("{h:.1}")) {}
                    ({ below += n; "" })
                }
            }
            @if cq.depth <= 16 {
                @for slot in 1..cq.depth {
                    @let at = format!("{:.1}", floor - unit * f64::from(slot));
                    line.slot x1="0" x2=(right) y1=(at) y2=(at) {}
                }
            }
            line.depth x1="0" x2=(right) y1=(top) y2=(top) {}
            @for band in &self.layout.bands {
                @let used = columns.get(band.end - 1).map_or(0, |c| total(c));
                @if used > 0 {
                    text.level.full[used >= cq.depth] x=(band.end * COLUMN - 6) y=(top + 15) {
                        (used) "/" (cq.depth)
                    }
                }
            }
        }
    }

    fn lane(&self, fits: impl Fn(&Lane<'_>) -> bool) -> Option<usize> {
        self.lanes.iter().find(|(_, l)| fits(l)).map(|(y, _)| *y)
    }

    fn mark(&self, column: usize, mark: &Mark, live: bool) -> Markup {
        let x = column * COLUMN + COLUMN / 2;
        let on_qp = mark
            .qpn
            .and_then(|q| {
                self.lane(|l| match l {
                    Lane::Qp(lane) => lane.qpn == q,
                    Lane::Group(_, g) => g.qpns().contains(&q),
                    _ => false,
                })
            })
            .map(|y| y + 19);
        let on_cq = mark
            .cqn
            .and_then(|c| self.lane(|l| matches!(l, Lane::Cq(lane) if lane.cqn == c)))
            .map(|y| y + 14);
        let on_events =
            mark.event.as_ref().and_then(|_| self.lane(|l| matches!(l, Lane::Events(_))));
        let on_events = on_events.map(|y| y + 22 + self.event_rows[column] * EVENT_ROW);
        let end = on_events.or(on_cq.filter(|_| mark.entry.is_some()));
        let name = || format!("step {}: {}, {}", mark.step, mark.title, mark.lines.join(", "));
        html! {
            g.mark data-mark=(column) data-step=(mark.step) tabindex=[live.then_some("-1")]
                role=[live.then_some("button")] aria-label=[live.then(name)] {
                title { (mark.title) "\n" (mark.lines.join("\n")) }
                rect.hit x=(column * COLUMN) y=(HEAD) width=(COLUMN) height=(self.height - HEAD - 8) {}
                @if mark.glyph == Glyph::Reset {
                    path.glyph d=(bar(x, HEAD, self.height - HEAD - 8)) {}
                }
                @if let (Some(a), Some(b)) = (on_qp, end) {
                    line.flow x1=(x) x2=(x) y1=(a + 8) y2=(b) {}
                }
                @if let Some(y) = on_qp.or(on_cq.filter(|_| mark.entry.is_none())) {
                    (glyph(mark.glyph, x, y))
                    @if mark.count > 1 {
                        text.count x=(x + 6) y=(y - 5) { "×" (mark.count) }
                    }
                }
                @if let (Some(y), Some(entry)) = (on_cq, mark.entry) {
                    @if mark.count > 1 {
                        text.count x=(x + 8) y=(y + 4) { "×" (mark.count) }
                    }
                    @if entry == Entry::Lost {
                        path.lost d=(cross(x, y, 5)) {}
                    } @else {
                        circle class={ "dot e-" (entry.name()) } cx=(x) cy=(y) r="5" {}
                    }
                }
                @if let (Some(y), Some(event)) = (on_events, &mark.event) {
                    path.event d=(format!("M{x} {}l8 8l-8 8l-8 -8z", y - 8)) {}
                    text.kind x=(x + 12) y=(y + 4) { (event) }
                }
            }
        }
    }
}

/// Rows in which no event's label runs into the next.
fn event_rows(layout: &Layout) -> Vec<usize> {
    let mut free_from: Vec<usize> = Vec::new();
    let mut rows = vec![0; layout.columns];
    for (column, mark) in layout.marks.iter().enumerate() {
        let Some(event) = mark.as_ref().and_then(|m| m.event.as_ref()) else { continue };
        let x = column * COLUMN;
        let end = x + 40 + 7 * event.chars().count();
        let row = free_from.iter().position(|free| *free <= x).unwrap_or(free_from.len());
        if row == free_from.len() {
            free_from.push(end);
        } else {
            free_from[row] = end;
        }
        rows[column] = row;
    }
    rows
}

fn bar(x: usize, y: usize, tall: usize) -> String {
    format!("M{} {y}h2v{tall}h-2z", x - 1)
}

fn cross(x: usize, y: usize, r: usize) -> String {
    let d = 2 * r;
    format!("M{} {}l{d} {d}M{} {}l-{d} {d}", x - r, y - r, x + r, y - r)
}

/// The sign of a mark around a point.
pub fn glyph(glyph: Glyph, x: usize, y: usize) -> Markup {
    let class = format!("glyph g-{}", glyph.name());
    let d = match glyph {
        Glyph::Command => format!("M{} {}h11v11h-11z", x - 5, y - 5),
        Glyph::Post | Glyph::PostIssued => {
            format!("M{} {y}a6 6 0 1 0 12 0a6 6 0 1 0 -12 0z", x - 6)
        }
        Glyph::Issue => format!("M{x} {}l7 12h-14z", y - 6),
        Glyph::Complete => format!("M{x} {}l-7 -12h14z", y + 6),
        Glyph::Flush => format!("M{} {}h14l-4 10h-6z", x - 7, y - 5),
        Glyph::Cascade => format!("M{} {}l-8 8h5l-3 6l9 -9h-5l3 -5z", x + 3, y - 7),
        Glyph::Doorbell => format!("M{x} {}l6 6l-6 6l-6 -6z", y - 6),
        Glyph::Refused | Glyph::Stale => cross(x, y, 5),
        Glyph::Reset => bar(x, y - 7, 14),
    };
    html! {
        path class=(class) d=(d) {}
    }
}

fn clip(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    text.chars().take(most - 1).chain(['…']).collect()
}

/// The whole timeline as one picture.
pub fn svg(trace: &Trace) -> String {
    let d = Drawing::new(trace);
    let (width, height) = (LABELS + d.width(), d.height + 40);
    let page = html! {
        svg.timeline xmlns="http://www.w3.org/2000/svg" width=(width) height=(height)
            viewBox=(format!("0 0 {width} {height}")) role="img" {
            title { (trace.title) }
            style { (PreEscaped(STYLE)) }
            rect.paper x="0" y="0" width=(width) height=(height) {}
            text.heading x="12" y="26" { (trace.title) }
            g transform="translate(0 40)" { (d.labels()) }
            g transform=(format!("translate({LABELS} 40)")) { (d.picture(false)) }
        }
    };
    format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{}\n", page.into_string())
}
