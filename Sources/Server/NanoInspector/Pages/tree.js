// SPDX-License-Identifier: MIT
// A document as a tree: types, references, what changed since the page opened, editing.

import { address, get, post } from "./api.js";
import { bytes, button, copy, fill, h, notify, visible } from "./dom.js";
import { documentLink } from "./documents.js";
import { link } from "./route.js";
import { errorView, run } from "./task.js";
import { dateText, decode, difference, isCut, line, numberText, swift, typeName } from "./values.js";

// What the page has seen of documents, for the history of a document and for commits.

const seen = new Map();
/** The number of documents that are remembered; arbitrary. */
const maximumSeen = 5000;
const maximumVersions = 20;

/**
 * Remembers a version of a document, or more of a known one. Returns the version before it, if that is different. A
 * response for a single document has longer values than a page or a commit; `isSingle` says which it was.
 */
export function note(collection, document, isSingle) {
  if (!document?.node || document.rowID === null) return undefined;
  const key = `${collection}\u0000${document.rowID}`;
  const versions = seen.get(key) ?? [];
  const last = versions.at(-1);
  // After a write of another program, a document has no revision.
  if (last && last.revision === document.revision && (last.revision !== null || !difference(last.node, document.node).length)) {
    if (isCut(last.node) && (isSingle || !last.isSingle)) Object.assign(last, { node: document.node, isSingle });
    return undefined;
  }
  versions.push({ time: Date.now(), node: document.node, revision: document.revision, isSingle });
  if (versions.length > maximumVersions) versions.shift();
  seen.delete(key);
  seen.set(key, versions);
  if (seen.size > maximumSeen) seen.delete(seen.keys().next().value);
  return last;
}

/** Returns the versions of a document that the page has seen. */
export function versionsOf(collection, rowID) {
  return seen.get(`${collection}\u0000${rowID}`) ?? [];
}

/** Shows a document in a panel. */
export function showDocument(panel, app, collection, rowID, actions) {
  return run(panel, "Reading the document…", async (signal, limit) => {
    const result = await get("document", { in: collection, rowID, limit }, signal);
    const document = { ...result.document, node: result.document.value ? decode(result.document.value) : null };
    note(collection, document, true);
    draw(panel, app, collection, document, result, actions);
    findReferences(panel, document, signal);
  });
}

function draw(panel, app, collection, document, result, actions) {
  const name = document.key ?? document.rowID;
  const facts = [
    ["Row ID", document.rowID], document.type !== null ? ["Type", document.type] : null, document.version !== null ? ["Version", document.version] : null,
    document.added ? ["Added", dateText(document.added.$date).slice(0, 19)] : null, document.revision !== null ? ["Revision", document.revision] : null,
    result.expires ? ["Expires", `${dateText(result.expires.$date).slice(0, 19)} ${relative(result.expires.$date)}`] : null,
    result.bytes !== null ? ["JSON", bytes(result.bytes)] : null,
  ].filter(Boolean);
  const edit = h("div", { class: "edit" });
  const references = h("div", { class: "references" });
  fill(panel,
    h("div", { class: "panel-head" }, h("h2", {}, h("bdi", {}, visible(String(name)))), button("Close", actions.close, { "aria-label": "Close the document" })),
    h("dl", { class: "facts" }, facts.map(([label, value]) => h("div", {}, h("dt", {}, label), h("dd", {}, visible(String(value)))))),
    h("div", { class: "row" },
      result.json !== null ? button("Copy JSON", () => copy(result.json, "the document as JSON")) : null,
      document.node ? button("Copy Swift", () => (isCut(document.node) ? notify("The document is too long to copy as Swift") : copy(`let document: DocumentObject = ${swift(document.node)}`, "the document as Swift"))) : null,
      document.rowID !== null ? h("a", { href: link("graph", { in: collection, row: document.rowID }) }, "Graph") : null,
      document.key !== null ? button("Find references", () => showReferences(references, document.key)) : null,
      app.store.allowsWrites && result.json !== null && document.revision !== null ? button("Edit", () => { if (!hasChangedText(edit)) editor(edit, collection, document, result.json, actions); }) : null,
      app.store.allowsWrites && document.revision !== null ? button("Delete", () => { if (!hasChangedText(edit)) confirmDelete(edit, collection, document, actions); }, { class: "danger" }) : null),
    edit, references, attachments(collection, document, result.attachments ?? []),
    document.node ? h("ul", { class: "tree", "aria-label": "Fields" }, items(document.node, [], actions, 0)) : h("div", { class: "problem", role: "alert" }, visible(document.error)),
    history(collection, document.rowID));
}

