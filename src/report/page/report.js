// The interactive figures of a report: each study has its rows beside it as JSON.

import {Panel} from "./panel.js";

for (const place of document.querySelectorAll(".interactive")) {
  const study = JSON.parse(place.querySelector("script").textContent);
  const box = place.querySelector("div");
  let panel = null;
  // A closed box has no width to draw in.
  const show = () => {
    if (!place.open || panel) return;
    panel = new Panel(box, {primary: study.primary, axes: study.axes, name: study.name, table: false});
    panel.show([{label: study.name, columns: study.columns, rows: study.rows}]);
  };
  place.addEventListener("toggle", show);
  show();
}
