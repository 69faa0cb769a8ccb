// SPDX-License-Identifier: MIT

import Foundation
import NanoStore

extension NanoStoreCaseRunner {
  func orderings(_ step: DocumentObject) throws -> [SearchOrdering] {
    try (step["sort"]?.array ?? []).map {
      try SearchOrdering($0["attribute"]?.string ?? "", ascending: $0["ascending"]?.bool ?? true)
    }
  }

  func search(from step: DocumentObject) throws -> Search {
    var search = Search()
    search.attribute = step["attribute"]?.string
    search.match = try match(step["match"])
    if let given = step["value"] {
      search.value = given["$null"] == true ? .null : try value(given)
    }
    search.key = try step["key"].flatMap { try value($0).string }
    search.expressions = try (step["expressions"]?.array ?? []).map { try expression($0) }
    search.type = step["filterClass"]?.string
    search.limit = step["limit"]?.int.map { Int($0) }
    search.offset = Int(step["offset"]?.int ?? 0)
    search.orderings = try orderings(step)
    search.groupsValues = step["distinctValues"] == true
    search.fields = strings(step["attributesToReturn"])
    return search
  }

  func match(_ raw: DocumentValue?) throws -> Match {
    guard let name = raw?.string else { return .contains }
    guard let match = Match(rawValue: name) else {
      throw failure("the runner does not know the match \(name)")
    }
    return match
  }

  func expression(_ raw: DocumentValue) throws -> SearchExpression {
    let predicates = try (raw.array ?? []).map { link in
      (link["op"]?.string, try predicate(link))
    }
    guard let first = predicates.first else {
      throw StoreError(.invalidArgument, "An expression has no predicate")
    }
    return predicates.dropFirst().reduce(SearchExpression(first.1)) { chain, link in
      link.0 == "or" ? chain.or(link.1) : chain.and(link.1)
    }
  }

  private func predicate(_ raw: DocumentValue) throws -> SearchPredicate {
    let given = raw["value"] ?? .null
    let match = try match(raw["match"])
    let value = given["$null"] == true ? .null : try value(given)
    switch raw["column"]?.string {
    case "value", nil: return .value(match, value)
    case "key": return .key(match, try text(value))
    case "attribute": return .attribute(match, try text(value))
    case let column?: throw failure("the runner does not know the column \(column)")
    }
  }

  /// Only text compiles as the value of a key or an attribute.
  private func text(_ value: DocumentValue) throws -> String {
    guard let text = value.string else {
      throw StoreError(.invalidArgument, "A key or an attribute is compared with text")
    }
    return text
  }

  func search(_ step: DocumentObject) throws -> DocumentObject {
    try run(search(from: step), step)
  }

  func addedSearch(_ step: DocumentObject) throws -> DocumentObject {
    guard let relation = AddedDateMatch.Relation(rawValue: step["when"]?.string ?? "") else {
      throw failure("the runner does not know when")
    }
    var search = Search(type: step["filterClass"]?.string)
    let moment = Date().addingTimeInterval(step["secondsFromNow"]?.double ?? 0)
    search.added = AddedDateMatch(relation, moment)
    return try run(search, step)
  }

  /// Returns the documents, and their keys by a second search if the step asks for keys.
  private func run(_ search: Search, _ step: DocumentObject) throws -> DocumentObject {
    let found: [Document]
    if let name = step["bag"]?.string {
      guard let bag = bags[name] else { throw failure("there is no such bag") }
      found = try search.documents(in: bag)
      guard try search.keys(in: bag) == found.compactMap(\.key) else {
        throw failure("keys and documents differ")
      }
    } else {
      found = try self.found(by: search)
    }
    if let bind = step["bindLast"]?.string {
      if let last = found.last, last.type == "bag", let key = last.key {
        bags[bind] = try store.bag(key: key)
      } else {
        documents[bind] = found.last
      }
    }
    return try result(found, step, fields: search.fields)
  }

  /// - Parameter fields: The only fields to return; empty for all.
  func result(
    _ found: [Document], _ step: DocumentObject, fields: [String] = []
  ) throws -> DocumentObject {
    let field = step["project"]?.string
    let projected = DocumentValue.array(
      found.map { field.flatMap { $0.isEmpty ? nil : $0 }.flatMap($0.subscriptPath) ?? .null })
    return [
      "count": .int(Int64(found.count)), "isNil": false,
      "keys": .array(found.compactMap(\.key).map { .string(names[$0] ?? $0) }),
      // Results are always lists; the original returned a dictionary for unsorted results.
      "isList": .bool(step["returns"] == "keys" || step["sort"] != nil),
      "ordered": projected, "projected": projected,
      "infos": .array(
        try found.map { document in
          let object = try document.object()
          return .object(fields.isEmpty ? object : Self.selecting(fields, of: object))
        }),
    ]
  }

  func aggregate(_ step: DocumentObject) throws -> DocumentObject {
    let path = FieldPath(step["attribute"]?.string ?? "")
    let aggregate: Aggregate =
      switch step["function"]?.string {
      case "average": .average(path)
      case "count": .countOf(path)
      case "max": .max(path)
      case "min": .min(path)
      case "total": .sum(path)
      default: throw failure("the runner does not know the function")
      }
    let condition = step["where"]?.object ?? [:]
    let search = try search(from: condition)
    let bag = (condition["bag"] ?? step["bag"])?.string.flatMap { bags[$0] }
    let value =
      try bag.map { try search.aggregate([aggregate], in: $0) }
      ?? search.aggregate([aggregate], in: objects)
    // The original always returns a number, 0 if there is no value.
    return ["value": .double(value[0].double ?? 0)]
  }
}

extension Document {
  func subscriptPath(_ path: String) -> DocumentValue? { self[path] }
}