/** The largest container that is open at first. */
const openSize = 30;

function items(node, names, actions, depth) {
  const pairs = node.type === "array" ? node.value.map((element, index) => [String(index), element]) : node.value;
  const list = pairs.map(([name, value]) => item(name, value, node.type === "array" ? names : [...names, name], node.type === "array", actions, depth));
  const hidden = (node.size ?? pairs.length) - pairs.length;
  if (hidden > 0) list.push(h("li", { class: "muted" }, `${hidden.toLocaleString("en")} more are not shown`));
  return list;
}

function item(name, node, names, isElement, actions, depth) {
  const label = h("bdi", { class: isElement ? "index" : "name" }, visible(name === "" ? "(empty name)" : name));
  if (node.type === "object" || node.type === "array") {
    const size = node.size ?? node.value.length;
    const summary = h("summary", {}, label, h("span", { class: "type" }, node.type), h("span", { class: "muted" }, node.type === "array" ? `${size} ${size === 1 ? "element" : "elements"}` : `${size} ${size === 1 ? "field" : "fields"}`), h("bdi", { class: "preview" }, visible(line(node, 80))));
    const list = h("ul", {});
    const details = h("details", { open: depth < 2 && size <= openSize }, summary, list);
    // Long lists are built when they are opened.
    const build = () => { if (!list.firstChild) fill(list, items(node, names, actions, depth + 1)); };
    if (details.open) build();
    details.addEventListener("toggle", () => { if (details.open) build(); });
    return h("li", {}, details);
  }
  const condition = literal(node);
  // The fields may become known later.
  const filter = () => {
    const text = actions.fieldOf(names);
    actions.filter(node.type === "null" ? `${text} IS NULL` : `${text} = ${condition}`);
  };
  return h("li", { class: "leaf" }, label, h("span", { class: `type ${node.type}` }, typeName(node)), value(node),
    condition !== null ? button("Filter", filter, { class: "small", hidden: actions.fieldOf(names) === null, "aria-label": `Filter by ${visible(name)}`, data: { names: JSON.stringify(names) } }) : null);
}

/** Returns a scalar as query text; null if it has no short form. */
function literal(node) {
  switch (node.type) {
    case "string": return node.size === undefined ? `'${node.value.replaceAll("'", "''")}'` : null;
    case "int": return node.value;
    case "double": return /^-?[\d.]+$/.test(node.value) ? numberText(node) : null;
    case "decimal": return `DECIMAL '${node.value}'`;
    case "bool": return node.value ? "TRUE" : "FALSE";
    case "null": return "NULL";
    default: return null;
  }
}

function value(node) {
  switch (node.type) {
    case "string": {
      const cut = node.size !== undefined ? h("span", { class: "muted" }, ` … ${node.size.toLocaleString("en")} characters`) : null;
      return h("span", { class: "value string", data: { text: node.value } }, node.value === "" ? h("span", { class: "muted" }, "empty") : h("bdi", {}, visible(node.value)), cut);
    }
    case "date": return h("span", { class: "value date", title: node.value }, h("time", { datetime: node.value }, dateText(node.value)), h("span", { class: "muted" }, ` ${relative(node.value)}`));
    // A link to another site would tell it about the page, and the text may be hostile.
    case "url": return h("span", { class: "value url" }, h("bdi", {}, visible(node.value)));
    case "data": return h("span", { class: "value data" }, bytes(node.size ?? 0), h("code", { class: "muted" }, ` ${hex(node.value)}`));
    case "int": case "double": case "decimal": return h("span", { class: `value ${node.type}` }, numberText(node));
    default: return h("span", { class: `value ${node.type}` }, String(node.value));
  }
}

