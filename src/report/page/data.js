// Tables of results as pictures: which column is drawn against which.

import {look} from "./plot.js";
import {concise} from "./dom.js";

const numeric = (rows, name) => rows.some(row => typeof row[name] === "number");
const distinct = (rows, name) => [...new Set(rows.map(row => row[name]))];
const byNumber = (a, b) => a - b;
/// Columns that number repetitions of the same, seeds and runs: curves are averages over them.
const isRepeat = name => name === "seed" || name === "run";

/// The columns by what they can be: numbers that were put in, numbers that came out, words.
export function columnsOf({columns, rows}) {
  const inputs = [], outputs = [], words = [];
  for (const column of columns) {
    if (column.estimate) { if (numeric(rows, column.name)) outputs.push(column.name); }
    else if (numeric(rows, column.name)) inputs.push(column.name);
    else if (rows.some(row => typeof row[column.name] === "string")) words.push(column.name);
  }
  return {inputs, outputs, words};
}

/// The two leading inputs, if the rows fill a grid of them (a disk in it will do).
function gridOf(table, {inputs}, axes) {
  const [a, b] = inputs;
  if (inputs.length < 2 || isRepeat(a) || isRepeat(b) || table.columns[0].name !== a || table.columns[1].name !== b) return null;
  if (axes.length > 0 && [a, b].some(name => !axes.includes(name) && counts(table, name))) return null;
  const [xs, ys] = [distinct(table.rows, a).sort(byNumber), distinct(table.rows, b).sort(byNumber)];
  const filled = table.rows.length / (xs.length * ys.length);
  return xs.length >= 3 && ys.length >= 3 && filled > 0.5 && filled <= 1 ? {a, b, xs, ys} : null;
}

/// What can be chosen for a table, and what is chosen unless somebody chose otherwise.
export function choices(table, {primary = "", axes = []} = {}) {
  const kinds = columnsOf(table);
  const grid = gridOf(table, kinds, axes);
  const varied = name => distinct(table.rows, name).length > 1;
  if (grid) {
    const z = [...kinds.outputs, ...kinds.words, ...kinds.inputs.filter(name => name !== grid.a && name !== grid.b)];
    const best = kinds.words[0] ?? (z.includes(primary) ? primary : z[0]);
    return {kind: "map", grid, z, axes, chosen: {z: best}};
  }
  const x = kinds.inputs.filter(varied).sort((a, b) => isRepeat(a) - isRepeat(b));
  const y = [...kinds.outputs, ...kinds.inputs];
  const bestX = abscissa(table, x, axes);
  const named = y.includes(primary) ? primary : y.find(name => name !== bestX);
  // Numbers of a few steps that belong to words (stages, say) are no axis to draw against.
  const stages = kinds.words.length > 0 && axes.length === 0 && table.columns[0].name === bestX &&
    kinds.words.some(name => distinct(table.rows, name).length === table.rows.length);
  if (bestX === undefined || named === undefined || bestX === named || stages) {
    const rest = y.filter(name => name !== table.columns[0].name);
    const shown = rest.includes(primary) ? [primary] : rest;
    return {kind: "dots", y: rest, axes, chosen: {y: shown}, logX: spreads(table, shown)};
  }
  return {kind: "curves", x, y, axes, chosen: {x: bestX, y: [named]}, groups: groupsOf(table, kinds, bestX, axes)};
}

const counts = (table, name) => table.rows.every(row => row[name] === null || Number.isInteger(row[name]));

/// Whether numbers are so far apart that only a logarithm shows them all.
function spreads(table, names) {
  const numbers = names.flatMap(name => table.rows.map(row => row[name])).filter(x => typeof x === "number" && x !== 0);
  const far = 1e3;
  return numbers.every(x => x > 0) && Math.max(...numbers) > far * Math.min(...numbers);
}

/// A verb's own grid, or else the axis with the most values; numbers that only count rows, as stages
/// do, are no grid where there is an axis.
function abscissa(table, names, axes) {
  const own = names.filter(name => !axes.includes(name) && !isRepeat(name));
  const longest = names.filter(name => axes.includes(name) && !isRepeat(name)).sort(
    (a, b) => distinct(table.rows, b).length - distinct(table.rows, a).length)[0];
  return own.find(name => longest === undefined || !counts(table, name)) ?? longest ?? own[0];
}

/// Columns whose values tell curves apart: words that vary, and axes of a study.
function groupsOf(table, kinds, x, axes) {
  const few = 12;  // more curves than that would hide one another
  const varied = name => { const n = distinct(table.rows, name).length; return n > 1 && n <= few; };
  return [...kinds.words.filter(varied), ...axes.filter(name => name !== x && !isRepeat(name) && varied(name))];
}

