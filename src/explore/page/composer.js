// A study from the form: its axes, its file, and a sweep of its own into a store of its own.

import {h, fill, duration, copyButton, short} from "./dom.js";
import {compose, startStudy} from "./api.js";
import {sliderRange} from "./form.js";

/// Values for an axis from the slider's range: ten steps, or all words.
function usualValues(parameter, given) {
  if (parameter.words) return parameter.words.join(",");
  const range = sliderRange(parameter, given ?? parameter.default ?? "1");
  if (!range) return given ?? parameter.default ?? "";
  const step = (range.high - range.low) / 10;
  return `${short(range.low)}:${short(range.high)}:${short(parameter.whole ? Math.max(1, Math.round(step)) : step, 3)}`;
}

export class Composer {
  constructor(verb, given, started) {
    this.verb = verb;
    this.given = given;
    this.started = started;
    this.axes = [];
    this.rows = h("div");
    this.text = h("pre", {id: "study-text"});
    this.facts = h("p", {class: "note", id: "study-facts"});
    this.problem = h("p", {class: "wrong", role: "alert"});
    this.name = h("input", {type: "text", id: "study-name", "aria-label": "Name of the study", placeholder: "name",
                            value: `${verb.command.replace(" ", "-")}-study`});
    const add = h("button", {type: "button", id: "add-axis", onclick: () => this.addAxis()}, "Add an axis");
    const start = h("button", {type: "button", class: "main", id: "start-study", onclick: () => this.start()}, "Save and start");
    this.element = h("details", {id: "composer", ontoggle: () => this.refresh()}, h("summary", {}, "Make a study of it"),
      h("p", {class: "note"}, "An axis is a parameter that takes several values, each a point of its own: numbers as 0.1,0.2 or start:stop:step, words with commas. The sweep goes on in the folder in which the server was started, and its figure fills in under Watch."),
      this.rows, h("div", {class: "row"}, add), this.facts, this.problem, this.text,
      h("div", {class: "row"}, this.name, start, copyButton(() => this.text.textContent)));
  }

  parameters() { return this.verb.parameters.filter(parameter => parameter.kind !== "flag" && !parameter.folder); }

  setAxes(axes) {
    this.axes = Object.entries(axes).map(([name, values]) => ({name, values}));
    if (this.axes.length > 0) this.element.open = true;
    this.drawAxes();
  }

  addAxis() {
    const used = new Set(this.axes.map(axis => axis.name));
    const parameter = this.parameters().find(one => !used.has(one.name) && one.kind !== "grid" && one.kind !== "text");
    if (!parameter) return;
    this.axes.push({name: parameter.name, values: usualValues(parameter, this.given()[parameter.name])});
    this.drawAxes();
  }

  drawAxes() {
    fill(this.rows, this.axes.map(axis => {
      const values = h("input", {type: "text", value: axis.values, "aria-label": `Values of ${axis.name}`,
                                 oninput: () => { axis.values = values.value; this.refresh(); }});
      const name = h("select", {"aria-label": "Parameter of the axis", onchange: () => {
        axis.name = name.value;
        const parameter = this.verb.parameters.find(one => one.name === axis.name);
        axis.values = values.value = usualValues(parameter, this.given()[axis.name]);
        this.refresh();
      }}, this.parameters().map(one => h("option", {value: one.name, selected: one.name === axis.name}, one.name)));
      return h("div", {class: "row"}, name, values, h("button", {type: "button", "aria-label": `Remove ${axis.name}`, onclick: () => {
        this.axes = this.axes.filter(one => one !== axis);
        this.drawAxes();
      }}, "\u00d7"));
    }));
    this.refresh();
  }

  study() {
    const axes = Object.fromEntries(this.axes.map(axis => [axis.name, axis.values]));
    const given = Object.fromEntries(Object.entries(this.given()).filter(([name]) => !(name in axes)));
    return {command: this.verb.command, given, axes};
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
