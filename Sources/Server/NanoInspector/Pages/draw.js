// SPDX-License-Identifier: MIT
// Charts as SVG.

import { h, s, visible } from "./dom.js";

/** A curve of points `[x, y]` with y from 0 to 1. */
export function sparkline(points, label) {
  const [width, height] = [240, 40];
  const first = points[0][0];
  const span = points.at(-1)[0] - first || 1;
  const at = ([x, y]) => `${(((x - first) / span) * width).toFixed(1)},${(height - 2 - y * (height - 4)).toFixed(1)}`;
  const line = points.map(at).join(" ");
  return s("svg", { class: "spark", viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none", role: "img", "aria-label": label },
    s("polygon", { class: "area", points: `0,${height} ${line} ${width},${height}` }), s("polyline", { class: "line", points: line }));
}

/** A small histogram; each bar is a link or has a title. `bars` are `{ count, label, href }`. */
export function histogram(bars, label) {
  const [width, height] = [240, 44];
  const top = Math.max(1, ...bars.map((bar) => bar.count));
  const step = width / bars.length;
  return s("svg", { class: "histogram", viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none", role: "group", "aria-label": label },
    bars.map((bar, index) => {
      const tall = bar.count ? Math.max(2, (bar.count / top) * (height - 2)) : 0;
      const shape = [
        s("rect", { class: "catch", x: index * step, y: 0, width: step, height }),
        s("rect", { class: "bar", x: (index * step + 0.5).toFixed(2), y: (height - tall).toFixed(2), width: Math.max(1, step - 1).toFixed(2), height: tall.toFixed(2), rx: 1 }),
      ];
      const title = `${bar.label}: ${bar.count.toLocaleString("en")}`;
      return bar.href && bar.count
        ? s("a", { href: bar.href, "aria-label": `Filter ${title}` }, s("title", {}, title), shape)
        : s("g", { "aria-hidden": "true" }, s("title", {}, title), shape);
    }));
}

/** Horizontal bars for groups `{ label, value, text, href }`. */
export function bars(groups, label) {
  const top = Math.max(...groups.map((group) => Math.abs(group.value ?? 0)), 0) || 1;
  return h("ul", { class: "bars", "aria-label": label }, groups.map((group) => {
    const share = ((Math.abs(group.value ?? 0) / top) * 100).toFixed(2);
    const name = h("bdi", { class: "bar-name", title: visible(group.label) }, visible(group.label));
    return h("li", {},
      group.href ? h("a", { href: group.href, class: "bar-label" }, name) : h("span", { class: "bar-label" }, name),
      s("svg", { class: "bar-track", viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" }, s("rect", { class: group.value < 0 ? "bar negative" : "bar", width: share, height: 10 })),
      h("span", { class: "bar-value" }, group.text));
  }));
}

/** Columns over time for groups `{ label, value, text, href, time }`. */
export function columns(groups, format, label) {
  const [width, height, left, bottom] = [900, 260, 64, 24];
  const values = groups.map((group) => group.value ?? 0);
  const [low, high] = [Math.min(0, ...values), Math.max(0, ...values)];
  const span = high - low || 1;
  const y = (value) => 8 + ((high - value) / span) * (height - bottom - 8);
  const step = (width - left) / groups.length;
  const ticks = [0, 0.25, 0.5, 0.75, 1].map((share) => low + span * share);
  const every = Math.max(1, Math.ceil(groups.length / 8));
  return s("svg", { class: "columns", viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": label },
    ticks.map((tick) => s("g", { class: "tick", "aria-hidden": "true" }, s("line", { x1: left, x2: width, y1: y(tick), y2: y(tick) }), s("text", { x: left - 8, y: y(tick) + 4, "text-anchor": "end" }, format(tick)))),
    groups.map((group, index) => {
      const value = group.value ?? 0;
      const title = `${group.label}: ${group.text}`;
      const bar = s("rect", { class: "bar", x: (left + index * step + step * 0.1).toFixed(2), width: Math.max(1, step * 0.8).toFixed(2), y: Math.min(y(0), y(value)).toFixed(2), height: Math.abs(y(value) - y(0)).toFixed(2), rx: Math.min(3, step / 8).toFixed(1) });
      return s("g", { role: "img", "aria-label": title }, s("title", {}, title), bar,
        index % every === 0 ? s("text", { class: "axis", x: (left + index * step + step / 2).toFixed(1), y: height - 6, "text-anchor": "middle", "aria-hidden": "true" }, group.short ?? group.label) : null);
    }));
}
