// SPDX-License-Identifier: MIT

import Foundation
public import NanoDocument

extension BNRSchema {
  /// Parses the JSON form of a schema.
  ///
  /// ```swift
  /// let schema = try BNRSchema(json: String(contentsOf: url, encoding: .utf8))
  /// ```
  ///
  /// - Throws: ``StoreError/Code/invalidJSON``, or ``StoreError/Code/invalidArgument`` with the location in
  ///   `field`, such as `classes.Song.fields[1].type`, for a member, type or class that does not exist, and
  ///   for all errors of ``init(classes:namedBuffers:)``.
  public init(json text: String) throws(StoreError) {
    try self.init(json: DocumentObject(json: text, dialect: .plain))
  }

  private init(json object: DocumentObject) throws(StoreError) {
    let root = SchemaNode(value: .object(object), path: "")
    try root.allowMembers(["classes", "namedBuffers"])
    var classes: [ClassDescription] = []
    for (name, node) in try root.requiredMember("classes").members() {
      classes.append(try ClassDescription(name, node))
    }
    var buffers: [BufferDescription] = []
    for (name, node) in try root.member("namedBuffers")?.members() ?? [] {
      buffers.append(try BufferDescription(name, node))
    }
    try self.init(classes: classes, namedBuffers: buffers)
  }

  /// The JSON form of the schema.
  var json: DocumentObject {
    var root: DocumentObject = [:]
    root["classes"] = .object(DocumentObject(classes.map { ($0.name, .object($0.json)) }))
    if !namedBuffers.isEmpty {
      root["namedBuffers"] = .object(
        DocumentObject(namedBuffers.map { ($0.name, .object($0.json)) }))
    }
    return root
  }
}

extension BNRSchema: Codable {
  /// Decodes the form that ``init(json:)`` describes, with its errors.
  public init(from decoder: any Decoder) throws {
    try self.init(json: DocumentObject(from: decoder))
  }

  /// Encodes the form that ``init(json:)`` describes.
  public func encode(to encoder: any Encoder) throws { try json.encode(to: encoder) }
}

extension BNRSchema.ClassDescription {
  fileprivate init(_ name: String, _ node: SchemaNode) throws(StoreError) {
    try node.allowMembers(["fields", "versionByte", "textIndexes"])
    self.init(name, try BNRSchema.Field.list(try node.requiredMember("fields")))
    if let member = try node.member("versionByte") {
      versionByte = try member.choice(BNRSchema.VersionByte.allCases.map { ($0.rawValue, $0) })
    }
    for element in try node.member("textIndexes")?.elements() ?? [] {
      textIndexes.append(try element.string())
    }
  }

  fileprivate var json: DocumentObject {
    var object: DocumentObject = ["fields": .array(fields.map { .object($0.json) })]
    if versionByte != .detect { object["versionByte"] = .string(versionByte.rawValue) }
    if !textIndexes.isEmpty { object["textIndexes"] = .array(textIndexes.map { .string($0) }) }
    return object
  }
}

extension BNRSchema.BufferDescription {
  fileprivate init(_ name: String, _ node: SchemaNode) throws(StoreError) {
    try node.allowMembers(["fields"])
    self.init(name, try BNRSchema.Field.list(try node.requiredMember("fields")))
  }

  fileprivate var json: DocumentObject { ["fields": .array(fields.map { .object($0.json) })] }
}

extension BNRSchema.Field {
  fileprivate static func list(_ node: SchemaNode) throws(StoreError) -> [Self] {
    var fields: [Self] = []
    for element in try node.elements() { fields.append(try Self(element)) }
    return fields
  }

  private init(_ node: SchemaNode) throws(StoreError) {
    try node.allowMembers(["name", "type", "class", "since", "before"])
    self.init(
      try node.requiredMember("name").string(), try BNRSchema.FieldType(node),
      since: try node.member("since")?.version(), before: try node.member("before")?.version())
  }

  fileprivate var json: DocumentObject {
    var object: DocumentObject = ["name": .string(name), "type": .string(type.name)]
    if let className = type.className { object["class"] = .string(className) }
    if let since { object["since"] = .int(Int64(since)) }
    if let before { object["before"] = .int(Int64(before)) }
    return object
  }
}

extension BNRSchema.FieldType {
  /// The types by name; the class of references is added.
  private static let plain: [(String, BNRSchema.FieldType)] = [
    ("uint8", .uint8), ("uint32", .uint32), ("float32", .float32), ("float64", .float64),
    ("text", .text), ("data", .data), ("date", .date), ("reference", .reference(to: "")),
    ("anyReference", .anyReference), ("array", .array(of: "")), ("mixedArray", .mixedArray),
    ("archive", .archive),
  ]

  var name: String {
    switch self {
    case .uint8: "uint8"
    case .uint32: "uint32"
    case .float32: "float32"
    case .float64: "float64"
    case .text: "text"
    case .data: "data"
    case .date: "date"
    case .reference: "reference"
    case .anyReference: "anyReference"
    case .array: "array"
    case .mixedArray: "mixedArray"
    case .archive: "archive"
    }
  }

  fileprivate init(_ field: SchemaNode) throws(StoreError) {
    let type = try field.requiredMember("type").choice(Self.plain)
    switch type {
    case .reference: self = .reference(to: try field.requiredMember("class").string())
    case .array: self = .array(of: try field.requiredMember("class").string())
    default:
      if let extra = try field.member("class") {
        throw extra.error(
          "A field of the schema does not refer to one class",
          hint: "remove 'class'; only 'reference' and 'array' have one")
      }
      self = type
    }
  }
}
