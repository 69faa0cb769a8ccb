// SPDX-License-Identifier: MIT

package import NanoDocument

/// Values that a question takes for fields which a document does not have.
///
/// A path that reaches nothing in a document has what it reaches in the defaults; one that reaches
/// something, be it null, has that alone. Documents themselves are never filled in.
///
/// ```swift
/// let defaults = FieldDefaults(["active": true, "address": ["country": "US"]])
/// // {"name":"Ada"} fulfils [active] AND [address.country] = 'US'; {"active":null} does not
/// ```
package struct FieldDefaults: Sendable, Hashable {
  /// The defaults as a document.
  package let object: DocumentObject

  /// Nil for an object without fields, which says nothing.
  package init?(_ object: DocumentObject) {
    guard !object.isEmpty else { return nil }
    self.object = object
  }

  /// Whether the path reaches anything in the defaults.
  package func reaches(_ path: FieldPath) -> Bool {
    !path.isElement && PathValues.exists(in: .object(object), at: path)
  }

  /// What a path that reaches nothing in a document reaches, an array and its elements too.
  func values(at path: FieldPath) -> [DocumentValue] {
    PathValues.values(in: .object(object), at: path)
  }

  /// The same without entering an array at the end.
  func ends(at path: FieldPath) -> [DocumentValue] {
    PathValues.ends(in: .object(object), at: path)
  }
}

extension Condition {
  /// The condition about stored documents that says what this one says about documents seen with
  /// defaults, so that indexes, which hold what is stored, can answer it.
  ///
  /// ```swift
  /// // with {"active": true}
  /// [active] = TRUE    // [active] = TRUE OR NOT EXISTS([active])
  /// [active] = FALSE   // [active] = FALSE
  /// [active] IS NULL   // [active] IS NULL AND EXISTS([active])
  /// ```
  ///
  /// The two hold for the same documents, so that a NOT around them is as exact.
  ///
  /// - Returns: Nil if a part asks for several fields at once, one of them with a default.
  package func asStored(_ defaults: FieldDefaults) -> Condition? {
    switch self {
    // Text indexes hold what is stored.
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

  /// A document without the field is answered once and for all: as the defaults are asked. What the
  /// condition says of it by itself is right already, or is corrected.
  private func singleAsStored(_ defaults: FieldDefaults) -> Condition? {
    let paths = outerFields
    guard let path = paths.first(where: defaults.reaches) else { return self }
    guard paths.allSatisfy({ $0 == path }), !usesAttributes, !asksForLeaves,
      let withDefault = try? Evaluator(DocumentSubject(defaults.object)).holds(self),
      let without = try? Evaluator(DocumentSubject([:])).holds(self)
    else { return nil }
    switch (withDefault, without) {
    case (true, false): return .any([self, .not(.exists(path))])
    case (false, true): return .all([self, .exists(path)])
    default: return self
    }
  }

  /// The paths that begin at the document.
  private var outerFields: [FieldPath] {
    if case .element(let path, _) = self { return [path] }
    return fields
  }

  /// Whether the key, row id, type, version or date added of a document is asked for.
  package var usesAttributes: Bool {
    var found = false
    _ = replacingLeaves { leaf in
      if case .attribute = leaf { found = true }
      return nil
    }
    return found
  }
}
