// SPDX-License-Identifier: MIT
// Values of documents: from the API's Extended JSON to nodes with a type, and from nodes to text.

/**
 * A node is `{ type, value, size }`: `size` is the size of the whole if the server has cut the value. Numbers are their
 * digits, an object is a list of pairs. A date that its digits do not restore has an `interval`, the seconds since 2001; a
 * relative URL has a `base`, and its `relative` text beside the resolved one.
 */
export function decode(wire) {
  if (wire === null) return { type: "null", value: null };
  switch (typeof wire) {
    case "boolean": return { type: "bool", value: wire };
    case "string": return { type: "string", value: wire };
    case "number": return Number.isInteger(wire) ? { type: "int", value: String(wire) } : { type: "double", value: String(wire) };
  }
  if (Array.isArray(wire)) return { type: "array", value: wire.map(decode) };
  if ("$numberLong" in wire) return { type: "int", value: wire.$numberLong };
  if ("$numberDouble" in wire) return { type: "double", value: wire.$numberDouble };
  if ("$numberDecimal" in wire) return { type: "decimal", value: wire.$numberDecimal };
  if ("$date" in wire) return { type: "date", value: wire.$date, interval: wire.$interval };
  if ("$url" in wire) return { type: "url", value: wire.$url, relative: wire.$relative, base: wire.$base, size: wire.$size };
  if ("$binary" in wire) return { type: "data", value: wire.$binary, size: wire.$size };
  if ("$fields" in wire) return { type: "object", value: wire.$fields.map(([name, value]) => [name, decode(value)]) };
  if ("$cut" in wire) {
    return "$size" in wire ? { ...decode(wire.$cut), size: wire.$size } : { type: "cut", value: "…" };
  }
  return { type: "object", value: Object.entries(wire).map(([name, value]) => [name, decode(value)]) };
}

const typeNames = { string: "text", int: "integer", double: "real", bool: "boolean" };

/** Returns the name of a node's type, as the function `typeof` of query text returns it. */
export function typeName(node) {
  return typeNames[node.type] ?? node.type;
}

/** Returns a field of an object node; undefined if it is missing. */
export function field(node, name) {
  return node?.type === "object" ? node.value.find((pair) => pair[0] === name)?.[1] : undefined;
}

/** Returns the nodes at a path of names, below arrays as well, as queries find them. */
export function nodesAt(node, names) {
  if (node === undefined) return [];
  if (node.type === "array" && names.length) return node.value.flatMap((element) => nodesAt(element, names));
  if (!names.length) return [node];
  return nodesAt(field(node, names[0]), names.slice(1));
}

const whole = (text) => text.replace("T", " ").replace(/(:00)?(\.0+)?Z$/, "");

/** Returns a date as people read it, in UTC. */
export function dateText(iso) {
  return typeof iso === "string" ? whole(iso) : String(iso);
}

/** Returns one line for a node. */
export function line(node, limit = 160) {
  switch (node.type) {
    case "null": return "null";
    case "bool": return String(node.value);
    case "int": case "double": case "decimal": return numberText(node);
    case "date": return node.interval === undefined ? dateText(node.value) : `${dateText(node.value)} (${node.interval})`;
    case "data": return `${node.size ?? 0} bytes`;
    case "array": return listed(node, "[", "]", (element, rest) => line(element, rest), limit);
    case "object": return listed(node, "{", "}", ([name, value], rest) => `${name}: ${line(value, rest)}`, limit);
    default: return node.value.length > limit ? `${node.value.slice(0, limit)}…` : node.value;
  }
}

function listed(node, open, close, text, limit) {
  let result = open;
  for (const [index, element] of node.value.entries()) {
    if (result.length > limit) return `${result}…${close}`;
    result += (index ? ", " : "") + text(element, limit - result.length);
  }
  return (node.size > node.value.length ? `${result}, …` : result) + close;
}

/** Returns the digits of a number; a double shows that it is one. */
export function numberText(node) {
  if (node.type === "double" && /^-?\d+$/.test(node.value)) return `${node.value}.0`;
  return node.value;
}

