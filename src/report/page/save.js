// Pictures and numbers as files.

import {h} from "./dom.js";

export function download(name, type, content) {
  const address = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], {type}));
  const link = h("a", {href: address, download: name});
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}

/// The picture on its own: black on white, whatever the page looks like, with its series named.
export function svgText(plot) {
  const copy = plot.svg.cloneNode(true);
  const [, , width, height] = copy.getAttribute("viewBox").split(" ").map(Number);
  const names = (plot.picture.series ?? []).filter(series => !plot.hidden.has(series.label));
  const total = height + 20 * names.length;
  for (const [name, value] of Object.entries({xmlns: "http://www.w3.org/2000/svg", width, height: total,
    viewBox: `0 0 ${width} ${total}`, color: "#000", "font-family": "DejaVu Sans, sans-serif", "font-size": "13"})) {
    copy.setAttribute(name, value);
  }
  copy.prepend(h("rect", {width, height: total, fill: "#fff"}));
  names.forEach((series, k) => {
    const y = height + 20 * k + 8;
    copy.append(h("line", {x1: 74, x2: 100, y1: y, y2: y, stroke: series.colour, "stroke-width": 3,
                           "stroke-dasharray": series.dash ?? ""}),
      h("text", {x: 108, y: y + 4}, series.label));
  });
  return new XMLSerializer().serializeToString(copy);
}

export async function pngBlob(plot, scale = 2) {
  const text = svgText(plot);
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [image.width * scale, image.height * scale];
  const pen = canvas.getContext("2d");
  pen.scale(scale, scale);
  pen.drawImage(image, 0, 0);
  return new Promise(resolve => canvas.toBlob(resolve, "image/png"));
}
