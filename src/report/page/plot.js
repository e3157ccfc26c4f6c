// Curves with error bands, or a map with contours: one picture that zooms, answers the mouse and the
// keyboard, and is plain SVG, so that it can be saved as it is.

import {h, fill, short, concise} from "./dom.js";
import {makeScale, range} from "./scale.js";

/// Okabe and Ito's colours, which people with any kind of colour vision tell apart.
export const colours = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8a8f94"];
const dashes = ["", "7 4", "2 3", "10 3 2 3"];
const margin = {left: 74, right: 16, top: 12, bottom: 48};
const barWidth = 70;
const near = 30;  // pixels within which a point answers the mouse

/// A number beside an axis, where a long row of zeros has no room.
const tickText = x => x !== 0 && (Math.abs(x) < 1e-4 || Math.abs(x) >= 1e6) ? Number(short(x)).toExponential().replace("e+", "e") : short(x);

let pictures = 0;

export class Plot {
  /// `onClick(x, y)` gets the numbers of a place that was clicked (not dragged), or of the point at
  /// which Enter was pressed; `changed()` is told when somebody zooms, or hides a series.
  constructor(parent, {onClick = null, changed = null, height = 400} = {}) {
    this.onClick = onClick;
    this.changed = changed;
    this.height = height;
    this.hidden = new Set();
    this.zoom = null;
    this.clip = `clip-${++pictures}`;
    this.box = h("div", {class: "plot"});
    this.tip = h("div", {class: "tip", role: "status", hidden: true});
    this.key = h("div", {class: "key"});
    this.box.append(this.tip);
    parent.append(this.box, this.key);
    this.watcher = new ResizeObserver(() => { if (this.picture) this.render(); });
    this.watcher.observe(this.box);
  }

  /// A picture is {xLabel, yLabel, xName, yName (shorter, for tips), logX, logY, series: [{label, colour, dash, x, y, error, marks}],
  /// map: {xs, ys, z (rows of y), words, label, levels}, paths, yNames: [{value, label}]}.
  draw(picture, {keepZoom = false} = {}) {
    this.picture = picture;
    if (!keepZoom) this.zoom = null;
    this.render();
  }

  shown() {
    return (this.picture.series ?? []).filter(series => !this.hidden.has(series.label));
  }

  limits() {
    const {logX, logY, map} = this.picture;
    const xs = map ? cellEdges(map.xs) : this.shown().flatMap(s => s.x);
    const ys = map ? cellEdges(map.ys) : this.shown().flatMap(s => s.y.flatMap((y, i) => {
      const e = s.error?.[i];
      return e > 0 ? [y - e, y, y + e] : [y];
    }));
    if (map) return {x: [xs[0], xs.at(-1)], y: [ys[0], ys.at(-1)]};
    return {x: range(xs, logX), y: range(ys, logY)};
  }

  render() {
    const picture = this.picture;
    const width = Math.max(this.box.clientWidth, 300);
    const limits = this.zoom ?? this.limits();
    const inner = {left: margin.left + this.nameWidth(), right: width - margin.right, top: margin.top};
    if (picture.map && !picture.map.words) inner.right -= barWidth;
    inner.bottom = inner.top + this.areaHeight(inner);
    const height = inner.bottom + margin.bottom;
    this.inner = inner;
    this.x = makeScale(...limits.x, inner.left, inner.right, picture.logX);
    this.y = makeScale(...limits.y, inner.bottom, inner.top, picture.logY);
    const area = h("g", {"clip-path": `url(#${this.clip})`});
    if (picture.map) this.drawMap(area, picture.map);
    for (const series of this.shown()) this.drawSeries(area, series);
    for (const path of picture.paths ?? []) area.append(this.pathOf(path));
    const svg = h("svg", {viewBox: `0 0 ${width} ${height}`, role: "img", tabindex: 0,
                          "aria-label": picture.description ?? `${picture.yLabel} against ${picture.xLabel}`},
      h("defs", {}, h("clipPath", {id: this.clip},
        h("rect", {x: inner.left, y: inner.top, width: inner.right - inner.left, height: inner.bottom - inner.top}))),
      this.axes(), area, picture.map && !picture.map.words ? this.colourBar(picture.map) : null);
    this.marker = h("circle", {r: 5, fill: "none", stroke: "currentColor", "stroke-width": 2, visibility: "hidden"});
    this.frame = h("rect", {fill: "currentColor", "fill-opacity": 0.12, visibility: "hidden"});
    svg.append(this.frame, this.marker);
    this.listen(svg);
    const focused = this.svg !== undefined && document.activeElement === this.svg;
    this.svg?.remove();
    this.box.prepend(svg);
    this.svg = svg;
    if (focused) svg.focus({preventScroll: true});  // whoever steps through points goes on in the new picture
    this.drawKey();
  }

