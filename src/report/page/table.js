// A table that sorts: numbers before words, cells without a value last, in either direction.

import {h, concise} from "./dom.js";

const directions = {"1": "ascending", "-1": "descending"};
const collator = new Intl.Collator(undefined, {numeric: true});

function compare(a, b, sign) {
  const [none, other] = [a === null || a === undefined, b === null || b === undefined];
  if (none || other) return none - other;
  const [number, second] = [typeof a === "number", typeof b === "number"];
  if (number !== second) return number ? -1 : 1;
  return sign * (number ? a - b : collator.compare(String(a), String(b)));
}

/// `order` ({name, sign}) is the order in which the table comes, and keeps what is chosen, so that the
/// next table of the same kind can come in it.
export function sortableTable({columns, rows}, label, order = {}, most = 2000) {
  const body = h("tbody");
  const show = list => body.replaceChildren(...list.slice(0, most).map(row => h("tr", {},
    columns.map(column => h("td", {}, concise(row[column.name], row[`${column.name}_err`]))))));
  const sort = () => show([...rows].sort((a, b) => compare(a[order.name], b[order.name], order.sign)));
  const heads = columns.map(column => {
    const mine = column.name === order.name;
    const head = h("th", {scope: "col", "aria-sort": mine ? directions[order.sign] : "none"});
    const unit = column.unit ? ` [${column.unit}]` : "";
    head.append(h("button", {type: "button", title: `${column.meaning}${unit}`, onclick: () => {
      Object.assign(order, {name: column.name, sign: head.getAttribute("aria-sort") === "ascending" ? -1 : 1});
      for (const one of heads) one.setAttribute("aria-sort", "none");
      head.setAttribute("aria-sort", directions[order.sign]);
      sort();
    }}, column.name));
    return head;
  });
  if (columns.some(column => column.name === order.name)) sort();
  else show(rows);
  return h("div", {},
    rows.length > most ? h("p", {class: "note"}, `The first ${most} of ${rows.length} rows.`) : null,
    h("div", {class: "scroll", tabindex: 0, role: "region", "aria-label": label},
      h("table", {}, h("thead", {}, h("tr", {}, heads)), body)));
}
