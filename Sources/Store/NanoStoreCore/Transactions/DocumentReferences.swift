// SPDX-License-Identifier: MIT

package import NanoEngine

/// What the database stores that refers to documents, such as bags, and that must not outlive them.
///
/// A layer above the store implements it. Every initializer of a store requires it, because a store
/// without it would leave references to removed documents behind. The store calls the methods
/// inside the transaction that removes the documents, and an error rolls the removal back.
package protocol DocumentReferences: Sendable {
  /// What a transaction that removes documents uses to determine whether there are references.
  var use: TransactionUse { get }

  /// Returns whether the database holds any references.
  func exist(_ reader: any EngineReader) throws -> Bool

  /// Returns whether there are references to documents of a collection.
  func exist(to collection: String, _ reader: any EngineReader) throws -> Bool

  /// Removes the references to these documents.
  ///
  /// - Parameter documents: The documents by their keys, or by their row IDs if they have none.
  func remove(
    to documents: [Identity], of collection: String, _ writer: any EngineWriter) throws

  /// Lets the references to a document refer to it by another identity.
  func move(
    from old: Identity, to new: Identity, of collection: String, _ writer: any EngineWriter) throws

  /// Removes the references to all documents of a collection.
  func removeAll(to collection: String, _ writer: any EngineWriter) throws
}

extension Store {
  /// Returns whether the database holds references to documents.
  ///
  /// Checked once per transaction, since no other connection can create the first reference
  /// meanwhile; not cached any longer, since another program may create one.
  func hasReferences(_ writer: any EngineWriter) throws -> Bool {
    let context = TransactionContext.current(of: self)
    if let known = context?.hasReferences { return known }
    let found = try references.exist(writer)
    context?.hasReferences = found
    return found
  }

  /// Lets the references to a document refer to it by another identity, such as a key instead of a row ID.
  package func moveReferences(
    from old: Identity, to new: Identity, of collection: String, _ writer: any EngineWriter
  ) throws {
    guard try hasReferences(writer) else { return }
    try references.move(from: old, to: new, of: collection, writer)
  }

  /// Removes the references to the expired documents that the running transaction has deleted so far, before references
  /// to new documents with the same keys are added.
  package func removeSweptReferences(_ writer: any EngineWriter) throws {
    try sweeper.removeReferences(writer)
  }

  /// Notes that the running transaction has created the first reference to a document.
  package func noteReferences() { TransactionContext.current(of: self)?.hasReferences = true }
}
