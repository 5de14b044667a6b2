(function () {
  "use strict";
  const details = JSON.parse(document.getElementById("details").textContent);
  const steps = Array.from(document.querySelectorAll(".steps > li"));
  const scroll = document.querySelector(".scroll");
  const pictures = Array.from(document.querySelectorAll(".frame svg"));
  const size = pictures.map(s => [s.width.baseVal.value, s.height.baseVal.value]);
  const marks = Array.from(document.querySelectorAll(".mark"));
  const bands = Array.from(document.querySelectorAll(".band"));
  const caption = document.querySelector(".caption");
  const detail = document.querySelector(".detail");
  let zoom = 1, here = -1, chosen = -1;

  function write(parent, tag, text) {
    const e = document.createElement(tag);
    e.textContent = text;
    parent.appendChild(e);
    return e;
  }
  function show(index) {
    chosen = Math.max(0, Math.min(marks.length - 1, index));
    const mark = marks[chosen];
    if (!mark) return;
    marks.forEach(m => m.classList.toggle("on", m === mark));
    const d = details[mark.dataset.mark];
    detail.textContent = "";
    write(detail, "h3", d.title);
    const list = write(detail, "ul", "");
    d.lines.forEach(l => write(list, "li", l));
    inView(mark.querySelector(".hit"));
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
    steps.forEach((s, i) => s.classList.toggle("here", i === here));
    caption.textContent = "";
    // A link to this step; some viewers of local files do not allow it, which does no harm.
    try { history.replaceState(null, "", here < 0 ? "#" : "#at-" + number); } catch (e) { }
    if (here < 0) {
      caption.textContent = "All steps. Use the buttons or the arrow keys to go through them one by one.";
      return;
    }
    const p = steps[here].querySelector("p");
    Array.from(p.childNodes).forEach(n => caption.appendChild(n.cloneNode(true)));
    const band = bands.find(b => Number(b.dataset.step) === number);
    if (band && !quiet) inView(band.querySelector(".ground"));
  }
  function scale(factor) {
    zoom = Math.max(0.3, Math.min(3, zoom * factor));
    pictures.forEach((s, i) => {
      s.setAttribute("width", size[i][0] * zoom);
      s.setAttribute("height", size[i][1] * zoom);
    });
  }
  const act = {
    previous: () => go(here - 1), next: () => go(here + 1), all: () => go(-1),
    closer: () => scale(1.25), farther: () => scale(0.8),
    fit: () => scale((scroll.clientWidth - 4) / size[1][0] / zoom),
  };
  document.querySelectorAll("button").forEach(b => b.addEventListener("click", act[b.dataset.act]));
  marks.forEach((m, i) => {
    m.addEventListener("click", () => show(i));
    m.addEventListener("mouseenter", () => { if (chosen < 0) show(i); });
  });
  steps.forEach((s, i) => s.addEventListener("click", () => go(i)));
  const keys = {
    ArrowLeft: act.previous, ArrowRight: act.next, Escape: act.all, Home: () => go(0), End: () => go(steps.length - 1),
    "+": act.closer, "=": act.closer, "-": act.farther, "0": act.fit,
    j: () => show(chosen + 1), k: () => show(chosen - 1),
  };
  document.addEventListener("keydown", e => {
    if (e.ctrlKey || e.metaKey || e.altKey || !keys[e.key]) return;
    e.preventDefault();
    keys[e.key]();
  });
  const asked = /^#at-(\d+)$/.exec(location.hash);
  go(asked ? steps.findIndex(s => s.dataset.step === asked[1]) : -1);
})();
