// SPDX-License-Identifier: MIT
// Backups, exports, imports and maintenance: started here, with their progress and a button that cancels them. They go
// on while other screens are shown.

import { address, get, post, send } from "./api.js";
import { bytes, button, counted, elapsed, fill, h, notify, visible } from "./dom.js";
import { detailText } from "./task.js";

const list = h("ul", { class: "transfers" });

/** The transfers of this page, the latest first. */
export const transfers = h("section", { "aria-label": "Running and finished", hidden: true }, h("h2", {}, "Running and finished"), list);

/** The time between two looks at the progress; arbitrary. */
const interval = 200;
/** How long the server may take to begin a download that the browser has requested. */
const patience = 10000;

const wait = (milliseconds) => new Promise((resolve) => { setTimeout(resolve, milliseconds); });

// `crypto.randomUUID` exists only on pages of the loopback interface.
const newName = () => [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");

/** Downloads a file that the server produces. The browser writes it to the disk as it arrives. */
export function download(title, call, parameters) {
  const id = newName();
  const item = entry(title, () => post("cancel", { id }));
  const anchor = h("a", { href: address(call, { ...parameters, id }), download: "" });
  document.body.append(anchor);
  anchor.click();
  anchor.remove();
  return follow(id, item, () => false).then((state) => {
    if (state.state === "finished") item.end("good", state.documents === null ? `Sent ${bytes(state.done)}` : `Exported ${counted(state.documents, "document")}`);
    else if (state.state === "canceled") item.end("", "Canceled. The browser removes the incomplete file.");
    else item.fail(state.failure);
  });
}

/** Sends a file that the server imports. */
export function upload(title, parameters, file, done) {
  const id = newName();
  const controller = new AbortController();
  const item = entry(title, async () => {
    await post("cancel", { id });
    controller.abort();
  });
  let outcome = null;
  const sent = send("import", { ...parameters, id }, file, controller.signal)
    .then((report) => { outcome = { report }; }, (error) => { outcome = { error }; });
  return follow(id, item, () => outcome?.error && !controller.signal.aborted).then(async (state) => {
    if (state.state === "canceled") return item.end("", "Canceled. Nothing was imported.");
    if (state.state === "failed") return item.fail(state.failure);
    await sent;
    if (outcome.error && state.state !== "finished") return item.fail(outcome.error);
    const report = outcome.report ?? { documents: state.documents, skipped: 0, errors: [] };
    item.end("good", `Imported ${counted(report.documents, "document")}${report.skipped ? `; skipped ${counted(report.skipped, "invalid record")}` : ""}.`);
    for (const error of report.errors) item.add(problem(error));
    done();
  });
}

const maintained = new Set();

/**
 * Runs maintenance, whose progress engines do not report: shows for how long it has been running. `start` sends the
 * request, and `view` returns its outcome as an element.
 */
export async function maintain(title, start, view) {
  if (maintained.has(title)) return notify(`${title}: already running`);
  maintained.add(title);
  const id = newName();
  const item = entry(title, () => post("cancel", { id }));
  let outcome = null;
  const answered = start({ id }).then((result) => { outcome = { result }; }, (error) => { outcome = { error }; });
  const state = await follow(id, item, () => outcome?.error);
  if (state.state === "canceled") {
    item.end("", "Canceled. The documents are unchanged.");
  } else {
    await answered;
    if (outcome.result) item.close(view(outcome.result));
    else item.fail(outcome.error);
  }
  maintained.delete(title);
}

/** Shows the progress until the transfer ends, and returns its last state. */
async function follow(id, item, isOver) {
  const start = Date.now();
  for (;;) {
    try {
      const state = await get("transfer", { id });
      if (state.state !== "running") return state;
      item.show(state);
    } catch (error) {
      // The request of the file may arrive later than the first question for its progress.
      if (isOver()) return { state: "rejected" };
      if (error.code !== "notFound" || Date.now() - start > patience) return { state: "failed", failure: error };
    }
    await wait(interval);
  }
}

function entry(title, cancel) {
  const bar = h("progress", { "aria-label": visible(title) });
  const text = h("span", { class: "muted" }, "Starting…");
  const started = Date.now();
  const stop = button("Cancel", () => { stop.disabled = true; text.textContent = "Canceling…"; Promise.resolve(cancel()).catch(() => {}); }, { "aria-label": `Cancel: ${visible(title)}` });
  const work = h("div", { class: "row" }, bar, text, stop);
  const element = h("li", { class: "transfer" }, h("h3", {}, visible(title)), work);
  list.prepend(element);
  transfers.hidden = false;
  const end = (...content) => {
    const remove = button("Remove", () => { element.remove(); transfers.hidden = !list.firstChild; }, { class: "small", "aria-label": `Remove: ${visible(title)}` });
    fill(work, h("div", { role: "status" }, content), remove);
    if (!element.isConnected) notify(`${title}: ended`);
  };
  return {
    show(state) {
      if (state.total) { bar.max = state.total; bar.value = Math.min(state.done, state.total); } else bar.removeAttribute("value");
      if (!stop.disabled) text.textContent = progressText(state, Date.now() - started);
    },
    close: end,
    end: (kind, sentence) => end(h("span", { class: kind }, sentence)),
    fail: (error) => end(problem(error)),
    add: (view) => element.append(view),
  };
}

function progressText({ phase, done, total, documents }, time) {
  const share = total ? `${Math.floor((Math.min(done, total) / total) * 100)} %` : "";
  switch (phase) {
    case "copying": return `Copying ${share}`;
    case "exporting": return `Exporting ${done.toLocaleString("en")}${total ? ` of ${counted(total, "document")}` : ""}`;
    case "importing": return `Importing ${share} · ${counted(documents ?? 0, "document")}`;
    case "receiving": return `Reading the file ${share}`;
    case "verifying": return `Verifying for ${elapsed(time)}`;
    case "compacting": return `Compacting for ${elapsed(time)}`;
    default: return `Sending ${bytes(done)}${total ? ` of ${bytes(total)}` : ""}`;
  }
}

/** An error with the line of the file in which it is. */
function problem(error) {
  const { line, record } = error.details ?? {};
  const place = line !== undefined ? `Line ${line}: ` : record !== undefined ? `Record ${record}: ` : "";
  const details = detailText({ details: Object.fromEntries(Object.entries(error.details ?? {}).filter(([name]) => name !== "record")) });
  const hint = error.details?.hint;
  return h("div", { class: "problem", role: "alert" }, h("p", { class: "problem-title" }, visible(place + error.message)),
    details ? h("p", {}, visible(details)) : null, hint ? h("p", { class: "hint" }, visible(hint)) : null);
}
