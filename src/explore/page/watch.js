// Watch: stores as they fill.

import {h, fill, duration, copyButton} from "./dom.js";
import {getStores, getStore, stopSweep} from "./api.js";
import {Panel} from "./panel.js";

const pause = 1500;  // milliseconds between looks

/// One study of a store.
class StudyCard {
  constructor(parent, name) {
    this.head = h("div");
    const place = h("div");
    this.rest = h("div");
    this.element = h("section", {class: "card"}, this.head, place, this.rest);
    this.place = place;
    this.name = name;
    parent.append(this.element);
  }

  show(study, running) {
    const done = study.points - (study.counts.missing ?? 0);
    const left = study.seconds_left === null || done === study.points ? ""
      : `about ${duration(study.seconds_left)} left at the pace of the last points`;
    fill(this.head, h("h2", {}, study.title || study.name),
      study.description ? h("p", {}, study.description) : null,
      h("ul", {class: "chips"}, h("li", {}, `${study.points} points`), Object.entries(study.counts).map(([word, count]) =>
        h("li", {class: word}, `${count} ${word}`))),
      h("progress", {max: study.points || 1, value: done, "aria-label": "Points done"}),
      h("p", {class: "note"}, [`onset ${study.command}`, left, study.last_finished ? `last point ${study.last_finished}` : "no point yet",
        running ? "a sweep of this page is running" : ""].filter(Boolean).join("; ")));
    this.showRows(study);
    fill(this.rest, this.problems(study), h("details", {}, h("summary", {}, "Study file"), h("pre", {}, study.toml),
      h("div", {class: "row"}, h("code", {}, study.sweep), copyButton(() => study.sweep))));
  }

  showRows(study) {
    if (study.rows.length === 0) { fill(this.place); this.panel = null; return; }
    this.panel ??= new Panel(this.place, {primary: study.primary, axes: study.axes, name: study.name});
    this.panel.show([{label: study.name, columns: study.columns, rows: study.rows}],
      {keepZoom: this.panel.plot.zoom !== null});
    if (study.total_rows > study.rows.length) {
      this.head.append(h("p", {class: "note"}, `The first ${study.rows.length} of ${study.total_rows} rows; onset export gives all.`));
    }
  }

  problems(study) {
    if (study.problems.length === 0) return null;
    return [h("h3", {}, "Points that need a look"),
      h("div", {class: "row"}, h("span", {}, "Try all of them again:"), h("code", {}, `${study.sweep} --retry`),
        copyButton(() => `${study.sweep} --retry`)),
      h("div", {class: "scroll", tabindex: 0, role: "region", "aria-label": "Points that need a look"}, h("table", {},
        h("thead", {}, h("tr", {}, ["point", "status", "reason", "command"].map(name => h("th", {scope: "col"}, name)))),
        h("tbody", {}, study.problems.map(problem => h("tr", {}, h("td", {}, problem.point),
          h("td", {class: problem.status}, problem.status), h("td", {}, problem.reason), h("td", {}, h("code", {}, problem.command)))))))];
  }
}

class StoreCard {
  constructor(parent, {index, file}) {
    this.index = index;
    this.version = "";
    this.cards = new Map();
    this.note = h("p", {class: "note"});
    this.halt = h("button", {type: "button", hidden: true, onclick: () => stopSweep(index).catch(() => {})}, "Stop the sweep");
    this.body = h("div");
    parent.append(h("section", {}, h("div", {class: "row"}, h("h2", {}, file),
      h("a", {href: `report/${index}`, target: "_blank", rel: "noopener"}, "as a report"), this.halt), this.note, this.body));
  }

  async look() {
    let store;
    try {
      store = await getStore(this.index, this.version);
    } catch (problem) {
      this.note.textContent = problem.message;
      return;
    }
    this.halt.hidden = !store.running;
    this.note.textContent = store.version ? "" : "There is no such file yet.";
    if (!store.studies) return;
    this.version = store.version;
    if (store.studies.length === 0) this.note.textContent = "The store has no studies yet.";
    for (const study of store.studies) {
      if (!this.cards.has(study.name)) this.cards.set(study.name, new StudyCard(this.body, study.name));
      this.cards.get(study.name).show(study, store.running);
    }
  }
}

export class WatchView {
  constructor(parent) {
    this.parent = parent;
    this.stores = new Map();
    this.empty = h("p", {class: "soft"}, "No store is watched. Start the server with --store FILE, or start a study under Explore.");
    parent.append(this.empty);
    this.timer = null;
  }

  show() {
    this.visible = true;
    this.loop();
  }

  hide() { this.visible = false; clearTimeout(this.timer); }

  async loop() {
    clearTimeout(this.timer);
    try {
      const stores = await getStores();
      this.empty.hidden = stores.length > 0;
      for (const store of stores) {
        if (!this.stores.has(store.index)) this.stores.set(store.index, new StoreCard(this.parent, store));
      }
      for (const card of this.stores.values()) await card.look();
    } catch (problem) {
      fill(this.empty, problem.message);
      this.empty.hidden = false;
    }
    if (this.visible) this.timer = setTimeout(() => this.loop(), pause);
  }
}
