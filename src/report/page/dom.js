// Elements and numbers as text. Text only ever becomes text: nothing here reads markup.

const svgNames = new Set(["svg", "g", "path", "line", "rect", "circle", "text", "image", "defs", "clipPath", "polyline"]);

/// Children as they are written: in lists of lists, some of them missing.
const present = children => children.flat(Infinity).filter(child => child !== null && child !== undefined);

function build(element, properties, children) {
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "value" || name === "checked" || name === "open") element[name] = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...present(children));
  return element;
}

/// An element of the page: h("p", {class: "note"}, "text", child, ..); on* are listeners.
export function h(tag, properties = {}, ...children) {
  const element = svgNames.has(tag)
    ? document.createElementNS("http://www.w3.org/2000/svg", tag)
    : document.createElement(tag);
  return build(element, properties, children);
}

export function fill(element, ...children) {
  element.replaceChildren(...present(children));
}

/// A number with so many digits as matter to the eye.
export function short(x, digits = 6) {
  if (!Number.isFinite(x)) return "";
  return String(Number(x.toPrecision(digits)));
}

/// An error smaller than this part of its value lies beyond the digits that are shown.
const roundingShare = 1e-11;

/// Text of the library, in which names of parameters stand in backquotes.
export function prose(text) {
  return text.split("`").map((part, i) => i % 2 === 1 ? h("code", {}, part) : part);
}

/// 0.18548(2): a value and its standard error as papers print them, as the command does. The error
/// has one digit, or two when the first is 1.
export function concise(value, error) {
  if (value === null || value === undefined) return "";
  if (typeof value !== "number") return String(value);
  if (!(error > Math.abs(value) * roundingShare)) return short(value, 10);
  let exponent = Math.floor(Math.log10(error));
  if (error / 10 ** exponent < 1.95) exponent -= 1;
  const digits = Math.round(error / 10 ** exponent);
  if (exponent >= 0) return `${Math.round(value)}(${Math.round(error)})`;
  if (exponent >= -15 && Math.abs(value) >= 1e-5) return `${value.toFixed(-exponent)}(${digits})`;
  const scale = Math.floor(Math.log10(Math.max(Math.abs(value), error)));
  const shown = (value / 10 ** scale).toFixed(Math.max(scale - exponent, 0));
  return `${shown}(${digits})e${scale}`;
}

/// Seconds for people.
export function duration(seconds) {
  if (seconds < 1) return `${short(seconds * 1000, 2)} ms`;
  if (seconds < 120) return `${short(seconds, 2)} s`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`;
  return `${short(seconds / 3600, 2)} h`;
}

/// A button that copies what `text` returns, and says so.
export function copyButton(text, label = "Copy") {
  const button = h("button", {type: "button"}, label);
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(text());
      button.textContent = "Copied";
    } catch {
      button.textContent = "Not allowed";  // the browser may refuse; the text can be selected
    }
    setTimeout(() => { button.textContent = label; }, 1200);
  });
  return button;
}
