// The page: three views, and what is shown kept in the address, so that a link opens it again.

import {h, fill, short} from "./dom.js";
import {getCatalog} from "./api.js";
import {ExploreView} from "./explore.js";
import {WatchView} from "./watch.js";
import {GalleryView} from "./gallery.js";

const views = {explore: "Explore", watch: "Watch", gallery: "Gallery"};

/// The view in the part of the address after #: {view, command, values, plot}.
function readAddress() {
  const query = new URLSearchParams(location.hash.slice(1));
  const values = {};
  for (const [name, value] of query) if (name.startsWith("p.")) values[name.slice(2)] = value;
  return {view: views[query.get("view")] ? query.get("view") : "explore", command: query.get("command"), values,
          plot: {logX: query.has("logx"), logY: query.has("logy"), kept: query.getAll("with").map(readSetting),
                 zoom: readZoom(query.get("zoom")), hidden: query.getAll("hide"),
                 chosen: {x: query.get("x") ?? undefined, z: query.get("z") ?? undefined, y: query.get("y")?.split(",")}}};
}

/// The part of a picture that is shown, as xlow,xhigh,ylow,yhigh; nothing where it is all of it.
function readZoom(text) {
  const ends = (text ?? "").split(",").map(Number);
  if (ends.length !== 4 || !ends.every(Number.isFinite) || ends[0] >= ends[1] || ends[2] >= ends[3]) return null;
  return {x: ends.slice(0, 2), y: ends.slice(2)};
}
const writeZoom = ({x, y}) => [...x, ...y].map(end => short(end, 8)).join(",");

/// The values of a run that another is compared with, as one word of the address.
const readSetting = text => Object.fromEntries(new URLSearchParams(text));
const writeSetting = given => String(new URLSearchParams(given));

function writeAddress(view, state) {
  const query = new URLSearchParams({view});
  if (view === "explore" && state) {
    query.set("command", state.command);
    for (const [name, value] of Object.entries(state.values)) query.set(`p.${name}`, value);
    const {chosen, logX, logY, zoom, hidden} = state.view;
    for (const given of state.kept) query.append("with", writeSetting(given));
    if (chosen.x) query.set("x", chosen.x);
    if (chosen.z) query.set("z", chosen.z);
    if (chosen.y) query.set("y", chosen.y.join(","));
    if (logX) query.set("logx", "1");
    if (logY) query.set("logy", "1");
    if (zoom) query.set("zoom", writeZoom(zoom));
    for (const label of hidden) query.append("hide", label);
  }
  history.replaceState(null, "", `#${query}`);
}

async function start() {
  const main = document.getElementById("view");
  let catalog;
  try {
    catalog = await getCatalog();
  } catch (problem) {
    fill(main, h("p", {class: "wrong"}, problem.message));
    return;
  }
  document.getElementById("version").textContent = catalog.onset;
  const boxes = Object.fromEntries(Object.keys(views).map(name => [name, h("div", {id: name, hidden: true})]));
  fill(main, Object.values(boxes));
  let current = "explore";
  let state = null;
  const watch = new WatchView(boxes.watch);
  const explore = new ExploreView(boxes.explore, catalog, {
    remember: now => { state = now; if (current === "explore") writeAddress(current, state); },
    watch: () => go("watch")});
  const gallery = new GalleryView(boxes.gallery, ({command, given, axes, tied}) => {
    go("explore");
    // The first value of every axis stands for it until the study is started.
    const first = Object.fromEntries(Object.entries(axes).map(([name, values]) => [name, values.split(",")[0]]));
    explore.open(command, {...given, ...first}, {axes, tied, run: false});
  });

  const tabs = Object.fromEntries(Object.entries(views).map(([name, label]) =>
    [name, h("button", {type: "button", onclick: () => go(name)}, label)]));
  fill(document.getElementById("tabs"), h("div", {class: "row"}, Object.values(tabs)));

  function go(name) {
    current = name;
    for (const [one, box] of Object.entries(boxes)) {
      box.hidden = one !== name;
      if (one === name) tabs[one].setAttribute("aria-current", "page");
      else tabs[one].removeAttribute("aria-current");
    }
    if (name === "watch") watch.show();
    else watch.hide();
    if (name === "gallery") gallery.show();
    writeAddress(name, state);
  }

  function openAddress() {
    const address = readAddress();
    if (address.command || !state) {
      explore.open(address.command ?? "aim curve", address.command ? address.values : null, address.plot);
    }
    go(address.view);
  }
  addEventListener("hashchange", openAddress);
  openAddress();
}

start();
