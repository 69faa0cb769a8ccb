// SPDX-License-Identifier: MIT

import ArgumentParser
import NanoStore

/// The condition argument and its parameters.
struct ConditionOptions: ParsableArguments {
  @Argument(
    help: ArgumentHelp(
      "A condition, such as \"[year] > ? AND [genres] = 'Action'\"; all documents if omitted.",
      valueName: "condition"))
  var condition: String?

  @OptionGroup var arguments: ArgumentOptions

  func query(in collection: DocumentCollection) throws -> DocumentQuery {
    try arguments.query(condition ?? "", in: collection)
  }
}

/// A condition with the order and page of its results.
struct QueryOptions: ParsableArguments {
  @OptionGroup var condition: ConditionOptions
  @OptionGroup var page: PageOptions

  func query(in collection: DocumentCollection) throws -> DocumentQuery {
    try page.applied(to: condition.query(in: collection))
  }
}

/// Options that bind the parameters of a condition or statement.
struct ArgumentOptions: ParsableArguments {
  @Option(
    name: .customLong("arg"), parsing: .unconditionalSingleValue,
    help: ArgumentHelp(
      "The value of the next ?: an integer, a number, true, false, null, '2010' for a string, "
        + "or [1, 2] for IN ?; any other value is a string.",
      valueName: "value"))
  var values: [String] = []

  @Option(
    name: .customLong("text-arg"), parsing: .unconditionalSingleValue,
    help: ArgumentHelp("The value of the next ?, always as a string.", valueName: "text"))
  var texts: [String] = []

  @Option(
    name: .customLong("named"), parsing: .unconditionalSingleValue,
    help: ArgumentHelp("The value of :name, parsed as by --arg.", valueName: "name=value"))
  var pairs: [String] = []

  // `texts` exists only for the help: OrderedArguments moves these values into `values`, in order.
  var positional: [DocumentValue] { values.map(ArgumentValue.parse) }

  func named() throws -> [String: DocumentValue] {
    var named: [String: DocumentValue] = [:]
    for pair in pairs {
      guard let equals = pair.utf8.firstIndex(of: UInt8(ascii: "=")),
        equals > pair.startIndex
      else {
        throw ValidationError("--named requires name=value, not '\(pair)'")
      }
      named[String(pair[..<equals])] = ArgumentValue.parse(
        String(pair[pair.utf8.index(after: equals)...]))
    }
    return named
  }

  /// Returns the query, and prints a note for each other collection that it names and that does not exist.
  func query(_ text: String, in collection: DocumentCollection) throws -> DocumentQuery {
    let query = try parsed(text, in: collection)
    try CollectionOptions.noteMissing(query.query.relatedCollections, in: collection.store)
    return query
  }

  /// Returns a query for documents to be changed; other collections that it names must exist.
  func queryForChanges(_ text: String, in collection: DocumentCollection) throws -> DocumentQuery {
    let query = try parsed(text, in: collection)
    try CollectionOptions.requireExisting(query.query.relatedCollections, in: collection.store)
    return query
  }

  private func parsed(_ text: String, in collection: DocumentCollection) throws -> DocumentQuery {
    try Self.check(text, in: collection) { (text) throws(StoreError) in _ = try QueryText(text) }
    return try collection.find(text, arguments: positional, named: named())
  }

  /// - Throws: `QueryTextFailure`, with the position, if a text does not parse.
  static func check(
    _ text: String, in collection: DocumentCollection,
    _ parse: (String) throws(StoreError) -> Void
  ) throws {
    func failure(_ text: String) -> QueryTextFailure? {
      do throws(StoreError) {
        try parse(text)
        return nil
      } catch {
        return QueryTextFailure(text: text, error: error)
      }
    }
    guard let found = failure(text) else { return }
    // Parse again with the collection's aliases replaced, as `find` does.
    let replaced = try collection.replacingAliases(in: text)
    if replaced.hasSameBytes(as: text) { throw found }
    if let found = failure(replaced) { throw found }
  }
}

/// Options for the sort order, limit and offset of a result.
struct PageOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp("Sort by a field; repeat for more.", valueName: "field[:desc]"))
  var sort: [String] = []

  @Option(help: "Maximum number of results.")
  var limit: Int?

  @Option(help: "Number of results to skip after sorting.")
  var offset: Int?

  /// Returns the query with these options applied; omitted options keep the ORDER BY and LIMIT of the condition.
  func applied(to query: DocumentQuery) throws -> DocumentQuery {
    var query = query
    if !sort.isEmpty { query = query.sorted(by: sort.map { SortField($0).ordering }) }
    return query.limit(limit ?? query.query.limit, offset: offset ?? query.query.offset)
  }
}

/// A sort or index field with a direction, such as `year`, `title:desc` or `__added__:desc`.
struct SortField {
  let field: String
  let descending: Bool

  init(_ text: String) {
    let folded = text.lowercased()
    descending = folded.hasExactSuffix(":desc")
    let direction = descending ? 5 : folded.hasExactSuffix(":asc") ? 4 : 0
    field = String(decoding: text.utf8.dropLast(direction), as: UTF8.self)
  }

  var ordering: Ordering { Ordering(ShownField(field).expression, descending: descending) }
}

/// A field path, or a metadata attribute in the syntax of query text.
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
