// Pictures where one verb's result leads to another's: a click on the landscape of a risk starts a
// path on it, one on a phase diagram opens that landscape, one on an error curve shows the spectrum
// behind it.

import {h, fill, concise, short} from "./dom.js";
import {Run} from "./api.js";
import {Plot, look} from "./plot.js";

const pathColours = ["#ffffff", "#E69F00", "#56B4E9", "#CC79A7"];

/// Values of the verb's parameters that the other verb has too.
function shared(given, verb) {
  const known = new Set(verb.parameters.map(parameter => parameter.name));
  return Object.fromEntries(Object.entries(given).filter(([name]) => known.has(name) && name !== "tol" && name !== "points"));
}

/// A column of the landscape on its grid, for interpolation between.
function gridValues(table, name) {
  const xs = [...new Set(table.rows.map(row => row.e))].sort((a, b) => a - b);
  const ys = [...new Set(table.rows.map(row => row.m))].sort((a, b) => a - b);
  const values = new Map(table.rows.map(row => [`${row.e} ${row.m}`, row[name]]));
  const at = (i, j) => values.get(`${xs[i]} ${ys[j]}`);
  return (e, m) => {
    const place = (list, x) => Math.max(0, Math.min(list.length - 2, Math.floor((x - list[0]) / (list[1] - list[0]))));
    const [i, j] = [place(xs, e), place(ys, m)];
    const [u, v] = [(e - xs[i]) / (xs[i + 1] - xs[i]), (m - ys[j]) / (ys[j + 1] - ys[j])];
    const corners = [at(i, j), at(i + 1, j), at(i, j + 1), at(i + 1, j + 1)];
    if (corners.some(z => !Number.isFinite(z))) return NaN;
    return (1 - v) * ((1 - u) * corners[0] + u * corners[1]) + v * ((1 - u) * corners[2] + u * corners[3]);
  };
}

/// Lines of steepest descent on the sphere, whose cosines e and m are: d(e, m)/dt = -(g - (e, m) ((e, m) . g))
/// with the slope g between the points of the landscape. They show where the flow goes at small
/// learning rates ([ssi 17] without its last term); the path from a clicked place is integrated by `ssi flow` itself.
export function flowLines(table) {
  if (!table.columns.some(column => column.name === "slope_e")) return [];
  const [slopeE, slopeM] = [gridValues(table, "slope_e"), gridValues(table, "slope_m")];
  const lines = [];
  for (let e = -0.8; e <= 0.81; e += 0.2) {
    for (let m = -0.8; m <= 0.81; m += 0.2) {
      if (e * e + m * m < 0.9) lines.push(streamline(e, m, slopeE, slopeM));
    }
  }
  return lines.filter(line => line.x.length > 2).map(line => ({...line, colour: "#ffffff88", width: 1}));
}

function streamline(e, m, slopeE, slopeM) {
  const step = 0.02, longest = 12;  // a short stroke shows the direction without hiding the map
  const line = {x: [e], y: [m]};
  for (let k = 0; k < longest; ++k) {
    const [a, b] = [slopeE(e, m), slopeM(e, m)];
    const along = e * a + m * b;
    const [de, dm] = [-(a - e * along), -(b - m * along)];
    const speed = Math.hypot(de, dm);
    if (!(speed > 1e-9)) break;
    e += step * de / speed;
    m += step * dm / speed;
    line.x.push(e);
    line.y.push(m);
  }
  return line;
}

/// What a click on this verb's picture does: {hint, click(x, y, table), extra(table, picture)}, or
/// nothing. `context` has verb(command), given(), open(command, values), redraw() and place, a box
/// below the picture.
export function companionOf(command, context) {
  if (command === "ssi loss") return landscape(context);
  if (command === "ssi phase") return phases(context);
  if (command === "aim curve") return spectra(context);
  return null;
}

function landscape(context) {
  const flow = context.verb("ssi flow");
  let paths = [];
  let lines = [];
  let last = null;
  return {
    hint: "Click on the disk to start a path there: ssi flow integrates it. Strokes show the descent at small learning rates.",
    extra(table, picture) {
      if (table !== last) [last, paths, lines] = [table, [], flowLines(table)];
      picture.paths = [...lines, ...paths];
    },
    async click(e, m) {
      if (e * e + m * m >= 1) return;
      const given = {...shared(context.given(), flow), e0: short(e, 4), m0: short(m, 4)};
      fill(context.place, h("p", {class: "note"}, "Integrating\u2026"));
      const result = await new Run({command: "ssi flow", given}).result;
      const rows = result?.record.rows ?? [];
      if (rows.length === 0) {
        fill(context.place, h("p", {class: "wrong"}, result?.record.reason ?? "stopped"));
        return;
      }
      paths.push({x: rows.map(row => row.e), y: rows.map(row => row.m), width: 2.5, start: true,
                  colour: pathColours[paths.length % pathColours.length]});
      const end = rows.at(-1);
      fill(context.place, h("p", {class: "note"}, `From (${given.e0}, ${given.m0}) to e = ${concise(end.e, end.e_err)}, ` +
        `m = ${concise(end.m, end.m_err)} at time ${short(end.time)}.`));
      context.redraw();
    }};
}

function phases(context) {
  return {
    hint: "Click on a point to open its landscape.",
    click: (a, omega) => context.open("ssi loss", {a: short(Math.max(0, a), 4), omega: short(Math.min(1, Math.max(0, omega)), 4)})};
}

function spectra(context) {
  const spectrum = context.verb("aim spectrum");
  return {
    hint: "Click on the curve to see the spectrum behind that point: the eigenvalues that the labels show, and the best estimate of each.",
    async click(alpha, _, table) {
      const near = table.rows.filter(row => row.qhat > 0).reduce(
        (best, row) => !best || Math.abs(row.alpha - alpha) < Math.abs(best.alpha - alpha) ? row : best, null);
      const rho = context.given().rho;
      if (!near || Number(rho) === 0) return;
      const given = {delta: String(1 / near.qhat), ...(rho === undefined ? {} : {rho})};
      const result = await new Run({command: "aim spectrum", given}).result;
      const rows = result?.record.rows ?? [];
      if (rows.length === 0) return;
      const boxes = [h("div"), h("div")];
      fill(context.place, h("h3", {}, `Spectrum at alpha = ${short(near.alpha)}, mmse = ${concise(near.mmse, near.mmse_err)}`),
        h("div", {class: "pair"}, boxes));
      ["density", "denoiser"].forEach((y, k) => new Plot(boxes[k], {height: 280}).draw({
        xLabel: "eigenvalue of the noisy matrix", yLabel: y,
        series: [{label: y, x: rows.map(row => row.x), y: rows.map(row => row[y]), error: rows.map(row => row[`${y}_err`]), ...look(k, 0)}]}));
    }};
}
