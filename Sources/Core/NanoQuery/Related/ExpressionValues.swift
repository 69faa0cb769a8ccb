// SPDX-License-Identifier: MIT

package import NanoDocument

/// Reads the values of an expression from the bytes of stored documents.
///
/// Confined to one thread at a time.
package final class ExpressionValues {
  private let expression: QueryExpression
  private let defaults: FieldDefaults?
  private let fields: [FieldPath]
  private let hasLeafConditions: Bool
  private var document: DocumentBytes
  private let paths: [FieldPath: BytePath]

  /// - Parameter defaults: The values of fields that a document does not have.
  package init(_ expression: QueryExpression, defaults: FieldDefaults? = nil) {
    self.expression = expression
    self.defaults = defaults
    fields = expression.fields
    hasLeafConditions = expression.hasLeafConditions
    var names = FieldNames()
    var paths: [FieldPath: BytePath] = [:]
    for path in fields where !path.isElement { paths[path] = BytePath(path, &names) }
    self.paths = paths
    document = DocumentBytes(names.names)
  }

  /// Returns the values of the expression in a document, in order.
  ///
  /// - Throws: ``StoreError/Code/corruptDocument``, ``StoreError/Code/tooComplex``.
  package func values(
    _ body: UnsafeRawBufferPointer, _ attributes: (Attribute) -> DocumentValue
  ) throws(StoreError) -> [DocumentValue] {
    if case .attribute(let attribute) = expression { return [attributes(attribute)] }
    document.reset(body)
    do {
      let subject = try StoredSubject(
        fields, paths, &document, attributes, defaults, hasLeafConditions: hasLeafConditions)
      return try Evaluator(subject).values(expression)
    } catch {
      throw error.addingRowID(attributes(.rowID))
    }
  }
}
