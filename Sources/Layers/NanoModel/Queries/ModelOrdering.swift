// SPDX-License-Identifier: MIT

import NanoDocument
import NanoQuery

/// A sort key of a query: a property and a direction.
///
/// ```swift
/// people.find().sorted(by: \.lastName, \.firstName)
/// people.find().sorted(using: .reverse(\.age), .forward(\.lastName))
/// ```
public struct ModelOrdering<Root: Model>: Sendable {
  let location: Result<PropertyLocation, StoreError>
  let descending: Bool

  /// Sorts by a property in ascending order, with missing values first.
  ///
  /// A property with a raw value is sorted by it.
  public static func forward(_ keyPath: any PartialKeyPath<Root> & Sendable) -> ModelOrdering {
    ModelOrdering(keyPath, descending: false)
  }
  /// Sorts by a property in descending order, with missing values last.
  public static func reverse(_ keyPath: any PartialKeyPath<Root> & Sendable) -> ModelOrdering {
    ModelOrdering(keyPath, descending: true)
  }

  private init(_ keyPath: any PartialKeyPath<Root> & Sendable, descending: Bool) {
    location = Result { () throws(StoreError) in
      try Root.location(of: keyPath)
    }
    self.descending = descending
  }

  /// Returns the ordering of documents.
  ///
  /// - Parameter includesVariants: Whether documents can have the field under a former name, or lack it and
  ///   count with its default.
  func ordering(includesVariants: Bool) throws(StoreError) -> Ordering {
    let location = try location.get()
    if location.isKey {
      // The digits of an integer beyond 64 bits sort as text.
      guard location.isIntegerKey || location.keyForm != .integer else { throw .keyWithoutOrder }
      let key = QueryExpression.attribute(.key)
      return Ordering(location.isIntegerKey ? .cast(key, .integer) : key, descending: descending)
    }
    let expression = includesVariants ? location.expression : .field(location.path)
    return Ordering(expression, descending: descending)
  }

  /// The field of the property, if a document that lacks it does not count as null.
  func defaultedPath() throws(StoreError) -> FieldPath? {
    let location = try location.get()
    return location.hasVariants && !location.isKey ? location.path : nil
  }
}

extension PropertyLocation {
  /// The decoded value of the property, for documents of all versions.
  var expression: QueryExpression {
    var branches: [QueryExpression.Branch] = []
    for current in cases(formerNames: true) {
      switch current.content {
      case .path(let path): branches.append(.init(when: current.when, then: .field(path)))
      case .elements: return .field(path)
      case .constant(let location, let value):
        let inner = location.components.count..<path.components.count
        let constant = inner.isEmpty ? value : value[path[inner]]
        branches.append(.init(when: current.when, then: .value(constant ?? .null)))
      case .nothing: branches.append(.init(when: current.when, then: .value(.null)))
      }
    }
    return branches.count <= 1 ? .field(path) : .choice(branches, otherwise: .value(.null))
  }
}
