// Explore: choose a question, turn its knobs, look.

import {h, fill, short, prose, duration, copyButton} from "./dom.js";
import {settle, Run} from "./api.js";
import {Form, exampleValues} from "./form.js";
import {Panel} from "./panel.js";
import {Composer} from "./composer.js";
import {companionOf} from "./companions.js";

/// A run that is estimated to be cheaper than this (seconds on one core) follows the sliders.
const cheap = 1.5;
const typingPause = 50;  // milliseconds
const mostKept = 6;

export class ExploreView {
  /// `remember(state)` keeps what is shown in the address; `watch()` goes to the watched stores.
  constructor(parent, catalog, {remember, watch}) {
    this.questions = catalog.questions;
    this.verbs = catalog.questions.flatMap(group => group.verbs);
    this.remember = remember;
    this.watch = watch;
    this.kept = [];
    this.wanted = 0;
    this.settled = h("div");
    this.side = h("div", {class: "card"});
    this.main = h("div", {class: "card"});
    this.choice = h("select", {id: "question", "aria-label": "Question", onchange: () => this.open(this.choice.value)},
      catalog.questions.map(group => h("optgroup", {label: group.question}, group.verbs.map(verb =>
        h("option", {value: verb.command}, `${verb.summary} (${verb.command})`)))));
    parent.append(h("div", {class: "explore"}, this.side, this.main));
  }

  verb(command) { return this.verbs.find(one => one.command === command); }

  /// Opens a verb with these values; without any, as its first example has it.
  open(command, values = null, view = {}) {
    const verb = this.verb(command) ?? this.verbs[0];
    void this.stop();
    this.current = verb;
    this.choice.value = verb.command;
    this.latest = null;
    this.kept = (view.kept ?? []).slice(0, mostKept).map(given => ({given}));
    const start = values ?? exampleValues(verb, verb.examples[0] ?? "");
    this.form = new Form(verb, start, () => this.changed());
    this.buildSide(verb);
    this.buildMain(verb, view);
    this.composer.setAxes(view.axes ?? {}, view.tied ?? {});
    this.showKept();
    this.changed({run: view.run ?? true}).then(() => this.fillKept(verb));
  }

  /// Computes what a link compares with, one after the other, where that is cheap.
  async fillKept(verb) {
    for (const table of this.kept.filter(one => !one.rows)) {
      try {
        const {cost} = await settle({command: verb.command, given: table.given});
        table.seconds = cost.core_seconds;
        if (verb !== this.current) return;
        if (cost.core_seconds <= cheap && !verb.needs_folder) await this.computeKept(table);
      } catch (problem) {
        table.problem = problem.message;
      }
      if (verb !== this.current) return;
      this.showKept();
    }
  }

  async computeKept(table) {
    const verb = this.current;
    const result = await new Run({command: verb.command, given: table.given}).result;
    if (verb !== this.current || !result) return;
    Object.assign(table, {columns: result.columns, rows: result.record.rows, record: result.record});
    if (this.latest) this.draw();
    else this.showKept();
  }

  buildSide(verb) {
    this.live = h("input", {type: "checkbox", id: "live", onchange: () => { this.liveChosen = true; }});
    this.liveChosen = false;
    const group = this.questions.find(one => one.verbs.includes(verb));
    fill(this.side, h("h2", {}, group.question), h("p", {}, this.choice),
      h("p", {class: "note"}, h("code", {id: "verb"}, verb.command), `: ${verb.summary}`),
      h("details", {}, h("summary", {}, "What it computes"), h("p", {class: "note"}, prose(verb.details))), this.form.element);
  }

