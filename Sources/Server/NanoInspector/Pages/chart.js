// SPDX-License-Identifier: MIT
// Charts: an aggregate for each value of a field, or for each period of a date.

import { get } from "./api.js";
import { button, counted, fill, h, visible } from "./dom.js";
import { bars, columns } from "./draw.js";
import { QueryBar, completer } from "./query.js";
import { change, current, link } from "./route.js";
import { run } from "./task.js";
import { decode, line, numberText } from "./values.js";

const aggregates = [["count", "Number of documents"], ["sum", "Sum"], ["average", "Average"], ["min", "Minimum"], ["max", "Maximum"]];
const buckets = [["year", "year"], ["quarter", "quarter"], ["month", "month"], ["week", "week"], ["day", "day"], ["hour", "hour"], ["none", "no period: exact value"]];
const maximumBars = 60;
const maximumColumns = 200;

export function show(root, parameters, app) {
  const collection = parameters.in;
  const bar = new QueryBar(app, collection, (text) => change({ where: text }));
  const form = h("div", { class: "row chart-form" });
  const chart = h("div", { class: "chart-area" });
  root.append(bar.element, form, chart);
  let update = () => {};
  run(form, "Reading fields…", async () => {
    const fields = await completer(collection).fields();
    if (!fields.length) return fill(form, h("p", { class: "empty" }, "No documents, so no fields to chart."));
    update = charts(bar, form, chart, collection, fields);
    update(current().parameters);
  });
  return { update: (next) => update(next), leave() { chart.cancelTask?.(); }, escape() { bar.closeMenu(); } };
}

/** Returns the field path as the API expects it. */
const pathOf = (field) => field.field.slice(1, -1);

function charts(bar, form, chart, collection, fields) {
  const numbers = fields.filter((field) => field.types.some((type) => ["integer", "real", "decimal"].includes(type)));
  const choice = (label, options, name) => h("label", {}, h("span", {}, label), h("select", { onchange: (event) => change({ [name]: event.target.value }) }, options.map(([value, text]) => h("option", { value }, visible(text)))));
  const by = choice("Group by", fields.map((field) => [field.field, pathOf(field)]), "by");
  const bucket = choice("Period", buckets, "bucket");
  const aggregate = choice("Show", aggregates, "aggregate");
  const value = choice("of", numbers.map((field) => [field.field, pathOf(field)]), "value");
  fill(form, by, bucket, aggregate, value);
  const select = (label, wanted) => {
    const element = label.querySelector("select");
    if ([...element.options].some((option) => option.value === wanted)) element.value = wanted;
    return element.value;
  };
  return (parameters) => {
    bar.set(parameters.where ?? "");
    const preferred = fields.find((field) => field.types.includes("text") && !/title|name|id$/i.test(field.field)) ?? fields[0];
    const field = fields.find((candidate) => candidate.field === select(by, parameters.by ?? preferred.field)) ?? fields[0];
    const hasDates = field.types.includes("date");
    const kind = select(aggregate, parameters.aggregate ?? "count");
    const period = select(bucket, parameters.bucket ?? "month");
    const isDate = hasDates && period !== "none";
    const measured = numbers.length ? select(value, parameters.value ?? numbers[0].field) : null;
    bucket.hidden = !hasDates;
    value.hidden = kind === "count";
    if (kind !== "count" && !measured) return fill(chart, h("p", { class: "empty" }, "No field holds numbers."));
    run(chart, "Aggregating…", async (signal, limit) => {
      try {
        const result = await get("groups", {
          in: collection, where: parameters.where, by: pathOf(field), bucket: isDate ? period : null, aggregate: kind, value: kind === "count" ? null : measured.slice(1, -1), limit,
        }, signal);
        draw(chart, result, { collection, field, isDate, period, kind, measured, where: result.condition });
      } catch (error) {
        if (signal.aborted || !bar.showError(error)) throw error;
        fill(chart, h("p", { class: "empty" }, "The condition has an error."));
      }
    });
  };
}

/** Returns a rounded number: two digits after the point, or six significant ones. */
function rounded(number) {
  const size = Math.abs(number);
  if (size && (size < 1e-6 || size >= 1e21)) return number.toLocaleString("en", { notation: "scientific", maximumSignificantDigits: 6 });
  return number.toLocaleString("en", size < 1000 ? { maximumSignificantDigits: 6 } : { maximumFractionDigits: 2 });
}

/** Returns the text of a group's aggregate: every digit of an integer or decimal, except of an average. */
function aggregateText(node, kind) {
  if (!["int", "decimal", "double"].includes(node.type)) return "none";
  const number = Number(node.value);
  if (!Number.isFinite(number)) return node.value;
  if (node.type === "double" || kind === "average") return rounded(number);
  return numberText(node).replace(/\d+/, (digits) => digits.replace(/\B(?=(\d{3})+$)/g, ","));
}

function draw(root, result, choice) {
  if (!result.groups.length) return fill(root, h("p", { class: "empty" }, result.undated ? "No document has a date in this field." : "No values to group."));
  const title = `${aggregates.find(([name]) => name === choice.kind)[1]}${choice.kind === "count" ? "" : ` of ${choice.measured.slice(1, -1)}`} by ${choice.field.field.slice(1, -1)}${choice.isDate ? ` per ${choice.period}` : ""}`;
  const filter = (condition) => link("documents", { in: choice.collection, where: choice.where ? `(${choice.where}) AND ${condition}` : condition });
  const groups = result.groups.map((group) => {
    const node = decode(group.key);
    const label = choice.isDate ? periodText(node.value, choice.period) : line(node, 80) || "empty";
    return { label, short: label, value: group.value, text: aggregateText(decode(group.number), choice.kind), href: choice.isDate ? null : filter(group.condition) };
  });
  const shown = choice.isDate ? groups.slice(-maximumColumns) : groups.slice(0, maximumBars);
  const what = choice.isDate ? "period" : "group";
  const part = (number) => (number < result.count ? `, ${choice.isDate ? "the latest" : "the largest"} ${number.toLocaleString("en")} shown` : "");
  const cut = groups.length < result.count ? ` (${choice.isDate ? "the latest" : "the largest"} ${groups.length.toLocaleString("en")} of ${counted(result.count, what)})` : "";
  fill(root, h("figure", { class: "chart-card" }, h("figcaption", {}, visible(title), h("span", { class: "muted" }, ` · ${counted(result.count, what)}${part(shown.length)}`)),
    choice.isDate ? columns(shown, rounded, visible(title)) : bars(shown, visible(title))),
    result.undated ? h("p", { class: "muted undated" }, `${counted(result.undated, "document")} without a date in this field ${result.undated === 1 ? "is" : "are"} not shown.`) : null,
    h("details", {}, h("summary", {}, `As a table${cut}`), h("table", {}, h("thead", {}, h("tr", {}, h("th", { scope: "col" }, what), h("th", { scope: "col" }, choice.kind))),
      h("tbody", {}, groups.map((group) => h("tr", {}, h("th", { scope: "row" }, h("bdi", {}, visible(group.label))), h("td", { class: "number" }, group.text)))))));
}

function periodText(iso, period) {
  const lengths = { year: 4, month: 7, week: 10, day: 10, hour: 13 };
  if (period === "quarter") return `${iso.slice(0, 4)} Q${(Number(iso.slice(5, 7)) + 2) / 3}`;
  return String(iso).slice(0, lengths[period]).replace("T", " ") + (period === "hour" ? " h" : "");
}

export { button };
