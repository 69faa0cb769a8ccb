// SPDX-License-Identifier: MIT
// Indexes of a collection: origin, reason, uses; created and dropped if the inspector may write.

import { get, post } from "./api.js";
import { button, bytes, fill, h, notify, visible } from "./dom.js";
import { adviceList } from "./explain.js";
import { errorView, run } from "./task.js";

export function show(root, parameters, app) {
  const collection = parameters.in;
  const body = h("div", {});
  root.append(body);
  const controller = new AbortController();
  const load = () => run(body, "Reading indexes…", async (signal, limit) => {
    draw(await get("indexes", { in: collection, limit }, signal));
    measure();
  });

  function draw(result) {
    const writes = app.store.allowsWrites;
    const rows = [
      ...result.indexes.map((index) => ({ name: index.name, keys: index.keys, kind: `${index.kind === "elements" ? "elements" : "values"}${index.isUnique ? ", unique" : ""}`, origin: index.origin, uses: index.uses, reason: index.reason })),
      ...result.fullTextIndexes.map((index) => ({ name: index.name, keys: index.keys, kind: `full text, ${index.tokens}`, origin: "declared", uses: null, reason: null })),
    ];
    fill(body,
      h("dl", { class: "facts" },
        h("div", {}, h("dt", {}, "Wildcard index"), h("dd", {}, result.policy === "everything" ? "all fields" : "off")),
        h("div", {}, h("dt", {}, "Change tracking"), h("dd", {}, result.tracking))),
      rows.length ? h("div", { class: "table", tabindex: "0", role: "region", "aria-label": "Indexes" }, h("table", {},
        h("caption", { class: "hidden" }, "Indexes"),
        h("thead", {}, h("tr", {}, ["Index", "Fields", "Kind", "Origin", "Size", "Uses", "Reason", writes ? "Actions" : null].filter(Boolean).map((name) => h("th", { scope: "col", class: ["Size", "Uses"].includes(name) ? "number" : null }, name)))),
        h("tbody", {}, rows.map((row) => h("tr", {},
          h("th", { scope: "row" }, h("bdi", {}, visible(row.name))), h("td", {}, h("code", {}, visible(row.keys))), h("td", {}, row.kind),
          h("td", {}, h("span", { class: `badge ${row.origin}` }, row.origin)), h("td", { class: "number size", data: { index: row.name } }, "…"), h("td", { class: "number" }, row.uses === null ? "not recorded" : row.uses.toLocaleString("en")), h("td", { class: "wrap" }, row.reason ? visible(row.reason) : h("span", { class: "muted" }, "none")),
          writes ? h("td", {}, button("Drop", () => drop(row.name), { class: "danger small", "aria-label": `Drop ${visible(row.name)}` })) : null)))))
        : h("p", { class: "empty" }, "The collection has no indexes. Queries read every document, which is fast for thousands of them."),
      h("h2", {}, "Advice"),
      result.advice.length ? adviceList(result.advice) : h("p", { class: "empty" }, "None recorded."),
      writes ? creator() : h("p", { class: "muted" }, "Start the inspector with --write to create and drop indexes."));
  }

  /** Counts the pages of the indexes, which takes longer than reading the list. */
  async function measure() {
    let sizes = [];
    let reason = "not recorded";
    try {
      ({ sizes } = await get("index-sizes", { in: collection }, controller.signal));
    } catch (error) {
      if (controller.signal.aborted) return;
      reason = error.code === "timeLimit" ? "not counted within the time limit" : "unknown";
    }
    for (const cell of body.querySelectorAll("td.size")) {
      const found = sizes.find((size) => size.name === cell.dataset.index);
      cell.textContent = found ? bytes(found.bytes) : reason;
    }
  }

  async function change(work, done) {
    try {
      await work();
      notify(done);
      await app.refreshCollections();
      load();
    } catch (error) {
      body.prepend(errorView(error));
    }
  }

  function drop(name) {
    const dialog = h("dialog", { "aria-label": "Drop index", onclose: () => dialog.remove() },
      h("p", {}, "Drop the index ", h("code", {}, visible(name)), "? Queries that use it read every document again."),
      h("div", { class: "row" }, button("Drop it", () => { dialog.close(); change(() => post("drop-index", { in: collection }, { name }), "Dropped the index"); }, { class: "danger" }), button("Keep it", () => dialog.close())));
    document.body.append(dialog);
    dialog.showModal();
  }

  function creator() {
    const keys = h("input", { class: "mono", "aria-label": "Fields of the new index", placeholder: "[year] DESC, [title]", value: parameters.keys ?? "" });
    const unique = h("input", { type: "checkbox", id: "unique" });
    return h("section", { "aria-label": "Create an index" }, h("h2", {}, "Create an index"),
      h("div", { class: "row" }, keys, unique, h("label", { for: "unique" }, "Unique"),
        button("Create", () => change(() => post("create-index", { in: collection }, { keys: keys.value, isUnique: unique.checked }), "Created the index"), { class: "primary" })));
  }

  load();
  return { leave() { body.cancelTask?.(); controller.abort(); } };
}
