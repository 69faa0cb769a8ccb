// SPDX-License-Identifier: MIT

import NanoDocument

/// A parameter value of a statement.
enum PostgresValue: Hashable {
  case null
  case int(Int64)
  case bool(Bool)
  case text(String)
  /// Text that is already encoded in UTF-8.
  case utf8([UInt8])
  /// A number as decimal text, of any length.
  case number(String)
  /// Text of a type that the server infers.
  case untyped(String)
  case json([UInt8])
  case bytes([UInt8])
  case uuid(UInt64, UInt64)
  case ints([Int64?])
  case texts([String?])
  case utf8s([[UInt8]?])
  case jsons([[UInt8]])
  /// Full-text tokens; see ``TokenVector``.
  case vector([UInt8])
  case vectors([[UInt8]])
}

extension PostgresValue {
  /// The object identifiers of the server's types (`pg_type.dat` in its sources), which never change.
  enum TypeID {
    static let bool: UInt32 = 16
    static let bytes: UInt32 = 17
    static let int8: UInt32 = 20
    static let text: UInt32 = 25
    static let numeric: UInt32 = 1700
    static let uuid: UInt32 = 2950
    static let json: UInt32 = 3802
    static let int8Array: UInt32 = 1016
    static let textArray: UInt32 = 1009
    static let jsonArray: UInt32 = 3807
    static let vector: UInt32 = 3614
    static let vectorArray: UInt32 = 3643
  }

  var typeID: UInt32 {
    switch self {
    // Inferred from the context.
    case .null, .untyped: 0
    case .text, .utf8: TypeID.text
    case .int: TypeID.int8
    case .bool: TypeID.bool
    case .number: TypeID.numeric
    case .json: TypeID.json
    case .bytes: TypeID.bytes
    case .uuid: TypeID.uuid
    case .ints: TypeID.int8Array
    case .texts, .utf8s: TypeID.textArray
    case .jsons: TypeID.jsonArray
    case .vector: TypeID.vector
    case .vectors: TypeID.vectorArray
    }
  }

  /// Whether the value is sent in binary format. Numbers are sent as decimal text.
  var isBinary: Bool {
    switch self {
    case .number, .untyped: false
    default: true
    }
  }

  /// The size of the value's wire format, without the header of an array.
  var size: Int {
    switch self {
    case .null: 0
    case .bool: 1
    case .int: 8
    case .uuid: 16
    case .text(let text), .number(let text), .untyped(let text): text.utf8.count
    case .utf8(let bytes), .bytes(let bytes), .vector(let bytes): bytes.count
    case .json(let bytes): bytes.count + 1
    case .ints(let numbers): 12 * numbers.count
    case .texts(let texts): texts.reduce(0) { $0 + 4 + ($1?.utf8.count ?? 0) }
    case .utf8s(let texts): texts.reduce(0) { $0 + 4 + ($1?.count ?? 0) }
    case .jsons(let values), .vectors(let values): values.reduce(0) { $0 + 5 + $1.count }
    }
  }

  /// Appends the wire format of the value.
  func append(to out: inout [UInt8]) {
    switch self {
    case .null: break
    case .int(let number): Self.append(number, to: &out)
    case .bool(let flag): out.append(flag ? 1 : 0)
    case .text(let text), .number(let text), .untyped(let text): out.append(contentsOf: text.utf8)
    case .utf8(let bytes), .bytes(let bytes), .vector(let bytes): out.append(contentsOf: bytes)
    case .json(let bytes): Self.appendJSON(bytes, to: &out)
    case .uuid(let high, let low):
      Self.append(Int64(bitPattern: high), to: &out)
      Self.append(Int64(bitPattern: low), to: &out)
    case .ints(let numbers):
      Self.appendArray(numbers, TypeID.int8, to: &out) { Self.append($0, to: &$1) }
    case .texts(let texts):
      Self.appendArray(texts, TypeID.text, to: &out) { $1.append(contentsOf: $0.utf8) }
    case .utf8s(let texts):
      Self.appendArray(texts, TypeID.text, to: &out) { $1.append(contentsOf: $0) }
    case .vectors(let vectors):
      Self.appendArray(vectors.map { $0 }, TypeID.vector, to: &out) {
        $1.append(contentsOf: $0)
      }
    case .jsons(let bodies):
      Self.appendArray(bodies.map { $0 }, TypeID.json, to: &out) { Self.appendJSON($0, to: &$1) }
    }
  }

  static func append<Number: FixedWidthInteger>(_ number: Number, to out: inout [UInt8]) {
    withUnsafeBytes(of: number.bigEndian) { out.append(contentsOf: $0) }
  }

  /// Appends the format of `jsonb_recv`: a version, which is 1, and the text.
  static func appendJSON(_ body: some Collection<UInt8>, to out: inout [UInt8]) {
    out.append(1)
    out.append(contentsOf: body)
  }

  /// Appends the format of `array_recv`: the number of dimensions, whether there are nulls, the element type,
  /// the length and the lower bound of the one dimension, then each element after its length, which is -1 for
  /// null.
  private static func appendArray<Element>(
    _ elements: [Element?], _ type: UInt32, to out: inout [UInt8],
    _ appendElement: (Element, inout [UInt8]) -> Void
  ) {
    append(Int32(elements.isEmpty ? 0 : 1), to: &out)
    append(Int32(elements.contains { $0 == nil } ? 1 : 0), to: &out)
    append(type, to: &out)
    guard !elements.isEmpty else { return }
    append(Int32(elements.count), to: &out)
    append(Int32(1), to: &out)
    for element in elements {
      let start = out.count
      append(Int32(-1), to: &out)
      guard let element else { continue }
      appendElement(element, &out)
      let length = Int32(out.count - start - 4)
      withUnsafeBytes(of: length.bigEndian) { bytes in
        for index in 0..<4 { out[start + index] = bytes[index] }
      }
    }
  }
}

extension PostgresValue {
  static func exact(_ name: ExactName) -> PostgresValue { .text(name.text) }
}
