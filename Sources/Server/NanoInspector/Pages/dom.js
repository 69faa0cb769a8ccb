// SPDX-License-Identifier: MIT
// Elements. Data becomes text nodes and attributes only, never markup.

const SVG = "http://www.w3.org/2000/svg";

function apply(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "data") Object.assign(element.dataset, value);
    else if (value === true) element.setAttribute(name, "");
    else element.setAttribute(name, String(value));
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** Creates an HTML element: `h("button", { type: "button", onclick: f }, "Text")`. */
export function h(name, attributes = {}, ...children) {
  return apply(document.createElement(name), attributes, children);
}

/** Creates an SVG element. */
export function s(name, attributes = {}, ...children) {
  return apply(document.createElementNS(SVG, name), attributes, children);
}

/** Replaces the children of an element. */
export function fill(element, ...children) {
  element.replaceChildren(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** A button with a text. */
export function button(text, onclick, attributes = {}) {
  return h("button", { type: "button", onclick, ...attributes }, text);
}

/** Characters that are invisible, or change how their neighbors are displayed. */
const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029\u2800\ufff0-\uffff\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}\p{Co}]/gu;

/** Returns text in which hidden characters are written as escapes, such as `\u{202e}`. */
export function visible(text) {
  return text.replace(HIDDEN, (character) => `\\u{${character.codePointAt(0).toString(16)}}`);
}

/** Shows a notice for a few seconds. */
export function notify(text) {
  const notice = h("p", { class: "notice" }, text);
  document.getElementById("notices").append(notice);
  setTimeout(() => notice.remove(), 4000);
}

/** Copies text to the clipboard. */
export async function copy(text, what) {
  try {
    await navigator.clipboard.writeText(text);
    notify(`Copied ${what}`);
  } catch {
    notify("The browser did not allow copying");
  }
}

/** Returns `1 document`, `2 documents`. */
export function counted(number, one, many = `${one}s`) {
  return `${number.toLocaleString("en")} ${number === 1 ? one : many}`;
}

/** Returns a size such as `1.2 MB`. */
export function bytes(number) {
  if (number < 1000) return counted(number, "byte");
  const units = ["KB", "MB", "GB", "TB"];
  let value = number;
  let unit = -1;
  while (value >= 1000 && unit < units.length - 1) { value /= 1000; unit += 1; }
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ${units[unit]}`;
}

/** Returns the time since a start, such as `2 min 5 s`. */
export function elapsed(milliseconds) {
  const seconds = Math.floor(milliseconds / 1000);
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

/** Returns a duration such as `0.4 ms`. */
export function duration(milliseconds) {
  if (milliseconds < 10) return `${milliseconds.toFixed(1)} ms`;
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`;
  return `${(milliseconds / 1000).toFixed(1)} s`;
}