  /// Names beside the picture need more room than numbers.
  nameWidth() {
    const longest = Math.max(0, ...(this.picture.yNames ?? []).map(name => name.label.length));
    return Math.max(0, Math.min(8 * longest - margin.left + 20, this.box.clientWidth / 3));
  }

  /// A map whose axes go over the same numbers is square, so that a disk looks like one.
  areaHeight(inner) {
    const {map} = this.picture;
    const usual = this.height - margin.top - margin.bottom;
    if (!map || map.xs[0] !== map.ys[0] || map.xs.at(-1) !== map.ys.at(-1)) return usual;
    const side = Math.min(inner.right - inner.left, 1.3 * usual);
    inner.right = inner.left + side;
    return side;
  }

  axes() {
    const {left, right, top, bottom} = this.inner;
    const soft = {stroke: "currentColor", "stroke-opacity": 0.14};
    const group = h("g", {});
    for (const x of this.x.ticks) {
      const p = this.x.place(x);
      group.append(h("line", {x1: p, x2: p, y1: top, y2: bottom, ...soft}),
        h("text", {x: p, y: bottom + 18, "text-anchor": "middle"}, tickText(x)));
    }
    const names = this.picture.yNames ?? this.y.ticks.map(y => ({value: y, label: tickText(y)}));
    for (const {value, label} of names) {
      const p = this.y.place(value);
      if (p < top - 1 || p > bottom + 1) continue;
      group.append(h("line", {x1: left, x2: right, y1: p, y2: p, ...soft}),
        h("text", {x: left - 8, y: p + 4, "text-anchor": "end"}, label));
    }
    group.append(h("rect", {x: left, y: top, width: right - left, height: bottom - top, fill: "none",
                            stroke: "currentColor", "stroke-opacity": 0.5}),
      h("text", {x: (left + right) / 2, y: bottom + 40, "text-anchor": "middle"}, this.picture.xLabel));
    if (!this.picture.yNames) {
      const middle = (top + bottom) / 2;
      group.append(h("text", {x: 16, y: middle, "text-anchor": "middle", transform: `rotate(-90 16 ${middle})`},
        this.picture.yLabel));
    }
    return group;
  }

  visible(series) {
    const {logX, logY} = this.picture;
    return series.x.map((x, i) => ({x, y: series.y[i], e: series.error?.[i] ?? 0, i})).filter(
      p => Number.isFinite(p.x) && Number.isFinite(p.y) && (!logX || p.x > 0) && (!logY || p.y > 0));
  }

  drawSeries(area, series) {
    const points = this.visible(series);
    const at = (x, y) => `${this.x.place(x).toFixed(2)},${this.y.place(y).toFixed(2)}`;
    const floor = this.picture.logY ? this.y.low : -Infinity;  // a band that reaches below 0 has no logarithm
    const low = p => Math.max(p.y - p.e, floor);
    if (!series.marks && points.length > 1) {
      if (points.some(p => p.e > 0)) {
        const band = [...points.map(p => at(p.x, p.y + p.e)), ...points.toReversed().map(p => at(p.x, low(p)))];
        area.append(h("path", {d: `M${band.join("L")}Z`, fill: series.colour, "fill-opacity": 0.22}));
      }
      area.append(h("path", {d: `M${points.map(p => at(p.x, p.y)).join("L")}`, fill: "none", stroke: series.colour,
                             "stroke-width": 2, "stroke-dasharray": series.dash ?? ""}));
    }
    if (series.marks || points.length <= 60) {
      for (const p of points) {
        const [cx, cy] = [this.x.place(p.x), this.y.place(p.y)];
        const bar = series.across
          ? {x1: this.x.place(p.x - p.e), x2: this.x.place(p.x + p.e), y1: cy, y2: cy}
          : {x1: cx, x2: cx, y1: this.y.place(low(p)), y2: this.y.place(p.y + p.e)};
        if (series.marks && p.e > 0) area.append(h("line", {...bar, stroke: series.colour, "stroke-width": 1.5}));
        area.append(h("circle", {cx, cy, r: series.marks ? 4 : 2.5, fill: series.hollow ? "none" : series.colour, stroke: series.colour}));
      }
    }
  }

