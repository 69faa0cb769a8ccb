// SPDX-License-Identifier: MIT

public import NanoDocument

/// What identifies a document in a relation between two collections: its key, its row ID, or a field.
///
/// ```swift
/// "filmID"                // the field of this name
/// RelationKey.key         // the document's key
/// ```
public enum RelationKey: Sendable, Hashable, ExpressibleByStringLiteral {
  /// The document's key.
  case key
  /// The document's row ID.
  case rowID
  /// A field. An array relates to several documents, one for each element.
  case field(FieldPath)

  /// Creates a relation key for a field with a path in text form.
  public init(stringLiteral path: String) { self = .field(FieldPath(path)) }

  /// The expression of a document that identifies it.
  package var expression: QueryExpression {
    switch self {
    case .key: .attribute(.key)
    case .rowID: .attribute(.rowID)
    case .field(let path): .field(path)
    }
  }
}

/// The documents of another collection that are related to a document, for writing conditions.
///
/// ```swift
/// let director = Related("directorID", in: "people")           // by the key of the person
/// let reviews = Related(.key, in: "reviews", by: "filmID")     // by a field of the review
/// director["country"] == "UK"                                  // some director is from the UK
/// reviews.where(Field("stars") > 4).count >= 3
/// reviews.isEmpty || director.has(Field("born") > 1960)
/// ```
///
/// Documents are related if a value of one equals a value of the other, as with `=`; null equals nothing.
/// docs/RELATED-DOCUMENTS.md has more examples.
public struct Related: Sendable, Hashable {
  private var relation: RelatedCondition

  /// Describes related documents.
  ///
  /// - Parameters:
  ///   - local: What identifies them in this document.
  ///   - collection: The name of their collection.
  ///   - remote: What it is compared with in the related documents.
  public init(_ local: RelationKey, in collection: String, by remote: RelationKey = .key) {
    self.init(local.expression, in: collection, by: remote)
  }

  /// Describes related documents, which are found by the value of any expression.
  package init(
    _ local: QueryExpression, in collection: String, by remote: RelationKey = .key
  ) {
    relation = RelatedCondition(local: local, collection: collection, remote: remote.expression)
  }

  /// Returns only the related documents that also satisfy a condition.
  public func `where`(_ condition: Condition) -> Related {
    var copy = self
    copy.relation.condition =
      relation.condition == .constant(true) ? condition : relation.condition && condition
    return copy
  }

  /// A condition that there is a related document.
  public var exists: Condition { .related(relation) }
  /// A condition that there is no related document.
  public var isEmpty: Condition { .not(exists) }
  /// Returns a condition that some related document satisfies a condition.
  public func has(_ condition: Condition) -> Condition { self.where(condition).exists }
  /// The number of related documents, for a comparison.
  public var count: Count { Count(relation: relation) }
  /// Returns a field of the related documents, for a comparison that one of them must satisfy.
  public subscript(path: String) -> RelatedField {
    RelatedField(related: self, field: Field(path))
  }

  /// The number of related documents. Compare it with an integer.
  public struct Count: Sendable {
    fileprivate let relation: RelatedCondition

    fileprivate func compared(_ comparison: Comparison, _ number: Int) -> Condition {
      var relation = relation
      relation.comparison = comparison
      relation.bound = .value(.int(Int64(number)))
      return .related(relation)
    }
  }
}

/// A field of related documents, for writing conditions that some related document satisfies.
public struct RelatedField: Sendable {
  fileprivate let related: Related
  fileprivate let field: Field

  /// Returns a condition that some value of some related document equals some value of the list.
  public func isIn(_ values: [some DocumentValueConvertible]) -> Condition {
    related.has(field.isIn(values))
  }
  /// Returns a condition that some string of some related document begins with the text.
  public func hasPrefix(_ text: String) -> Condition { related.has(field.hasPrefix(text)) }
  /// Returns a condition that some string of some related document contains the text.
  public func contains(_ text: String) -> Condition { related.has(field.contains(text)) }
}

extension Field {
  /// Returns the documents that the field refers to.
  ///
  /// ```swift
  /// Field("directorID").related(in: "people")["country"] == "UK"
  /// ```
  ///
  /// - Parameter remote: What the field's values are compared with in the related documents.
  public func related(in collection: String, by remote: RelationKey = .key) -> Related {
    Related(RelationKey.field(path), in: collection, by: remote)
  }
}

/// Returns a condition on the number of related documents.
public func == (count: Related.Count, number: Int) -> Condition { count.compared(.equal, number) }
/// Returns a condition on the number of related documents.
public func != (count: Related.Count, number: Int) -> Condition {
  count.compared(.notEqual, number)
}
/// Returns a condition on the number of related documents.
public func < (count: Related.Count, number: Int) -> Condition { count.compared(.less, number) }
/// Returns a condition on the number of related documents.
public func <= (count: Related.Count, number: Int) -> Condition {
  count.compared(.lessOrEqual, number)
}
/// Returns a condition on the number of related documents.
public func > (count: Related.Count, number: Int) -> Condition { count.compared(.greater, number) }
/// Returns a condition on the number of related documents.
public func >= (count: Related.Count, number: Int) -> Condition {
  count.compared(.greaterOrEqual, number)
}

// Disfavored, so that a literal becomes a `DocumentValue`.
/// Returns a condition that some value of some related document equals the given one. With `nil` or null: the
/// field is null or missing in some related document.
@_disfavoredOverload
public func == (field: RelatedField, value: some DocumentValueConvertible) -> Condition {
  field.related.has(field.field == value)
}
/// Returns a condition that some value of some related document equals the given one. With `nil` or null: the
/// field is null or missing in some related document.
public func == (field: RelatedField, value: DocumentValue) -> Condition {
  field.related.has(field.field == value)
}
// Disfavored, so that a literal becomes a `DocumentValue`.
/// Returns a condition that some value of some related document differs from the given one.
@_disfavoredOverload
public func != (field: RelatedField, value: some DocumentValueConvertible) -> Condition {
  field.related.has(field.field != value)
}
/// Returns a condition that some value of some related document differs from the given one.
public func != (field: RelatedField, value: DocumentValue) -> Condition {
  field.related.has(field.field != value)
}
/// Returns a condition that some value of some related document is less than the given one.
public func < (field: RelatedField, value: some DocumentValueConvertible) -> Condition {
  field.related.has(field.field < value)
}
/// Returns a condition that some value of some related document is less than or equal to the given one.
public func <= (field: RelatedField, value: some DocumentValueConvertible) -> Condition {
  field.related.has(field.field <= value)
}
/// Returns a condition that some value of some related document is greater than the given one.
public func > (field: RelatedField, value: some DocumentValueConvertible) -> Condition {
  field.related.has(field.field > value)
}
/// Returns a condition that some value of some related document is greater than or equal to the given one.
public func >= (field: RelatedField, value: some DocumentValueConvertible) -> Condition {
  field.related.has(field.field >= value)
}
