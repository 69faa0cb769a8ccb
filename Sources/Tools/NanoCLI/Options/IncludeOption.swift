// SPDX-License-Identifier: MIT

import ArgumentParser
import NanoStore

/// The value of `--include`: `field=collection[.field][:name]`.
struct IncludeOption {
  private let local: RelationKey
  private let collection: String
  private let remote: RelationKey
  private let name: String?

  init(_ text: String) throws {
    guard let equals = text.firstIndex(of: "="), equals != text.startIndex else {
      throw Self.malformed(text)
    }
    local = Self.key(text[..<equals])
    var rest = text[text.index(after: equals)...]
    if let colon = rest.lastIndex(of: ":") {
      name = String(rest[rest.index(after: colon)...])
      rest = rest[..<colon]
    } else {
      name = nil
    }
    if let period = rest.firstIndex(of: ".") {
      remote = Self.key(rest[rest.index(after: period)...])
      rest = rest[..<period]
    } else {
      remote = .key
    }
    collection = String(rest)
    guard !collection.isEmpty, name?.isEmpty != true, remote != .field("") else {
      throw Self.malformed(text)
    }
  }

  private static func key(_ text: Substring) -> RelationKey {
    switch text {
    case "__key__": .key
    case "__rowid__": .rowID
    default: .field(FieldPath(String(text)))
    }
  }

  private static func malformed(_ text: String) -> ValidationError {
    ValidationError(
      "'\(text)' is not 'field=collection', 'field=collection:name' or 'field=collection.field:name'"
    )
  }

  /// Returns a query that includes the related documents of all options.
  static func query(_ options: [IncludeOption], _ documents: DocumentQuery) -> IncludingQuery {
    options.reduce(documents.includingQuery) { query, option in
      query.including(
        option.local, from: documents.collection.store[option.collection], by: option.remote,
        as: option.name)
    }
  }
}
