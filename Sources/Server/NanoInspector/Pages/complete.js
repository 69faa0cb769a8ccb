// SPDX-License-Identifier: MIT
// Completion of query text: fields from the path catalog, values that documents hold, keywords and functions.

import { get } from "./api.js";
import { line, decode } from "./values.js";

const keywords = ["AND", "OR", "NOT", "IN", "LIKE", "GLOB", "BETWEEN", "IS NULL", "IS NOT NULL", "ORDER BY", "DESC", "LIMIT", "TRUE", "FALSE", "NULL"];
const functions = ["lower", "upper", "length", "abs", "round", "substr", "trim", "coalesce", "count"];
const attributes = ["__key__", "__rowid__", "__type__", "__version__", "__added__"];

/** Completion for one collection. */
export class Completer {
  constructor(collection) {
    this.collection = collection;
    this.values = new Map();
    /** The fields that were read last. */
    this.known = [];
    this.isOutdated = true;
    this.isReading = false;
  }

  /** Forgets the values that a commit may have changed. The fields are read again when they are needed. */
  forget() {
    this.isOutdated = true;
    this.values.clear();
  }

  /**
   * The fields of the path catalog, read once until a commit; those that were read last if it cannot be read. The catalog
   * of some collections is slow, so it is read at most once at a time.
   */
  fields() {
    if (!this.isOutdated) return this.catalog;
    if (this.isReading) {
      this.next ??= this.catalog.then(() => { this.next = undefined; return this.fields(); });
      return this.next;
    }
    this.isOutdated = false;
    this.isReading = true;
    this.catalog = get("paths", { in: this.collection }).then((result) => {
      const seen = new Map();
      for (const path of result.paths) {
        if (path.field === null) continue;
        const known = seen.get(path.field);
        const types = path.types.filter((type) => !["object", "array", "irregular", "open"].includes(type));
        if (known) known.types = [...new Set([...known.types, ...types])];
        else seen.set(path.field, { ...path, types });
      }
      this.known = [...seen.values()];
    }).catch(() => {}).then(() => {
      this.isReading = false;
      return this.known;
    });
    return this.catalog;
  }

  /** The frequent values of a field, once until a commit. */
  async valuesOf(field) {
    if (!this.values.has(field)) {
      const catalog = (await get("paths", { in: this.collection })).paths;
      const paths = catalog.filter((path) => path.field === field);
      // A field with an array has its values in the elements.
      const path = paths.find((candidate) => candidate.path.endsWith("[]")) ?? paths[0];
      this.values.set(field, !path ? Promise.resolve([]) : get("shape", { in: this.collection, path: path.path, values: 100 })
        .then((shape) => shape.paths[0]?.frequent ?? []).catch(() => {
          this.values.delete(field);
          return [];
        }));
    }
    return this.values.get(field);
  }

  /** Returns what could stand at a position: `{ from, items: [{ text, detail, kind }] }`. */
  async suggestions(text, position) {
    const before = text.slice(0, position);
    const fieldStart = openBracket(before);
    if (fieldStart !== null) {
      const typed = before.slice(fieldStart + 1).toLowerCase();
      const fields = await this.fields();
      const closes = text[position] === "]" ? "" : "]";
      const items = fields.map((field) => ({ name: field.field.slice(1, -1), detail: field.types.join(", "), kind: "field" }))
        .concat(attributes.map((name) => ({ name, detail: "metadata", kind: "field" })))
        .filter((item) => item.name.toLowerCase().includes(typed))
        .sort((a, b) => Number(b.name.toLowerCase().startsWith(typed)) - Number(a.name.toLowerCase().startsWith(typed)));
      return { from: fieldStart, items: items.slice(0, 50).map((item) => ({ text: `[${item.name}${closes}`, label: item.name, detail: item.detail, kind: item.kind })) };
    }
    const value = /(\[(?:[^\]"]|"[^"]*")*\])\s*(?:=|==|!=|<>|<=|>=|<|>|IS|IN\s*\((?:[^()]*,)?)\s*('?)((?:[^']|'')*)$/i.exec(before);
    if (value && !/\b(AND|OR)\b/i.test(value[3])) {
      const typed = value[3].toLowerCase();
      const values = await this.valuesOf(value[1]);
      const items = values.map((entry) => ({ entry, label: line(decode(entry.value), 60) }))
        .filter(({ entry, label }) => label.toLowerCase().startsWith(typed) || entry.text.toLowerCase().startsWith(value[2] + typed));
      const from = position - value[3].length - value[2].length;
      if (items.length) return { from, items: items.slice(0, 50).map(({ entry, label }) => ({ text: entry.text, label, detail: `${entry.count.toLocaleString("en")} ×`, kind: "value" })) };
    }
    const word = /(?:^|[\s(,])([A-Za-z_]*)$/.exec(before);
    if (!word || insideString(before)) return { from: position, items: [] };
    const typed = word[1].toLowerCase();
    const fields = (await this.fields()).map((field) => ({ text: field.field, label: field.field.slice(1, -1), detail: field.types.join(", "), kind: "field" }));
    const words = keywords.map((keyword) => ({ text: `${keyword} `, label: keyword, detail: "", kind: "keyword" }))
      .concat(functions.map((name) => ({ text: `${name}(`, label: `${name}()`, detail: "function", kind: "function" })));
    const operand = !/[\])'"\w]\s*$/.test(before.slice(0, before.length - word[1].length));
    const items = (operand ? [...fields, ...words.filter((item) => ["NOT"].includes(item.label) || item.kind === "function")] : words.filter((item) => item.kind === "keyword"))
      .filter((item) => item.label.toLowerCase().startsWith(typed));
    return { from: position - word[1].length, items: items.slice(0, 50) };
  }
}

/** Returns the position of a bracket that is open at the end of the text; null if none is. */
function openBracket(text) {
  let open = null;
  let quote = null;
  for (const [index, character] of [...text].entries()) {
    if (quote) { if (character === quote) quote = null; continue; }
    if (open === null && character === "'") quote = "'";
    else if (open !== null && character === '"') quote = '"';
    else if (character === "[" && open === null) open = index;
    else if (character === "]") open = null;
  }
  // Positions of characters and of UTF-16 units differ after symbols outside the basic plane.
  return open === null ? null : [...text].slice(0, open).join("").length;
}

const insideString = (text) => (text.match(/'/g) ?? []).length % 2 === 1;
