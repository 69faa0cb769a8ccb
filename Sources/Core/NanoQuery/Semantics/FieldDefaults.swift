// SPDX-License-Identifier: MIT

package import NanoDocument

/// Default values that a query uses for fields a document does not have.
///
/// If a path has no value in a document, its values are those in the defaults. If it has any value,
/// even null, the defaults do not apply. Documents themselves are never modified.
///
/// ```swift
/// let defaults = FieldDefaults(["active": true, "address": ["country": "US"]])
/// // {"name":"Ada"} satisfies [active] AND [address.country] = 'US'; {"active":null} does not
/// ```
package struct FieldDefaults: Sendable, Hashable {
  /// The defaults as a document.
  package let object: DocumentObject

  /// Creates defaults, or returns `nil` for an object without fields.
  package init?(_ object: DocumentObject) {
    guard !object.isEmpty else { return nil }
    self.object = object
  }

  /// Returns whether the path has a value in the defaults.
  package func reaches(_ path: FieldPath) -> Bool {
    !path.isElement && PathValues.exists(in: .object(object), at: path)
  }

  /// Returns the defaults without those of a field of the document.
  package func removing(name: String) -> FieldDefaults? {
    guard object[name] != nil else { return self }
    var remaining = object
    remaining[name] = nil
    return FieldDefaults(remaining)
  }

  /// Returns the defaults without that at a path. A path into an array of the defaults changes nothing.
  package func removing(_ path: FieldPath) -> FieldDefaults? {
    guard reaches(path), !path.addressesElement else { return self }
    var remaining = object
    try? remaining.set(nil, at: path)
    return FieldDefaults(remaining)
  }

  /// Returns the default values at a path; an array is followed by its elements.
  func values(at path: FieldPath) -> [DocumentValue] {
    PathValues.values(in: .object(object), at: path)
  }

  /// Returns the default values at a path, without traversing an array at the end.
  func ends(at path: FieldPath) -> [DocumentValue] {
    PathValues.ends(in: .object(object), at: path)
  }
}

extension Condition {
  /// Returns a condition on stored documents that is equivalent to this condition on documents with
  /// defaults, so that indexes, which contain only stored values, can be used.
  ///
  /// ```swift
  /// // with {"active": true}
  /// [active] = TRUE    // [active] = TRUE OR NOT EXISTS([active])
  /// [active] = FALSE   // [active] = FALSE
  /// [active] IS NULL   // [active] IS NULL AND EXISTS([active])
  /// ```
  ///
  /// Both conditions are true for the same documents, so their negations are equivalent too.
  ///
  /// - Returns: `nil` if a part of the condition depends on several fields or on metadata, and one of
  ///   the fields has a default.
  package func asStored(_ defaults: FieldDefaults) -> Condition? {
    switch self {
    // Full-text indexes contain only stored values.
    case .constant, .leaf, .search: return self
    case .all(let parts): return Self.asStored(parts, defaults).map(Condition.all)
    case .any(let parts): return Self.asStored(parts, defaults).map(Condition.any)
    case .not(let part): return part.asStored(defaults).map(Condition.not)
    case .exists(let path): return defaults.reaches(path) ? .constant(true) : self
    default: return singleAsStored(defaults)
    }
  }

  private static func asStored(
    _ parts: [Condition], _ defaults: FieldDefaults
  ) -> [Condition]? {
    var stored: [Condition] = []
    for part in parts {
      guard let part = part.asStored(defaults) else { return nil }
      stored.append(part)
    }
    return stored
  }

  /// The result for all documents without the field is constant: the result for the defaults. If the
  /// condition itself yields a different result for a missing field, it is corrected.
  private func singleAsStored(_ defaults: FieldDefaults) -> Condition? {
    let paths = outerFields
    guard let path = paths.first(where: defaults.reaches) else { return self }
    guard paths.allSatisfy({ $0 == path }), !usesAttributes, !hasLeafConditions,
      let withDefault = try? Evaluator(DocumentSubject(defaults.object)).holds(self),
      let without = try? Evaluator(DocumentSubject([:])).holds(self)
    else { return nil }
    switch (withDefault, without) {
    case (true, false): return .any([self, .not(.exists(path))])
    case (false, true): return .all([self, .exists(path)])
    default: return self
    }
  }

  /// The paths that are relative to the document.
  private var outerFields: [FieldPath] {
    if case .element(let path, _) = self { return [path] }
    return fields
  }

  /// Whether the condition uses document metadata: the key, row ID, type, version or date added.
  package var usesAttributes: Bool {
    var found = false
    _ = replacingExpressions { expression in
      if case .attribute(let attribute) = expression, attribute != .leafPath { found = true }
      return nil
    }
    return found
  }
}
