// A study from the form: its axes, its file, and a sweep of its own into a store of its own.

import {h, fill, duration, copyButton, short} from "./dom.js";
import {compose, startStudy} from "./api.js";
import {sliderRange} from "./form.js";
import {gridEditor} from "./grid.js";

/// Values for an axis from the slider's range: ten steps, or all words.
function usualValues(parameter, given) {
  if (parameter.words) return parameter.words.join(",");
  const range = sliderRange(parameter, given ?? parameter.default ?? "1");
  if (!range) return given ?? parameter.default ?? "";
  const step = (range.high - range.low) / 10;
  // A slider may begin just above a bound that is not allowed; an axis begins at a round number.
  const low = range.low > 0 && range.low < step / 2 ? Number(step.toPrecision(1)) : range.low;
  return `${short(low)}:${short(range.high)}:${short(parameter.whole ? Math.max(1, Math.round(step)) : step, 3)}`;
}

const isNumber = parameter => ["integer", "real", "reals", "grid"].includes(parameter.kind);

export class Composer {
  constructor(verb, given, started) {
    this.verb = verb;
    this.given = given;
    this.started = started;
    this.axes = [];
    this.ties = [];
    this.rows = h("div");
    this.text = h("pre", {id: "study-text"});
    this.facts = h("p", {class: "note", id: "study-facts"});
    this.problem = h("p", {class: "wrong", role: "alert"});
    this.name = h("input", {type: "text", id: "study-name", "aria-label": "Name of the study", placeholder: "name",
                            value: `${verb.command.replace(" ", "-")}-study`});
    const add = h("button", {type: "button", id: "add-axis", onclick: () => this.addAxis()}, "Add an axis");
    const tie = h("button", {type: "button", id: "add-tie", onclick: () => this.addTie()}, "Tie a parameter to others");
    const start = h("button", {type: "button", class: "main", id: "start-study", onclick: () => this.start()}, "Save and start");
    this.element = h("details", {id: "composer", ontoggle: () => this.refresh()}, h("summary", {}, "Make a study of it"),
      h("p", {class: "note"}, "An axis is a parameter that takes several values, each a point of its own: numbers as 0.1,0.2 or start:stop:step, words with commas. A tied parameter follows from other numbers of the point, as 0.1/sqrt(dim) does. The sweep goes on in the folder in which the server was started, and its figure fills in under Watch."),
      this.rows, h("div", {class: "row"}, add, tie), this.facts, this.problem, this.text,
      h("div", {class: "row"}, this.name, start, copyButton(() => this.text.textContent)));
  }

  parameters() { return this.verb.parameters.filter(parameter => parameter.kind !== "flag" && !parameter.folder); }

  setAxes(axes, ties) {
    this.axes = Object.entries(axes).map(([name, values]) => ({name, values}));
    this.ties = Object.entries(ties).map(([name, expression]) => ({name, expression}));
    if (this.axes.length + this.ties.length > 0) this.element.open = true;
    this.drawAxes();
  }

  /// A parameter that is neither an axis nor tied yet.
  unused(fits) {
    const used = new Set([...this.axes, ...this.ties].map(one => one.name));
    return this.parameters().find(one => !used.has(one.name) && fits(one));
  }

  addTie() {
    const parameter = this.unused(isNumber);
    if (!parameter) return;
    this.ties.push({name: parameter.name, expression: this.given()[parameter.name] ?? parameter.default ?? "1"});
    this.drawAxes();
  }

  addAxis() {
    const parameter = this.unused(one => one.kind !== "grid" && one.kind !== "text");
    if (!parameter) return;
    this.axes.push({name: parameter.name, values: usualValues(parameter, this.given()[parameter.name])});
    this.drawAxes();
  }

  drawAxes() {
    fill(this.rows, this.axes.map(axis => this.axisRow(axis)), this.ties.map(tie => this.tieRow(tie)));
    this.refresh();
  }

  axisRow(axis) {
    const parameter = this.verb.parameters.find(one => one.name === axis.name);
    const values = h("input", {type: "text", value: axis.values, "aria-label": `Values of ${axis.name}`,
                               oninput: () => { axis.values = values.value; this.refresh(); }});
    const choice = this.choice("Parameter of the axis", axis, this.parameters(), chosen => {
      axis.values = usualValues(chosen, this.given()[chosen.name]);
    });
    return h("div", {class: "row axis"}, choice, values, this.removal(axis),
      parameter && isNumber(parameter) ? gridEditor(values, axis.name) : null);
  }

  tieRow(tie) {
    const expression = h("input", {type: "text", value: tie.expression, "aria-label": `Expression of ${tie.name}`, placeholder: "0.1/sqrt(dim)",
                                   oninput: () => { tie.expression = expression.value; this.refresh(); }});
    const choice = this.choice("Tied parameter", tie, this.parameters().filter(isNumber), () => {});
    return h("div", {class: "row tie"}, choice, h("span", {}, "="), expression, this.removal(tie));
  }

  /// A list of parameters for an axis or a tie; `chose(parameter)` prepares it for another one.
  choice(label, one, parameters, chose) {
    const list = h("select", {"aria-label": label, onchange: () => {
      one.name = list.value;
      chose(this.verb.parameters.find(parameter => parameter.name === one.name));
      this.drawAxes();
    }}, parameters.map(parameter => h("option", {value: parameter.name, selected: parameter.name === one.name}, parameter.name)));
    return list;
  }

  removal(one) {
    return h("button", {type: "button", "aria-label": `Remove ${one.name}`, onclick: () => {
      this.axes = this.axes.filter(other => other !== one);
      this.ties = this.ties.filter(other => other !== one);
      this.drawAxes();
    }}, "\u00d7");
  }

  study() {
    const axes = Object.fromEntries(this.axes.map(axis => [axis.name, axis.values]));
    const tied = Object.fromEntries(this.ties.map(tie => [tie.name, tie.expression]));
    const given = Object.fromEntries(Object.entries(this.given()).filter(([name]) => !(name in axes) && !(name in tied)));
    return {command: this.verb.command, given, axes, tied};
  }

  async refresh() {
    if (!this.element.open) return;
    const turn = this.turn = (this.turn ?? 0) + 1;
    try {
      const answer = await compose(this.study());
      if (turn !== this.turn) return;
      this.text.textContent = answer.toml;
      this.facts.textContent = `${answer.points} point${answer.points === 1 ? "" : "s"}, about ${duration(answer.core_seconds)} on one core`;
      this.problem.textContent = "";
    } catch (refusal) {
      if (turn === this.turn) this.problem.textContent = `${refusal.field ?? "study"}: ${refusal.message}`;
    }
  }

  async start() {
    try {
      await startStudy({...this.study(), name: this.name.value.trim()});
      this.started();
    } catch (refusal) {
      this.problem.textContent = refusal.message;
    }
  }
}