  pathOf({x, y, colour = "#ffffff", width = 2, start = false}) {
    const places = x.map((value, i) => `${this.x.place(value).toFixed(2)},${this.y.place(y[i]).toFixed(2)}`);
    const group = h("g", {}, h("path", {d: `M${places.join("L")}`, fill: "none", stroke: colour, "stroke-width": width}));
    if (start) group.append(h("circle", {cx: this.x.place(x[0]), cy: this.y.place(y[0]), r: 4, fill: colour, stroke: "#000"}));
    return group;
  }

  drawMap(area, map) {
    const {left, right, top, bottom} = this.inner;
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [right - left, bottom - top].map(Math.round);
    const pen = canvas.getContext("2d");
    const [ex, ey] = [cellEdges(map.xs), cellEdges(map.ys)];
    const paint = map.words ? word => map.words.indexOf(word) : shades(map);
    for (let j = 0; j < map.ys.length; ++j) {
      for (let i = 0; i < map.xs.length; ++i) {
        const z = map.z[j][i];
        if (z === null || z === undefined) continue;
        pen.fillStyle = map.words ? colours[paint(z) % colours.length] : paint(z);
        const [x0, x1] = [this.x.place(ex[i]) - left, this.x.place(ex[i + 1]) - left];
        const [y0, y1] = [this.y.place(ey[j + 1]) - top, this.y.place(ey[j]) - top];
        pen.fillRect(x0, y0, x1 - x0 + 0.6, y1 - y0 + 0.6);
      }
    }
    area.append(h("image", {href: canvas.toDataURL(), x: left, y: top, width: right - left, height: bottom - top,
                            preserveAspectRatio: "none"}));
    for (const level of map.levels ?? []) {
      const lines = contour(map, level).map(([a, b]) =>
        `M${this.x.place(a[0]).toFixed(1)},${this.y.place(a[1]).toFixed(1)}L${this.x.place(b[0]).toFixed(1)},${this.y.place(b[1]).toFixed(1)}`);
      area.append(h("path", {d: lines.join(""), stroke: "#fff", "stroke-opacity": 0.45, fill: "none"}));
    }
  }

  colourBar(map) {
    const {right, top, bottom} = this.inner;
    const [low, high] = extent(map);
    const paint = shades(map);
    const group = h("g", {});
    const steps = 40;
    for (let k = 0; k < steps; ++k) {
      group.append(h("rect", {x: right + 12, y: bottom - (bottom - top) * (k + 1) / steps, width: 14,
                              height: (bottom - top) / steps + 0.5, fill: paint(low + (high - low) * (k + 0.5) / steps)}));
    }
    for (const [value, y] of [[low, bottom], [(low + high) / 2, (top + bottom) / 2 + 4], [high, top + 10]]) {
      group.append(h("text", {x: right + 30, y}, short(value, 3)));
    }
    return group;
  }

  drawKey() {
    const map = this.picture.map;
    if (map?.words) {
      fill(this.key, map.words.map((word, i) => h("span", {}, swatch(colours[i % colours.length]), word)));
      return;
    }
    fill(this.key, (this.picture.series ?? []).map(series => h("button", {
      type: "button", "aria-pressed": String(!this.hidden.has(series.label)), title: "Show or hide",
      onclick: () => this.toggle(series.label)}, swatch(series.colour, series.hollow), series.label)));
  }

  toggle(label) {
    if (!this.hidden.delete(label)) this.hidden.add(label);
    const place = [...this.key.children].indexOf(document.activeElement);
    this.render();
    this.key.children[place]?.focus();
    this.changed?.();
  }

  // The mouse and the keyboard.

