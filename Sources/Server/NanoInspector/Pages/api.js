// SPDX-License-Identifier: MIT
// Calls of the API. The path of the page contains the token.

const base = new URL(".", location.href);

/** An error that the server or the browser reports. */
export class ApiError extends Error {
  constructor(code, message, details = {}) {
    super(message);
    this.code = code;
    this.details = details;
  }
}

/** Returns the URL of a call. */
export function address(call, parameters) {
  const url = new URL(`api/${call}`, base);
  const pairs = [];
  for (const [name, value] of Object.entries(parameters)) {
    for (const item of Array.isArray(value) ? value : [value]) {
      if (item === undefined || item === null || item === "") continue;
      pairs.push(`${encodeURIComponent(name)}=${encodeURIComponent(wellFormed(String(item)))}`);
    }
  }
  return `${url.href}${pairs.length ? "?" : ""}${pairs.join("&")}`;
}

// A lone half of a surrogate pair cannot be encoded, nor be stored.
function wellFormed(text) {
  return text.toWellFormed ? text.toWellFormed() : text.replace(/[\ud800-\udfff]/gu, "\ufffd");
}

async function result(response) {
  const body = await response.text();
  let value;
  try {
    value = JSON.parse(body);
  } catch {
    throw new ApiError("http", body.trim() || `The server responded with status ${response.status}`);
  }
  if (value.error) throw new ApiError(value.error.code, value.error.message, value.error.details);
  return value;
}

async function request(url, options) {
  try {
    return await result(await fetch(url, { cache: "no-store", credentials: "omit", ...options }));
  } catch (error) {
    if (error instanceof ApiError || error.name === "AbortError") throw error;
    throw new ApiError("offline", "The inspector no longer responds; it may have been stopped.");
  }
}

/** Reads from the API. Aborting the signal cancels the query on the server. */
export function get(call, parameters = {}, signal = undefined) {
  return request(address(call, parameters), { signal });
}

/** Reads from the API with parameters that may be longer than a URL. */
export function getLong(call, parameters = {}, signal = undefined) {
  const given = Object.entries(parameters).filter(([, value]) => value !== undefined && value !== null && value !== "");
  return post(call, {}, Object.fromEntries(given.map(([name, value]) => [name, wellFormed(String(value))])), signal);
}

/** Writes through the API. */
export function post(call, parameters = {}, body = {}, signal = undefined) {
  return request(address(call, parameters), {
    method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body), signal,
  });
}

/** Sends a file. */
export function send(call, parameters, file, signal) {
  return request(address(call, parameters), { method: "POST", headers: { "Content-Type": "application/octet-stream" }, body: file, signal });
}

/** Opens the stream of commits. */
export function changes() {
  return new EventSource(address("changes", {}));
}
