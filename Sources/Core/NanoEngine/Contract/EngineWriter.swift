// SPDX-License-Identifier: MIT

package import NanoDocument

/// A transaction in progress, valid only inside the block that received it and on that block's thread.
package protocol EngineWriter: EngineReader, EngineDocumentWriter, EngineIndexWriter,
  EngineFeedWriter, EngineBlobWriter, EngineExpiryWriter,
  EngineTuningWriter
{
  /// Creates the collections that do not exist yet. If it throws, some of them may have been created.
  ///
  /// - Throws: ``StoreError/Code/alreadyExists`` if a collection exists with a different identity;
  ///   ``StoreError/Code/invalidArgument``, ``StoreError/Code/invalidName``.
  func createCollections(_ descriptions: [CollectionDescription]) throws
  /// Drops a collection with its documents and indexes, and returns whether it existed.
  ///
  /// - Throws: ``StoreError/Code/invalidArgument`` inside a progress closure of the transaction.
  func dropCollection(_ name: String) throws -> Bool

  /// Sets the settings of a collection, which apply to all later queries on every connection; creates the
  /// collection if it does not exist.
  ///
  /// - Throws: ``StoreError/Code/invalidArgument``, ``StoreError/Code/invalidName``, ``StoreError/Code/invalidPath``,
  ///   ``StoreError/Code/unsupported``, ``StoreError/Code/valueNotStorable``.
  func setSettings(_ settings: CollectionSettings, of collection: String) throws
  /// Stores a metadata value; `nil` removes the entry.
  ///
  /// - Throws: ``StoreError/Code/invalidArgument``, ``StoreError/Code/invalidName``,
  ///   ``StoreError/Code/valueNotStorable``.
  func setMetadata(_ value: DocumentValue?, _ name: String) throws
  /// Makes versions of the library that do not know decimals reject the store. An engine does so by itself for the
  /// decimals in bodies; a caller that hides them in another form calls this method.
  func requireDecimals() throws
  /// Runs a block in a savepoint: its changes are rolled back if it throws, while the transaction continues.
  ///
  /// - Throws: ``StoreError/Code/invalidArgument`` inside a progress closure of the transaction.
  func savepoint<Result>(_ work: () throws -> Result) throws -> Result
  /// Runs a block that only inserts documents into one collection, with the effect of ``savepoint(_:)``, possibly
  /// at a lower cost. Paths of documents that were removed again may stay recorded.
  ///
  /// - Parameter count: The expected number of documents.
  /// - Throws: ``StoreError/Code/invalidArgument`` inside a progress closure of the transaction.
  func insertAtomically<Result>(
    _ count: Int, into collection: String, _ work: () throws -> Result
  ) throws -> Result
  /// Called in the block of ``insertAtomically(_:into:_:)`` before the transaction does anything but insert these
  /// documents.
  func prepareForOtherUse() throws
}

extension EngineWriter {
  package func createCollection(_ description: CollectionDescription) throws {
    try createCollections([description])
  }

  package func requireDecimals() throws {}

  package func insertAtomically<Result>(
    _ count: Int, into collection: String, _ work: () throws -> Result
  ) throws -> Result {
    try savepoint(work)
  }

  package func prepareForOtherUse() throws {}
}
