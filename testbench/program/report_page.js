// Works the page as a person would and tells the page around it what it saw. Runs behind the page's
// own script, which must not need it.
(function () {
  "use strict";
  const all = s => Array.from(document.querySelectorAll(s));
  const one = s => document.querySelector(s);
  const key = k => (document.activeElement || document.body)
    .dispatchEvent(new KeyboardEvent("keydown", { key: k, bubbles: true, cancelable: true }));
  const text = s => one(s).textContent.trim();
  const seen = {};

  // Relative luminance and contrast as WCAG defines them.
  const luminance = colour => {
    const part = c => (c /= 255) <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
    const [r, g, b] = colour.match(/[\d.]+/g).map(Number);
    return 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
  };
  const contrast = (a, b) => {
    const [x, y] = [luminance(a), luminance(b)].sort((m, n) => n - m);
    return (x + 0.05) / (y + 0.05);
  };
  const style = e => getComputedStyle(e);
  const ground = e => {
    for (; e; e = e.parentElement) {
      if (!/, 0\)$|transparent/.test(style(e).backgroundColor)) return style(e).backgroundColor;
    }
    return "rgb(255, 255, 255)";
  };
  const paper = () => style(document.body).backgroundColor;
  seen.contrast = {};
  for (const s of ["h1", ".intro", ".facts li:first-child", ".facts li:nth-child(2)", ".caption", ".detail li", ".legend li", ".keys", ".steps span", ".steps dd", ".steps summary"]) {
    seen.contrast[s] = contrast(style(one(s)).color, ground(one(s)));
  }
  for (const s of [".name", ".sub", ".step", ".level", ".kind"]) {
    if (one(".frame " + s)) seen.contrast[s] = contrast(style(one(".frame " + s)).fill, paper());
  }
  for (const g of all(".frame .state")) {
    const name = g.querySelector("text"), box = g.querySelector("rect");
    if (name) seen.contrast[name.textContent] = contrast(style(name).fill, style(box).fill);
  }
  seen.dark = luminance(paper()) < 0.2;
  seen.window = window.innerWidth;
  seen.sideways = document.documentElement.scrollWidth - window.innerWidth;

  const marks = all(".mark");
  seen.marks = marks.length;
  seen.unnamed = marks.filter(m => !m.getAttribute("aria-label")).length +
    all("button").filter(b => !b.getAttribute("aria-label")).length;
  seen.stops = marks.filter(m => m.getAttribute("tabindex") === "0").length;
  seen.lanes = all(".frame .name").map(n => n.textContent);
  seen.states = all(".state text").map(s => s.textContent);
  const drawn = all(".state rect, .mark path, .mark circle, .frame [class^=e-]").map(e => e.getBoundingClientRect());
  seen.drawn = {
    shapes: drawn.filter(b => b.width * b.height > 1).length,
    width: Math.max(...drawn.map(b => b.right)) - Math.min(...drawn.map(b => b.left)),
    height: Math.max(...drawn.map(b => b.bottom)) - Math.min(...drawn.map(b => b.top)),
  };

  key("ArrowRight"); key("ArrowRight");
  seen.second = { caption: text(".caption"), here: all(".band.here").length, current: text("[aria-current=step] a"), veil: one(".veil").width.baseVal.value };
  key("ArrowLeft");
  seen.back = text(".caption b");
  key("j"); key("j");
  seen.focused = document.activeElement.dataset.mark;
  seen.detail = text(".detail");
  key("ArrowRight");
  seen.arrow = document.activeElement.dataset.mark;
  one(".mark:last-of-type").dispatchEvent(new MouseEvent("mouseenter"));
  seen.pointed = text(".detail h3");
  one(".mark:last-of-type").dispatchEvent(new MouseEvent("mouseleave"));
  seen.left = text(".detail h3");
  const wide = one(".scroll svg").width.baseVal.value;
  one("[data-act=closer]").click();
  seen.zoom = one(".scroll svg").width.baseVal.value / wide;
  one("[data-act=fit]").click();
  seen.fit = one(".scroll svg").width.baseVal.value - one(".scroll").clientWidth;
  key("Escape");
  seen.all = { caption: text(".caption"), here: all(".band.here").length, detail: text(".detail h3") };
  seen.failed = all(".steps .failed").map(s => s.querySelector(".difference + dd, dd.difference").textContent);
  seen.network = performance.getEntriesByType("resource").length;
  seen.errors = window.seenErrors;
  // Only ASCII that no serializer touches.
  parent.postMessage(btoa(unescape(encodeURIComponent(JSON.stringify(seen)))), "*");
})();
