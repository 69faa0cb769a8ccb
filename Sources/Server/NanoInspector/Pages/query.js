// SPDX-License-Identifier: MIT
// The query bar: a condition with completion, its errors underlined, the history, saved queries, and the query as code.

import { Completer } from "./complete.js";
import { button, copy, fill, h, visible } from "./dom.js";
import { swiftString } from "./values.js";

const completers = new Map();

/** Returns the completer of a collection. */
export function completer(collection) {
  if (!completers.has(collection)) completers.set(collection, new Completer(collection));
  return completers.get(collection);
}

/** Forgets the fields and values of a collection that a commit may have changed. */
export function forgetCompletions(collection) {
  completers.get(collection)?.forget();
}

function remembered(name) {
  try {
    const list = JSON.parse(localStorage.getItem(name) ?? "[]");
    return Array.isArray(list) ? list.filter((text) => typeof text === "string") : [];
  } catch {
    return [];
  }
}

function remember(name, list) {
  // Storage may be full or disabled; then the list lasts as long as the page.
  try { localStorage.setItem(name, JSON.stringify(list)); } catch { /* nothing to do */ }
}

let number = 0;

/** The query bar of a collection. `submit(text)` is called with each condition that is entered. */
export class QueryBar {
  constructor(app, collection, submit) {
    this.app = app;
    this.collection = collection;
    this.submit = submit;
    const store = `nanostore ${app.store.location} ${collection}`;
    this.historyName = `${store} history`;
    this.savedName = `${store} saved`;
    number += 1;
    const listID = `completion-${number}`;
    this.marks = h("div", { class: "query-marks", "aria-hidden": "true" });
    this.input = h("textarea", {
      class: "query-input", rows: 1, spellcheck: "false", autocomplete: "off", autocapitalize: "off", "aria-label": "Condition",
      placeholder: "All documents. Try [field] > 10 AND [name] LIKE 'A%'", role: "combobox", "aria-expanded": "false", "aria-controls": listID, "aria-autocomplete": "list",
      oninput: () => { this.clearError(); this.resize(); this.suggest(); }, onkeydown: (event) => this.press(event),
      onblur: () => setTimeout(() => this.closeList(), 150), onscroll: () => { this.marks.scrollTop = this.input.scrollTop; },
    });
    this.list = h("ul", { class: "completion", id: listID, role: "listbox", "aria-label": "Completions", hidden: true });
    this.error = h("p", { class: "query-error", role: "alert", hidden: true });
    this.menu = h("div", { class: "popover", hidden: true });
    this.element = h("div", { class: "query" },
      h("div", { class: "query-row" },
        h("div", { class: "query-box" }, this.marks, this.input, this.list),
        button("Run", () => this.enter(), { class: "primary" }),
        button("Clear", () => { this.set(""); this.enter(); }),
        button("History", () => this.toggleMenu(), { "aria-haspopup": "true" }),
        button("As code", () => this.toggleCode())),
      this.error, this.menu);
    /** The order of the table, and the condition without an order of its own. */
    this.sort = "";
    this.condition = null;
  }

  set(text) {
    if (this.input.value === text) return;
    this.input.value = text;
    this.clearError();
    this.resize();
  }

  get text() { return this.input.value.trim(); }

  enter() {
    this.closeList();
    if (this.text) {
      const list = [this.text, ...remembered(this.historyName).filter((text) => text !== this.text)].slice(0, 50);
      remember(this.historyName, list);
    }
    this.submit(this.text);
  }

  resize() {
    this.input.rows = Math.min(8, this.input.value.split("\n").length);
  }

  // Errors

  clearError() {
    this.error.hidden = true;
    this.error.textContent = "";
    fill(this.marks);
    this.input.removeAttribute("aria-invalid");
  }

  /** Shows an error of the condition and underlines where it is. Returns false if the error is about something else. */
  showError(error) {
    if (!["invalidQuery", "invalidPath", "invalidArgument"].includes(error.code)) return false;
    const { position, line: row, expected, text, hint } = error.details;
    const parts = [error.message];
    if (expected) parts.push(`expected ${expected}`);
    if (text) parts.push(`found ${text}`);
    this.error.textContent = visible(parts.join("; ") + (hint ? ` (${hint})` : ""));
    this.error.hidden = false;
    this.input.setAttribute("aria-invalid", "true");
    const column = Number(position);
    if (Number.isInteger(column) && column > 0) this.underline(Number(row ?? 1), column, text);
    return true;
  }

  underline(row, column, text) {
    const value = this.input.value;
    const lines = value.split("\n");
    // The server counts characters, as people do; `Intl.Segmenter` does too.
    const characters = [...new Intl.Segmenter().segment(lines[row - 1] ?? "")].map((part) => part.segment);
    const start = lines.slice(0, row - 1).reduce((sum, line) => sum + line.length + 1, 0) + characters.slice(0, column - 1).join("").length;
    const end = Math.min(value.length, start + Math.max(1, text && value.startsWith(text, start) ? text.length : 1));
    fill(this.marks, value.slice(0, start), h("span", { class: "wrong" }, value.slice(start, end) || "\u00a0"), value.slice(end));
  }

  // Completion

