// SPDX-License-Identifier: MIT

import NanoDocument
package import NanoQuery

/// The documents of a transaction.
package protocol EngineDocumentWriter: AnyObject {
  /// Announces what the transaction is about to read and write.
  ///
  /// An engine with concurrent writers locks all of it in one order, so that no two transactions wait for each other,
  /// and reads it in one round trip. The call has no other effect.
  func prepare(_ use: [TransactionUse]) throws

  /// Stores a new document and returns its row ID, which no document has had before.
  ///
  /// - Throws: ``StoreError/Code/duplicateKey``, also if the row ID requested for the document is taken;
  ///   ``StoreError/Code/uniqueViolation``; ``StoreError/Code/corruptDocument``, ``StoreError/Code/invalidArgument``,
  ///   ``StoreError/Code/invalidKey``, ``StoreError/Code/invalidName``, ``StoreError/Code/valueNotStorable``. Nothing
  ///   was stored, and the transaction continues.
  func insert(_ document: NewDocument, into collection: String) throws -> Int64

  /// Stores new documents in order, with the same outcome as ``insert(_:into:)``. An engine may be faster with
  /// batches of ``NewDocument/batchSize`` documents.
  ///
  /// - Parameter rowIDs: Receives the row ID of each stored document, including those stored before one that is
  ///   rejected.
  /// - Throws: The errors of ``insert(_:into:)``. The documents before the rejected one were stored, and the
  ///   transaction continues.
  func insert(
    _ documents: [NewDocument], into collection: String, _ rowIDs: inout [Int64]
  ) throws
  /// The preferred number of new documents per call.
  var preferredBatchSize: Int { get }

  /// Stores a document under its key, replacing the existing document with that key, if any. The existing
  /// document's row ID and creation date are kept.
  ///
  /// - Throws: The errors of ``insert(_:into:)``. Nothing was stored, and the transaction continues.
  func save(_ document: NewDocument, into collection: String) throws -> Int64

  /// Saves documents in order, with the same outcome as ``save(_:into:)-(NewDocument,_)``. An engine may be
  /// faster with batches.
  ///
  /// - Parameter rowIDs: As in ``insert(_:into:_:)``.
  /// - Throws: The errors of ``insert(_:into:)``. The documents before the rejected one were stored, and the
  ///   transaction continues.
  func save(
    _ documents: [NewDocument], into collection: String, _ rowIDs: inout [Int64]
  ) throws

  /// Returns the row ID of the next new document. Neither it nor any larger row ID has ever been used, so within
  /// this transaction a caller may assign them in advance, for documents that refer to each other.
  ///
  /// - Throws: ``StoreError/Code/invalidArgument``, ``StoreError/Code/invalidName``.
  func nextRowID(in collection: String) throws -> Int64

  /// Replaces the body, the version and, unless ``NewDocument/keepsType``, the type of an existing document; returns
  /// `false` if it does not exist, or if its revision differs from ``NewDocument/replacedRevision``, or its row ID from
  /// ``NewDocument/rowID`` if both are given.
  ///
  /// - Throws: The errors of ``insert(_:into:)``. Nothing was replaced, and the transaction continues.
  func replace(
    _ identity: Identity, with document: NewDocument, in collection: String
  ) throws -> Bool
  /// Deletes one document and returns whether it existed.
  func delete(_ identity: Identity, from collection: String) throws -> Bool
  /// Deletes the documents that match a query and returns their number.
  ///
  /// - Throws: ``StoreError/Code/corruptDocument``, ``StoreError/Code/invalidArgument``,
  ///   ``StoreError/Code/invalidPath``, ``StoreError/Code/tooComplex``, ``StoreError/Code/unsupported``,
  ///   ``StoreError/Code/valueNotStorable``.
  func delete(_ query: Query, from collection: String) throws -> Int
}

extension EngineDocumentWriter {
  package func prepare(_ use: [TransactionUse]) throws {}

  package var preferredBatchSize: Int { NewDocument.batchSize }

  package func save(
    _ documents: [NewDocument], into collection: String, _ rowIDs: inout [Int64]
  ) throws {
    for document in documents { rowIDs.append(try save(document, into: collection)) }
  }

  package func insert(
    _ documents: [NewDocument], into collection: String, _ rowIDs: inout [Int64]
  ) throws {
    for document in documents { rowIDs.append(try insert(document, into: collection)) }
  }
}