/** Returns whether the server has cut a node or part of it. */
export function isCut(node) {
  if (node.type === "cut") return true;
  if (node.type === "data") return atob(node.value).length < (node.size ?? 0);
  if (node.size !== undefined) return true;
  if (node.type === "array") return node.value.some(isCut);
  return node.type === "object" && node.value.some(([, value]) => isCut(value));
}

/** Returns whether the server has cut what is at a path of names below a node; see `nodesAt`. */
export function isCutAt(node, names) {
  if (node === undefined) return false;
  if (node.type === "cut") return true;
  if (node.type === "array" && names.length) return node.value.length < sizeOf(node) || node.value.some((element) => isCutAt(element, names));
  if (!names.length) return isCut(node);
  return node.type === "object" && (isUnknown(node, names[0]) || isCutAt(field(node, names[0]), names.slice(1)));
}

/** Returns Extended JSON that the command-line tool imports; on one line if the indent is null. */
export function json(node, indent = "") {
  if (indent === null) return json(node, "").replace(/\n */g, (space) => (space ? "" : space));
  const inner = `${indent}  `;
  switch (node.type) {
    case "int": return node.value;
    case "double": return /^-?(Infinity|NaN)$/.test(node.value) ? `{"$numberDouble": "${node.value}"}` : numberText(node);
    case "decimal": return `{"$numberDecimal": "${node.value}"}`;
    case "date": return `{"$date": ${JSON.stringify(node.value)}${node.interval === undefined ? "" : `, "$interval": ${node.interval}`}}`;
    case "url": return node.base === undefined ? `{"$url": ${JSON.stringify(node.value)}}` : `{"$url": ${JSON.stringify(node.relative)}, "$base": ${JSON.stringify(node.base)}}`;
    case "data": return `{"$binary": ${JSON.stringify(node.value)}, "$type": "00"}`;
    case "array":
      return node.value.length ? `[\n${node.value.map((element) => inner + json(element, inner)).join(",\n")}\n${indent}]` : "[]";
    case "object":
      return node.value.length
        ? `{\n${node.value.map(([name, value]) => `${inner}${JSON.stringify(escapedName(name))}: ${json(value, inner)}`).join(",\n")}\n${indent}}`
        : "{}";
    default: return JSON.stringify(node.value);
  }
}

// A name that begins with a dollar sign would be read as a wrapper.
const escapedName = (name) => (name.startsWith("$") ? `$${name}` : name);

/** Returns a Swift string literal. */
export function swiftString(text) {
  let result = '"';
  for (const character of text) {
    const code = character.codePointAt(0);
    if (character === '"' || character === "\\") result += `\\${character}`;
    else if (character === "\n") result += "\\n";
    else if (character === "\t") result += "\\t";
    else if (code < 0x20 || (code >= 0x7f && code < 0xa0) || /[\p{M}\p{Cf}\p{Co}\p{Cn}\u2028\u2029]/u.test(character)) result += `\\u{${code.toString(16)}}`;
    else result += character;
  }
  return `${result}"`;
}

/** Returns the seconds since 2001 with all digits of a date; `Date` of JavaScript has milliseconds only. */
export function referenceSeconds(date) {
  const digits = /\.(\d+)/.exec(date)?.[1] ?? "";
  const scale = 10n ** BigInt(digits.length);
  const scaled = BigInt(Date.parse(date.replace(/\.\d+/, "")) / 1000 - 978307200) * scale + BigInt(digits || 0);
  const size = scaled < 0n ? -scaled : scaled;
  const rest = digits && String(size % scale).padStart(digits.length, "0").replace(/0+$/, "");
  return `${scaled < 0n ? "-" : ""}${size / scale}${rest ? `.${rest}` : ""}`;
}

