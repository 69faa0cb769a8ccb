// SPDX-License-Identifier: MIT
// Maintenance: verification, backup, export, import and compaction.

import { get, post } from "./api.js";
import { bytes, button, counted, duration, fill, h, visible } from "./dom.js";
import { shellWord } from "./query.js";
import { errorView, run } from "./task.js";
import { download, maintain, transfers, upload } from "./transfer.js";

export function show(root, parameters, app) {
  const { allowsWrites } = app.store;
  root.append(h("h1", {}, "Maintenance"), transfers, verification(app), backup(app), exporting(app, parameters),
    ...(allowsWrites ? [importing(app, parameters), compaction(app)] : [h("p", { class: "muted" }, "Start the inspector with --write to import documents and to compact the store.")]),
    terminal(app.store.location));
}

function action(title, text, ...content) {
  return h("section", { class: "action", "aria-label": title }, h("h2", {}, title), h("p", {}, text), ...content);
}

function verification(app) {
  const start = () => maintain(`Verification of ${app.name}`, (parameters) => get("verify", parameters), (result) => {
    if (result.count === 0) return h("span", { class: "good" }, `No problems. Checked in ${duration(result.milliseconds)}.`);
    const { problems, count } = result;
    const rest = count > problems.length ? `; the first ${problems.length}` : "";
    return h("div", { class: "problem", role: "alert" }, h("p", { class: "problem-title" }, counted(count, "problem") + rest),
      h("ul", {}, problems.map((problem) => h("li", {}, h("strong", {}, visible(problem.subject)), ": ", visible(problem.message)))));
  });
  return action("Verify", "Reads the whole store and checks the file, documents, indexes and the path catalog. Takes minutes for millions of documents. Nothing is changed.", button("Verify", start, { class: "primary" }));
}

function compaction(app) {
  const start = () => maintain(`Compaction of ${app.name}`, (parameters) => post("compact", parameters), (result) =>
    h("span", { class: "good" }, `Compacted from ${bytes(result.before)} to ${bytes(result.after)}.`));
  return action("Compact", "Returns unused space to the file system. Temporarily requires free disk space equal to the size of the file, and other writers wait.", button("Compact", start));
}

function backup(app) {
  if (!app.store.canBackUp) return action("Backup", "Databases on a server are backed up with its own tools, such as pg_dump. To copy the store to a file, use nanostore copy.");
  return action("Backup", "Downloads a copy of the whole store as of now, while programs write to it. The copy is first created in the temporary folder of this machine.",
    button("Download a backup", () => download(`Backup of ${app.name}`, "backup", {})));
}

const labeled = (text, control) => h("label", {}, h("span", {}, text), control);

function exporting(app, parameters) {
  const collections = app.collections.filter((collection) => !collection.isInternal).map((collection) => collection.name);
  const collection = h("select", {}, collections.map((name) => h("option", { value: name, selected: name === parameters.in }, visible(name))));
  const format = h("select", {}, [["ndjson", "JSON, one document per line"], ["json", "JSON array"], ["csv", "CSV"]].map(([value, text]) => h("option", { value }, text)));
  const condition = h("input", { class: "mono", placeholder: "all documents", value: parameters.where ?? "", spellcheck: "false" });
  const outcome = h("div", {});
  const start = () => run(outcome, "Checking the condition…", async (signal) => {
    const [name, where] = [collection.value, condition.value.trim()];
    try {
      await get("documents", { in: name, where, size: 1 }, signal);
    } catch (error) {
      // An export has no time limit.
      if (error.code !== "timeLimit") throw error;
    }
    fill(outcome);
    download(`Export of ${name}`, "export", { in: name, where, sort: parameters.sort, format: format.value });
  });
  if (!collections.length) return action("Export", "The store has no collections to export.");
  return action("Export", "Downloads the documents of a collection, or those that match a condition, from one snapshot. JSON can be imported again without loss; CSV has a column for each field.",
    h("div", { class: "row form" }, labeled("Collection", collection), labeled("Format", format), labeled("Condition", condition), button("Export", start)), outcome);
}

const formats = [["json", "JSON array or lines"], ["csv", "CSV"], ["tsv", "tab-separated values"]];

function importing(app, parameters) {
  const file = h("input", { type: "file", accept: ".json,.ndjson,.jsonl,.csv,.tsv,.txt" });
  const names = h("datalist", { id: "import-collections" }, app.collections.filter((collection) => !collection.isInternal).map((collection) => h("option", { value: collection.name })));
  const collection = h("input", { list: "import-collections", value: parameters.in ?? "", placeholder: "existing or new" });
  const format = h("select", {}, formats.map(([value, text]) => h("option", { value }, text)));
  const key = h("input", { class: "mono", placeholder: "generated keys" });
  const replaces = h("input", { type: "checkbox" });
  const skips = h("input", { type: "checkbox" });
  const outcome = h("div", {});
  file.addEventListener("change", () => {
    const name = file.files[0]?.name ?? "";
    format.value = /\.csv$/i.test(name) ? "csv" : /\.tsv$/i.test(name) ? "tsv" : "json";
    if (!collection.value) collection.value = name.replace(/\.[^.]*$/, "");
  });
  const start = () => {
    if (!file.files[0]) return fill(outcome, errorView(new Error("Choose a file.")));
    if (!collection.value) return fill(outcome, errorView(new Error("Enter the name of a collection.")));
    fill(outcome);
    upload(`Import of ${file.files[0].name} into ${collection.value}`, { in: collection.value, format: format.value, key: key.value, replace: replaces.checked ? "true" : "", skip: skips.checked ? "true" : "" }, file.files[0], () => app.refreshCollections());
  };
  return action("Import", "Adds the documents of a file to a collection, in one transaction: if a record is invalid, nothing is imported, unless invalid records are skipped.",
    h("div", { class: "row form" }, labeled("File", file), labeled("Collection", collection), names, labeled("Format", format), labeled("Field with the key", key)),
    h("div", { class: "row form" }, h("label", {}, replaces, h("span", {}, "Replace documents with the same key")), h("label", {}, skips, h("span", {}, "Skip invalid records")), button("Import", start)), outcome);
}

function terminal(location) {
  const word = shellWord(location);
  return action("From a terminal", "These run while other programs use the store:",
    h("pre", { class: "code", tabindex: "0" }, [`nanostore backup ${word} COPY`, `nanostore export ${word} COLLECTION --output FILE`, `nanostore import ${word} COLLECTION FILE`, `nanostore stats ${word}`].map(visible).join("\n")));
}
