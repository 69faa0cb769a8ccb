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
    search.match = step["match"]?.string.flatMap(Match.init) ?? .contains
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
    let match = raw["match"]?.string.flatMap(Match.init) ?? .contains
    let value = given["$null"] == true ? .null : try value(given)
    switch raw["column"]?.string {
    case "value", nil: return .value(match, value)
    case "key": return .key(match, try text(value))
    case "attribute": return .attribute(match, try text(value))
    case let column?: throw CaseFailure(description: "\(testCase.id): unknown column \(column)")
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
    let search = try search(from: step)
    var found: [Document]
    if let name = step["bag"]?.string, let bag = bags[name] {
      found = try search.documents(in: bag)
    } else {
      found = try search.documents(in: objects)
    }
    if step["returns"] == "keys" {
      let keys = try search.keys(in: objects)
      if step["bag"] == nil {
        guard keys == found.compactMap(\.key) else {
          throw CaseFailure(description: "\(testCase.id): keys and documents differ")
        }
      }
    }
    if let bind = step["bindLast"]?.string { documents[bind] = found.last }
    return try result(found, step)
  }

  private func result(_ found: [Document], _ step: DocumentObject) throws -> DocumentObject {
    let field = step["project"]?.string
    return [
      "count": .int(Int64(found.count)),
      "keys": .array(found.compactMap(\.key).map { .string(names[$0] ?? $0) }),
      // Results are always lists; the original returned a dictionary for unsorted results.
      "isList": .bool(step["returns"] == "keys" || step["sort"] != nil),
      "ordered": .array(
        found.map { field.flatMap { $0.isEmpty ? nil : $0 }.flatMap($0.subscriptPath) ?? .null }),
      "infos": .array(try found.map { .object(try $0.object()) }),
    ]
  }

  func addedSearch(_ step: DocumentObject) throws -> DocumentObject {
    var search = Search(type: step["filterClass"]?.string)
    let moment = Date().addingTimeInterval(step["secondsFromNow"]?.double ?? 0)
    search.added = AddedDateMatch(
      step["when"]?.string.flatMap(AddedDateMatch.Relation.init) ?? .before, moment)
    return try result(search.documents(in: objects), step)
  }

  func aggregate(_ step: DocumentObject) throws -> DocumentObject {
    let path = FieldPath(step["attribute"]?.string ?? "")
    let aggregate: Aggregate =
      switch step["function"]?.string {
      case "average": .average(path)
      case "count": .countOf(path)
      case "max": .max(path)
      case "min": .min(path)
      default: .sum(path)
      }
    let search = try search(from: step["where"]?.object ?? [:])
    let value = try search.aggregate([aggregate], in: objects)[0]
    // The original always returns a number, 0 if there is no value.
    return ["value": .double(value.double ?? 0)]
  }
}

extension Document {
  func subscriptPath(_ path: String) -> DocumentValue? { self[path] }
}
