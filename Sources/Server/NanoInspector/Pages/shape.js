// SPDX-License-Identifier: MIT
// The shape of a collection: every path with its types, values and distribution. A click filters.

import { get } from "./api.js";
import { counted, fill, h, visible } from "./dom.js";
import { histogram } from "./draw.js";
import { QueryBar } from "./query.js";
import { change, link } from "./route.js";
import { run } from "./task.js";
import { decode, line } from "./values.js";

export function show(root, parameters, app) {
  const collection = parameters.in;
  const bar = new QueryBar(app, collection, (text) => change({ where: text }));
  const status = h("p", { class: "status", "aria-live": "polite" });
  const list = h("div", { class: "paths" });
  root.append(bar.element, status, list);

  function update({ where }) {
    bar.set(where ?? "");
    status.textContent = "";
    run(list, "Examining documents…", async (signal, limit) => {
      try {
        const started = performance.now();
        const shape = await get("shape", { in: collection, where, limit }, signal);
        status.textContent = sampleText(shape, where) + ` Examined in ${Math.round(performance.now() - started)} ms.`;
        draw(list, shape, collection);
      } catch (error) {
        if (signal.aborted || !bar.showError(error)) throw error;
        fill(list, h("p", { class: "empty" }, "The condition has an error."));
      }
    });
  }
  update(parameters);
  return { update, leave() { list.cancelTask?.(); }, escape() { bar.closeMenu(); } };
}

function sampleText(shape, where) {
  const number = counted(shape.documents, "document");
  if (shape.sample === "spread") return `A sample of ${number} at even distances, of ${shape.total.toLocaleString("en")}.`;
  if (shape.sample === "first") return `A sample: the first ${number} that match.`;
  return where ? `All ${number} that match.` : `All ${number}.`;
}

function draw(root, shape, collection) {
  if (!shape.paths.length) return fill(root, h("p", { class: "empty" }, "No documents, so no fields."));
  // The condition as the server writes it, without an order and a limit.
  const where = shape.condition;
  const filter = (condition) => (condition ? link("documents", { in: collection, where: where ? `(${where}) AND ${condition}` : condition }) : null);
  fill(root, shape.paths.map((path) => card(path, shape, filter)),
    shape.isTruncated ? h("p", { class: "muted" }, "Further paths are not shown: field names are data in these documents.") : null);
}

function card(path, shape, filter) {
  const share = shape.documents ? path.documents / shape.documents : 0;
  const percent = share === 1 ? "100 %" : `${(Math.floor(share * 1000) / 10).toFixed(1)} %`;
  const meter = h("span", { class: "fill" });
  meter.style.width = `${share * 100}%`;
  const scalars = path.types.some((type) => !["array", "object", "null"].includes(type.name));
  const isUnique = path.distinct === path.values && path.values > 12 && !path.hasMoreValues;
  const name = h("bdi", {}, visible(path.path));
  const card = h("article", { class: "path", "aria-label": visible(path.path) },
    h("header", {},
      h("h2", { title: visible(path.path) }, path.exists ? h("a", { href: filter(path.exists), "aria-label": `Documents with ${visible(path.path)}` }, name) : name),
      h("p", { class: "types" }, path.types.map((type) => h("span", { class: `type ${type.name}`, title: counted(type.count, "value") }, type.name, path.types.length > 1 ? ` ${Math.round((type.count / path.values) * 100)} %` : "")))),
    h("div", { class: "share", title: `${path.documents.toLocaleString("en")} of ${counted(shape.documents, "document")}` }, h("span", { class: "track", "aria-hidden": "true" }, meter), h("span", { class: "muted" }, percent)),
    scalars ? h("dl", { class: "facts" },
      fact("Distinct", `${path.distinct.toLocaleString("en")}${path.hasMoreValues ? " or more" : ""}`),
      path.smallest !== null ? fact("Smallest", extreme(path.smallest)) : null,
      path.largest !== null ? fact("Largest", extreme(path.largest)) : null) : null,
    path.histogram ? h("figure", {}, histogram(path.histogram.bins.map((bin) => ({ count: bin.count, label: `${line(decode(bin.low))} to ${line(decode(bin.high))}`, href: filter(bin.condition) })), `Distribution of ${visible(path.path)}`),
      h("figcaption", { class: "muted" }, h("span", {}, line(decode(path.histogram.bins[0].low))), h("span", {}, line(decode(path.histogram.bins.at(-1).high))))) : null,
    scalars && isUnique ? h("p", { class: "muted" }, "Every value occurs once.") : null,
    scalars && !isUnique && path.frequent.length ? values(path, filter) : null);
  return card;
}

/** Returns the smallest or largest value; of a date, the day. */
function extreme(wire) {
  const node = decode(wire);
  return node.type === "date" ? line(node).slice(0, 10) : line(node, 40);
}

const fact = (name, value) => h("div", {}, h("dt", {}, name), h("dd", { title: visible(value) }, h("bdi", {}, visible(value))));

function values(path, filter) {
  return h("ul", { class: "frequent", "aria-label": `Frequent values of ${visible(path.path)}` }, path.frequent.map((entry) => {
    const text = line(decode(entry.value), 80) || "empty";
    const bar = h("span", { class: "fill" });
    bar.style.width = `${(entry.count / path.frequent[0].count) * 100}%`;
    const label = h("bdi", { title: visible(text) }, visible(text));
    const href = filter(entry.condition);
    return h("li", {}, h("span", { class: "track", "aria-hidden": "true" }, bar), href ? h("a", { href, "aria-label": `Filter ${visible(path.path)} is ${visible(text)}` }, label) : label, h("span", { class: "count" }, entry.count.toLocaleString("en")));
  }));
}
