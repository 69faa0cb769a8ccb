// SPDX-License-Identifier: MIT

package import NanoDocument

/// A condition compiled for evaluation on the bytes of stored documents.
///
/// Its results equal those of ``Evaluator``, without decoding values: conditions on single fields are
/// evaluated on the bytes, others by the evaluator on the fields they reference.
///
/// Confined to one thread at a time.
package final class ConditionMatcher {
  private let node: MatcherNode
  // Nothing that evaluates a condition calls the matcher again, so there is no second access to find.
  @exclusivity(unchecked)
  private var document: DocumentBytes

  /// Compiles a condition.
  ///
  /// - Parameter defaults: The values of fields that a document does not have.
  /// - Throws: ``StoreError/Code/invalidArgument`` for a malformed regular expression.
  package init(_ condition: Condition, defaults: FieldDefaults? = nil) throws(StoreError) {
    var names = FieldNames()
    var paths: [FieldPath: BytePath] = [:]
    for path in condition.fields where !path.isElement { paths[path] = BytePath(path, &names) }
    node = try MatcherNode.make(condition, paths, defaults)
    document = DocumentBytes(names.names)
  }

  /// Returns whether a document satisfies the condition.
  ///
  /// - Throws: ``StoreError/Code/corruptDocument``, ``StoreError/Code/tooComplex``.
  package func holds(
    for body: UnsafeRawBufferPointer, _ attributes: (Attribute) -> DocumentValue
  ) throws(StoreError) -> Bool {
    document.reset(body)
    do {
      return try node.holds(&document, attributes)
    } catch {
      throw error.addingRowID(attributes(.rowID))
    }
  }
}

/// The fields of a stored document that an evaluator needs, decoded in advance.
struct StoredSubject: Subject {
  private var values: [FieldPath: [DocumentValue]] = [:]
  private var existing: Set<FieldPath> = []
  private var attributes: [Attribute: DocumentValue] = [:]
  private var all: [Leaf] = []

  init(
    _ fields: [FieldPath], _ paths: [FieldPath: BytePath], _ document: inout DocumentBytes,
    _ attributes: (Attribute) -> DocumentValue, _ defaults: FieldDefaults?,
    hasLeafConditions: Bool = false
  ) throws(StoreError) {
    if hasLeafConditions { all = Leaves.all(in: try document.value()) }
    for field in fields where values[field] == nil {
      guard let path = paths[field] else { continue }
      var found: [DocumentValue] = []
      var exists = false
      _ = try document.values(path) { (reader) throws(StoreError) in
        var reader = reader
        exists = true
        found.append(try reader.value())
        return false
      }
      if !exists, let defaults, defaults.reaches(field) {
        found = defaults.values(at: field)
        exists = true
      }
      values[field] = found
      if exists { existing.insert(field) }
    }
    for attribute in Attribute.allCases { self.attributes[attribute] = attributes(attribute) }
  }

  func values(at path: FieldPath) -> [DocumentValue] { values[path] ?? [] }
  func exists(at path: FieldPath) -> Bool { existing.contains(path) }
  func attribute(_ attribute: Attribute) -> DocumentValue { attributes[attribute] ?? .null }
  func leaves() -> [Leaf] { all }
}
