// SPDX-License-Identifier: MIT

package import NanoDocument

/// Reads the sort values of an ordering from the bytes of stored documents.
///
/// Confined to one thread at a time.
package final class CompiledOrdering {
  private let ordering: Ordering
  private let defaults: FieldDefaults?
  private var document: DocumentBytes
  private let paths: [FieldPath: BytePath]

  /// - Parameter defaults: The values of fields that a document does not have.
  package init(_ ordering: Ordering, defaults: FieldDefaults? = nil) {
    self.ordering = ordering
    self.defaults = defaults
    var names = FieldNames()
    var paths: [FieldPath: BytePath] = [:]
    for path in ordering.expression.fields { paths[path] = BytePath(path, &names) }
    self.paths = paths
    document = DocumentBytes(names.names)
  }

  /// Returns the sort value of a document, or null if it has none.
  ///
  /// - Throws: ``StoreError/Code/corruptDocument``, ``StoreError/Code/tooComplex``.
  package func value(
    _ body: UnsafeRawBufferPointer, _ attributes: (Attribute) -> DocumentValue
  ) throws(StoreError) -> DocumentValue {
    document.reset(body)
    var values: [DocumentValue] = []
    if case .field(let field) = ordering.expression, let path = paths[field] {
      _ = try document.ends(path) { (reader) throws(StoreError) in
        var reader = reader
        values.append(try reader.value())
        return false
      }
      if values.isEmpty, let defaults { values = defaults.ends(at: field) }
    } else {
      let fields = ordering.expression.fields
      let subject = try StoredSubject(
        fields, paths, &document, attributes, defaults,
        hasLeafConditions: Condition.truth(ordering.expression).hasLeafConditions)
      do {
        values = try Evaluator(subject).values(ordering.expression)
      } catch {
        throw error.addingRowID(attributes(.rowID))
      }
    }
    return ordering.sortValue(of: values)
  }
}

extension Ordering {
  /// Returns the sort value of a document in memory, by definition.
  package func value(for subject: DocumentSubject) throws(StoreError) -> DocumentValue {
    if case .field(let path) = expression {
      return sortValue(of: subject.ends(at: path))
    }
    return sortValue(of: try Evaluator(subject).values(expression))
  }

  /// Returns the smallest of several values, or the largest if descending; null if there is none.
  func sortValue(of values: [DocumentValue]) -> DocumentValue {
    let first =
      descending
      ? values.max { ValueOrder.compare($0, $1) < 0 }
      : values.min { ValueOrder.compare($0, $1) < 0 }
    return first ?? .null
  }
}
