// SPDX-License-Identifier: MIT
// A document with the documents that it refers to, and those that refer to it, as a diagram to walk along.

import { get } from "./api.js";
import { button, counted, fill, h, s, visible } from "./dom.js";
import { throttled } from "./overview.js";
import { change, current, go, link } from "./route.js";
import { run } from "./task.js";

const firstSize = 10;
const largestSize = 200;
const nodeHeight = 48;
const gap = 12;
/** Below this width, the nodes are in one column. */
const wideFrom = 720;

/** Whether the next diagram takes the focus: after a node was chosen, the keyboard continues at its center. */
let takesFocus = false;

export function show(root, parameters, app) {
  const collection = parameters.in;
  const start = h("input", { "aria-label": "Key or row ID of a document", placeholder: "Key or row ID" });
  const problem = h("div", {});
  const diagram = h("div", { class: "diagram" });
  const outgoing = h("div", { class: "graph-status" });
  const incoming = h("div", { class: "graph-status" });
  const rules = h("details", { class: "graph-rules" });
  const form = h("form", { class: "row", onsubmit: (event) => { event.preventDefault(); find(); } }, start, h("button", { type: "submit" }, "Show"));
  root.append(form, problem, diagram, h("div", { class: "graph-statuses" }, incoming, outgoing), rules);
  const state = { shown: null, center: null, out: [], in: [] };

  function find() {
    const text = start.value.trim();
    if (!text) return;
    run(problem, "Searching…", async (signal, limit) => {
      let found;
      try {
        found = await get("document", { in: collection, key: text, limit }, signal);
      } catch (error) {
        if (error.code !== "notFound" || !/^\d+$/.test(text)) throw error;
        found = await get("document", { in: collection, rowID: text, limit }, signal);
      }
      fill(problem);
      walk(collection, found.document.rowID);
    });
  }

  function walk(name, rowID) {
    takesFocus = true;
    go("graph", { in: name, row: rowID, links: current().parameters.links });
  }

  function update() {
    const { row, where, sort } = current().parameters;
    if (row) return load();
    run(problem, "Reading documents…", async (signal, limit) => {
      const page = await get("documents", { in: collection, where, sort, size: 1, limit }, signal);
      if (signal.aborted) return;
      if (!page.documents.length) return fill(problem, h("p", { class: "empty" }, "The collection has no documents to start from."));
      fill(problem);
      go("graph", { in: collection, row: page.documents[0].rowID, links: current().parameters.links }, { replaces: true });
    });
  }

  function load() {
    const { row, size = firstSize, links } = current().parameters;
    const query = { in: collection, rowID: row, size, links };
    const shown = JSON.stringify([row, links]);
    if (state.shown !== shown) {
      // What refers to the document before, or by other rules, does not refer to this one.
      Object.assign(state, { shown, center: null, out: [], in: [] });
      if (diagram.contains(document.activeElement)) takesFocus = true;
      fill(diagram);
    }
    run(outgoing, "Reading references…", async (signal, limit) => {
      const result = await get("neighbors", { ...query, limit }, signal);
      if (signal.aborted) return;
      Object.assign(state, { center: result.center, out: result.nodes, integers: result.integers });
      fill(outgoing, summary(result.nodes, "Refers to", "Refers to no other document.", result.hasMore), result.isComplete ? null : h("p", { class: "muted" }, "The document has more values than are looked up."));
      fill(rules, ...ruleForm());
      draw();
    });
    run(incoming, "Searching all collections for references…", async (signal, limit) => {
      const result = await get("referrers", { ...query, limit }, signal);
      if (signal.aborted) return;
      state.in = result.nodes;
      const isMore = result.hasMore && (result.isComplete || result.nodes.length >= Number(size));
      fill(incoming, result.isComplete || result.nodes.length ? summary(result.nodes, "Referred to by", "No document refers to it.", isMore) : null,
        result.isComplete ? null : h("p", { class: "muted" }, "More documents may refer to it than those that were examined."));
      draw();
    });
  }

  function summary(nodes, words, none, hasMore) {
    const size = Number(current().parameters.size ?? firstSize);
    if (!nodes.length) return h("p", { class: "muted" }, none);
    return h("p", {}, `${words} ${hasMore ? "more than " : ""}${counted(nodes.length, "document")}. `,
      hasMore && size < largestSize ? button("Show more", () => change({ size: Math.min(largestSize, size * 3) }), { "aria-label": `Show more: ${words.toLowerCase()}` }) : null,
      hasMore && size >= largestSize ? h("span", { class: "muted" }, "The others are not shown.") : null);
  }

  function ruleForm() {
    let links = [];
    try { links = JSON.parse(current().parameters.links ?? "[]"); } catch { /* the server reports it */ }
    const field = h("select", {}, state.integers.map((path) => h("option", { value: path }, visible(path))));
    const target = h("select", {}, app.collections.filter((other) => !other.isInternal).map((other) => h("option", { value: other.name }, visible(other.name))));
    const set = (list) => change({ links: list.length ? JSON.stringify(list) : undefined });
    return [h("summary", {}, "Row IDs as references"),
      h("p", { class: "muted" }, "A value that is a key of a document is a reference. An integer is one if its field is named like a collection, such as songs or songID for Song, or if you say so here."),
      state.integers.length
        ? h("div", { class: "row form" }, h("label", {}, h("span", {}, "Field"), field), h("label", {}, h("span", {}, "has row IDs of"), target), button("Add", () => set([...links, [collection, field.value, target.value]])))
        : h("p", { class: "muted" }, "This document has no integers."),
      links.length ? h("ul", {}, links.map((rule, index) => h("li", { class: "row" }, h("code", {}, visible(`${rule[0]}: ${rule[1]} → ${rule[2]}`)), button("Remove", () => set(links.filter((_, other) => other !== index)), { class: "small", "aria-label": `Remove ${visible(rule.join(" "))}` })))) : null];
  }

  function draw() {
    if (!state.center || state.center.rowID !== current().parameters.row) return;
    const focused = document.activeElement?.closest?.(".diagram a")?.dataset.node;
    fill(diagram, picture(state, diagram.clientWidth || 600, walk));
    const wanted = takesFocus ? "center" : focused;
    if (wanted) [...diagram.querySelectorAll("a")].find((node) => node.dataset.node === wanted)?.focus({ preventScroll: true });
    takesFocus = false;
  }

  update();
  let drawn = diagram.clientWidth;
  const resizes = new ResizeObserver(() => {
    if (diagram.clientWidth === drawn) return;
    drawn = diagram.clientWidth;
    draw();
  });
  resizes.observe(diagram);
  const stop = app.commits.follow(throttled(() => { if (current().parameters.row) load(); }, 1000));
  return {
    update,
    leave() { stop(); resizes.disconnect(); for (const element of [problem, outgoing, incoming]) element.cancelTask?.(); },
  };
}

