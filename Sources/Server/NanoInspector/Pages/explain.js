// SPDX-License-Identifier: MIT
// How a query is executed, in words and as the engine's plan.

import { get } from "./api.js";
import { counted, duration, fill, h, visible } from "./dom.js";
import { QueryBar } from "./query.js";
import { change, current, link } from "./route.js";
import { run } from "./task.js";

export function show(root, parameters, app) {
  const collection = parameters.in;
  const bar = new QueryBar(app, collection, (text) => change({ where: text, sort: undefined }));
  const result = h("div", { class: "explanation" });
  root.append(bar.element, result);

  function update({ where, sort }) {
    bar.set(where ?? "");
    bar.sort = sort ?? "";
    run(result, "Executing the query…", async (signal, limit) => {
      try {
        draw(result, await get("explain", { in: collection, where, sort, limit }, signal), collection);
      } catch (error) {
        if (signal.aborted || !bar.showError(error)) throw error;
        fill(result, h("p", { class: "empty" }, "The condition has an error."));
      }
    });
  }
  update(parameters);
  return { update, leave() { result.cancelTask?.(); }, escape() { bar.closeMenu(); } };
}

function draw(root, plan, collection) {
  const { where, sort } = current().parameters;
  fill(root,
    h("section", { class: "words", "aria-label": "In words" }, h("h2", {}, "In words"), h("ol", {}, sentences(plan).map((sentence) => h("li", {}, sentence)))),
    h("section", { "aria-label": "Numbers" }, h("h2", {}, "Numbers"), funnel(plan),
      h("dl", { class: "facts" },
        fact("First 50 results", duration(plan.firstPageMilliseconds)), fact("Counting all matches", duration(plan.countMilliseconds)))),
    h("section", { "aria-label": "Plan" }, h("h2", {}, "Plan"),
      plan.plan.length ? h("ol", { class: "plan" }, plan.plan.map((step) => h("li", {}, h("code", {}, visible(step))))) : h("p", { class: "empty" }, "The engine reports no plan."),
      h("details", {}, h("summary", {}, "SQL statement"), h("pre", { class: "code", tabindex: "0" }, visible(plan.statement)))),
    h("section", { "aria-label": "Indexes" }, h("h2", {}, "Adaptive indexing"), advice(plan, collection)),
    h("p", {}, h("a", { href: link("documents", { in: collection, where, sort }) }, "Show the documents")));
}

const fact = (name, value) => h("div", {}, h("dt", {}, name), h("dd", {}, value));

function sentences(plan) {
  const list = [];
  for (const field of plan.unknownFields) {
    list.push(h("span", { class: "warning" }, `No document has the field [${visible(field.field)}]${field.nearest ? `; did you mean [${visible(field.nearest)}]?` : "."}`));
  }
  if (plan.indexes.length) list.push(`Finds documents with ${plan.indexes.length === 1 ? "the index" : "the indexes"} ${plan.indexes.map(visible).join(", ")}.`);
  else if (plan.matched === plan.total && !plan.checkedPerDocument) list.push(`Reads the whole collection: ${counted(plan.total, "document")}.`);
  else list.push(`Uses no index: reads all ${counted(plan.total, "document")} and checks each.`);
  if (plan.checkedPerDocument) list.push(h("span", {}, "Checks on each document that it reads: ", h("code", {}, visible(plan.checkedPerDocument))));
  if (plan.plan.some((step) => /TEMP B-TREE FOR (?:LAST TERM OF |RIGHT PART OF )?ORDER BY|Sort Key|^\s*->?\s*Sort/i.test(step))) list.push("Sorts the matches, because no index has them in this order.");
  list.push(`${counted(plan.matched, "document matches", "documents match")}.`);
  return list;
}

function examined(plan) {
  if (plan.atLeastExamined === plan.atMostExamined) return plan.atLeastExamined.toLocaleString("en");
  return `${plan.atLeastExamined.toLocaleString("en")} to ${plan.atMostExamined.toLocaleString("en")}`;
}

function funnel(plan) {
  const rows = [["In the collection", plan.total, plan.total.toLocaleString("en")], ["Examined", plan.atMostExamined, examined(plan)], ["Match", plan.matched, plan.matched.toLocaleString("en")]];
  return h("ul", { class: "funnel" }, rows.map(([name, number, text]) => {
    const bar = h("span", { class: "fill" });
    bar.style.width = `${plan.total ? Math.max(0.5, (number / plan.total) * 100) : 0}%`;
    return h("li", {}, h("span", { class: "bar-label" }, name), h("span", { class: "track", "aria-hidden": "true" }, bar), h("span", { class: "bar-value" }, text));
  }));
}

function advice(plan, collection) {
  const parts = [];
  if (plan.candidates.length) {
    parts.push(h("p", {}, `This query would be served by an index on ${plan.candidates.map((fields) => `(${visible(fields)})`).join(" and ")}. `,
      h("a", { href: link("indexes", { in: collection, keys: plan.candidates[0] }) }, "Indexes")));
  }
  parts.push(...adviceList(plan.advice));
  return parts.length ? parts : h("p", { class: "empty" }, "No recommendation: the collection's queries have the indexes that they need, or have been too cheap to matter.");
}

/** Recommendations for indexes as elements. */
export function adviceList(list) {
  return list.map((item) => h("article", { class: "advice" },
    h("p", {}, h("strong", {}, item.action === "make" ? "Create " : "Drop "), h("code", {}, visible(item.keys)), h("span", { class: `badge ${item.isDue ? "warn" : ""}` }, item.isDue ? "due" : "not due yet")),
    h("p", {}, visible(item.reason)),
    h("p", { class: "muted" }, `${item.action === "make" ? "Queries have spent" : "Writes have spent"} ${duration(item.spentMilliseconds)}; building costs ${duration(item.costMilliseconds)}.`)));
}