/** Returns a Swift literal of type `DocumentValue`. */
export function swift(node, indent = "") {
  const inner = `${indent}  `;
  switch (node.type) {
    case "null": return "nil";
    case "bool": return String(node.value);
    case "int": return node.value;
    case "double":
      if (node.value === "NaN") return ".double(.nan)";
      if (/Infinity/.test(node.value)) return node.value.startsWith("-") ? ".double(-.infinity)" : ".double(.infinity)";
      return numberText(node);
    case "decimal": return `.decimal(Decimal(string: "${node.value}")!)`;
    // Since 2001, because `Date` rounds what it converts from 1970.
    case "date": return `.date(Date(timeIntervalSinceReferenceDate: ${node.interval ?? referenceSeconds(node.value)}))`;
    case "url": return node.base === undefined ? `.url(URL(string: ${swiftString(node.value)})!)` : `.url(URL(string: ${swiftString(node.relative)}, relativeTo: URL(string: ${swiftString(node.base)})!)!)`;
    case "data": return `.data(Data(base64Encoded: ${swiftString(node.value)})!)`;
    case "array":
      return node.value.length ? `[\n${node.value.map((element) => inner + swift(element, inner)).join(",\n")},\n${indent}]` : "[]";
    case "object":
      return node.value.length
        ? `[\n${node.value.map(([name, value]) => `${inner}${swiftString(name)}: ${swift(value, inner)}`).join(",\n")},\n${indent}]`
        : "[:]";
    default: return swiftString(String(node.value));
  }
}

/** Returns rows as CSV; containers are JSON. */
export function csv(columns, documents) {
  const cell = (text) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const text = (node) => {
    if (node === undefined || node.type === "null") return "";
    if (node.type === "array" || node.type === "object") return json(node, null);
    return ["int", "double", "decimal"].includes(node.type) ? numberText(node) : String(node.value);
  };
  const rows = documents.map((document) => columns.map((column) => cell(text(single(nodesAt(document, column.names))))).join(","));
  return [columns.map((column) => cell(column.path)).join(","), ...rows].join("\r\n") + "\r\n";
}

/** Returns one node for the nodes at a path: an array if there are several. */
export function single(nodes) {
  return nodes.length > 1 ? { type: "array", value: nodes } : nodes[0];
}

/** Returns whether two nodes are equal; of nodes that the server has cut, as far as both are known. */
export function equal(a, b) {
  if (a === undefined || b === undefined) return a === b;
  if (a.type === "cut" || b.type === "cut") return true;
  if (a.type !== b.type) return false;
  if (a.type === "array") return sizeOf(a) === sizeOf(b) && a.value.every((element, index) => index >= b.value.length || equal(element, b.value[index]));
  if (a.type === "object") {
    return sizeOf(a) === sizeOf(b) && namesOf(a, b).every((name) => isUnknown(a, name) || isUnknown(b, name) || equal(field(a, name), field(b, name)));
  }
  if (a.size === undefined && b.size === undefined) return ["value", "interval", "relative", "base"].every((part) => a[part] === b[part]);
  if (a.size !== undefined && b.size !== undefined && a.size !== b.size) return false;
  const [one, other] = a.type === "data" ? [atob(a.value), atob(b.value)] : [a.value, b.value];
  // What has no size is whole.
  if ((a.size === undefined && one.length < other.length) || (b.size === undefined && other.length < one.length)) return false;
  return one.startsWith(other) || other.startsWith(one);
}

/** Returns the number of elements or fields, including those that the server has cut. */
const sizeOf = (node) => node.size ?? node.value.length;

const namesOf = (a, b) => [...new Set([...a.value, ...b.value].map((pair) => pair[0]))];

/** Returns whether a field is not among those that the server has sent of an object. */
const isUnknown = (node, name) => node.value.length < sizeOf(node) && field(node, name) === undefined;

/** Returns the differences of two objects as `{ path, before, after }`, in the order of the fields. */
export function difference(before, after, path = []) {
  if (equal(before, after)) return [];
  if (before?.type !== "object" || after?.type !== "object") return [{ path, before, after }];
  const fields = namesOf(before, after).filter((name) => !isUnknown(before, name) && !isUnknown(after, name))
    .flatMap((name) => difference(field(before, name), field(after, name), [...path, name]));
  // Only their numbers of fields are known to differ.
  return fields.length ? fields : [{ path, before, after }];
}