/** Returns the positions of the nodes in three columns, or in one below each other. */
function layout(state, width) {
  const wide = width >= wideFrom;
  const nodeWidth = wide ? Math.min(300, Math.floor((width - 120) / 3)) : width - 40;
  const step = nodeHeight + gap;
  const column = (nodes, x, top) => nodes.map((node, index) => ({ node, x, y: top + index * step }));
  if (!wide) {
    const center = { node: state.center, x: 0, y: state.in.length * step };
    return { wide, nodeWidth, height: (state.in.length + state.out.length + 1) * step, center, in: column(state.in, 40, 0), out: column(state.out, 40, center.y + step) };
  }
  const height = Math.max(state.in.length, state.out.length, 2) * step;
  const top = (nodes) => (height - nodes.length * step + gap) / 2;
  return {
    wide, nodeWidth, height, center: { node: state.center, x: (width - nodeWidth) / 2, y: (height - nodeHeight) / 2 },
    in: column(state.in, 1, top(state.in)), out: column(state.out, width - nodeWidth - 1, top(state.out)),
  };
}

function picture(state, width, walk) {
  const places = layout(state, width);
  const { wide, nodeWidth, center } = places;
  const middle = (place) => place.y + nodeHeight / 2;
  const curve = (x1, y1, x2, y2) => `M${x1},${y1} C${(x1 + x2) / 2},${y1} ${(x1 + x2) / 2},${y2} ${x2},${y2}`;
  const edges = [
    ...places.in.map((place) => (wide ? curve(place.x + nodeWidth, middle(place), center.x - 7, middle(center)) : `M${place.x},${middle(place)} H20 V${center.y - 7}`)),
    ...places.out.map((place) => (wide ? curve(center.x + nodeWidth, middle(center), place.x - 7, middle(place)) : `M20,${center.y + nodeHeight} V${middle(place)} H${place.x - 7}`)),
  ];
  const links = [
    ...places.in.map((place, index) => nodeView(place, nodeWidth, `in ${index}`, `refers to it in ${list(place.node.paths)}`, walk)),
    nodeView(center, nodeWidth, "center", "the document in the center; opens it in the table", null),
    ...places.out.map((place, index) => nodeView(place, nodeWidth, `out ${index}`, `referred to in ${list(place.node.paths)}`, walk)),
  ];
  return s("svg", { class: "reference-graph", viewBox: `0 0 ${width} ${places.height}`, width, height: places.height, role: "group", "aria-label": `References of ${visible(state.center.label)}`, onkeydown: (event) => move(event, state) },
    s("defs", {}, s("marker", { id: "arrow", viewBox: "0 0 8 8", refX: 1, refY: 4, markerWidth: 8, markerHeight: 8, markerUnits: "userSpaceOnUse", orient: "auto" }, s("path", { d: "M0,0 L8,4 L0,8 z" }))),
    s("g", { class: "edges", "aria-hidden": "true" }, edges.map((d) => s("path", { d, "marker-end": "url(#arrow)" }))), links);
}