function hex(base64) {
  return [...atob(base64).slice(0, 16)].map((character) => character.charCodeAt(0).toString(16).padStart(2, "0")).join(" ");
}

function relative(iso) {
  const seconds = (Date.parse(iso) - Date.now()) / 1000;
  if (!Number.isFinite(seconds)) return "";
  const units = [["year", 31557600], ["month", 2629800], ["day", 86400], ["hour", 3600], ["minute", 60], ["second", 1]];
  const [unit, size] = units.find(([, size]) => Math.abs(seconds) >= size) ?? ["second", 1];
  return new Intl.RelativeTimeFormat("en").format(Math.round(seconds / size), unit);
}

/** The attachments, each with a link that saves its content. */
function attachments(collection, document, list) {
  if (!list.length) return null;
  return h("section", { class: "attachments", "aria-label": "Attachments" }, h("h3", {}, "Attachments"), h("ul", {}, list.map((attachment) => h("li", { class: "row" },
    h("bdi", {}, visible(attachment.name)), h("span", { class: "type" }, visible(attachment.contentType)), h("span", { class: "muted" }, bytes(attachment.length)),
    h("a", { href: address("attachment", { in: collection, rowID: document.rowID, name: attachment.name }), download: "", "aria-label": `Download ${visible(attachment.name)}` }, "Download")))));
}

// References

/** Makes values that are keys of documents into links. */
async function findReferences(panel, document, signal) {
  const strings = [...panel.querySelectorAll(".tree .value.string")].filter((element) => element.dataset.text && element.dataset.text.length <= 200);
  const keys = [...new Set(strings.map((element) => element.dataset.text))].filter((key) => key !== document.key).slice(0, 60);
  if (!keys.length) return;
  try {
    for (const part of parts(keys)) {
      const { documents } = await get("lookup", { key: part }, signal);
      for (const found of documents) {
        for (const element of strings.filter((candidate) => candidate.dataset.text === found.key)) {
          element.append(" ", h("span", { class: "reference" }, documentLink(found.collection, found.rowID, `→ ${found.collection}`)));
        }
      }
    }
  } catch {
    // Links are an addition; without them the tree is complete.
  }
}

/** Half of the length of a URL that the server accepts, in bytes. */
const maximumQuery = 8000;

/** Splits keys among requests, because an escaped character has up to 12 bytes. */
function parts(keys) {
  const result = [];
  let size = maximumQuery;
  for (const key of keys) {
    const length = "&key=".length + encodeURIComponent(key).length;
    if (size + length > maximumQuery) { result.push([]); size = 0; }
    result.at(-1).push(key);
    size += length;
  }
  return result;
}

function showReferences(root, key) {
  run(root, "Searching all collections…", async (signal, limit) => {
    const { documents } = await get("references", { key, limit }, signal);
    fill(root, h("h3", {}, "Documents that contain this key"),
      documents.length
        ? h("ul", {}, documents.map(({ collection, document }) => h("li", {}, documentLink(collection, document.rowID, `${collection}: ${document.key ?? document.rowID}`))))
        : h("p", { class: "empty" }, "None."));
  });
}

// History and editing

/** Differences as a table, if there are any. */
export function differenceView(changes, names = ["before", "after"]) {
  if (!changes.length) return h("p", { class: "muted" }, "No field differs, except perhaps in its position or in values that are too long to show.");
  const text = (node) => (node === undefined ? h("span", { class: "muted" }, "missing") : h("bdi", {}, visible(line(node, 300))));
  return h("table", { class: "difference" },
    h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "field"), names.map((name) => h("th", { scope: "col" }, name)))),
    h("tbody", {}, changes.map((change) => h("tr", {}, h("th", { scope: "row" }, h("bdi", {}, visible(change.path.join(".")))), h("td", { class: "before" }, text(change.before)), h("td", { class: "after" }, text(change.after))))));
}

