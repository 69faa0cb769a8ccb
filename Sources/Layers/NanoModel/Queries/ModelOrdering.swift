// SPDX-License-Identifier: MIT

import NanoDocument
import NanoQuery

/// By what values of a model are sorted: a property and a direction.
///
/// ```swift
/// people.find().sorted(by: \.lastName, \.firstName)
/// people.find().sorted(by: .descending(\.age), .ascending(\.lastName))
/// ```
public struct ModelOrdering<Root: Model>: Sendable {
  let place: Result<FieldPlace, StoreError>
  let descending: Bool

  /// By a property, the smallest first; what is absent comes before everything.
  public static func ascending(_ keyPath: any PartialKeyPath<Root> & Sendable) -> ModelOrdering {
    ModelOrdering(keyPath, descending: false)
  }
  /// By a property, the largest first.
  public static func descending(_ keyPath: any PartialKeyPath<Root> & Sendable) -> ModelOrdering {
    ModelOrdering(keyPath, descending: true)
  }

  private init(_ keyPath: any PartialKeyPath<Root> & Sendable, descending: Bool) {
    place = Result { () throws(StoreError) in try Root.place(of: keyPath) }
    self.descending = descending
  }

  /// The ordering of documents.
  ///
  /// - Parameter counts: Whether documents may have the field under a former name, or lack it and count
  ///   with its default.
  func ordering(countsVariants counts: Bool) throws(StoreError) -> Ordering {
    let place = try place.get()
    guard !place.isKey else { return Ordering(.attribute(.key), descending: descending) }
    guard counts, place.hasVariants else { return Ordering(place.path, descending: descending) }
    var values = ([place.path] + place.formerPaths).map { QueryExpression.field($0) }
    if let missing = place.missing {
      let branch = QueryExpression.Branch(
        when: place.onlyWithParents(.constant(true)), then: .value(missing))
      values.append(
        place.optionalParents.isEmpty
          ? .value(missing) : .choice([branch], otherwise: .value(.null)))
    }
    guard values.count > 1 else { return Ordering(place.path, descending: descending) }
    return Ordering(.function(.coalesce, values), descending: descending)
  }
}

extension FieldPlace {
  /// Whether a document that lacks the field may be read with something else than nothing.
  var hasVariants: Bool { !formerPaths.isEmpty || missing.map { !$0.isNull } ?? false }
}
