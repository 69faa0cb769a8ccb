// SPDX-License-Identifier: MIT

import NanoDocument

/// A value in the JSON form of a schema, with its location for errors.
struct SchemaNode {
  let value: DocumentValue
  let path: String

  func error(_ message: String, expected: String? = nil, hint: String? = nil) -> StoreError {
    BNRSchema.error(message, path.isEmpty ? "the schema" : path, expected: expected, hint: hint)
  }

  /// - Throws: ``StoreError/Code/invalidArgument`` if the object has other members.
  func allowMembers(_ names: [String]) throws(StoreError) {
    for (name, node) in try members() where !names.contains(where: { $0.hasSameBytes(as: name) }) {
      throw node.error("Unknown member of the schema", expected: names.joined(separator: ", "))
    }
  }

  func members() throws(StoreError) -> [(name: String, node: SchemaNode)] {
    guard case .object(let object) = value else { throw mismatch("an object") }
    return object.map { ($0.name, SchemaNode(value: $0.value, path: path(to: $0.name))) }
  }

  func member(_ name: String) throws(StoreError) -> SchemaNode? {
    guard case .object(let object) = value else { throw mismatch("an object") }
    return object[name].map { SchemaNode(value: $0, path: path(to: name)) }
  }

  func requiredMember(_ name: String) throws(StoreError) -> SchemaNode {
    if let member = try member(name) { return member }
    throw SchemaNode(value: .null, path: path(to: name)).error("The schema lacks a member")
  }

  func elements() throws(StoreError) -> [SchemaNode] {
    guard case .array(let elements) = value else { throw mismatch("an array") }
    return elements.enumerated().map { SchemaNode(value: $1, path: "\(path)[\($0)]") }
  }

  func string() throws(StoreError) -> String {
    guard case .string(let text) = value else { throw mismatch("a string") }
    return text
  }

  func version() throws(StoreError) -> UInt8 {
    guard case .int(let number) = value, let version = UInt8(exactly: number) else {
      throw mismatch("an integer from 0 to 255")
    }
    return version
  }

  /// Returns the value of the choice whose name is the string.
  func choice<Value>(_ choices: [(name: String, value: Value)]) throws(StoreError) -> Value {
    let text = try string()
    if let choice = choices.first(where: { $0.name.hasSameBytes(as: text) }) { return choice.value }
    throw error(
      "Unknown name in the schema", expected: choices.map(\.name).joined(separator: ", ")
    ).adding(.actual, text)
  }

  private func mismatch(_ expected: String) -> StoreError {
    error("A value of the schema has the wrong type", expected: expected)
  }

  private func path(to name: String) -> String { path.isEmpty ? name : "\(path).\(name)" }
}
