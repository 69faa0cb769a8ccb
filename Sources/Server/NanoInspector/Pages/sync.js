// SPDX-License-Identifier: MIT
// Synchronization: how far each collection is, what could not be transferred, and conflicts.

import { get, post } from "./api.js";
import { button, counted, fill, h, notify, visible } from "./dom.js";
import { throttled } from "./overview.js";
import { link } from "./route.js";
import { errorView, run } from "./task.js";
import { differenceView } from "./tree.js";
import { dateText, decode, difference } from "./values.js";

/** The number of conflicts that are listed; arbitrary. */
const maximumListed = 100;

export function show(root, parameters, app) {
  const body = h("div", {});
  const panel = h("section", { class: "conflict", "aria-label": "Conflict" });
  root.append(h("h1", {}, "Sync"), body, panel);
  const load = () => run(body, "Reading the state of sync…", async (signal, limit) => draw(body, await get("sync", { limit }, signal)));
  const showConflict = ({ in: collection, key }) => (collection !== undefined && key !== undefined ? open(panel, app, collection, key, load) : fill(panel));
  load();
  showConflict(parameters);
  const stop = app.commits.follow(throttled(load, 1000));
  return {
    update: showConflict,
    leave() { stop(); body.cancelTask?.(); panel.cancelTask?.(); },
  };
}

function draw(body, { collections, most }) {
  const atMost = (number, one) => (number >= most ? `${most.toLocaleString("en")} or more ${one}s` : counted(number, one));
  if (!collections.length) {
    return fill(body, h("p", { class: "empty" }, "No collection is synchronized. A program sets that up with replicate or enableSync; nanostore serve does it for databases that clients use."));
  }
  fill(body, collections.map((collection) => h("section", { class: "synced", "aria-label": visible(collection.name) },
    h("h2", {}, h("a", { href: link("documents", { in: collection.name }) }, h("bdi", {}, visible(collection.name)))),
    h("dl", { class: "facts" },
      h("div", {}, h("dt", {}, "Conflicts"), h("dd", {}, atMost(collection.conflicts.length, "document"))),
      h("div", {}, h("dt", {}, "Without a revision"), h("dd", {}, atMost(collection.unassigned, "change"))),
      h("div", {}, h("dt", {}, "Revisions kept"), h("dd", {}, `up to ${collection.revisionLimit.toLocaleString("en")}`))),
    checkpoints(collection, atMost), conflicts(collection),
    collection.problems.length ? reasons("Documents that cannot be synchronized", collection.problems) : null)));
}

function checkpoints(collection, atMost) {
  if (!collection.checkpoints.length) return h("p", { class: "empty" }, "Nothing has been transferred yet.");
  const names = ["Other side", "Direction", "Last transfer", "Not sent", "Tried again"];
  return h("div", { class: "table", tabindex: "0", role: "region", "aria-label": `Other sides of ${visible(collection.name)}` }, h("table", {},
    h("thead", {}, h("tr", {}, names.map((name) => h("th", { scope: "col" }, name)))),
    h("tbody", {}, collection.checkpoints.map((checkpoint) => h("tr", {},
      h("th", { scope: "row" }, h("bdi", {}, visible(checkpoint.peer ?? `run by the other side (${checkpoint.id})`))),
      h("td", {}, checkpoint.direction ?? "unknown"),
      h("td", {}, checkpoint.date ? dateText(checkpoint.date.$date).slice(0, 19) : "unknown"),
      h("td", {}, checkpoint.unsent === null ? "" : atMost(checkpoint.unsent, "change")),
      h("td", { class: "wrap" }, checkpoint.retries.length ? reasons(counted(checkpoint.retries.length, "document"), checkpoint.retries) : "none"))))));
}

function reasons(title, list) {
  return h("details", {}, h("summary", {}, title),
    h("ul", {}, list.map(({ key, reason }) => h("li", {}, h("bdi", {}, visible(key)), ": ", visible(reason)))));
}

function conflicts(collection) {
  const rest = collection.conflicts.length - maximumListed;
  return collection.conflicts.length ? h("div", {}, h("h3", {}, "Documents with several versions"), h("ul", { class: "conflicts", "aria-label": `Conflicts of ${visible(collection.name)}` },
    collection.conflicts.slice(0, maximumListed).map((key) => h("li", {}, h("a", { href: link("sync", { in: collection.name, key }) }, h("bdi", {}, visible(key))))),
    rest > 0 ? h("li", { class: "muted" }, `${rest.toLocaleString("en")} more`) : null)) : null;
}

function open(panel, app, collection, key, changed) {
  return run(panel, "Reading the versions…", async (signal, limit) => {
    const conflict = await get("conflict", { in: collection, key, limit }, signal);
    const [base, winner, other] = [conflict.base, conflict.winnerValue, conflict.otherValue].map((value) => (value === null ? null : decode(value)));
    const [mine, theirs] = conflict.isMineWinning ? ["this store", "the other store"] : ["the other store", "this store"];
    const outcome = h("div", {});
    const resolve = (take) => async () => {
      try {
        const { resolved } = await post("resolve", { in: collection }, { key, winner: conflict.winner, other: conflict.other, take });
        if (!resolved) return fill(outcome, h("div", { class: "problem", role: "alert" }, h("p", { class: "problem-title" }, "The document has been changed in the meantime; nothing was resolved."), button("Show it again", () => open(panel, app, collection, key, changed))));
        notify("Resolved");
        fill(panel);
        changed();
      } catch (error) { fill(outcome, errorView(error)); }
    };
    fill(panel, h("h2", {}, "Versions of ", h("bdi", {}, visible(key))),
      h("p", {}, `The collection has the winning version, of ${mine}, until the conflict is resolved. The losing version is of ${theirs}.`),
      differenceView(difference(winner, other), ["winning", "losing"]),
      base ? h("details", {}, h("summary", {}, "What the losing version changed"), differenceView(difference(base, other), ["edited from", "losing"])) : h("p", { class: "muted" }, "The version from which both were edited is not known, so they cannot be merged by field."),
      app.store.allowsWrites ? h("div", { class: "row" },
        base ? button("Merge by field", resolve("merge"), { class: "primary" }) : null,
        button("Take the winning version", resolve("winner")), button("Take the losing version", resolve("other")),
        button("Delete the document", resolve("delete"), { class: "danger" }))
        : h("p", { class: "muted" }, "Start the inspector with --write to resolve conflicts."), outcome);
  });
}