  buildMain(verb, view) {
    this.start = h("button", {type: "button", class: "main", id: "run", onclick: () => this.run()}, "Run");
    this.halt = h("button", {type: "button", id: "stop", disabled: true, onclick: () => this.stop()}, "Stop");
    this.keep = h("button", {type: "button", id: "keep", disabled: true, title: "Keeps this result in the picture, to compare the next one with",
                             onclick: () => this.keepResult()}, "Keep to compare");
    this.cost = h("span", {class: "note", id: "cost"});
    this.progress = h("div", {id: "progress", "aria-live": "polite"});
    this.keptList = h("div", {class: "row"});
    this.summary = h("div");
    const result = h("div", {id: "result"});
    fill(this.main, h("div", {class: "row"}, this.start, this.halt, this.keep,
      h("label", {for: "live"}, this.live, " follow the sliders"), this.cost),
      this.progress, this.keptList, result, this.summary, this.commandBox());
    const place = h("div");
    const companion = companionOf(verb.command, {
      verb: command => this.verb(command), given: () => this.form.values, place,
      open: (command, values) => this.open(command, values), redraw: () => this.panel.redraw(true)});
    if (companion) result.append(h("p", {class: "note"}, companion.hint));
    this.panel = new Panel(result, {
      primary: verb.primary, name: verb.command.replace(" ", "-"), changed: () => this.save(),
      onClick: async (x, y, table) => {
        try { await companion?.click(x, y, table); } catch (problem) { this.say(problem.message); }
      },
      extra: companion?.extra, beside: place});
    Object.assign(this.panel, {logX: view.logX ?? false, logY: view.logY ?? false, chosen: view.chosen ?? {}});
    Object.assign(this.panel.plot, {zoom: view.zoom ?? null, hidden: new Set(view.hidden)});
    this.composer = new Composer(verb, () => this.form.values, this.watch);
    this.main.append(this.composer.element);
    result.hidden = true;
    this.result = result;
  }

  commandBox() {
    this.text = h("pre", {id: "command"});
    this.language = h("select", {"aria-label": "Command as", onchange: () => this.showCommand()},
      ["shell", "toml", "python"].map(name => h("option", {value: name}, {shell: "Shell", toml: "Study file (TOML)", python: "Python"}[name])));
    return h("section", {}, h("h3", {}, "The same outside"),
      h("div", {class: "row"}, this.language, copyButton(() => this.text.textContent),
        copyButton(() => location.href, "Copy link to this view")), this.text);
  }

  showCommand() { this.text.textContent = this.call?.[this.language.value] ?? ""; }

  /// The form changed: say what it costs, and run it where that is cheap.
  async changed({run = true} = {}) {
    const change = this.wanted = this.wanted + 1;
    this.save();
    await new Promise(resolve => setTimeout(resolve, typingPause));
    if (change !== this.wanted) return;
    try {
      const call = await settle({command: this.current.command, given: this.form.values});
      if (change !== this.wanted) return;
      this.call = call;
      this.form.complain(null);
    } catch (refusal) {
      if (change === this.wanted) this.form.complain(refusal);
      return;
    }
    this.showCommand();
    this.showCost();
    this.composer.refresh();
    if (run && this.live.checked) await this.run();
  }

  showCost() {
    const {core_seconds: seconds, memory_bytes: bytes, caution, method} = this.call.cost;
    this.cost.textContent = `about ${duration(seconds)} on one core, ${short(bytes / 2 ** 20, 2)} MiB${caution ? `. ${caution}` : ""}`;
    this.cost.title = method;
    this.start.disabled = this.current.needs_folder;
    if (this.current.needs_folder) this.cost.textContent += ". It writes files: run the command below in a shell.";
    if (!this.liveChosen) this.live.checked = seconds <= cheap && !this.current.needs_folder;
  }

  /// One run at a time: a run that is under way is stale by now and is stopped.
  async run() {
    const mine = this.turn = (this.turn ?? 0) + 1;
    const stale = this.active;
    this.active = null;
    await stale?.stop();
    if (mine !== this.turn) return;
    const call = {command: this.current.command, given: this.form.values};
    const verb = this.current;
    const began = performance.now();
    this.steps = [];
    const active = this.active = new Run(call, state => {
      if (active !== this.active || verb !== this.current) return;
      this.showProgress(state);
      if (state.result) this.showRows(state.result, call);
    });
    this.halt.disabled = false;
    try {
      const result = await active.result;
      if (active !== this.active || verb !== this.current) return;
      this.showResult(result, call, performance.now() - began);
    } catch (problem) {
      if (active === this.active) { this.say(problem.message); this.form.complain(problem.field ? problem : null); }
    } finally {
      if (active === this.active) { this.active = null; this.halt.disabled = true; }
    }
  }

  async stop() {
    this.turn = (this.turn ?? 0) + 1;
    await this.active?.stop();
  }

  say(message) { fill(this.progress, h("p", {class: "wrong"}, message)); }

  showProgress(state) {
    const percent = Number.parseFloat(state.progress);
    const what = state.progress.replace(/^[^,]*, /, "");
    if (what && this.steps.at(-1)?.what !== what) this.steps.push({what, at: state.seconds});
    const bar = h("progress", {max: 100, "aria-label": "Progress"});
    if (Number.isFinite(percent)) bar.value = percent;
    fill(this.progress, bar, h("p", {class: "note"}, `${state.progress || "running"} (${duration(state.seconds)})`),
      this.steps.length > 1 ? h("p", {class: "note"}, `So far: ${this.steps.map(step => `${step.what} (${duration(step.at)})`).join(", ")}`) : null);
  }

