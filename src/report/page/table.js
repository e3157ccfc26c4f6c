// A table that sorts: numbers before words, cells without a value last, in either direction.

import {h, concise} from "./dom.js";

const collator = new Intl.Collator(undefined, {numeric: true});

function compare(a, b, sign) {
  const [none, other] = [a === null || a === undefined, b === null || b === undefined];
  if (none || other) return none - other;
  const [number, second] = [typeof a === "number", typeof b === "number"];
  if (number !== second) return number ? -1 : 1;
  return sign * (number ? a - b : collator.compare(String(a), String(b)));
}

export function sortableTable({columns, rows}, label, most = 2000) {
  const body = h("tbody");
  const show = list => body.replaceChildren(...list.slice(0, most).map(row => h("tr", {},
    columns.map(column => h("td", {}, concise(row[column.name], row[`${column.name}_err`]))))));
  const heads = columns.map(column => {
    const head = h("th", {scope: "col", "aria-sort": "none"});
    const unit = column.unit ? ` [${column.unit}]` : "";
    head.append(h("button", {type: "button", title: `${column.meaning}${unit}`, onclick: () => {
      const sign = head.getAttribute("aria-sort") === "ascending" ? -1 : 1;
      for (const one of heads) one.setAttribute("aria-sort", "none");
      head.setAttribute("aria-sort", sign > 0 ? "ascending" : "descending");
      show([...rows].sort((a, b) => compare(a[column.name], b[column.name], sign)));
    }}, column.name));
    return head;
  });
  show(rows);
  return h("div", {},
    rows.length > most ? h("p", {class: "note"}, `The first ${most} of ${rows.length} rows.`) : null,
    h("div", {class: "scroll", tabindex: 0, role: "region", "aria-label": label},
      h("table", {}, h("thead", {}, h("tr", {}, heads)), body)));
}
