(function () {
  "use strict";
  const told = JSON.parse(document.getElementById("details").textContent);
  const steps = Array.from(document.querySelectorAll(".steps > li"));
  const scroll = document.querySelector(".scroll");
  const pictures = Array.from(document.querySelectorAll(".frame svg"));
  const size = pictures.map(s => [s.width.baseVal.value, s.height.baseVal.value]);
  const marks = Array.from(document.querySelectorAll(".mark"));
  const bands = Array.from(document.querySelectorAll(".band"));
  const veil = document.querySelector(".veil");
  const caption = document.querySelector(".caption");
  const detail = document.querySelector(".detail");
  // `pinned` was clicked or walked to and stays; a mark under the pointer is shown meanwhile.
  let zoom = 1, here = -1, pinned = -1;

  function write(parent, tag, text, kind) {
    const e = document.createElement(tag);
    e.textContent = text;
    if (kind) e.className = kind;
    parent.appendChild(e);
    return e;
  }
  function list(parent, lines) {
    const ul = write(parent, "ul", "");
    lines.forEach(l => write(ul, "li", l, l[0] === "✗" ? "difference" : ""));
  }
  function tell(index) {
    const mark = marks[index];
    marks.forEach(m => m.classList.toggle("on", m === mark));
    detail.textContent = "";
    if (!mark) {
      write(detail, "h3", "Details");
      list(detail, ["Point at a mark, or press j and k to walk through them."]);
      return;
    }
    const d = told.marks[mark.dataset.mark], step = told.steps[mark.dataset.step];
    write(detail, "h3", d.title);
    list(detail, d.lines);
    if (step) {
      write(detail, "h4", step.title);
      list(detail, step.lines);
    }
  }
  // One mark is a stop of the Tab key; the arrow keys lead from it to the others.
  function stop(index) {
    marks.forEach((m, i) => m.setAttribute("tabindex", i === index ? "0" : "-1"));
  }
  function pin(index) {
    if (!marks.length) return;
    pinned = Math.max(0, Math.min(marks.length - 1, index));
    stop(pinned);
    tell(pinned);
    inView(marks[pinned].querySelector(".hit"));
  }
  function walk(index) {
    pin(index);
    if (marks.length) marks[pinned].focus({ preventScroll: true });
  }
  function inView(shape) {
    const box = shape.getBoundingClientRect(), view = scroll.getBoundingClientRect();
    if (box.left < view.left || box.right > view.right) {
      scroll.scrollLeft += box.left - view.left - Math.max(20, (view.width - box.width) / 2);
    }
  }
  // Before the first step everything is shown; then each step uncovers itself.
  function go(index, quiet) {
    here = Math.max(-1, Math.min(steps.length - 1, index));
    const number = here < 0 ? Infinity : Number(steps[here].dataset.step);
    marks.forEach(m => m.classList.toggle("later", Number(m.dataset.step) > number));
    bands.forEach(b => b.classList.toggle("here", Number(b.dataset.step) === number));
    steps.forEach((s, i) => {
      s.classList.toggle("here", i === here);
      if (i === here) s.setAttribute("aria-current", "step"); else s.removeAttribute("aria-current");
    });
    caption.textContent = "";
    // A link to this step; some viewers of local files do not allow it, which does no harm.
    try { history.replaceState(null, "", here < 0 ? "#" : "#at-" + number); } catch (e) { }
    const band = bands.find(b => Number(b.dataset.step) === number);
    const ground = band && band.querySelector(".ground");
    const from = ground ? ground.x.baseVal.value + ground.width.baseVal.value : size[1][0];
    veil.setAttribute("x", from);
    veil.setAttribute("width", Math.max(0, size[1][0] - from));
    if (here < 0) {
      caption.textContent = "All steps. Use the buttons or the arrow keys to go through them one by one.";
      return;
    }
    const p = steps[here].querySelector("p");
    write(caption, "b", p.querySelector("a").textContent);
    caption.appendChild(document.createTextNode(p.querySelector("span").textContent));
    if (ground && !quiet) inView(ground);
  }
  function scale(factor) {
    zoom = Math.max(0.3, Math.min(3, zoom * factor));
    pictures.forEach((s, i) => {
      s.setAttribute("width", size[i][0] * zoom);
      s.setAttribute("height", size[i][1] * zoom);
    });
  }
  const act = {
    previous: () => go(here - 1), next: () => go(here + 1),
    all: () => { go(-1); pinned = -1; tell(-1); },
    closer: () => scale(1.25), farther: () => scale(0.8),
    fit: () => scale((scroll.clientWidth - 4) / size[1][0] / zoom),
  };
  document.querySelectorAll("button").forEach(b => b.addEventListener("click", act[b.dataset.act]));
  marks.forEach((m, i) => {
    m.addEventListener("click", () => pin(i));
    m.addEventListener("focus", () => { if (pinned !== i) pin(i); });
    m.addEventListener("mouseenter", () => tell(i));
    m.addEventListener("mouseleave", () => tell(pinned));
  });
  stop(0);
  steps.forEach((s, i) => s.addEventListener("click", e => {
    if (!e.target.closest("details, a")) go(i);
  }));
  const everywhere = {
    ArrowLeft: act.previous, ArrowRight: act.next, Escape: act.all,
    "+": act.closer, "=": act.closer, "-": act.farther, "0": act.fit,
    j: () => walk(pinned + 1), k: () => walk(pinned - 1),
  };
  const onMark = {
    ArrowLeft: i => walk(i - 1), ArrowRight: i => walk(i + 1), ArrowUp: i => walk(i - 1), ArrowDown: i => walk(i + 1),
    Home: () => walk(0), End: () => walk(marks.length - 1), Enter: pin, " ": pin,
  };
  document.addEventListener("keydown", e => {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const mark = marks.indexOf(document.activeElement);
    const key = mark >= 0 && onMark[e.key] || everywhere[e.key];
    if (!key) return;
    e.preventDefault();
    key(mark);
  });
  function asked(quiet) {
    const at = /^#at-(\d+)$/.exec(location.hash);
    go(at ? steps.findIndex(s => s.dataset.step === at[1]) : -1, quiet);
  }
  window.addEventListener("hashchange", () => asked(false));
  // The whole story at first sight; who wants to read the small print comes closer.
  if (size[1][0] > scroll.clientWidth) act.fit();
  asked(false);
})();