  listen(svg) {
    let start = null;
    const place = event => {
      const box = svg.getBoundingClientRect();
      const scale = svg.viewBox.baseVal.width / box.width;
      return [(event.clientX - box.left) * scale, (event.clientY - box.top) * scale];
    };
    svg.addEventListener("pointerdown", event => { start = place(event); svg.setPointerCapture(event.pointerId); });
    svg.addEventListener("pointermove", event => {
      const now = place(event);
      if (start) this.showFrame(start, now);
      else this.hover(...now);
    });
    svg.addEventListener("pointerup", event => {
      const end = place(event);
      this.frame.setAttribute("visibility", "hidden");
      if (start && Math.hypot(end[0] - start[0], end[1] - start[1]) > 8) this.zoomTo(start, end);
      else if (start && this.inside(end)) this.onClick?.(this.x.number(end[0]), this.y.number(end[1]));
      start = null;
    });
    svg.addEventListener("pointerleave", () => this.hideTip());
    svg.addEventListener("dblclick", () => this.resetZoom());
    svg.addEventListener("wheel", event => {
      if (!event.ctrlKey) return;  // a plain wheel scrolls the page
      event.preventDefault();
      this.zoomBy(event.deltaY < 0 ? 0.8 : 1.25, place(event));
    }, {passive: false});
    svg.addEventListener("keydown", event => this.pressed(event));
  }

  inside([x, y]) {
    const {left, right, top, bottom} = this.inner;
    return x >= left && x <= right && y >= top && y <= bottom;
  }

  showFrame(a, b) {
    for (const [name, value] of Object.entries({x: Math.min(a[0], b[0]), y: Math.min(a[1], b[1]),
      width: Math.abs(a[0] - b[0]), height: Math.abs(a[1] - b[1]), visibility: "visible"})) {
      this.frame.setAttribute(name, value);
    }
  }

  zoomTo(a, b) {
    const order = (u, v) => u < v ? [u, v] : [v, u];
    this.zoom = {x: order(this.x.number(a[0]), this.x.number(b[0])), y: order(this.y.number(a[1]), this.y.number(b[1]))};
    this.render();
    this.changed?.();
  }

  zoomBy(factor, [cx, cy]) {
    const {left, right, top, bottom} = this.inner;
    const part = (low, high, c) => [c - (c - low) * factor, c + (high - c) * factor];
    const [x0, x1] = part(left, right, cx);
    const [y0, y1] = part(top, bottom, cy);
    this.zoomTo([x0, y1], [x1, y0]);
  }

  resetZoom() {
    this.zoom = null;
    this.render();
    this.changed?.();
  }

  pressed(event) {
    const {left, right, top, bottom} = this.inner;
    const middle = [(left + right) / 2, (top + bottom) / 2];
    const step = {ArrowRight: 1, ArrowLeft: -1}[event.key];
    const up = this.picture.map ? {ArrowUp: 1, ArrowDown: -1}[event.key] : undefined;
    if (step) this.stepTo(step);
    else if (up) this.climb(up);
    else if (event.key === "Enter" && this.pointed) this.onClick?.(this.pointed.x, this.pointed.y);
    else if (event.key === "+" || event.key === "=") this.zoomBy(0.8, middle);
    else if (event.key === "-") this.zoomBy(1.25, middle);
    else if (event.key === "0") this.resetZoom();
    else return;
    event.preventDefault();
  }

  /// All points that can be pointed at, with their places.
  targets() {
    const {map} = this.picture;
    if (map) {
      return map.ys.flatMap((y, j) => map.xs.map((x, i) => ({x, y, z: map.z[j][i]})))
        .filter(p => p.z !== null && p.z !== undefined)
        .map(p => ({...p, px: this.x.place(p.x), py: this.y.place(p.y),
                    text: `${this.name("x")} = ${short(p.x)}, ${this.name("y")} = ${short(p.y)}: ${
                      map.words ? p.z : short(p.z)}`}));
    }
    return this.shown().flatMap(series => this.visible(series).map(p => ({
      ...p, px: this.x.place(p.x), py: this.y.place(p.y),
      text: series.texts?.[p.i] ?? `${series.label}: ${concise(p.y, p.e)} at ${this.name("x")} = ${short(p.x)}`})));
  }

  /// The short name of an axis.
  name(axis) { return this.picture[`${axis}Name`] ?? this.picture[`${axis}Label`]; }

  hover(x, y) {
    let best = null, distance = near;
    for (const p of this.targets()) {
      const d = Math.hypot(p.px - x, p.py - y);
      if (d < distance) [best, distance] = [p, d];
    }
    if (best) this.point(best);
    else this.hideTip();
  }

