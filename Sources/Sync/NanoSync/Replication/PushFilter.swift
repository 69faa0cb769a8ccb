// SPDX-License-Identifier: MIT

package import NanoDocument
package import NanoQuery
import NanoStoreCore

/// A condition on documents to be pushed.
package struct PushFilter: Sendable {
  /// Identifies the filter in the names of checkpoints.
  package var identity: String
  package var accepts: @Sendable (SyncDocument) throws -> Bool

  package init(
    identity: String, accepts: @escaping @Sendable (SyncDocument) throws -> Bool
  ) {
    self.identity = identity
    self.accepts = accepts
  }

  /// Creates a filter that accepts the documents that a query with the condition finds.
  ///
  /// - Parameter defaults: The defaults of the collection.
  package init(_ condition: Condition, defaults: DocumentObject) {
    var parts = [condition.queryText]
    // Dates that no stored document can have are all written alike.
    _ = condition.replacingExpressions { expression in
      if case .value(.date(let date)) = expression {
        parts.append("\(date.timeIntervalSinceReferenceDate)")
      }
      return nil
    }
    if !defaults.isEmpty { parts.append(String(decoding: SyncJSON.bytes(defaults), as: UTF8.self)) }
    let known = FieldDefaults(defaults)
    self.init(identity: parts.joined(separator: "\n")) { document in
      try Evaluator(document.subject(known)).holds(condition)
    }
  }

  /// Checks that a condition can be evaluated on a document alone.
  ///
  /// - Throws: ``/NanoDocument/StoreError/Code/invalidArgument``,
  ///   ``/NanoDocument/StoreError/Code/invalidPath``.
  package static func check(_ condition: Condition) throws(StoreError) {
    try condition.validate()
    guard !condition.hasRelated else { throw refused("related documents") }
    try checkParts(condition)
    _ = try condition.replacingExpressions { (expression) throws(StoreError) in
      switch expression {
      case .attribute(.added): throw refused("the date of insertion")
      case .attribute(.rowID): throw refused("the row ID")
      case .truth(let condition), .elements(_, let condition, _): try checkParts(condition)
      case .choice(let branches, _): for branch in branches { try checkParts(branch.condition) }
      default: break
      }
      return nil
    }
  }

  private static func refused(_ what: String) -> StoreError {
    StoreError(
      .invalidArgument, "A push filter cannot use \(what)",
      [.hint: "use fields, the key, the class or its version"])
  }

  /// Checks a condition without those in its expressions.
  private static func checkParts(_ condition: Condition) throws(StoreError) {
    guard !condition.searches else { throw refused("full-text search") }
    try checkPatterns(condition)
  }

  /// Compiles the constant regular expressions.
  private static func checkPatterns(_ condition: Condition) throws(StoreError) {
    switch condition {
    case .all(let parts), .any(let parts): for part in parts { try checkPatterns(part) }
    case .not(let part), .element(_, let part), .leaf(let part): try checkPatterns(part)
    case .text(_, .regexp, .value(.string(let pattern))): _ = try TextPattern(.regexp, pattern)
    default: break
    }
  }
}

extension SyncDocument {
  /// The document as queries of the collection see it.
  fileprivate func subject(_ defaults: FieldDefaults?) -> DocumentSubject {
    var fields = body
    let header = body[DocumentMapping.header]?.object
    fields[DocumentMapping.header] = nil
    let listed = attachments.filter { !ReferencedContent.isName($0.name) }
    let stored = listed.compactMap { attachment -> (String, DocumentValue)? in
      guard let content = attachment.content else { return nil }
      let reference = Attachment(
        digest: content.digest, length: attachment.length, contentType: attachment.contentType)
      return (attachment.name, reference.documentValue)
    }
    if !listed.isEmpty { fields[Attachment.field] = .object(DocumentObject(stored)) }
    return DocumentSubject(
      fields, key: .string(id), type: header?["type"] ?? .null,
      version: header?["version"] ?? .null, defaults: defaults)
  }
}
