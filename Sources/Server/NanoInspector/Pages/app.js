// SPDX-License-Identifier: MIT
// The frame around the screens: navigation, the state that screens share, and keyboard shortcuts.

import { get } from "./api.js";
import { button, fill, h, visible } from "./dom.js";
import { current, link } from "./route.js";
import { errorView } from "./task.js";
import * as chart from "./chart.js";
import * as documents from "./documents.js";
import * as explain from "./explain.js";
import * as graph from "./graph.js";
import * as indexes from "./indexes.js";
import * as live from "./live.js";
import * as maintenance from "./maintenance.js";
import * as overview from "./overview.js";
import * as search from "./search.js";
import * as shape from "./shape.js";
import * as sync from "./sync.js";

/** The screens by name. Those of a collection have the name of their tab. */
const screens = {
  overview: { show: overview.show, title: "Overview" },
  live: { show: live.show, title: "Live" },
  sync: { show: sync.show, title: "Sync" },
  maintenance: { show: maintenance.show, title: "Maintenance" },
  documents: { show: documents.show, title: "Documents", tab: true },
  explain: { show: explain.show, title: "Explain", tab: true },
  shape: { show: shape.show, title: "Shape", tab: true },
  graph: { show: graph.show, title: "Graph", tab: true },
  indexes: { show: indexes.show, title: "Indexes", tab: true },
  search: { show: search.show, title: "Search", tab: true },
  chart: { show: chart.show, title: "Chart", tab: true },
};

/** What screens share. */
const app = { store: null, collections: [], commits: live.commits, refreshCollections };
const main = document.getElementById("main");
const side = document.getElementById("side");
let shown = null;

async function refreshCollections() {
  app.collections = (await get("collections")).collections;
  showSide();
  return app.collections;
}

function showSide() {
  const route = current();
  const list = (collections) => h("ul", {}, collections.map((collection) => {
    const isCurrent = screens[route.screen]?.tab && route.parameters.in === collection.name;
    return h("li", {}, h("a", {
      href: link(screens[route.screen]?.tab ? route.screen : "documents", { in: collection.name }),
      "aria-current": isCurrent ? "page" : null, title: visible(collection.name),
    }, h("bdi", { class: "name" }, visible(collection.name)),
      h("span", { class: "count" }, (collection.documents ?? 0).toLocaleString("en"))));
  }));
  const own = app.collections.filter((collection) => !collection.isInternal);
  const internal = app.collections.filter((collection) => collection.isInternal);
  fill(side, h("h2", {}, "Collections"),
    own.length ? list(own) : h("p", { class: "empty" }, "The store has no collections yet."),
    internal.length ? h("details", {}, h("summary", {}, "Internal"), list(internal)) : null);
}

function tabs(route) {
  return h("nav", { class: "tabs", "aria-label": "Views of the collection" },
    Object.entries(screens).filter(([, screen]) => screen.tab).map(([name, screen]) => h("a", {
      href: link(name, { in: route.parameters.in, where: route.parameters.where, sort: route.parameters.sort }),
      "aria-current": name === route.screen ? "page" : null,
    }, screen.title)));
}

function showScreen() {
  const route = current();
  const screen = screens[route.screen];
  const key = screen?.tab ? `${route.screen} ${route.parameters.in}` : route.screen;
  if (shown && shown.key !== key && shown.keeps?.()) {
    // Adds an entry: after the Back button, replacing it would lose the screen before.
    return history.pushState(null, "", shown.hash);
  }
  for (const anchor of document.querySelectorAll("nav.top a")) {
    if (anchor.dataset.screen === route.screen) anchor.setAttribute("aria-current", "page");
    else anchor.removeAttribute("aria-current");
  }
  closeMenu();
  showSide();
  if (shown?.key === key && shown.update) {
    shown.hash = location.hash;
    return shown.update(route.parameters);
  }
  const isFirst = shown === null;
  shown?.leave?.();
  shown = { key };
  const name = route.parameters.in;
  document.title = `${screen?.tab ? `${visible(name ?? "")} · ` : ""}${screen?.title ?? "Not found"} · ${app.name}`;
  if (!screen || (screen.tab && name === undefined)) {
    fill(main, h("h1", {}, "Not found"), h("p", {}, "The inspector has no such page. ", h("a", { href: "#/" }, "Overview")));
    return;
  }
  const body = h("div", { class: `screen ${route.screen}` });
  if (screen.tab) {
    fill(main, h("div", { class: "heading" }, h("h1", {}, h("bdi", {}, visible(name))), tabs(route)), body);
    // In a narrow window, the tabs scroll.
    main.querySelector(".tabs [aria-current]").scrollIntoView({ block: "nearest", inline: "nearest" });
    if (!app.collections.some((collection) => collection.name === name)) {
      body.append(h("div", { class: "problem", role: "alert" }, h("p", { class: "problem-title" }, "The store has no collection of this name."), h("p", {}, h("a", { href: "#/" }, "Overview"))));
      return;
    }
  } else {
    fill(main, body);
  }
  shown = { key, hash: location.hash, ...screen.show(body, route.parameters, app) };
  main.scrollTop = 0;
  // After a change of the screen, reading continues at its start.
  if (!isFirst && (document.activeElement === document.body || document.activeElement?.closest?.("#side, .tabs, .top"))) main.focus({ preventScroll: true });
}

