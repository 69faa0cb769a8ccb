// SPDX-License-Identifier: MIT
// Documents as a table over nested fields.

import { button, fill, h, visible } from "./dom.js";
import { equal, line, nodesAt, single } from "./values.js";

const numeric = new Set(["int", "double", "decimal"]);

/** The metadata of a document, which are columns as well. */
export const attributes = [
  { path: "row ID", field: "__rowid__", attribute: "rowID" }, { path: "type", field: "__type__", attribute: "type" },
  { path: "added", field: "__added__", attribute: "added" }, { path: "revision", field: null, attribute: "revision" },
];

/** Returns columns for documents: their scalar fields, in the order in which they appear. */
export function defaultColumns(documents, catalog) {
  const columns = new Map();
  const visit = (node, names) => {
    for (const [name, value] of node.value) {
      const path = [...names, name];
      if (value.type === "object" && path.length < 3 && value.value.length) visit(value, path);
      else columns.set(JSON.stringify(path), path);
    }
  };
  for (const document of documents) if (document.node?.type === "object") visit(document.node, []);
  return [...columns.values()].slice(0, 9).map((names) => column(names, catalog));
}

/** Returns a column for a path of names. */
export function column(names, catalog) {
  const known = catalog.find((entry) => JSON.stringify(entry.names) === JSON.stringify(names));
  return { path: names.join("."), names, field: known?.field ?? null };
}

/** Returns the node of a column in a document. */
export function cellNode(document, column) {
  if (column.attribute === "added") return document.added ? { type: "date", value: document.added.$date } : undefined;
  if (column.attribute) return document[column.attribute] === null ? undefined : { type: column.attribute === "type" ? "string" : "int", value: document[column.attribute] };
  return single(nodesAt(document.node, column.names));
}

/** Returns a cell for a node. */
export function cell(node) {
  if (node === undefined) return h("td", { class: "missing" }, h("span", { "aria-label": "missing" }, "–"));
  const text = line(node);
  const content = node.type === "string" && node.value === "" ? h("span", { class: "muted" }, "empty") : h("bdi", {}, visible(text));
  return h("td", { class: `value ${node.type}${numeric.has(node.type) ? " number" : ""}`, title: node.type === "string" && text.length < 40 ? null : visible(node.type === "date" ? node.value : line(node, 600)) }, content);
}

/**
 * Shows documents. `options` are `columns`, `sort` (`{ field, descending }` or null), `selected` (a row ID), `previous`
 * (documents of the same page before, to mark changes), `onsort(column)` and `onopen(document)`.
 */
export function showTable(root, documents, options) {
  const { columns, sort, selected, previous } = options;
  const before = new Map((previous ?? []).map((document) => [document.rowID, document]));
  const header = h("tr", {}, h("th", { scope: "col", class: "key" }, documents.some((document) => document.key !== null) ? "key" : "row ID"), columns.map((column) => {
    const direction = sort && column.field === sort.field ? (sort.descending ? "descending" : "ascending") : null;
    const name = h("bdi", {}, visible(column.path));
    return h("th", { scope: "col", "aria-sort": direction, title: visible(column.path) },
      column.field ? button(name, () => options.onsort(column), { class: "sort", "aria-label": `Sort by ${visible(column.path)}${direction ? `, now ${direction}` : ""}` }) : name);
  }));
  const rows = documents.map((document) => {
    const old = before.get(document.rowID);
    const changed = previous && (!old || old.revision !== document.revision || !equal(old.node, document.node));
    const name = document.key ?? document.rowID;
    const open = button(h("bdi", {}, visible(name === "" ? "empty" : name)), () => options.onopen(document), { class: "link", "aria-label": `Open ${visible(name)}` });
    return h("tr", { class: [document.rowID === selected ? "selected" : "", changed ? "changed" : ""].join(" ").trim() || null, "aria-selected": String(document.rowID === selected), data: { row: document.rowID }, onclick: (event) => { if (!event.target.closest("button, a") && !getSelection().toString()) options.onopen(document); } },
      h("th", { scope: "row", class: "key" }, open),
      document.node
        ? columns.map((column) => {
            const node = cellNode(document, column);
            const made = cell(node);
            if (old && changed && !equal(cellNode(old, column), node)) made.classList.add("changed");
            return made;
          })
        : h("td", { class: "corrupt", colspan: columns.length || 1 }, visible(document.error)));
  });
  fill(root, h("table", { class: "documents-table" }, h("caption", { class: "hidden" }, "Documents"), h("thead", {}, header), h("tbody", {}, rows)));
}

/** Moves the focus to the next or previous row. Returns whether there is one. */
export function moveRow(root, step) {
  const openers = [...root.querySelectorAll("tbody th.key button")];
  if (!openers.length) return false;
  const index = openers.indexOf(document.activeElement);
  const next = index < 0 ? (step > 0 ? 0 : openers.length - 1) : index + step;
  if (!openers[next]) return false;
  openers[next].focus();
  openers[next].scrollIntoView({ block: "nearest" });
  return true;
}

/** A list of columns to choose from and to reorder. `onchange(columns)` is called with each change. */
export function columnChooser(columns, catalog, onchange) {
  const root = h("div", { class: "popover chooser" });
  const choices = [...catalog.filter((entry) => entry.field !== null).map((entry) => ({ path: entry.names.join("."), names: entry.names, field: entry.field })), ...attributes];
  const same = (a, b) => a.attribute === b.attribute && JSON.stringify(a.names) === JSON.stringify(b.names);
  const update = (list) => { columns = list; onchange(list); draw(); };
  const draw = () => {
    const focus = document.activeElement?.dataset?.focus;
    const others = choices.filter((choice, index) => !columns.some((column) => same(column, choice)) && choices.findIndex((other) => same(other, choice)) === index);
    fill(root,
      h("h3", {}, "Columns"),
      h("ol", {}, columns.map((column, index) => h("li", {},
        h("bdi", {}, visible(column.path)),
        button("↑", () => update(moved(columns, index, -1)), { disabled: index === 0, "aria-label": `Move ${visible(column.path)} left`, data: { focus: `up ${column.path}` } }),
        button("↓", () => update(moved(columns, index, 1)), { disabled: index === columns.length - 1, "aria-label": `Move ${visible(column.path)} right`, data: { focus: `down ${column.path}` } }),
        button("Remove", () => update(columns.filter((_, other) => other !== index)), { "aria-label": `Remove column ${visible(column.path)}` })))),
      others.length ? h("h3", {}, "Add") : null,
      h("ul", {}, others.slice(0, 300).map((choice) => h("li", {}, button(h("bdi", {}, visible(choice.path)), () => update([...columns, choice]), { class: "link", "aria-label": `Add column ${visible(choice.path)}` })))));
    if (focus) [...root.querySelectorAll("button")].find((candidate) => candidate.dataset.focus === focus && !candidate.disabled)?.focus();
  };
  draw();
  return root;
}

function moved(list, index, step) {
  const copy = [...list];
  const [item] = copy.splice(index, 1);
  copy.splice(index + step, 0, item);
  return copy;
}
