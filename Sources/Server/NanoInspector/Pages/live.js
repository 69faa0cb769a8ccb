// SPDX-License-Identifier: MIT
// Commits as they happen, whichever process makes them.

import { changes } from "./api.js";
import { button, counted, fill, h, visible } from "./dom.js";
import { documentLink } from "./documents.js";
import { throttled } from "./overview.js";
import { forgetCompletions } from "./query.js";
import { differenceView, note, versionsOf } from "./tree.js";
import { decode, difference, line } from "./values.js";

const maximumCommits = 500;
const dot = document.getElementById("live-dot");

/** The commits since the page opened, and those who follow them. */
export const commits = {
  list: [],
  followers: new Set(),
  isConnected: false,
  /** Calls a function with each later commit. Returns a function that ends that. */
  follow(action) {
    this.followers.add(action);
    return () => this.followers.delete(action);
  },
};

/**
 * Connects to the stream of commits while the page is visible, because a browser opens six connections to a server, for
 * all its tabs. The browser connects again when the connection is lost.
 */
export function connect(app) {
  let source = null;
  const refresh = throttled(() => app.refreshCollections().catch(() => {}), 500);
  const state = (isConnected) => {
    commits.isConnected = isConnected;
    dot.classList.toggle("on", isConnected);
    for (const action of commits.stateFollowers ?? []) action();
  };
  let mayHaveMissed = document.hidden;
  const ready = () => {
    state(true);
    if (mayHaveMissed) {
      refresh();
      publish({ time: Date.now(), changes: app.collections.map((collection) => ({ collection: collection.name, isPossible: true })), isMissed: true });
    }
    mayHaveMissed = true;
  };
  const receive = (event) => {
    const commit = JSON.parse(event.data);
    for (const entry of commit.changes) {
      entry.documents = (entry.documents ?? []).map((change) => {
        const document = change.document ? { ...change.document, node: change.document.value ? decode(change.document.value) : null } : null;
        const before = document ? note(entry.collection, document, false) : versionsOf(entry.collection, change.rowID).at(-1);
        return { ...change, document, before };
      });
    }
    dot.classList.add("flash");
    setTimeout(() => dot.classList.remove("flash"), 400);
    if (commit.changes.some((entry) => entry.isDropped || entry.growth || !app.collections.some((collection) => collection.name === entry.collection))) refresh();
    publish(commit);
  };
  function publish(commit) {
    commits.list.unshift(commit);
    commits.list.length = Math.min(commits.list.length, maximumCommits);
    for (const entry of commit.changes) forgetCompletions(entry.collection);
    for (const action of commits.followers) action(commit);
  }
  function open() {
    if (source || document.hidden) return;
    source = changes();
    source.addEventListener("ready", ready);
    source.addEventListener("error", () => state(false));
    source.addEventListener("commit", receive);
  }
  function close() {
    source?.close();
    source = null;
    state(false);
  }
  document.addEventListener("visibilitychange", () => (document.hidden ? close() : open()));
  window.addEventListener("pagehide", close);
  window.addEventListener("pageshow", open);
  open();
}

export function show(root, _parameters, app) {
  let isPaused = false;
  let waiting = 0;
  let filter = "";
  const status = h("p", { class: "status", "aria-live": "polite" });
  const list = h("ol", { class: "commits", "aria-label": "Commits, the newest first" });
  const pause = button("Pause", () => {
    isPaused = !isPaused;
    waiting = 0;
    pause.textContent = isPaused ? "Resume" : "Pause";
    draw();
  }, { "aria-pressed": "false" });
  const choice = h("select", { "aria-label": "Collection", onchange: () => { filter = choice.value; draw(); } },
    h("option", { value: "" }, "All collections"), app.collections.filter((collection) => !collection.isInternal).map((collection) => h("option", { value: collection.name }, visible(collection.name))));
  root.append(h("div", { class: "heading" }, h("h1", {}, "Live"), h("div", { class: "row" }, choice, pause, button("Clear", () => { commits.list.length = 0; draw(); }))), status, list);

  const matches = (commit) => !filter || commit.changes.some((entry) => entry.collection === filter);
  function showStatus() {
    pause.setAttribute("aria-pressed", String(isPaused));
    status.textContent = !commits.isConnected ? "Not connected; trying again." : isPaused ? `Paused; ${counted(waiting, "commit")} since.` : "Listening for commits of all processes.";
  }
  function draw() {
    showStatus();
    const shown = commits.list.filter(matches).slice(0, 100);
    fill(list, shown.length ? shown.map((commit) => entry(commit, filter)) : h("li", { class: "empty" }, "No commits since the page opened. Change something in the app, or from a terminal."));
  }
  draw();
  const stop = commits.follow((commit) => {
    if (isPaused) { waiting += commit.isMissed ? 0 : 1; showStatus(); return; }
    if (!matches(commit)) return showStatus();
    list.querySelector(".empty")?.remove();
    list.prepend(entry(commit, filter));
    while (list.children.length > 100) list.lastChild.remove();
  });
  commits.stateFollowers = new Set([showStatus]);
  return { leave() { stop(); commits.stateFollowers = null; } };
}

function entry(commit, filter) {
  const changes = commit.changes.filter((change) => !filter || change.collection === filter);
  const certain = changes.filter((change) => !change.isPossible);
  const possible = changes.filter((change) => change.isPossible);
  const date = new Date(commit.time);
  const time = h("time", { datetime: date.toISOString() }, `${date.toLocaleTimeString("en-GB")}.${String(date.getMilliseconds()).padStart(3, "0")}`);
  if (commit.isMissed) return h("li", { class: "commit" }, time, h("p", { class: "muted" }, "Earlier commits may be missing: the page was hidden or not connected."));
  return h("li", { class: "commit" }, time,
    h("div", {}, certain.map(changeView),
      possible.length ? h("p", { class: "muted" }, certain.length ? "May also have changed: " : "Documents may have changed in ", possible.map((change) => visible(change.collection)).join(", "), certain.length ? "." : ". With change tracking, the inspector knows which.") : null));
}

function changeView(change) {
  const name = h("bdi", { class: "collection" }, visible(change.collection));
  if (change.isDropped) return h("p", {}, "Dropped ", name);
  const known = change.documents.length;
  const summary = change.rows !== null && change.rows !== undefined ? counted(change.rows, "document") : change.growth > 0 ? `${change.growth.toLocaleString("en")} more` : change.growth < 0 ? `${(-change.growth).toLocaleString("en")} fewer` : "changed";
  const more = (change.rows ?? 0) - known;
  return h("section", {}, h("p", {}, name, h("span", { class: "muted" }, ` ${summary}, now ${change.count.toLocaleString("en")}`)),
    h("ul", {}, change.documents.map((document) => documentView(change.collection, document)), more > 0 ? h("li", { class: "muted" }, `${more.toLocaleString("en")} more`) : null));
}

function documentView(collection, change) {
  const name = change.document?.key ?? change.rowID;
  const fields = change.before && change.document?.node ? difference(change.before.node, change.document.node) : null;
  return h("li", {}, h("span", { class: `badge ${change.kind}` }, change.kind), " ",
    change.kind === "deleted" ? h("bdi", {}, visible(name)) : documentLink(collection, change.rowID, name), " ",
    fields?.length ? differenceView(fields)
      : h("bdi", { class: "preview" }, change.document?.node ? visible(line(change.document.node, 120)) : change.before ? visible(line(change.before.node, 120)) : ""));
}