const menu = document.getElementById("menu");
function closeMenu() {
  side.classList.remove("open");
  menu.setAttribute("aria-expanded", "false");
}
menu.addEventListener("click", () => menu.setAttribute("aria-expanded", String(side.classList.toggle("open"))));
document.getElementById("skip").addEventListener("click", (event) => { event.preventDefault(); main.focus(); });

const shortcuts = [
  ["/", "Focus the query bar"], ["j, k or ↓, ↑", "Next and previous document, in the table"], ["Enter", "Open the document"],
  ["Esc", "Close the document, a list, this help"], ["n, p", "Next and previous page"], ["g then o, l, y, m", "Overview, Live, Sync, Maintenance"],
  ["g then d, e, s, r, i, f, c", "Documents, Explain, Shape, Graph of references, Indexes, full-text search, Chart"],
  ["←, →, ↑, ↓", "Next document, in the graph"], ["?", "This help"],
];
const targets = { o: "overview", l: "live", y: "sync", m: "maintenance", d: "documents", e: "explain", s: "shape", r: "graph", i: "indexes", f: "search", c: "chart" };
let afterG = false;
document.addEventListener("keydown", (event) => {
  // An input method uses Escape and other keys itself.
  if (event.isComposing || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
  const editing = event.target.closest?.("input, textarea, select, [contenteditable]");
  if (event.key === "Escape") { closeMenu(); shown?.escape?.(); return; }
  if (editing) return;
  if (afterG && targets[event.key]) {
    const target = targets[event.key];
    const { in: collection, where, sort } = current().parameters;
    location.hash = screens[target].tab ? (collection === undefined ? location.hash : link(target, { in: collection, where, sort })) : link(target);
    event.preventDefault();
  } else if (event.key === "?") {
    help();
  } else if (event.key === "/" && document.querySelector(".query-input")) {
    document.querySelector(".query-input").focus();
    event.preventDefault();
  } else {
    shown?.key && shown.press?.(event);
  }
  afterG = event.key === "g";
});

function help() {
  const dialog = h("dialog", { class: "help", "aria-label": "Keyboard shortcuts", onclose: () => dialog.remove() },
    h("h2", {}, "Keyboard shortcuts"),
    h("dl", {}, shortcuts.flatMap(([keys, what]) => [h("dt", {}, h("kbd", {}, keys)), h("dd", {}, what)])),
    button("Close", () => dialog.close()));
  document.body.append(dialog);
  dialog.showModal();
}

async function start() {
  try {
    app.store = await get("store");
    app.name = app.store.location.split("/").filter(Boolean).pop() ?? app.store.location;
    const name = document.getElementById("store-name");
    name.textContent = visible(app.name);
    name.title = visible(`${app.store.location} · ${app.store.engine}`);
    const access = document.getElementById("access");
    access.textContent = app.store.allowsWrites ? "may write" : "read-only";
    access.classList.toggle("warn", app.store.allowsWrites);
    await refreshCollections();
  } catch (error) {
    fill(main, errorView(error, () => location.reload()));
    return;
  }
  window.addEventListener("hashchange", showScreen);
  window.addEventListener("beforeunload", (event) => { if (shown?.keeps?.()) event.preventDefault(); });
  showScreen();
  live.connect(app);
}

start();
