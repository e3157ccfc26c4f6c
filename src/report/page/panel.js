// A result to look at: the picture with what can be chosen about it, the table, and its files. The
// explorer and the watched studies show theirs with it.

import {h, fill} from "./dom.js";
import {Plot} from "./plot.js";
import {choices, pictureOf, toCsv} from "./data.js";
import {sortableTable} from "./table.js";
import {download, svgText, pngBlob} from "./save.js";

export class Panel {
  /// `options`: primary and axes of the table, `name` of its files, `onClick(x, y, table)`,
  /// `extra(table, picture)`, which may add to a picture before it is drawn, and `beside`, an
  /// element between the picture and the table; `table: false` shows no table.
  constructor(parent, options = {}) {
    this.options = options;
    this.chosen = {};
    this.logX = this.logY = false;
    this.controls = h("div", {class: "row"});
    this.files = h("div", {class: "row"});
    this.place = h("div");
    this.table = h("div");
    parent.append(this.controls, this.place, this.files, options.beside ?? "", this.table);
    this.order = {};
    this.plot = new Plot(this.place, {onClick: (x, y) => options.onClick?.(x, y, this.tables[0]), changed: () => options.changed?.()});
  }

  /// Shows tables {label, columns, rows, record}: the first is the present one.
  show(tables, {keepZoom = false} = {}) {
    this.tables = tables;
    const [table] = tables;
    const drawable = table.rows.length > 0;
    for (const part of [this.controls, this.place, this.files]) part.hidden = !drawable;
    if (drawable) {
      this.offer = choices(table, this.options);
      if (!this.logTouched) this.logX ||= this.offer.logX ?? false;
      this.keepChoices();
      this.drawControls();
      this.redraw(keepZoom);
      this.drawFiles();
    }
    if (this.options.table !== false) this.showTable(table);
  }

  /// Rows come in while somebody reads: the table stays sorted and where it was.
  showTable(table) {
    const read = this.table.querySelector(".scroll")?.scrollTop ?? 0;
    fill(this.table, sortableTable(table, "Rows", this.order));
    this.table.querySelector(".scroll").scrollTop = read;
  }

  /// What somebody chose stays chosen where it still can be.
  keepChoices() {
    const {offer, chosen} = this;
    if (offer.x?.includes(chosen.x)) offer.chosen.x = chosen.x;
    if (offer.z?.includes(chosen.z)) offer.chosen.z = chosen.z;
    const ys = (chosen.y ?? []).filter(name => offer.y?.includes(name));
    if (ys.length > 0) offer.chosen.y = ys;
  }

  redraw(keepZoom = false) {
    const picture = pictureOf(this.tables, this.offer, this);
    this.options.extra?.(this.tables[0], picture);
    this.plot.draw(picture, {keepZoom});
  }

  /// What the controls offer and show.
  controlState() {
    const {kind, x, y, z, chosen} = this.offer;
    return JSON.stringify([kind, x, y, z, chosen, this.logX, this.logY]);
  }

  /// Somebody chose something; the controls show it already.
  choose() {
    this.chosen = {...this.chosen, ...this.offer.chosen};
    this.shown = this.controlState();
    this.redraw();
    this.options.changed?.();
  }

  /// Built again only when they differ, so that a list that is open stays open while rows come in.
  drawControls() {
    if (this.shown === this.controlState()) return;
    this.shown = this.controlState();
    const {offer} = this;
    const pick = (label, names, value, name) => h("label", {}, `${label} `, h("select", {onchange: event => {
      this.offer.chosen[name] = event.target.value;
      this.choose();
    }}, names.map(name => h("option", {value: name, selected: name === value}, name))));
    const log = (label, name) => h("label", {}, h("input", {type: "checkbox", checked: this[name], onchange: event => {
      this[name] = event.target.checked;
      this.logTouched = true;
      this.choose();
    }}), ` ${label}`);
    const parts = [];
    if (offer.kind === "map") parts.push(pick("Colour", offer.z, offer.chosen.z, "z"));
    if (offer.kind === "curves") parts.push(pick("Against", offer.x, offer.chosen.x, "x"));
    if (offer.kind !== "map") parts.push(this.columnBoxes());
    if (offer.kind !== "map") parts.push(log("log x", "logX"));
    if (offer.kind === "curves") parts.push(log("log y", "logY"));
    parts.push(h("button", {type: "button", onclick: () => this.plot.resetZoom(),
                            title: "Drag a box to zoom in; double click or 0 shows all"}, "Show all"));
    fill(this.controls, parts);
  }

  columnBoxes() {
    const {offer} = this;
    const open = this.columns?.open ?? false;
    this.columns = h("details", {open}, h("summary", {}, "Columns"), offer.y.filter(name => name !== offer.chosen.x).map(name =>
      h("label", {}, h("input", {type: "checkbox", checked: offer.chosen.y.includes(name), onchange: event => {
        const rest = this.offer.chosen.y.filter(one => one !== name);
        this.offer.chosen.y = event.target.checked ? [...rest, name] : rest;
        this.choose();
      }}), ` ${name} `)));
    return this.columns;
  }

  drawFiles() {
    const [table] = this.tables;
    const name = this.options.name ?? "onset";
    const save = (label, action) => h("button", {type: "button", onclick: action}, label);
    fill(this.files, h("span", {class: "soft"}, "Save as"),
      save("SVG", () => download(`${name}.svg`, "image/svg+xml", svgText(this.plot))),
      save("PNG", async () => download(`${name}.png`, "image/png", await pngBlob(this.plot))),
      save("CSV", () => download(`${name}.csv`, "text/csv", toCsv(table))),
      save("JSON", () => download(`${name}.json`, "application/json",
        `${JSON.stringify(table.record ?? {rows: table.rows}, null, 2)}\n`)));
  }
}
