// SPDX-License-Identifier: MIT
// Promises for the calls of PouchDB 2.2.3 that the checks use. The checks' scripts run on this page.
'use strict';

function open(name) {
  return new Promise((done, fail) => { const db = new PouchDB(name, (error) => error ? fail(error) : done(db)); });
}

function replicate(source, target, options = {}) {
  return new Promise((done, fail) => PouchDB.replicate(source, target, options, (error, result) => error ? fail(error) : done(result)));
}

// Both names of the option, because they changed between versions.
function live(source, target) {
  return PouchDB.replicate(source, target, { live: true, continuous: true });
}

function write(db, documents) {
  return db.bulkDocs({ docs: documents }).then((results) => {
    const failed = results.filter((result) => !result.ok);
    if (failed.length) throw new Error('not written: ' + JSON.stringify(failed));
    return results;
  });
}

async function change(db, id, fields) {
  return db.put(Object.assign(await db.get(id), fields));
}

// The leaves of each document, as _changes of the server lists them.
async function leaves(db) {
  const changes = await new Promise((done, fail) => db.changes({ since: 0, style: 'all_docs', complete: (error, result) => error ? fail(error) : done(result) }));
  return Object.fromEntries(changes.results.map((row) => [row.id, row.changes.map((leaf) => leaf.rev).sort()]));
}

async function documents(db) {
  const listing = await db.allDocs({ include_docs: true });
  return Object.fromEntries(listing.rows.map((row) => [row.id, row.doc]));
}

async function until(what, condition) {
  for (const end = Date.now() + 30_000; ;) {
    if (await Promise.resolve().then(condition).catch(() => false)) return;
    if (Date.now() > end) throw new Error(`no ${what} within 30 seconds`);
    await new Promise((done) => setTimeout(done, 25));
  }
}

// The status of the error with which a promise fails; 0 if it does not.
function failure(promise) {
  return promise.then(() => 0, (error) => error.status ?? String(error));
}

async function base64(blob) {
  return btoa(Array.from(new Uint8Array(await blob.arrayBuffer()), (byte) => String.fromCharCode(byte)).join(''));
}

function blob(text, type) {
  return new Blob([Uint8Array.from(atob(text), (character) => character.charCodeAt(0))], { type });
}

function describe(error) {
  let details = '';
  try { details = JSON.stringify(error); } catch { }
  return `${error?.message ?? error} ${details} ${error?.stack ?? ''}`.slice(0, 1500);
}