function history(collection, rowID) {
  const versions = versionsOf(collection, rowID);
  if (versions.length < 2) return null;
  const steps = versions.slice(1).map((version, index) => h("li", {}, h("time", {}, new Date(version.time).toLocaleTimeString("en")), differenceView(difference(versions[index].node, version.node)))).reverse();
  return h("section", { class: "history", "aria-label": "Changes since the page opened" }, h("h3", {}, "Changes since the page opened"), h("ol", {}, steps));
}

/** Returns whether an element contains an edited text, and then says so. */
export function hasChangedText(element) {
  const text = element.querySelector("textarea");
  if (!text || text.value === text.defaultValue) return false;
  notify("The document has unsaved changes; Discard removes them");
  return true;
}

/** A view of a document, or of the reason for which it cannot be read. */
const versionView = (opened, theirs) => (theirs.value ? differenceView(difference(opened.node ?? undefined, decode(theirs.value)), ["opened", "stored"]) : h("p", {}, visible(theirs.error)));

function editor(root, collection, document, json, actions) {
  const text = h("textarea", { class: "mono", rows: Math.min(24, json.split("\n").length + 1), "aria-label": "Document as JSON", spellcheck: "false" });
  // The default, from which unsaved changes differ.
  text.defaultValue = json;
  const outcome = h("div", {});
  // What was reviewed is what is saved.
  text.addEventListener("input", () => { outcome.cancelTask?.(); outcome.setAttribute("aria-busy", "false"); fill(outcome); });
  let revision = document.revision;
  let stored = json;
  const send = (check, signal) => post("replace", { in: collection }, { rowID: document.rowID, revision, json: text.value, check }, signal);
  const saved = () => { notify("Saved"); fill(root); actions.changed(); };
  const review = () => run(outcome, "Checking…", async (signal) => {
    const result = await send(true, signal);
    if (result.conflict) return conflict(result.conflict);
    const { document: edited, json: whole } = result.preview;
    if (!edited.value) return fill(outcome, h("div", { class: "problem", role: "alert" }, visible(edited.error)));
    // The nodes may be cut. The text of a document that is too long for a response is null.
    if (whole !== null && whole === stored) return fill(outcome, h("p", { class: "empty" }, "Nothing has changed."));
    const changes = difference(document.node, decode(edited.value));
    fill(outcome, differenceView(changes),
      button("Save these changes", save, { class: "primary" }));
  });
  const save = () => run(outcome, "Saving…", async () => {
    text.readOnly = true;
    try {
      const result = await send(false);
      if (result.conflict) return conflict(result.conflict);
      saved();
      actions.reopen?.();
    } finally {
      text.readOnly = false;
    }
  });
  const conflict = (theirs) => {
    const { value, revision: other } = theirs.document;
    fill(outcome, h("div", { class: "problem", role: "alert" }, h("p", { class: "problem-title" }, "The document has been changed in the meantime."),
      h("p", {}, "Below: the version that you opened, and the stored one.")),
      versionView(document, theirs.document),
      h("div", { class: "row" },
        button("Keep the stored version", () => { fill(root); actions.changed(); }),
        value && other !== null ? button("Compare my text with the stored version", () => { revision = other; stored = theirs.json; document = { ...document, node: decode(value) }; review(); }) : null));
  };
  fill(root, h("h3", {}, "Edit"), text, h("div", { class: "row" }, button("Review changes", review, { class: "primary" }), button("Discard", () => fill(root))), outcome);
  text.focus();
}

function confirmDelete(root, collection, document, actions) {
  fill(root, h("div", { class: "problem" }, h("p", { class: "problem-title" }, "Delete this document?"),
    h("div", { class: "row" },
      button("Delete it", async () => {
        try {
          const result = await post("delete", { in: collection }, { rowID: document.rowID, revision: document.revision });
          if (result.conflict) {
            fill(root, h("div", { class: "problem", role: "alert" }, h("p", { class: "problem-title" }, "The document has been changed in the meantime and was not deleted."),
              versionView(document, result.conflict.document)));
          } else { notify("Deleted"); actions.close(); actions.changed(); }
        } catch (error) { fill(root, errorView(error)); }
      }, { class: "danger" }), button("Keep it", () => fill(root)))));
}
