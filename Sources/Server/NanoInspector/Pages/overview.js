// SPDX-License-Identifier: MIT
// The collections of the store: documents, bytes, growth, indexes, last insertion.

import { get } from "./api.js";
import { bytes, counted, fill, h, visible } from "./dom.js";
import { sparkline } from "./draw.js";
import { link } from "./route.js";
import { run } from "./task.js";
import { dateText } from "./values.js";

export function show(root, _parameters, app) {
  const store = h("section", { class: "store", "aria-label": "Store" });
  const list = h("section", { "aria-label": "Collections" });
  root.append(h("h1", {}, "Overview"), store, list);
  const controller = new AbortController();
  const load = () => run(list, "Counting documents…", async (signal) => {
    showStore(store, await get("store", {}, signal));
    const collections = await app.refreshCollections();
    fill(list, cards(collections.filter((collection) => !collection.isInternal), controller.signal));
  });
  load();
  const stop = app.commits.follow(throttled(load, 1500));
  return { leave() { stop(); controller.abort(); } };
}

/** Calls a function a moment after the first of several calls, so that it runs regularly however many calls there are. */
export function throttled(action, delay) {
  let timer = null;
  return () => { timer ??= setTimeout(() => { timer = null; action(); }, delay); };
}

function showStore(element, store) {
  const facts = [
    ["Engine", store.engine], ["Size", bytes(store.size)], ["Unused", bytes(store.unused)],
    store.changed ? ["Last change", dateText(store.changed.$date).slice(0, 19)] : null,
    ["Location", store.location],
  ].filter(Boolean);
  fill(element, h("dl", { class: "facts" }, facts.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, visible(value))))),
    h("details", {}, h("summary", {}, "Settings"),
      h("dl", { class: "facts" }, Object.entries(store.settings).map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, visible(value)))))));
}

function cards(collections, signal) {
  if (!collections.length) return h("p", { class: "empty" }, "The store has no collections yet. They appear here as soon as a program creates them.");
  return h("ul", { class: "cards" }, collections.map((collection) => {
    const growth = h("div", { class: "growth" });
    const size = h("dd", {}, "…");
    const newest = h("dd", {}, "…");
    summary(collection, growth, size, newest, signal);
    return h("li", { class: "card" },
      h("h2", {}, h("a", { href: link("documents", { in: collection.name }) }, h("bdi", {}, visible(collection.name)))),
      h("p", { class: "big" }, (collection.documents ?? 0).toLocaleString("en"), h("span", {}, collection.documents === 1 ? " document" : " documents")),
      growth,
      h("dl", { class: "facts" },
        h("div", {}, h("dt", {}, "Content"), size),
        h("div", {}, h("dt", {}, "Indexes"), h("dd", {}, h("a", { href: link("indexes", { in: collection.name }), "aria-label": `${counted(collection.indexes ?? 0, "index", "indexes")} of ${visible(collection.name)}` }, String(collection.indexes ?? 0)))),
        h("div", {}, h("dt", {}, "Last insertion"), newest),
        h("div", {}, h("dt", {}, "Known by"), h("dd", {}, collection.identity === "rowID" ? "row ID" : "key"))));
  }));
}

async function summary(collection, growth, size, newest, signal) {
  try {
    const facts = await get("summary", { in: collection.name }, signal);
    size.textContent = facts.bytes === undefined || facts.bytes === null ? "empty" : `${facts.isEstimate ? "about " : ""}${bytes(facts.bytes)}`;
    newest.textContent = facts.newest ? dateText(facts.newest.$date).slice(0, 16) : "unknown";
    if (facts.growth?.length > 1 && facts.growth.at(-1)[0] > facts.growth[0][0]) {
      const days = (facts.growth.at(-1)[0] - facts.growth[0][0]) / 86400;
      growth.append(sparkline(facts.growth, `Documents of ${visible(collection.name)} over ${days < 1 ? "less than a day" : counted(Math.round(days), "day")}`));
    } else {
      growth.remove();
    }
  } catch (error) {
    if (signal.aborted) return;
    size.textContent = "unknown";
    newest.textContent = "unknown";
    size.title = error.message;
  }
}
