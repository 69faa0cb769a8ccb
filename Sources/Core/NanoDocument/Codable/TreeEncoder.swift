// SPDX-License-Identifier: MIT

import Foundation
import OrderedCollections

/// An encoder that builds a tree and accepts writes to containers in any order, for types that
/// ``StreamEncoder`` cannot encode.
struct TreeEncoder: Encoder {
  let node: TreeNode
  let codingPath: [any CodingKey]
  let userInfo: [CodingUserInfoKey: Any]

  static func tree<Value: Encodable>(
    _ value: Value, userInfo: [CodingUserInfoKey: Any]
  ) throws -> DocumentValue {
    let encoder = TreeEncoder(node: TreeNode(), codingPath: [], userInfo: userInfo)
    try encoder.fill(value)
    return encoder.node.value
  }

  /// Encodes a value into the node.
  func fill<Value: Encodable>(_ value: Value) throws {
    guard codingPath.count <= DocumentValue.maximumDepth else { throw StoreError.nestedTooDeep }
    if let native = native(value) {
      node.content = .value(native)
    } else {
      try value.encode(to: self)
    }
  }

  /// Returns the value of a type that has its own stored form.
  private func native<Value: Encodable>(_ value: Value) -> DocumentValue? {
    switch value {
    case let value as DocumentValue: value
    case let value as DocumentObject: .object(value)
    case let value as Date: .date(value)
    case let value as Data where Value.self == Data.self: .data(value)
    case let value as URL where Value.self == URL.self: .url(value)
    case let value as UUID where Value.self == UUID.self: .string(value.uuidString)
    case let value as Decimal where Value.self == Decimal.self: .decimal(DecimalValue(value))
    case let value as Duration where Value.self == Duration.self:
      .decimal(DecimalValue(secondsOf: value))
    default: nil
    }
  }

  func integer(_ value: some FixedWidthInteger) throws {
    guard let value = Int64(exactly: value) else {
      throw StoreError.integerNotStorable.adding(
        .path, codingPath.map(\.stringValue).joined(separator: "."))
    }
    node.content = .value(.int(value))
  }

  /// Returns an encoder with a new node, which the caller adds to its parent.
  func child(_ key: any CodingKey) -> TreeEncoder {
    TreeEncoder(node: TreeNode(), codingPath: codingPath + [key], userInfo: userInfo)
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    if case .object = node.content {} else { node.content = .object([:]) }
    return KeyedEncodingContainer(TreeObject<Key>(encoder: self))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    if case .array = node.content {} else { node.content = .array([]) }
    return TreeArray(encoder: self)
  }

  func singleValueContainer() -> any SingleValueEncodingContainer { self }
}

extension TreeEncoder: SingleValueEncodingContainer {
  func encodeNil() throws { node.content = .value(.null) }
  func encode(_ value: Bool) throws { node.content = .value(.bool(value)) }
  func encode(_ value: String) throws { node.content = .value(.string(value)) }
  func encode(_ value: Double) throws { node.content = .value(.double(value)) }
  func encode(_ value: Float) throws { node.content = .value(.double(Double(value))) }
  func encode(_ value: Int) throws { try integer(value) }
  func encode(_ value: Int8) throws { try integer(value) }
  func encode(_ value: Int16) throws { try integer(value) }
  func encode(_ value: Int32) throws { try integer(value) }
  func encode(_ value: Int64) throws { try integer(value) }
  func encode(_ value: Int128) throws { try integer(value) }
  func encode(_ value: UInt) throws { try integer(value) }
  func encode(_ value: UInt8) throws { try integer(value) }
  func encode(_ value: UInt16) throws { try integer(value) }
  func encode(_ value: UInt32) throws { try integer(value) }
  func encode(_ value: UInt64) throws { try integer(value) }
  func encode(_ value: UInt128) throws { try integer(value) }
  func encode<Value: Encodable>(_ value: Value) throws { try fill(value) }
}

/// One mutable value of the tree.
final class TreeNode {
  enum Content {
    case empty
    case value(DocumentValue)
    case object(OrderedDictionary<ExactName, TreeNode>)
    case array([TreeNode])
  }

  var content = Content.empty

  var value: DocumentValue {
    switch content {
    case .empty: [:]  // as other encoders do for a value that encodes nothing
    case .value(let value): value
    case .object(let fields): .object(DocumentObject(fields: fields.mapValues(\.value)))
    case .array(let elements): .array(elements.map(\.value))
    }
  }
}

private struct TreeObject<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let encoder: TreeEncoder

  var codingPath: [any CodingKey] { encoder.codingPath }

  private func put(_ child: TreeEncoder, _ name: String) {
    guard case .object(var fields) = encoder.node.content else { return }
    encoder.node.content = .empty  // avoids a copy of the dictionary
    fields[ExactName(name)] = child.node
    encoder.node.content = .object(fields)
  }

  private func child(_ key: any CodingKey) -> TreeEncoder {
    let child = encoder.child(key)
    put(child, key.stringValue)
    return child
  }

  func encodeNil(forKey key: Key) throws { try child(key).encodeNil() }

  func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
    let child = encoder.child(key)
    try child.fill(value)
    put(child, key.stringValue)
  }

  func nestedContainer<NestedKey: CodingKey>(
    keyedBy keyType: NestedKey.Type, forKey key: Key
  ) -> KeyedEncodingContainer<NestedKey> {
    child(key).container(keyedBy: keyType)
  }

  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
    child(key).unkeyedContainer()
  }

  func superEncoder() -> any Encoder { child(PathKey(stringValue: "super")) }
  func superEncoder(forKey key: Key) -> any Encoder { child(key) }
}

private struct TreeArray: UnkeyedEncodingContainer {
  let encoder: TreeEncoder

  var codingPath: [any CodingKey] { encoder.codingPath }
  var count: Int {
    if case .array(let elements) = encoder.node.content { elements.count } else { 0 }
  }

  private func put(_ child: TreeEncoder) {
    guard case .array(var elements) = encoder.node.content else { return }
    encoder.node.content = .empty  // avoids a copy of the array
    elements.append(child.node)
    encoder.node.content = .array(elements)
  }

  private func child() -> TreeEncoder {
    let child = encoder.child(PathKey(intValue: count))
    put(child)
    return child
  }

  func encodeNil() throws { try child().encodeNil() }

  func encode<Value: Encodable>(_ value: Value) throws {
    let child = encoder.child(PathKey(intValue: count))
    try child.fill(value)
    put(child)
  }

  func nestedContainer<NestedKey: CodingKey>(
    keyedBy keyType: NestedKey.Type
  ) -> KeyedEncodingContainer<NestedKey> {
    child().container(keyedBy: keyType)
  }

  func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { child().unkeyedContainer() }
  func superEncoder() -> any Encoder { child() }
}
