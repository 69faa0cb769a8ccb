// SPDX-License-Identifier: MIT
// Work that waits for the server: shown after a moment, can be canceled, and reports its errors in place.

import { ApiError } from "./api.js";
import { button, fill, h, visible } from "./dom.js";

/** Details of an error as text, without those that the page shows otherwise. */
export function detailText(error) {
  const hidden = ["position", "line", "text", "engineCode", "operation", "byteOffset", "hint"];
  const parts = Object.entries(error.details ?? {}).filter(([name]) => !hidden.includes(name)).map(([name, value]) =>
    name === "expected" ? `expected ${value}` : name === "actual" ? `found ${value}` : ["engineMessage", "path"].includes(name) ? value : `${name} ${value}`);
  return parts.join(", ");
}

/** An error as a paragraph, with what to do about it. */
export function errorView(error, again) {
  const known = error instanceof ApiError;
  const hint = known ? error.details.hint : null;
  const slow = known && error.code === "timeLimit" && again;
  return h("div", { class: "problem", role: "alert" },
    h("p", { class: "problem-title" }, visible(error.message)),
    known && detailText(error) ? h("p", {}, visible(detailText(error))) : null,
    hint ? h("p", { class: "hint" }, visible(hint)) : null,
    h("div", { class: "row" },
      slow ? button("Run with 30 seconds", () => again(30000)) : null,
      again && !slow ? button("Try again", () => again()) : null));
}

/**
 * Runs work and shows in an element that it is running, with a button that cancels it, or its error. The work of an
 * earlier call on the same element is canceled.
 *
 * `work` receives a signal and a time limit in milliseconds, undefined for the default.
 */
export async function run(element, label, work, limit = undefined) {
  element.cancelTask?.();
  const controller = new AbortController();
  element.cancelTask = () => controller.abort();
  const again = (longer) => run(element, label, work, longer);
  element.setAttribute("aria-busy", "true");
  const waiting = h("div", { class: "waiting" },
    h("span", { class: "spinner", "aria-hidden": "true" }), h("span", {}, label),
    button("Cancel", () => { controller.abort(); fill(element, canceled(again)); }));
  const timer = setTimeout(() => element.prepend(waiting), 200);
  try {
    await work(controller.signal, limit);
  } catch (error) {
    if (!controller.signal.aborted) {
      if (!(error instanceof ApiError)) console.error(error);
      fill(element, errorView(error, again));
    }
  } finally {
    clearTimeout(timer);
    waiting.remove();
    if (!controller.signal.aborted) element.setAttribute("aria-busy", "false");
  }
}

function canceled(again) {
  return h("div", { class: "waiting" }, h("span", {}, "Canceled."), button("Run again", () => again()));
}
