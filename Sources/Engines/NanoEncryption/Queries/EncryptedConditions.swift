// SPDX-License-Identifier: MIT

import NanoDocument
import NanoQuery

/// The part of a condition on encrypted documents that the inner engine can evaluate.
struct EncryptedCondition {
  /// A condition that matches a superset of the documents.
  let superset: Condition
  /// Whether ``superset`` matches exactly the same documents.
  let isExact: Bool

  /// Splits a condition into what the inner engine evaluates and what remains for decrypted documents.
  ///
  /// - Parameter hash: Returns the field with the hashes of the values at a path, and the hash function; `nil`
  ///   for a path without a blind index.
  init(
    _ condition: Condition,
    _ hash: (FieldPath) -> (field: FieldPath, hash: (DocumentValue) -> String)?
  ) {
    let found = Self.make(condition, hash)
    superset = found?.superset ?? .constant(true)
    isExact = found?.isExact ?? false
  }

  private init(_ superset: Condition, isExact: Bool) {
    self.superset = superset
    self.isExact = isExact
  }

  private typealias Hash = (FieldPath) -> (field: FieldPath, hash: (DocumentValue) -> String)?

  /// Returns `nil` if the inner engine can evaluate no part of the condition.
  private static func make(_ condition: Condition, _ hash: Hash) -> EncryptedCondition? {
    if condition.usesOnlyRowColumns { return EncryptedCondition(condition, isExact: true) }
    switch condition {
    case .all(let parts):
      let found = parts.map { make($0, hash) }
      let evaluable = found.compactMap(\.self)
      guard !evaluable.isEmpty else { return nil }
      return EncryptedCondition(
        .all(evaluable.map(\.superset)),
        isExact: evaluable.count == parts.count && evaluable.allSatisfy(\.isExact))
    case .any(let parts):
      let evaluable = parts.compactMap { make($0, hash) }
      guard evaluable.count == parts.count else { return nil }
      return EncryptedCondition(
        .any(evaluable.map(\.superset)), isExact: evaluable.allSatisfy(\.isExact))
    case .comparison(.field(let path), .equal, .value(let value)),
      .comparison(.value(let value), .equal, .field(let path)):
      return equal(path, [value], hash)
    case .membership(.field(let path), let list):
      let values = list.compactMap { item -> DocumentValue? in
        if case .value(let value) = item { value } else { nil }
      }
      return values.count == list.count ? equal(path, values, hash) : nil
    case .related(let related): return related.membership.flatMap { make($0, hash) }
    default: return nil
    }
  }

  private static func equal(
    _ path: FieldPath, _ values: [DocumentValue], _ hash: Hash
  ) -> EncryptedCondition? {
    guard let (field, hash) = hash(path),
      values.allSatisfy({ !ValueOrder.rank($0).isContainer })
    else { return nil }
    // Null is equal to nothing.
    let hashes = values.filter { !$0.isNull }.map { QueryExpression.value(.string(hash($0))) }
    let superset: Condition =
      switch hashes.count {
      case 0: .constant(false)
      case 1: .comparison(.field(field), .equal, hashes[0])
      default: .membership(.field(field), hashes)
      }
    return EncryptedCondition(superset, isExact: false)
  }
}

extension Condition {
  /// Whether it involves only unencrypted columns: row ID, key, type, version, insertion date.
  fileprivate var usesOnlyRowColumns: Bool {
    fields.isEmpty && !hasLeafConditions && !searches
  }
}

extension Ordering {
  /// Whether it involves only unencrypted columns.
  var usesOnlyRowColumns: Bool { Condition.truth(expression).usesOnlyRowColumns }
}
