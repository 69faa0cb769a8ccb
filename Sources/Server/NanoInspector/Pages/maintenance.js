// SPDX-License-Identifier: MIT
// Maintenance: verification, compaction, and how to do the rest.

import { get, post } from "./api.js";
import { bytes, button, counted, duration, fill, h, visible } from "./dom.js";
import { shellWord } from "./query.js";
import { run } from "./task.js";

export function show(root, _parameters, app) {
  const verified = h("div", {});
  const compacted = h("div", {});
  const { location, allowsWrites } = app.store;
  const word = shellWord(location);
  root.append(h("h1", {}, "Maintenance"),
    h("section", { class: "action" }, h("h2", {}, "Verify"), h("p", {}, "Reads the whole store and checks the file, documents, indexes and the path catalog. Nothing is changed."),
      button("Verify", () => run(verified, "Verifying; large stores take minutes…", async (signal) => {
        const result = await get("verify", {}, signal);
        fill(verified, result.count === 0
          ? h("p", { class: "good", role: "status" }, `No problems. Checked in ${duration(result.milliseconds)}.`)
          : h("div", { class: "problem", role: "alert" }, h("p", { class: "problem-title" }, counted(result.count, "problem")), h("ul", {}, result.problems.map((problem) => h("li", {}, h("strong", {}, visible(problem.subject)), ": ", visible(problem.message))))));
      }), { class: "primary" }), verified),
    allowsWrites ? h("section", { class: "action" }, h("h2", {}, "Compact"), h("p", {}, "Returns unused space to the file system. Temporarily requires free disk space equal to the size of the file, and other writers wait."),
      button("Compact", () => run(compacted, "Compacting…", async (signal) => {
        const result = await post("compact", {}, {}, signal);
        fill(compacted, h("p", { class: "good", role: "status" }, `Compacted from ${bytes(result.before)} to ${bytes(result.after)}.`));
      })), compacted) : null,
    h("section", { class: "action" }, h("h2", {}, "From a terminal"), h("p", {}, "These run while other programs use the store:"),
      h("pre", { class: "code", tabindex: "0" }, [`nanostore backup ${word} COPY`, `nanostore export ${word} COLLECTION --output FILE`, `nanostore stats ${word}`].map(visible).join("\n"))));
  return { leave() { verified.cancelTask?.(); compacted.cancelTask?.(); } };
}
