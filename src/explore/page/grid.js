// Grids: several values of a number, typed as the command takes them or put together from their ends.

import {h, fill, short} from "./dom.js";

const number = /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i;

const numbers = parts => parts.length > 0 && parts.every(part => number.test(part.trim())) ? parts.map(Number) : null;

/// What a text says: {kind: "list", values}, {kind: "steps", from, to, step} or {kind: "log", from,
/// to, count}; nothing where it is none of these.
export function readGrid(text) {
  const log = text.trim().startsWith("log:");
  const parts = text.trim().split(":").slice(log ? 1 : 0);
  if (parts.length === 3) {
    const ends = numbers(parts);
    if (!ends) return null;
    const [from, to, third] = ends;
    return log ? {kind: "log", from, to, count: third} : {kind: "steps", from, to, step: third};
  }
  const values = parts.length === 1 && !log ? numbers(text.split(",")) : null;
  return values ? {kind: "list", values} : null;
}

export function writeGrid(grid) {
  if (grid.kind === "list") return grid.values.map(x => short(x, 8)).join(",");
  const ends = `${short(grid.from, 8)}:${short(grid.to, 8)}`;
  return grid.kind === "log" ? `log:${ends}:${short(grid.count, 8)}` : `${ends}:${short(grid.step, 8)}`;
}

/// The points of a grid; none where its ends make no sense.
export function gridPoints(grid) {
  const most = 100000, slack = 1e-9;
  if (grid.kind === "list") return grid.values;
  if (grid.kind === "log") {
    const {from, to, count} = grid;
    if (!(from > 0 && to > from && Number.isInteger(count) && count > 1 && count <= most)) return [];
    return Array.from({length: count}, (_, k) => from * (to / from) ** (k / (count - 1)));
  }
  const {from, to, step} = grid;
  const count = Math.floor((to - from) / step + slack) + 1;
  return step > 0 && count > 0 && count <= most ? Array.from({length: count}, (_, k) => from + k * step) : [];
}

/// The same points, nearly, as a grid of another kind.
export function gridAs(kind, grid) {
  const points = gridPoints(grid);
  if (points.length === 0 || grid.kind === kind) return grid;
  const [from, to] = [Math.min(...points), Math.max(...points)];
  const count = Math.max(points.length, 2);
  if (kind === "list") return {kind, values: points.slice(0, 50)};
  if (kind === "steps") return {kind, from, to, step: Number(((to - from || 1) / (count - 1)).toPrecision(3))};
  const least = from > 0 ? from : to > 0 ? to / 100 : 0.01;
  return {kind, from: least, to: to > least ? to : 100 * least, count};
}

const kinds = {list: "one by one", steps: "in equal steps", log: "in equal ratios"};
const fieldsOf = {list: [], steps: ["from", "to", "step"], log: ["from", "to", "count"]};

/// An editor of the grid that a text field holds: it reads the field when it opens and whenever the
/// field changes, and writes to it as if it were typed.
export function gridEditor(input, name) {
  const controls = h("div", {class: "row"});
  const says = h("p", {class: "text"});
  const write = grid => {
    input.value = writeGrid(grid);
    input.dispatchEvent(new Event("input", {bubbles: true}));
  };
  const shape = grid => {
    const points = gridPoints(grid);
    const ends = points.length > 3 ? `${short(points[0], 4)}, ${short(points[1], 4)}, .., ${short(points.at(-1), 4)}` : points.map(x => short(x, 4)).join(", ");
    says.textContent = points.length === 0 ? "These ends make no grid." : `${points.length} point${points.length === 1 ? "" : "s"}: ${ends}`;
  };
  let shown = "";
  const show = (force = false) => {
    const grid = readGrid(input.value || input.placeholder) ?? {kind: "list", values: [1]};
    shape(grid);
    if (!force && shown === grid.kind && controls.contains(document.activeElement)) return;  // somebody types here
    shown = grid.kind;
    const kind = h("select", {"aria-label": `Grid of ${name}`, onchange: () => { write(gridAs(kind.value, grid)); show(true); }},
      Object.entries(kinds).map(([word, label]) => h("option", {value: word, selected: word === grid.kind}, label)));
    fill(controls, kind, fieldsOf[grid.kind].map(part => h("label", {}, `${part} `, h("input", {
      type: "number", step: "any", value: String(grid[part]), "aria-label": `${part} of ${name}`,
      oninput: event => {
        const now = readGrid(input.value);
        if (now && event.target.value !== "") write({...now, [part]: Number(event.target.value)});
      }}))));
  };
  const box = h("details", {class: "grid", ontoggle: () => { if (box.open) show(true); }}, h("summary", {}, "Grid"), controls, says);
  input.addEventListener("input", () => { if (box.open) show(); });
  return box;
}
