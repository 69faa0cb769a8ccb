// SPDX-License-Identifier: MIT

package import NanoDocument

/// A condition made ready to be checked on the bytes of many stored documents.
///
/// It answers as ``Evaluator`` does, without making values of what it reads: conditions on single
/// fields are answered on the bytes, the others by the evaluator on the fields they name.
///
/// Confined to one thread at a time.
package final class ConditionMatcher {
  private let node: MatcherNode
  private var document: DocumentBytes

  /// - Parameter defaults: What stands for fields that a document does not have.
  /// - Throws: ``StoreError/Code/invalidArgument`` for a regular expression that does not parse.
  package init(_ condition: Condition, defaults: FieldDefaults? = nil) throws(StoreError) {
    var names = FieldNames()
    var paths: [FieldPath: BytePath] = [:]
    for path in condition.fields where !path.isElement { paths[path] = BytePath(path, &names) }
    node = try MatcherNode.make(condition, paths, defaults)
    document = DocumentBytes(names.names)
  }

  /// - Throws: ``StoreError/Code/corruptDocument``, ``StoreError/Code/tooComplex``.
  package func holds(
    for body: UnsafeRawBufferPointer, _ attributes: (Attribute) -> DocumentValue
  ) throws(StoreError) -> Bool {
    document.reset(body)
    do {
      return try node.holds(&document, attributes)
    } catch {
      throw error.naming(attributes(.rowID))
    }
  }
}

/// The fields of a stored document that an evaluator asks for, decoded beforehand.
struct StoredSubject: Subject {
  private var values: [FieldPath: [DocumentValue]] = [:]
  private var existing: Set<FieldPath> = []
  private var attributes: [Attribute: DocumentValue] = [:]
  private var all: [Leaf] = []

  init(
    _ fields: [FieldPath], _ paths: [FieldPath: BytePath], _ document: inout DocumentBytes,
    _ attributes: (Attribute) -> DocumentValue, _ defaults: FieldDefaults?,
    asksForLeaves: Bool = false
  ) throws(StoreError) {
    if asksForLeaves { all = Leaves.all(in: try document.value()) }
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
