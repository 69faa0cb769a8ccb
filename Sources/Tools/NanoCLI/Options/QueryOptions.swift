// SPDX-License-Identifier: MIT

import ArgumentParser
import NanoStore

/// A condition with its arguments.
struct ConditionOptions: ParsableArguments {
  @Argument(
    help: ArgumentHelp(
      "What documents must fulfil, such as \"[year] > ? AND [genres] = 'Action'\"; all if missing.",
      valueName: "condition"))
  var condition: String?

  @OptionGroup var arguments: ArgumentOptions

  func query(in collection: DocumentCollection) throws -> DocumentQuery {
    try arguments.query(condition ?? "", in: collection)
  }
}

/// Values for the parameters of a condition or statement.
struct ArgumentOptions: ParsableArguments {
  @Option(
    name: .customLong("arg"), parsing: .unconditionalSingleValue,
    help: ArgumentHelp(
      "The value of the next ?; integers, numbers, true, false, null, '2010' for text, "
        + "[1, 2] for the list of IN ?, everything else is text.",
      valueName: "value"))
  var values: [String] = []

  @Option(
    name: .customLong("text-arg"), parsing: .unconditionalSingleValue,
    help: ArgumentHelp("The value of the next ?, taken as text whatever it is.", valueName: "text"))
  var texts: [String] = []

  @Option(
    name: .customLong("named"), parsing: .unconditionalSingleValue,
    help: ArgumentHelp("The value of :name, read as by --arg.", valueName: "name=value"))
  var pairs: [String] = []

  // `texts` is for the help only: OrderedArguments has put them among `values`, in order.
  var positional: [DocumentValue] { values.map(ArgumentValue.parse) }

  func named() throws -> [String: DocumentValue] {
    var named: [String: DocumentValue] = [:]
    for pair in pairs {
      guard let equals = pair.utf8.firstIndex(of: UInt8(ascii: "=")),
        equals > pair.startIndex
      else {
        throw ValidationError("--named takes name=value, not '\(pair)'.")
      }
      named[String(pair[..<equals])] = ArgumentValue.parse(
        String(pair[pair.utf8.index(after: equals)...]))
    }
    return named
  }

  func query(_ text: String, in collection: DocumentCollection) throws -> DocumentQuery {
    if let failure = Self.failure(of: text) {
      // As the collection reads it: with its aliases, if it has any.
      let replaced = try collection.replacingAliases(in: text)
      if replaced.isSame(as: text) { throw failure }
      if let failure = Self.failure(of: replaced) { throw failure }
    }
    return try collection.find(text, arguments: positional, named: named())
  }

  private static func failure(of text: String) -> QueryTextFailure? {
    do throws(StoreError) {
      _ = try QueryText(text)
      return nil
    } catch {
      return QueryTextFailure(text: text, error: error)
    }
  }
}

/// Order and page of what is found.
struct PageOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp("Sort by a field; repeat for more.", valueName: "field[:desc]"))
  var sort: [String] = []

  @Option(help: "At most so many.")
  var limit: Int?

  @Option(help: "Leave out so many, counted after sorting.")
  var offset: Int?

  /// The query in this order; what is not given here stays as the text of the condition says.
  func applied(to query: DocumentQuery) throws -> DocumentQuery {
    var query = query
    if !sort.isEmpty { query = query.sorted(by: sort.map { SortField($0).ordering }) }
    return query.limit(limit ?? query.query.limit, offset: offset ?? query.query.offset)
  }
}

/// A field to sort or index by, with its direction: `year`, `title:desc`, `__added__:desc`.
struct SortField {
  let field: String
  let descending: Bool

  init(_ text: String) {
    descending = text.hasExactSuffix(":desc")
    let direction = descending ? 5 : text.hasExactSuffix(":asc") ? 4 : 0
    field = String(decoding: text.utf8.dropLast(direction), as: UTF8.self)
  }

  var ordering: Ordering { Ordering(ShownField(field).expression, descending: descending) }
}

/// A field of a document, or an attribute written as in query text.
enum ShownField: Sendable {
  case path(String, FieldPath)
  case attribute(String, Attribute)

  static let attributes: [(name: String, attribute: Attribute)] = [
    ("__key__", .key), ("__rowid__", .rowID), ("__type__", .type), ("__version__", .version),
    ("__added__", .added),
  ]

  init(_ text: String) {
    if let found = Self.attributes.first(where: { $0.name == text }) {
      self = .attribute(found.name, found.attribute)
    } else {
      self = .path(text, FieldPath(text))
    }
  }

  var name: String {
    switch self {
    case .path(let name, _), .attribute(let name, _): name
    }
  }

  var expression: QueryExpression {
    switch self {
    case .path(_, let path): .field(path)
    case .attribute(_, let attribute): .attribute(attribute)
    }
  }
}
