// The papers' figures, each run of which opens in the explorer.

import {h, fill, copyButton} from "./dom.js";
import {getFigures} from "./api.js";

export class GalleryView {
  /// `open({command, given, axes, tied})` goes to the explorer.
  constructor(parent, open) {
    this.parent = parent;
    this.open = open;
  }

  async show() {
    if (this.loaded) return;
    this.loaded = true;
    const figures = await getFigures();
    if (figures.length === 0) {
      fill(this.parent, h("p", {}, "The figure files were not found; set ONSET_DATA to the folder that has them."));
      return;
    }
    fill(this.parent, h("p", {class: "note"}, "Each run opens with the parameters of its figure at the quick size; its axes and ties are under \u201cMake a study of it\u201d. The command draws the figure whole."),
      h("div", {class: "gallery"}, figures.map(figure => this.card(figure))));
  }

  card(figure) {
    return h("section", {class: "card"}, h("h2", {}, figure.title),
      h("details", {}, h("summary", {}, "Caption"), h("p", {class: "note"}, figure.caption)),
      h("div", {class: "row"}, figure.runs.map(run => h("button", {type: "button", title: run.command,
        onclick: () => this.open(run)}, `${run.id} (${run.command})`))),
      h("div", {class: "row"}, h("code", {}, figure.shell), copyButton(() => figure.shell)));
  }
}