const list = (paths) => paths.map(visible).join(", ");

function nodeView(place, width, id, relation, walk) {
  const { node, x, y } = place;
  const href = walk ? link("graph", { in: node.collection, row: node.rowID, links: current().parameters.links })
    : link("documents", { in: node.collection, where: `[__rowid__] = ${node.rowID}`, doc: node.rowID });
  const second = `${node.collection}${node.paths ? ` · ${node.paths.join(", ")}` : ""}`;
  return s("a", { href, class: walk ? "node" : "node center", data: { node: id }, "aria-label": `${visible(node.collection)}: ${visible(node.label)}, ${relation}`,
    onclick: walk ? (event) => { if (!event.ctrlKey && !event.metaKey && !event.shiftKey) { event.preventDefault(); walk(node.collection, node.rowID); } } : undefined },
    s("title", {}, visible(`${node.label}\n${second}`)),
    // A nested image clips what is too long.
    s("svg", { x, y, width, height: nodeHeight, "aria-hidden": "true" },
      s("rect", { x: 1, y: 1, width: width - 2, height: nodeHeight - 2, rx: 7 }),
      s("text", { class: "node-label", x: 12, y: 20 }, cut(node.label, width)), s("text", { class: "node-path", x: 12, y: 37 }, cut(second, width))));
}

/** Shortens a text to what fits at about 7 pixels per character. */
function cut(text, width) {
  const shown = visible(text.replace(/\s+/g, " "));
  const limit = Math.floor((width - 24) / 7);
  return shown.length > limit ? `${shown.slice(0, limit - 1)}…` : shown;
}

/** Arrow keys go to the next node of a side, and from one side to the other. */
function move(event, state) {
  const id = event.target.closest?.("a")?.dataset.node;
  if (!id || event.ctrlKey || event.metaKey || event.altKey) return;
  const [side, index] = id.split(" ");
  const sizes = { in: state.in.length, out: state.out.length };
  let next = null;
  if (event.key === "ArrowLeft") next = side === "out" ? "center" : side === "center" && sizes.in ? "in 0" : null;
  else if (event.key === "ArrowRight") next = side === "in" ? "center" : side === "center" && sizes.out ? "out 0" : null;
  else if (event.key === "ArrowDown") next = side === "center" ? (sizes.out ? "out 0" : null) : Number(index) + 1 < sizes[side] ? `${side} ${Number(index) + 1}` : side === "in" ? "center" : null;
  else if (event.key === "ArrowUp") next = side === "center" ? (sizes.in ? `in ${sizes.in - 1}` : null) : Number(index) > 0 ? `${side} ${Number(index) - 1}` : side === "out" ? "center" : null;
  else return;
  event.preventDefault();
  event.stopPropagation();
  const node = [...event.currentTarget.querySelectorAll("a")].find((candidate) => candidate.dataset.node === next);
  node?.focus({ preventScroll: true });
  node?.scrollIntoView?.({ block: "nearest" });
}