  seen() { return this.targets().filter(p => this.inside([p.px, p.py])); }

  /// On a map: the next point above (1) or below (-1).
  climb(up) {
    const all = this.seen();
    const now = all[this.at ?? 0];
    const column = all.filter(p => p.x === now?.x && up * (p.y - now.y) > 0).sort((a, b) => up * (a.y - b.y));
    if (column.length === 0) return;
    this.at = all.indexOf(column[0]);
    this.point(column[0]);
  }

  stepTo(step) {
    const all = this.seen();
    if (all.length === 0) return;
    this.at = ((this.at ?? -step) + step + all.length) % all.length;
    this.point(all[this.at]);
  }

  point(target) {
    this.pointed = target;
    this.marker.setAttribute("cx", target.px);
    this.marker.setAttribute("cy", target.py);
    this.marker.setAttribute("visibility", "visible");
    this.tip.textContent = target.text;
    this.tip.hidden = false;
    const scale = this.box.clientWidth / this.svg.viewBox.baseVal.width;
    this.tip.style.left = `${Math.max(0, Math.min(target.px * scale + 10, this.box.clientWidth - this.tip.offsetWidth))}px`;
    this.tip.style.top = `${Math.max(0, target.py * scale - 36)}px`;
  }

  hideTip() {
    this.tip.hidden = true;
    this.marker.setAttribute("visibility", "hidden");
  }
}

const swatch = (colour, hollow = false) => {
  const box = h("i");
  box.style.background = hollow ? "none" : colour;
  box.style.border = `1px solid ${colour}`;
  return box;
};

/// How the k-th series of run `run` looks; where colours repeat, marks are hollow and lines dashed.
export const look = (k, run) => {
  const round = Math.floor(k / colours.length);
  return {colour: colours[k % colours.length], dash: dashes[(run + round) % dashes.length], hollow: round % 2 === 1};
};

/// The borders of cells around these places: halfway between neighbours.
function cellEdges(places) {
  if (places.length === 1) return [places[0] - 0.5, places[0] + 0.5];
  const inner = places.slice(1).map((x, i) => (x + places[i]) / 2);
  return [places[0] - (inner[0] - places[0]), ...inner, places.at(-1) + (places.at(-1) - inner.at(-1))];
}

function extent(map) {
  const all = map.z.flat().filter(z => Number.isFinite(z));
  return [all.reduce((a, b) => Math.min(a, b), Infinity), all.reduce((a, b) => Math.max(a, b), -Infinity)];
}

// Five colours of viridis, which is even in brightness and safe for colour-blind eyes.
const viridis = [[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]];

function shades(map) {
  const [low, high] = extent(map);
  return z => {
    const u = high > low ? (z - low) / (high - low) * (viridis.length - 1) : 0;
    const k = Math.max(0, Math.min(Math.floor(u), viridis.length - 2));
    const mix = viridis[k].map((c, i) => Math.round(c + (viridis[k + 1][i] - c) * (u - k)));
    return `rgb(${mix.join(",")})`;
  };
}

/// Segments of the line on which the map has that level, by marching squares.
export function contour({xs, ys, z}, level) {
  const segments = [];
  for (let j = 0; j + 1 < ys.length; ++j) {
    for (let i = 0; i + 1 < xs.length; ++i) {
      const corners = [[xs[i], ys[j], z[j][i]], [xs[i + 1], ys[j], z[j][i + 1]],
                       [xs[i + 1], ys[j + 1], z[j + 1][i + 1]], [xs[i], ys[j + 1], z[j + 1][i]]];
      if (corners.some(c => !Number.isFinite(c[2]))) continue;
      const crossings = [];
      for (let k = 0; k < 4; ++k) {
        const [a, b] = [corners[k], corners[(k + 1) % 4]];
        if ((a[2] < level) === (b[2] < level)) continue;
        const t = (level - a[2]) / (b[2] - a[2]);
        crossings.push([a[0] + t * (b[0] - a[0]), a[1] + t * (b[1] - a[1])]);
      }
      for (let k = 0; k + 1 < crossings.length; k += 2) segments.push([crossings[k], crossings[k + 1]]);
    }
  }
  return segments;
}