/// The name of a column, and the first clause of its meaning where that is short: an axis says what
/// alpha is.
function label(table, name, axes = []) {
  const longest = 44;
  const column = table.columns.find(one => one.name === name);
  const clause = (column?.meaning ?? "").split(/[,;:(]/)[0].replaceAll("`", "").trim();
  const namesIt = clause.split(/[^A-Za-z0-9_]+/).includes(name);
  if (clause === "" || clause.length > longest || (!namesIt && axes.includes(name))) return name;
  return namesIt ? clause : `${name}: ${clause}`;
}

/// The standard error of a mean: as the library has it, times Student's factor for one sigma (a series in 1/(n - 1),
/// which is 1.3 % too small for two repetitions and exact to 0.1 % for more).
function meanOf(values) {
  const n = values.length, mean = values.reduce((sum, value) => sum + value, 0) / n;
  const square = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (n - 1);
  const nu = n - 1, factor = 1 + 0.5 / nu + 0.25 / nu ** 2 + 0.0625 / nu ** 3;
  return {value: mean, error: factor * Math.sqrt(square / n)};
}

/// Points of one curve, in the order of x. Where rows repeat one another, a point is their mean.
function pointsOf(table, rows, x, y) {
  const sorted = rows.filter(row => typeof row[y] === "number").sort((a, b) => a[x] - b[x]);
  const single = row => ({x: row[x], value: row[y], error: row[`${y}_err`] ?? 0});
  if (!table.columns.some(column => isRepeat(column.name) && column.name !== x)) return sorted.map(single);
  const places = new Map();
  for (const row of sorted) places.set(row[x], [...(places.get(row[x]) ?? []), row]);
  return [...places].map(([at, same]) => same.length === 1 ? single(same[0]) : {x: at, ...meanOf(same.map(row => row[y]))});
}

function curves(table, chosen, groups, run, prefix) {
  const used = groups.filter(name => name !== chosen.x && !chosen.y.includes(name));
  const parts = new Map();
  for (const row of table.rows) {
    const key = used.map(name => `${name} ${row[name]}`).join(", ");
    if (!parts.has(key)) parts.set(key, []);
    parts.get(key).push(row);
  }
  const series = [];
  for (const y of chosen.y) {
    for (const [key, rows] of parts) {
      const points = pointsOf(table, rows, chosen.x, y);
      if (points.length === 0) continue;
      series.push({
        label: [prefix, chosen.y.length > 1 || key === "" ? y : "", key].filter(Boolean).join(": "),
        x: points.map(point => point.x), y: points.map(point => point.value),
        error: points.map(point => point.error), run});
    }
  }
  return series;
}

/// Every row a line of marks at its numbers, named by its words: what is left when there is no axis.
function dots(table, chosen, prefix) {
  const all = columnsOf(table).words;
  const varied = all.filter(word => distinct(table.rows, word).length > 1);
  const words = varied.length > 0 ? varied : all;
  const name = (row, i) => words.map(word => row[word]).filter(Boolean).join(" ") || `row ${i + 1}`;
  const series = chosen.y.map(y => {
    const rows = table.rows.map((row, i) => ({row, i})).filter(({row}) => typeof row[y] === "number");
    return {label: [prefix, y].filter(Boolean).join(": "), marks: true, across: true, x: rows.map(({row}) => row[y]),
            y: rows.map(({i}) => -i), error: rows.map(({row}) => row[`${y}_err`] ?? 0),
            texts: rows.map(({row, i}) => `${name(row, i)}: ${y} = ${concise(row[y], row[`${y}_err`])}`)};
  });
  return {names: table.rows.map((row, i) => ({value: -i, label: name(row, i)})), series: series.filter(one => one.x.length > 0)};
}

function mapOf(table, grid, z) {
  const place = new Map(grid.xs.map((x, i) => [x, i]));
  const line = new Map(grid.ys.map((y, j) => [y, j]));
  const cells = grid.ys.map(() => grid.xs.map(() => null));
  for (const row of table.rows) cells[line.get(row[grid.b])][place.get(row[grid.a])] = row[z];
  const words = numeric(table.rows, z) ? null : distinct(table.rows, z).filter(word => word !== null).sort();
  const numbers = words ? [] : cells.flat().filter(x => Number.isFinite(x)).sort(byNumber);
  // Quantiles as levels: lines where the landscape is, however flat its plains are.
  const levels = words ? [] : Array.from({length: 14}, (_, k) => numbers[Math.floor((k + 1) * numbers.length / 15)]);
  return {xs: grid.xs, ys: grid.ys, z: cells, words, levels, label: z};
}

/// The picture of one or more tables of the same kind: the first is the present one, the others are
/// drawn over it for comparison. Tables are {label, columns, rows}.
export function pictureOf(tables, options, {logX = false, logY = false} = {}) {
  const [table] = tables;
  const {kind, chosen, grid, axes} = options;
  const named = name => label(table, name, axes);
  if (kind === "map") {
    return {xLabel: named(grid.a), yLabel: named(grid.b), xName: grid.a, yName: grid.b, series: [], map: mapOf(table, grid, chosen.z),
            description: `map of ${chosen.z} over ${grid.a} and ${grid.b}`};
  }
  const prefix = one => tables.length > 1 ? one.label : "";
  if (kind === "dots") {
    const all = tables.map(one => dots(one, chosen, prefix(one)));
    const series = all.flatMap(one => one.series).map((one, k) => ({...one, ...look(k, 0)}));
    return {xLabel: chosen.y.length === 1 ? named(chosen.y[0]) : "value", yLabel: "", logX, series, yNames: all[0].names};
  }
  const series = tables.flatMap((one, run) => curves(one, chosen, options.groups, run, prefix(one)));
  const perRun = Math.max(1, series.filter(one => one.run === 0).length);
  series.forEach((one, k) => Object.assign(one, perRun > 1 ? look(k % perRun, one.run) : look(k, 0)));
  return {xLabel: named(chosen.x), yLabel: chosen.y.length === 1 ? named(chosen.y[0]) : chosen.y.join(", "), xName: chosen.x, logX, logY, series};
}

/// The rows as CSV, as the command writes them: an estimate is followed by its error.
export function toCsv({columns, rows}) {
  const names = columns.flatMap(column => column.estimate ? [column.name, `${column.name}_err`] : [column.name]);
  const quote = cell => {
    const text = cell === null || cell === undefined ? "" : String(cell);
    return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return [names, ...rows.map(row => names.map(name => row[name]))].map(line => line.map(quote).join(",")).join("\n") + "\n";
}

