// SPDX-License-Identifier: MIT
// The documents of a collection: query bar, table, and a document beside it.

import { get, getLong } from "./api.js";
import { button, copy, counted, duration, fill, h, notify, visible } from "./dom.js";
import { throttled } from "./overview.js";
import { QueryBar, completer } from "./query.js";
import { change, current, go, link } from "./route.js";
import { run } from "./task.js";
import { column, columnChooser, defaultColumns, moveRow, showTable } from "./table.js";
import { hasChangedText, note, showDocument } from "./tree.js";
import { csv, decode, isCut, isCutAt, json, swift } from "./values.js";

const pageSize = 50;

/** Returns documents of a response with their values as nodes. */
export function decoded(documents) {
  return documents.map((document) => ({ ...document, node: document.value ? decode(document.value) : null }));
}

export function show(root, parameters, app) {
  const collection = parameters.in;
  const columnsName = `nanostore ${app.store.location} ${collection} columns`;
  const bar = new QueryBar(app, collection, (text) => change({ where: text, sort: undefined, after: undefined, doc: undefined }));
  const status = h("p", { class: "status", "aria-live": "polite" });
  const total = h("span", { class: "total" });
  const table = h("div", { class: "table", role: "region", "aria-label": "Documents", tabindex: "0" });
  const panel = h("aside", { class: "panel", "aria-label": "Document", hidden: true });
  const first = button("First", () => { state.back = []; change({ after: undefined }); }, { disabled: true });
  const previousPage = button("Previous", () => change({ after: state.back.pop() || undefined }), { disabled: true });
  const next = button("Next", () => { state.back.push(current().parameters.after ?? ""); change({ after: state.next }); }, { disabled: true });
  const pager = h("div", { class: "pager", role: "group", "aria-label": "Pages" }, first, previousPage, next);
  const popover = h("div", {});
  const tools = h("div", { class: "tools" },
    h("div", { class: "row" }, status, total),
    h("div", { class: "row" },
      button("Columns", () => toggleChooser(), { "aria-haspopup": "true" }),
      h("span", { class: "group", role: "group", "aria-label": "Copy this page" }, h("span", { class: "muted" }, "Copy page as"),
        button("JSON", () => copyPage("JSON")), button("CSV", () => copyPage("CSV")), button("Swift", () => copyPage("Swift"))),
      button("Export", () => { const { where, sort } = current().parameters; go("maintenance", { in: collection, where, sort }); }, { "aria-label": "Export all matching documents" }),
      pager));
  root.append(bar.element, tools, popover, h("div", { class: "split" }, table, panel));

  const state = { documents: [], previous: null, columns: storedColumns(), catalog: completer(collection).known, next: null, back: [], loaded: null };

  function storedColumns() {
    try {
      const list = JSON.parse(localStorage.getItem(columnsName));
      return Array.isArray(list) && list.length ? list : null;
    } catch {
      return null;
    }
  }

  function load({ keeps = false } = {}) {
    const { where, sort, after } = current().parameters;
    const previous = keeps ? state.documents : null;
    return run(table, "Reading documents…", async (signal, limit) => {
      let page;
      // The table does not wait for the catalog, which may be slow.
      completer(collection).fields().then(use);
      try {
        page = await getLong("documents", { in: collection, where, sort, after, size: pageSize, limit }, signal);
      } catch (error) {
        if (signal.aborted) throw error;
        status.textContent = "";
        total.replaceChildren();
        if (bar.showError(error)) return fill(table, h("p", { class: "empty" }, "The condition has an error."));
        throw error;
      }
      if (signal.aborted) return;
      state.documents = decoded(page.documents);
      for (const document of state.documents) note(collection, document, false);
      state.next = page.next;
      state.condition = page.condition;
      state.sort = parsedSort(page.sort);
      bar.sort = sort ?? "";
      bar.condition = page.condition;
      draw(previous);
      status.textContent = `${state.documents.length ? counted(state.documents.length, "document") : "No documents"} in ${duration(page.milliseconds)}`;
      if (page.limit !== null) total.textContent = ` · limited to ${page.limit}${page.isCut ? `, of which the first ${state.documents.length} are shown` : ""}`;
      else if (!keeps || state.counted !== `${where}`) count(where);
      const { doc } = current().parameters;
      if (doc && doc !== state.loaded) open(doc);
    });
  }

  /** Uses a catalog of fields in what is shown. */
  function use(catalog) {
    if (JSON.stringify(catalog) === JSON.stringify(state.catalog)) return;
    const isFirst = !state.catalog.length;
    state.catalog = catalog;
    for (const filter of panel.querySelectorAll("button[data-names]")) filter.hidden = fieldOf(JSON.parse(filter.dataset.names)) === null;
    if (isFirst && popover.firstChild) showChooser();
    // While documents are read, the table has a button that cancels it, and is drawn afterwards.
    if (table.getAttribute("aria-busy") === "false" && table.querySelector("table")) draw(state.previous);
  }

  /** Returns the field at a path of names as query text; null if queries have none. */
  function fieldOf(names) {
    return state.catalog.find((entry) => JSON.stringify(entry.names) === JSON.stringify(names))?.field ?? null;
  }

  function count(where) {
    state.counted = `${where}`;
    run(total, "counting…", async (signal, limit) => {
      const result = await get("count", { in: collection, where, limit }, signal);
      total.textContent = ` · ${result.count.toLocaleString("en")} ${where ? "match" : "in all"}`;
    });
  }

  function parsedSort(text) {
    if (!text || text.includes(",")) return null;
    const match = /^(.*?)( DESC)?$/s.exec(text);
    return { field: match[1], descending: Boolean(match[2]) };
  }

  function draw(previous) {
    const restore = keepFocus();
    state.previous = previous;
    // A column may have been chosen before its field was known.
    const columns = state.columns?.map((shown) => (shown.names && !shown.field ? column(shown.names, state.catalog) : shown))
      ?? defaultColumns(state.documents, state.catalog);
    state.shown = columns;
    if (!state.documents.length) {
      const { where, after } = current().parameters;
      fill(table, h("p", { class: "empty" }, after ? "There are no further documents." : where ? "No document matches the condition." : "The collection has no documents."));
    } else {
      showTable(table, state.documents, {
        columns, sort: state.sort, selected: current().parameters.doc, previous,
        onsort: (column) => {
          const descending = state.sort?.field === column.field && !state.sort.descending;
          state.back = [];
          change({ sort: `${column.field}${descending ? " DESC" : ""}`, after: undefined });
        },
        onopen: (document) => change({ doc: document.rowID }),
      });
    }
    first.disabled = !current().parameters.after;
    previousPage.disabled = !state.back.length;
    next.disabled = !state.next;
    restore();
  }

  /** Returns a function that moves the focus to the element that replaces the one that has it now. */
  function keepFocus() {
    const focused = document.activeElement;
    if (!table.contains(focused) || focused === table) return () => {};
    const label = focused.getAttribute("aria-label");
    const row = focused.closest("tr")?.dataset.row;
    return () => {
      const same = row ? [...table.querySelectorAll("tbody tr")].find((candidate) => candidate.dataset.row === row)?.querySelector("button") : [...table.querySelectorAll("thead button")].find((candidate) => candidate.getAttribute("aria-label").split(",")[0] === label.split(",")[0]);
      (same ?? table).focus({ preventScroll: true });
    };
  }

  function toggleChooser() {
    if (popover.firstChild) fill(popover);
    else showChooser();
  }

  function showChooser() {
    fill(popover, columnChooser(state.shown ?? [], state.catalog, (columns) => {
      state.columns = columns;
      // Storage may be disabled; then the choice lasts as long as the page.
      try { localStorage.setItem(columnsName, JSON.stringify(columns)); } catch { /* nothing to do */ }
      draw(null);
    }));
  }

  async function copyPage(format) {
    const shown = state.documents.filter((document) => document.node);
    const columns = (state.shown ?? []).filter((column) => column.names);
    const isPartial = (node) => (format === "CSV" ? columns.some((column) => isCutAt(node, column.names)) : isCut(node));
    let nodes;
    try {
      nodes = await Promise.all(shown.map((document) => (isPartial(document.node) ? whole(document) : document.node)));
    } catch (error) {
      return notify(visible(error.message));
    }
    if (nodes.some(isPartial)) return notify("A document is too long to copy; Export writes it to a file");
    const list = { type: "array", value: nodes };
    const text = format === "JSON" ? json(list) : format === "CSV" ? csv(columns, nodes) : `let documents: [DocumentObject] = ${swift(list)}`;
    copy(text, `${counted(nodes.length, "document")} as ${format}`);
  }

  /** Returns the node of a document of which the page has only a part. */
  async function whole({ rowID }) {
    return decode((await get("document", { in: collection, rowID })).document.value ?? null);
  }

  function open(rowID) {
    const isOther = rowID !== state.loaded;
    state.loaded = rowID;
    panel.hidden = false;
    // In a narrow window, the document is above the table.
    if (isOther) panel.scrollIntoView({ block: "nearest" });
    showDocument(panel, app, collection, rowID, {
      close: () => change({ doc: undefined }),
      filter: (condition) => change({ where: state.condition ? `(${state.condition}) AND ${condition}` : condition, after: undefined }),
      changed: () => load({ keeps: true }),
      // The report of the commit may arrive before the answer to the save, when the text is still being edited.
      reopen: () => { if (state.loaded === rowID) open(rowID); },
      fieldOf,
    });
    mark(rowID);
  }

  function close() {
    state.loaded = null;
    panel.hidden = true;
    panel.cancelTask?.();
    fill(panel);
    table.querySelector("tr.selected")?.scrollIntoView({ block: "nearest" });
    mark(null);
  }

  function mark(rowID) {
    for (const row of table.querySelectorAll("tbody tr")) {
      row.classList.toggle("selected", row.dataset.row === rowID);
      row.setAttribute("aria-selected", String(row.dataset.row === rowID));
    }
  }

  let last = "";
  let lastOrder = "";
  function update(parameters) {
    const { doc, ...query } = parameters;
    if (state.loaded && doc !== state.loaded && hasChangedText(panel)) return change({ doc: state.loaded });
    bar.set(parameters.where ?? "");
    // A position is one among the results of a query.
    const order = JSON.stringify([parameters.where, parameters.sort]);
    if (order !== lastOrder) state.back = [];
    lastOrder = order;
    const key = JSON.stringify(query);
    if (key !== last) {
      last = key;
      fill(popover);
      load();
    }
    if (!doc) close();
    else if (doc !== state.loaded) open(doc);
  }

  update(parameters);
  const reload = throttled(() => {
    load({ keeps: true });
    if (state.loaded && !panel.querySelector("textarea")) open(state.loaded);
  }, 150);
  const stop = app.commits.follow((commit) => {
    if (commit.changes.some((entry) => entry.collection === collection)) {
      state.counted = null;
      reload();
    }
  });

  return {
    update,
    leave() { stop(); table.cancelTask?.(); total.cancelTask?.(); panel.cancelTask?.(); },
    escape() { if (popover.firstChild) fill(popover); else if (!bar.menu.hidden) bar.closeMenu(); else if (!panel.hidden && !hasChangedText(panel)) change({ doc: undefined }); },
    keeps() { return hasChangedText(panel); },
    press(event) {
      const step = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 }[event.key];
      const inTable = event.target === document.body || event.target.closest("#main, .table");
      if (step && inTable && !event.target.closest(".panel")) { if (moveRow(table, step)) event.preventDefault(); }
      else if (event.key === "n") next.click();
      else if (event.key === "p") previousPage.click();
    },
  };
}

/** A link to a document of any collection. */
export function documentLink(collection, rowID, text) {
  return h("a", { href: link("documents", { in: collection, where: `[__rowid__] = ${rowID}`, doc: rowID }) }, visible(text));
}

export { go };
