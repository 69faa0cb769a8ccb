// SPDX-License-Identifier: MIT
// The state of the page in its URL, so that it can be bookmarked: `#/screen?name=value`.

/** Returns the screen and the parameters of the URL. */
export function current() {
  const text = location.hash.replace(/^#\/?/, "");
  const [screen, query = ""] = text.split(/\?(.*)/s);
  const parameters = {};
  for (const pair of query.split("&").filter(Boolean)) {
    const [name, value = ""] = pair.split(/=(.*)/s);
    try {
      parameters[decodeURIComponent(name)] = decodeURIComponent(value);
    } catch {
      // A malformed escape is no parameter.
    }
  }
  return { screen: screen || "overview", parameters };
}

/** Returns the URL of a screen. Empty parameters are left out. */
export function link(screen, parameters = {}) {
  const pairs = Object.entries(parameters).filter(([, value]) => value !== undefined && value !== null && value !== "")
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`);
  return `#/${screen === "overview" ? "" : screen}${pairs.length ? "?" : ""}${pairs.join("&")}`;
}

/** Goes to a screen. */
export function go(screen, parameters, { replaces = false } = {}) {
  const url = link(screen, parameters);
  if (url === location.hash || (url === "#/" && !location.hash)) return window.dispatchEvent(new HashChangeEvent("hashchange"));
  if (replaces) {
    history.replaceState(null, "", url);
    window.dispatchEvent(new HashChangeEvent("hashchange"));
  } else {
    location.hash = url;
  }
}

/** Changes some parameters of the current screen. */
export function change(parameters, options) {
  const route = current();
  go(route.screen, { ...route.parameters, ...parameters }, options);
}