  async suggest() {
    const [text, position] = [this.input.value, this.input.selectionStart];
    const found = await completer(this.collection).suggestions(text, position).catch(() => ({ items: [] }));
    if (this.input.value !== text || this.input.selectionStart !== position || document.activeElement !== this.input) return;
    if (!found.items.length) return this.closeList();
    this.found = found;
    this.selected = -1;
    fill(this.list, found.items.map((item, index) => h("li", {
      role: "option", id: `${this.list.id}-${index}`, class: item.kind, "aria-selected": "false",
      onmousedown: (event) => { event.preventDefault(); this.accept(index); },
    }, h("bdi", {}, visible(item.label)), h("span", { class: "detail" }, item.detail))));
    this.list.hidden = false;
    this.input.setAttribute("aria-expanded", "true");
  }

  closeList() {
    this.list.hidden = true;
    this.input.setAttribute("aria-expanded", "false");
    this.input.removeAttribute("aria-activedescendant");
  }

  select(index) {
    const options = [...this.list.children];
    this.selected = (index + options.length) % options.length;
    for (const [number, option] of options.entries()) option.setAttribute("aria-selected", String(number === this.selected));
    options[this.selected].scrollIntoView({ block: "nearest" });
    this.input.setAttribute("aria-activedescendant", options[this.selected].id);
  }

  accept(index) {
    const item = this.found.items[index];
    const [before, after] = [this.input.value.slice(0, this.found.from), this.input.value.slice(this.input.selectionStart)];
    this.input.value = before + item.text + after;
    const end = before.length + item.text.length;
    this.input.setSelectionRange(end, end);
    this.closeList();
    this.resize();
    this.input.focus();
  }

  press(event) {
    const open = !this.list.hidden;
    if (event.key === "ArrowDown" && open) this.select(this.selected + 1);
    else if (event.key === "ArrowUp" && open) this.select(this.selected - 1);
    else if ((event.key === "Tab" || (event.key === "Enter" && this.selected >= 0)) && open) this.accept(Math.max(0, this.selected));
    else if (event.key === "Enter" && !event.shiftKey) this.enter();
    else if (event.key === "Escape" && open) this.closeList();
    else if (event.key === " " && event.ctrlKey) this.suggest();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  // History, saved queries, code

  toggleMenu() {
    if (!this.menu.hidden && this.menu.dataset.kind === "history") return this.closeMenu();
    const saved = remembered(this.savedName);
    const entry = (text, isSaved) => h("li", {},
      button(visible(text), () => { this.set(text); this.closeMenu(); this.enter(); }, { class: "link mono" }),
      isSaved ? button("Remove", () => { remember(this.savedName, saved.filter((other) => other !== text)); this.openMenu("history", () => this.toggleMenu()); }, { "aria-label": `Remove ${visible(text)}` }) : null);
    const history = remembered(this.historyName).slice(0, 12);
    const canSave = this.text && !saved.includes(this.text);
    this.openMenu("history", null,
      h("div", { class: "row" }, h("h3", {}, "Saved queries"), canSave ? button("Save this query", () => { remember(this.savedName, [this.text, ...saved]); this.closeMenu(); this.toggleMenu(); }) : null),
      saved.length ? h("ul", {}, saved.map((text) => entry(text, true))) : h("p", { class: "empty" }, "None saved."),
      h("h3", {}, "History"), history.length ? h("ul", {}, history.map((text) => entry(text, false))) : h("p", { class: "empty" }, "No queries yet."));
  }

  toggleCode() {
    if (!this.menu.hidden && this.menu.dataset.kind === "code") return this.closeMenu();
    const texts = [["Swift", swiftCode(this.collection, this.text, this.sort)], ["Command line", command(this.app.store.location, this.collection, this.sort ? this.condition ?? this.text : this.text, this.sort)]];
    this.openMenu("code", null, texts.flatMap(([name, text]) => [
      h("div", { class: "row" }, h("h3", {}, name), button("Copy", () => copy(text, `the ${name === "Swift" ? "Swift code" : "command"}`), { "aria-label": `Copy ${name}` })),
      h("pre", { class: "code", tabindex: "0" }, visible(text)),
    ]));
  }

  openMenu(kind, reopen, ...content) {
    if (reopen) { this.closeMenu(); reopen(); return; }
    this.menu.dataset.kind = kind;
    fill(this.menu, ...content);
    this.menu.hidden = false;
  }

  closeMenu() { this.menu.hidden = true; }
}

/** Returns Swift code of a query. */
export function swiftCode(collection, text, sort) {
  let code = `let documents = try await store[${swiftString(collection)}].find(${text ? swiftString(text) : ""})`;
  if (sort) code += `\n  .sorted(byText: ${swiftString(sort)})`;
  return `${code}\n  .fetch()`;
}

/** Quotes a word for a POSIX shell, if it has to be. */
export function shellWord(word) {
  return /^[A-Za-z0-9_.,:=/-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** Returns a command of the command-line tool. */
export function command(location, collection, text, sort) {
  const condition = [text, sort ? `ORDER BY ${sort}` : ""].filter(Boolean).join(" ");
  return ["nanostore find", shellWord(location), shellWord(collection), condition ? shellWord(condition) : null].filter(Boolean).join(" ");
}
