// SPDX-License-Identifier: MIT

import ArgumentParser
import NanoStore

/// The value of `--include`: `field=collection[.field][:name]`.
///
/// A collection whose name contains a period or a colon is enclosed in double quotes, as in field paths.
struct IncludeOption {
  private let local: RelationKey
  let collection: String
  private let remote: RelationKey
  private let name: String?

  init(_ text: String) throws {
    guard let equals = text.firstIndex(of: "="), equals != text.startIndex,
      let (collection, rest) = Self.collection(text[text.index(after: equals)...])
    else { throw Self.malformed(text) }
    local = Self.key(text[..<equals])
    self.collection = collection
    let colon = rest.lastIndex(of: ":")
    name = colon.map { String(rest[rest.index(after: $0)...]) }
    let field = rest[..<(colon ?? rest.endIndex)]
    guard field.isEmpty || field.first == "." else { throw Self.malformed(text) }
    remote = field.isEmpty ? .key : Self.key(field.dropFirst())
    guard !collection.isEmpty, name?.isEmpty != true, remote != .field("") else {
      throw Self.malformed(text)
    }
  }

  /// Returns the name of the collection at the start of a text, and the rest; nil if a quote is not closed.
  private static func collection(_ text: Substring) -> (String, Substring)? {
    guard text.unicodeScalars.first == "\"" else {
      let name = text[..<(text.lastIndex(of: ":") ?? text.endIndex)]
      let end = name.firstIndex(of: ".") ?? name.endIndex
      return (String(text[..<end]), text[end...])
    }
    return FieldPath.takeName(text.unicodeScalars).map { ($0, Substring($1)) }
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