  showResult(result, call, milliseconds) {
    if (!result) { this.say("Stopped before the first row."); return; }
    const {record} = result;
    const said = {
      ok: `ok, ${duration(record.seconds)} (${duration(milliseconds / 1000)} with the way here)`,
      interrupted: `Stopped. The ${record.rows.length === 1 ? "row" : `${record.rows.length} rows`} finished by then ${record.rows.length === 1 ? "is" : "are"} shown.`,
    }[record.status] ?? `${record.status}: ${record.reason}`;
    fill(this.progress, h("p", {class: record.status === "ok" ? "note" : record.status, id: "status"}, said));
    this.showRows(result, call);
  }

  /// The rows of a result, or those that there are of one under way.
  showRows({record, columns}, call) {
    this.latest = {label: "now", columns, rows: record.rows, record, given: call.given};
    fill(this.summary, summaryOf(record));
    this.keep.disabled = record.rows.length === 0;
    this.result.hidden = record.rows.length === 0;
    if (record.rows.length > 0) this.draw();
  }

  draw(options = {keepZoom: true}) {
    const tables = [this.latest, ...this.kept.filter(table => table.rows)];
    const names = new Set(tables.flatMap(table => Object.keys(table.given)));
    const differing = [...names].filter(name => new Set(tables.map(table => String(table.record.parameters[name]))).size > 1);
    for (const table of tables) {
      table.label = differing.map(name => `${name} ${table.given[name] ?? table.record.parameters[name]}`).join(", ") ||
        (table === this.latest ? "now" : "kept");
    }
    // A zoom is kept only while the same thing is looked at.
    this.panel.show(tables, {keepZoom: options.keepZoom && this.panel.plot.zoom !== null});
    this.showKept();
  }

  /// What is compared with: each can be taken away, and one that a link brought and that is dear can
  /// be computed.
  showKept() {
    this.save();
    const remove = table => {
      this.kept = this.kept.filter(one => one !== table);
      if (this.latest) this.draw();
      else this.showKept();
    };
    const compute = table => h("button", {type: "button", onclick: async event => {
      event.target.disabled = true;
      try { await this.computeKept(table); } catch (problem) { this.say(problem.message); }
    }}, `Compute ${settingOf(table.given)} (about ${duration(table.seconds)})`);
    fill(this.keptList, this.kept.length === 0 ? [] : [h("span", {class: "soft"}, "Compared with"), ...this.kept.flatMap(table => [
      table.rows || table.seconds === undefined || table.problem ? null : compute(table),
      table.problem ? h("span", {class: "wrong"}, `${settingOf(table.given)}: ${table.problem}`) : null,
      h("button", {type: "button", title: "Remove", "aria-label": `Remove ${table.label ?? settingOf(table.given)}`, onclick: () => remove(table)},
        table.rows ? `${table.label || "the same"} \u00d7` : "\u00d7")])]);
  }

  keepResult() {
    if (!this.latest || this.kept.some(table => table === this.latest)) return;
    this.kept = [{...this.latest}, ...this.kept].slice(0, mostKept);
    this.draw();
  }

  save() {
    this.remember({command: this.current.command, values: this.form.values, kept: this.kept.map(table => table.given),
                   view: {chosen: this.panel.chosen, logX: this.panel.logX, logY: this.panel.logY,
                          zoom: this.panel.plot.zoom, hidden: [...this.panel.plot.hidden]}});
  }
}

const settingOf = given => Object.entries(given).map(([name, value]) => `${name} ${value}`).join(", ") || "the defaults";

function summaryOf(record) {
  const entries = Object.entries(record.summary).filter(([name, value]) => value !== null && value !== "" && !name.endsWith("_err"));
  if (entries.length === 0 && !record.notes) return [];
  const show = (name, value) => {
    const error = record.summary[`${name}_err`];
    return typeof value === "number" && error ? `${short(value)} \u00b1 ${short(error, 2)}` : String(value);
  };
  return [h("h3", {}, "Of the whole"), h("dl", {}, entries.flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, show(name, value))])),
    (record.notes ?? []).map(note => h("p", {class: "note"}, note))];
}
