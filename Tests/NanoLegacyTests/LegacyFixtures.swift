// SPDX-License-Identifier: MIT

import Foundation
import NanoStoreLegacy
import Testing

/// Files that the original libraries wrote, each with JSON that lists their contents.
enum LegacyFixtures {
  static let nanoStore = url("nanostore/nano-small.sqlite")
  static let ntJsonStore = url("ntjsonstore/nt-small.db")

  static func url(_ path: String) -> URL {
    URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Fixtures")
      .appending(path: path)
  }

  static func description(_ path: String) throws -> DocumentObject {
    try DocumentObject(json: Data(contentsOf: url(path)), dialect: .plain)
  }

  /// Returns the value that `{"t":"int","v":"42"}` describes.
  static func value(_ description: DocumentValue?) throws -> DocumentValue {
    let described = try #require(description?.object)
    let content = described["v"]
    switch try #require(described["t"]?.string) {
    case "string": return .string(try #require(content?.string))
    case "int": return .int(try #require(content?.string.flatMap { Int64($0) }))
    case "double": return .double(try #require(content?.string.flatMap { Double($0) }))
    case "bool": return .bool(try #require(content as DocumentValue?) == true)
    case "date":
      let seconds = try #require(content?.string.flatMap { Double($0) })
      return .date(Date(timeIntervalSinceReferenceDate: seconds))
    case "data": return .data(try data(hexadecimal: content?.string ?? "?"))
    case "null": return .null
    case "url": return .url(try #require(content?.string.flatMap { URL(string: $0) }))
    case "array": return .array(try (content?.array ?? []).map { try value($0) })
    case "dict":
      return .object(
        DocumentObject(try (content?.object ?? [:]).map { ($0.name, try value($0.value)) }))
    case let type: throw UnknownType(name: type)
    }
  }

  struct UnknownType: Error { let name: String }

  static func data(hexadecimal digits: String) throws -> Data {
    var data = Data()
    var rest = digits[...]
    while !rest.isEmpty {
      data.append(try #require(UInt8(rest.prefix(2), radix: 16)))
      rest = rest.dropFirst(2)
    }
    return data
  }
}

extension DocumentValue {
  /// The value with the fields of every object sorted by name: dictionaries of the originals have no order.
  var sortedByName: DocumentValue {
    switch self {
    case .object(let object):
      .object(
        DocumentObject(object.sorted { $0.name < $1.name }.map { ($0.name, $0.value.sortedByName) })
      )
    case .array(let elements): .array(elements.map(\.sortedByName))
    default: self
    }
  }
}
