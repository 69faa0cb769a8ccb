// SPDX-License-Identifier: MIT
// Full-text search: ranked results with snippets, and why a document matched.

import { get } from "./api.js";
import { button, counted, duration, fill, h, visible } from "./dom.js";
import { decoded, documentLink } from "./documents.js";
import { shellWord } from "./query.js";
import { change, link } from "./route.js";
import { run } from "./task.js";
import { line } from "./values.js";

// The server marks matches with these private-use characters.
const [begin, end] = ["\u{f1aa0}", "\u{f1aa1}"];

export function show(root, parameters, app) {
  const collection = parameters.in;
  const body = h("div", {});
  root.append(body);
  let update = () => {};
  run(body, "Reading indexes…", async (signal) => {
    const { fullTextIndexes } = await get("indexes", { in: collection }, signal);
    if (!fullTextIndexes.length) {
      return fill(body, h("div", { class: "empty" }, h("p", {}, "The collection has no full-text index."),
        h("p", {}, "This creates one:"), h("pre", { class: "code", tabindex: "0" }, `nanostore index text ${visible(shellWord(app.store.location))} ${visible(shellWord(collection))} FIELD`)));
    }
    update = playground(body, collection, fullTextIndexes);
    update(parameters);
  });
  return { update: (next) => update(next), leave() { body.cancelTask?.(); } };
}

function playground(body, collection, indexes) {
  const results = h("div", { class: "results" });
  const text = h("input", { type: "search", class: "search-input", "aria-label": "Search text", placeholder: "words \"exact phrase\" prefix* this OR that -without", autocomplete: "off", oninput: () => { clearTimeout(timer); timer = setTimeout(submit, 250); }, onkeydown: (event) => { if (event.key === "Enter") submit(); } });
  const index = h("select", { "aria-label": "Full-text index", onchange: () => submit() }, indexes.map((entry) => h("option", { value: entry.name }, `${visible(entry.name)} (${entry.fields.map(visible).join(", ")}; ${entry.tokens})`)));
  let timer;
  const submit = () => change({ text: text.value, index: index.value }, { replaces: true });
  fill(body, h("div", { class: "row grow" }, text, index, button("Search", submit, { class: "primary" })), results);
  return ({ text: words, index: name }) => {
    if (document.activeElement !== text) text.value = words ?? "";
    if (name && indexes.some((entry) => entry.name === name)) index.value = name;
    if (!words?.trim()) return fill(results, h("p", { class: "empty" }, "Results appear as you type, the most relevant first."));
    run(results, "Searching…", async (signal, limit) => {
      const found = await get("search", { in: collection, text: words, index: index.value, limit }, signal);
      const documents = decoded(found.results.map((result) => result.document));
      fill(results,
        h("p", { class: "status" }, `${found.results.length ? `The best ${counted(found.results.length, "result")}` : "No results"} in ${duration(found.milliseconds)}. Searched for: `,
          found.terms.map((term) => h("span", { class: "term" }, h("span", { class: "muted" }, `${term.kind} `), h("bdi", {}, visible(term.text))))),
        h("ol", { class: "hits" }, found.results.map((result, number) => hit(collection, result, documents[number]))));
    });
  };
}

function hit(collection, result, document) {
  const name = document.key ?? document.rowID;
  return h("li", { class: "hit" },
    h("h2", {}, documentLink(collection, document.rowID, name), h("span", { class: "muted" }, ` rank ${result.rank.toPrecision(3)}`)),
    result.matches.map((match) => h("p", {}, h("span", { class: "field" }, visible(match.field)), " ", marked(match.snippet ?? ""))),
    h("p", { class: "muted why" }, result.matches.length ? `Matched in ${result.matches.map((match) => `${match.field}${match.strings > 1 ? ` (${match.strings} strings)` : ""}`).map(visible).join(", ")}.` : "Matched by its tokens; no single string shows it."),
    document.node ? h("bdi", { class: "preview" }, visible(line(document.node, 160))) : null);
}

/** Text with its matches marked. */
function marked(text) {
  const parts = [];
  for (const [number, piece] of text.split(begin).entries()) {
    if (number === 0) { parts.push(visible(piece)); continue; }
    const [inside, ...rest] = piece.split(end);
    parts.push(h("mark", {}, visible(inside)), visible(rest.join("")));
  }
  return h("bdi", {}, parts);
}

export { link };
