// The form of a verb, made from its description: nothing here knows any parameter by name.

import {h, fill, short, prose} from "./dom.js";
import {gridEditor} from "./grid.js";

/// Words of a command line as a shell splits them; examples have single quotes at most.
function shellWords(text) {
  return [...text.matchAll(/'([^']*)'|(\S+)/g)].map(match => match[1] ?? match[2]);
}

/// What an example of a verb gives: {name: text}.
export function exampleValues(verb, example) {
  const values = {};
  const words = shellWords(example).slice(2);  // family and verb
  const operands = verb.parameters.filter(parameter => parameter.folder);
  while (words.length > 0) {
    const word = words.shift();
    const parameter = verb.parameters.find(one => `--${one.name}` === word);
    if (!parameter) {
      if (!word.startsWith("--") && operands.length > 0) values[operands.shift().name] = word;
      else if (word.startsWith("--")) words.shift();  // an option of the command, say --out
    } else {
      values[parameter.name] = parameter.kind === "flag" ? "true" : words.shift();
    }
  }
  return values;
}

/// Where a slider goes: the whole range if it is small, else around what is usual.
export function sliderRange(parameter, usual) {
  const widest = 100;
  const {min, max, whole} = parameter;
  if (min !== null && max !== null && max - min <= widest) return bounds(min, max, parameter);
  const centre = Number(usual);
  if (usual === null || usual === undefined || usual === "" || !Number.isFinite(centre)) return null;
  if (parameter.name === "seed") return bounds(min ?? 0, 20, parameter);
  const reach = Math.abs(centre) || 1;
  const low = Math.max(min ?? -Infinity, centre > 0 ? 0 : centre - 4 * reach);
  const high = Math.min(max ?? Infinity, centre + 4 * reach);
  return bounds(whole ? Math.ceil(low) : low, whole ? Math.floor(high) : high, parameter);
}

function bounds(low, high, {whole, open_min: open}) {
  const step = whole ? Math.max(1, Math.round((high - low) / 200)) : 10 ** Math.floor(Math.log10((high - low) / 100));
  return {low: open && !whole ? low + step : low, high, step};
}

/// One parameter: a label, its control and its sentence.
class Field {
  constructor(parameter, value, changed) {
    this.parameter = parameter;
    this.usual = value ?? parameter.default;
    this.changed = changed;
    const id = `field-${parameter.name}`;
    this.problem = h("p", {class: "wrong", id: `${id}-problem`, "aria-live": "polite"});
    this.entry = h("div", {class: "entry"}, this.controls(id, value));
    this.element = h("div", {class: "field"},
      h("label", {for: id}, parameter.name,
        parameter.required ? h("span", {class: "soft"}, "required") : null),
      this.entry, this.problem, h("p", {class: "text"}, prose(parameter.text)));
  }

  controls(id, value) {
    const {kind, words} = this.parameter;
    const fallback = this.parameter.default;
    const own = {id, "aria-describedby": `${id}-problem`};
    if (kind === "flag") {
      this.input = h("input", {...own, type: "checkbox", checked: value === "true", onchange: () => this.changed()});
      return [this.input];
    }
    if (kind === "word") {
      this.input = h("select", {...own, onchange: () => this.changed()},
        fallback === null ? h("option", {value: ""}, "(none)") : null,
        words.map(word => h("option", {value: word}, word)));
      this.input.value = value ?? fallback ?? "";
      return [this.input];
    }
    this.input = h("input", {...own, type: "text", value: value ?? "", placeholder: fallback ?? this.parameter.allowed,
                             title: this.parameter.allowed, spellcheck: "false", autocomplete: "off",
                             oninput: () => { this.moveSlider(); this.changed(); }});
    const range = kind === "integer" || kind === "real" ? sliderRange(this.parameter, this.usual) : null;
    if (kind === "grid") return [this.input, gridEditor(this.input, this.parameter.name)];
    if (!range) return [this.input];
    this.slider = h("input", {type: "range", min: range.low, max: range.high, step: range.step,
                              "aria-label": `${this.parameter.name}, slider`, oninput: () => {
                                this.input.value = short(Number(this.slider.value), 8);
                                this.changed();
                              }});
    this.moveSlider();
    return [this.input, this.slider];
  }

  moveSlider() {
    if (!this.slider) return;
    const value = Number(this.input.value || this.parameter.default);
    if (Number.isFinite(value)) this.slider.value = value;
  }

  /// The text of the value; empty where the default applies.
  get value() {
    if (this.parameter.kind === "flag") return this.input.checked ? "true" : "";
    const text = this.input.value.trim();
    return text === this.parameter.default ? "" : text;
  }

  complain(message) {
    this.problem.textContent = message;
    this.element.toggleAttribute("data-wrong", message !== "");
  }
}

export class Form {
  constructor(verb, values, changed) {
    this.fields = verb.parameters.map(parameter => new Field(parameter, values[parameter.name], changed));
    const first = field => field.parameter.required || values[field.parameter.name] !== undefined;
    const rest = this.fields.filter(field => !first(field));
    this.problem = h("p", {class: "wrong", role: "alert"});
    this.element = h("form", {onsubmit: event => event.preventDefault()},
      this.fields.filter(first).map(field => field.element),
      rest.length === 0 ? null : h("details", {}, h("summary", {}, `${rest.length} more parameters`),
        rest.map(field => field.element)),
      this.problem);
  }

  get values() {
    return Object.fromEntries(this.fields.filter(field => field.value !== "").map(
      field => [field.parameter.name, field.value]));
  }

  set(name, text) {
    const field = this.fields.find(one => one.parameter.name === name);
    if (!field) return;
    field.input.value = text;
    field.moveSlider();
    field.changed();
  }

  /// Shows a refusal at its field, or below all of them; nothing clears it.
  complain(refusal) {
    for (const field of this.fields) field.complain(field.parameter.name === refusal?.field ? refusal.message : "");
    const known = this.fields.some(field => field.parameter.name === refusal?.field);
    fill(this.problem, refusal && !known ? `${refusal.field ? `${refusal.field}: ` : ""}${refusal.message}` : "");
    const wrong = this.element.querySelector("[data-wrong]");
    const closed = wrong?.closest("details");
    if (closed) closed.open = true;
  }
}
