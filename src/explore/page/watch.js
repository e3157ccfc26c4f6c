// Watch: stores as they fill.

import {h, fill, duration, copyButton} from "./dom.js";
import {getStores, getStore, getStudy, stopSweep} from "./api.js";
import {Panel} from "./panel.js";

const pause = 1500;  // milliseconds between looks
const restShare = 5;  // at least this many times as long as a look took

const range = (first, last, total, what) => `${first + 1} to ${last} of ${total} ${what}`;

/// Two buttons that go through a long list.
function pager(what, {before, after}) {
  const button = (label, go) => h("button", {type: "button", disabled: !go, "aria-label": `${label} ${what}`, onclick: go ?? (() => {})}, label);
  return [button("Previous", before), button("Next", after)];
}

/// One study of a store. A large study is shown in parts: points spread over all of it, or one page
/// after the other.
class StudyCard {
  constructor(parent, store, index) {
    [this.store, this.index] = [store, index];
    this.part = {first: 0, stride: 0, problems: 0};
    this.head = h("div");
    this.pages = h("div", {class: "row"});
    this.place = h("div");
    this.rest = h("div");
    this.file = h("div");
    this.element = h("section", {class: "card"}, this.head, this.pages, this.place, this.rest, this.file);
    parent.append(this.element);
  }

  async show(study, running) {
    this.study = study;
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
    this.showFile(study);
    await this.look();
  }

  /// Built once, so that it stays open while points come in.
  showFile({toml, sweep}) {
    if (this.shownFile === toml + sweep) return;
    this.shownFile = toml + sweep;
    fill(this.file, h("details", {}, h("summary", {}, "Study file"), h("pre", {}, toml),
      h("div", {class: "row"}, h("code", {}, sweep), copyButton(() => sweep))));
  }

  async look() {
    const turn = this.looks = (this.looks ?? 0) + 1;
    const part = await getStudy(this.store, this.index, this.part);
    if (turn !== this.looks) return;  // another page was asked for meanwhile
    this.showRows(part);
    this.showPages(part);
    fill(this.rest, this.problems(part.problems));
  }

  async turn(change) {
    Object.assign(this.part, change);
    try { await this.look(); } catch (problem) { fill(this.pages, h("span", {class: "wrong"}, problem.message)); }
  }

  showPages({first, stride, count, rows, total_rows: total}) {
    const {points} = this.study;
    const cut = total > rows.length ? [h("p", {class: "note"}, `The first ${rows.length} of ${total} rows; onset export gives all.`)] : [];
    if (points <= count) { fill(this.pages, cut); return; }
    const spread = this.part.stride === 0;
    const order = h("select", {"aria-label": `Points of ${this.study.name}`, onchange: () => this.turn({first: 0, stride: order.value === "spread" ? 0 : 1})},
      h("option", {value: "spread", selected: spread}, "spread over all points"), h("option", {value: "pages", selected: !spread}, "page by page"));
    const last = Math.min(points, first + count * stride);
    fill(this.pages, order, h("span", {class: "note"}, spread ? `every ${stride}th of ${points} points` : range(first, last, points, "points")),
      spread ? null : pager("points", {
        before: first > 0 ? () => this.turn({first: Math.max(0, first - count)}) : null,
        after: last < points ? () => this.turn({first: first + count}) : null}), cut);
  }

  showRows({axes, columns, rows}) {
    if (rows.length === 0) { fill(this.place); this.panel = null; return; }
    this.panel ??= new Panel(this.place, {primary: this.study.primary, axes, name: this.study.name});
    this.panel.options.axes = axes;
    this.panel.show([{label: this.study.name, columns, rows}], {keepZoom: this.panel.plot.zoom !== null});
  }

  problems(problems) {
    const {ok = 0, missing = 0} = this.study.counts;
    const total = this.study.points - ok - missing;
    const first = this.part.problems;
    if (problems.length === 0 && first === 0) return null;
    const step = 100;  // as many as the server gives at a time
    const retry = `${this.study.sweep} --retry`;
    return [h("h3", {}, "Points that need a look"),
      h("div", {class: "row"}, h("span", {}, "Try all of them again:"), h("code", {}, retry), copyButton(() => retry)),
      total <= step ? null : h("div", {class: "row"}, h("span", {class: "note"}, range(first, first + problems.length, total, "points")),
        pager("points that need a look", {
          before: first > 0 ? () => this.turn({problems: Math.max(0, first - step)}) : null,
          after: first + step < total ? () => this.turn({problems: first + step}) : null})),
      h("div", {class: "scroll", tabindex: 0, role: "region", "aria-label": "Points that need a look"}, h("table", {},
        h("thead", {}, h("tr", {}, ["point", "status", "reason", "command"].map(name => h("th", {scope: "col"}, name)))),
        h("tbody", {}, problems.map(problem => h("tr", {}, h("td", {}, problem.point),
          h("td", {class: problem.status}, problem.status), h("td", {}, problem.reason), h("td", {}, h("code", {}, problem.command)))))))].filter(Boolean);
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
    for (const [place, study] of store.studies.entries()) {
      if (!this.cards.has(study.name)) this.cards.set(study.name, new StudyCard(this.body, this.index, place));
      try {
        await this.cards.get(study.name).show(study, store.running);
      } catch (problem) {
        this.note.textContent = problem.message;
      }
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
    const began = performance.now();
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
    // A large store takes longer to look at, and its sweep must not wait for those who watch.
    const took = performance.now() - began;
    if (this.visible) this.timer = setTimeout(() => this.loop(), Math.max(pause, restShare * took));
  }
}
