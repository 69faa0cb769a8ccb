// SPDX-License-Identifier: MIT

package import NanoDocument

/// The error codes that each call of the contract may throw, besides errors of its caller's closures and
/// `CancellationError`.
///
/// ``ContractCheckingEngine`` rejects every other code. A test compares the tables with the documentation of the
/// calls, whose `Throws` sections do not repeat ``environment``.
package enum DeclaredErrors {
  /// The codes of every call: the database or its environment failed, a limit of the database was exceeded, the call
  /// was interrupted, or made where it is not allowed, as from a progress closure
  /// (``StoreError/Code/invalidArgument``). After such a failure, the later calls of a transaction may repeat it.
  package static let environment: Set<StoreError.Code> = [
    .cannotOpen, .closed, .connectionLost, .corruptFile, .database, .documentTooLarge,
    .fileReplaced, .full, .inputOutput, .interrupted,
    .invalidArgument, .locked, .newerFormat, .notADatabase,
    .notPermitted, .outOfMemory, .readOnly, .wrongKey,
  ]

  /// Returns the declared codes of a call, which is named as `#function` names it.
  package static func codes(of call: StaticString) -> Set<StoreError.Code> {
    environment.union(all["\(call)"] ?? [])
  }

  /// The codes of each call of every role, without those of the environment.
  package static let all: [String: Set<StoreError.Code>] = [
    engine, maintenance, documentReader, catalogReader, sqlReader, documentWriter, indexWriter,
    tuning, writer, feed, blobs, expiry,
  ].reduce(into: [:]) { $0.merge($1) { $0.union($1) } }

  /// A query that is not valid, not supported, or cannot be evaluated on a document.
  private static let query: Set<StoreError.Code> = [
    .corruptDocument, .invalidArgument, .invalidPath, .tooComplex, .unsupported, .valueNotStorable,
  ]
  /// A document that is rejected.
  private static let write: Set<StoreError.Code> = [
    .corruptDocument, .duplicateKey, .invalidArgument, .invalidKey, .invalidName,
    .uniqueViolation, .valueNotStorable,
  ]

  package static let engine: [String: Set<StoreError.Code>] = [
    "read(_:_:_:)": [.invalidArgument],
    "get(_:in:_:_:)": [.corruptDocument, .invalidArgument],
    "get(keys:in:_:_:)": [.corruptDocument, .invalidArgument],
    "write(_:_:_:)": [.invalidArgument, .outcomeUnknown, .uniqueViolation],
    "put(_:newKey:replacing:into:_:)": write.union([.notFound, .outcomeUnknown]),
    "replace(key:with:in:_:)": [
      .corruptDocument, .invalidArgument, .invalidKey, .outcomeUnknown, .uniqueViolation,
      .valueNotStorable,
    ],
    "delete(key:from:unless:_:)": [.outcomeUnknown],
    "createIndexConcurrently(_:in:_:)": [
      .alreadyExists, .corruptDocument, .invalidArgument, .invalidName, .invalidPath,
      .outcomeUnknown, .uniqueViolation, .unsupported,
    ],
    "keepBlob(_:_:)": [.invalidArgument],
    "observeCommits(_:)": [.unsupported],
    "close()": [.invalidArgument],
  ]
  package static let maintenance: [String: Set<StoreError.Code>] = [
    "compact()": [.invalidArgument],
    "backup(to:progress:)": [.alreadyExists, .invalidArgument, .unsupported],
    "verify()": [.invalidArgument],
    "statistics()": [.invalidArgument],
  ]
  package static let documentReader: [String: Set<StoreError.Code>] = [
    "get(_:in:_:)": [.corruptDocument],
    "get(keys:in:_:)": [.corruptDocument],
    "get(rowIDs:in:_:)": [.corruptDocument],
    "find(_:in:_:)": query,
    "findInAnyOrder(_:in:_:)": query,
    "findRanked(_:in:_:)": query,
    "contents(_:in:withKeys:_:)": query,
    "rowIDs(_:in:)": query,
    "count(_:in:)": query,
    "aggregate(_:in:)": query,
    "aggregate(_:in:_:)": query,
    "distinct(_:_:in:)": query,
    "pipeline(_:_:in:_:)": query,
    "explain(_:in:)": query,
    "highestRowID(in:)": [],
    "version(ofRow:in:)": [],
    "committedState()": [],
  ]
  package static let catalogReader: [String: Set<StoreError.Code>] = [
    "collections()": [], "identity(of:)": [], "indexes(in:)": [], "fullTextIndexes(in:)": [],
    "indexing(in:)": [], "types(in:)": [], "settings(of:)": [], "observedPaths(in:)": [],
    "metadata(_:)": [], "metadataNames()": [],
  ]
  package static let sqlReader: [String: Set<StoreError.Code>] = [
    "sql(_:_:allowsWrites:_:)": [
      .corruptDocument, .duplicateKey, .invalidArgument, .tooComplex, .uniqueViolation,
      .valueNotStorable,
    ],
    "tables()": [],
    "explain(sql:)": [.invalidArgument, .valueNotStorable],
  ]
  package static let documentWriter: [String: Set<StoreError.Code>] = [
    "prepare(_:)": [],
    "insert(_:into:)": write,
    "insert(_:into:_:)": write,
    "save(_:into:)": write,
    "save(_:into:_:)": write,
    "nextRowID(in:)": [.invalidArgument, .invalidName],
    "replace(_:with:in:)": write,
    "delete(_:from:)": query,
  ]
  package static let indexWriter: [String: Set<StoreError.Code>] = [
    "createIndex(_:in:)": [
      .alreadyExists, .corruptDocument, .invalidArgument, .invalidName, .invalidPath,
      .uniqueViolation, .unsupported,
    ],
    "dropIndex(_:in:)": [.invalidArgument],
    "createFullTextIndex(_:in:)": [
      .alreadyExists, .corruptDocument, .invalidArgument, .invalidName, .invalidPath, .unsupported,
    ],
    "setIndexing(_:in:_:)": [.corruptDocument, .invalidArgument, .invalidName, .unsupported],
    "rebuildIndexes(in:_:)": [.corruptDocument, .invalidArgument, .uniqueViolation],
    "dropIndexes(in:)": [.invalidArgument],
  ]
  package static let tuning: [String: Set<StoreError.Code>] = [
    "unfinishedIndexes()": [],
    "indexCostRecords()": [],
    "beginIndex(_:in:)": [
      .alreadyExists, .corruptDocument, .invalidArgument, .invalidName, .invalidPath,
      .uniqueViolation, .unsupported,
    ],
    "continueIndex(_:in:documents:)": [.corruptDocument, .invalidArgument],
    "setIndexCostRecords(_:of:)": [.invalidArgument],
  ]
  package static let writer: [String: Set<StoreError.Code>] = [
    "createCollections(_:)": [.alreadyExists, .invalidArgument, .invalidName],
    "dropCollection(_:)": [.invalidArgument],
    "setSettings(_:of:)": [
      .invalidArgument, .invalidName, .invalidPath, .unsupported, .valueNotStorable,
    ],
    "requireDecimals()": [],
    "setMetadata(_:_:)": [.invalidArgument, .invalidName, .valueNotStorable],
    "savepoint(_:)": [.invalidArgument],
    "insertAtomically(_:into:_:)": [.invalidArgument],
    "prepareForOtherUse()": [],
  ]
  package static let expiry: [String: Set<StoreError.Code>] = [
    "expiringCollections()": [],
    "expirations(ofRows:in:)": [],
    "earliestExpiration(after:in:)": [],
    "setExpirations(_:in:)": [.invalidArgument, .invalidName, .unsupported],
    "sweepExpired(limit:from:)": [],
  ]
  package static let feed: [String: Set<StoreError.Code>] = [
    "feed(of:)": [],
    "feedRows(after:limit:settledOnly:in:)": [],
    "feedNumber(ofRow:in:)": [],
    "formerKeys(ofRows:in:)": [],
    "setTracking(_:of:)": [.invalidArgument, .invalidName, .unsupported],
    "setFeedRows(_:of:)": [],
    "pruneTombstones(before:in:)": [],
    "keepsPreviousBodies(in:)": [],
    "previousBody(ofRow:in:_:)": [.corruptDocument],
    "previousBodies(after:limit:in:_:)": [.corruptDocument],
    "setKeepsPreviousBodies(_:of:)": [.invalidArgument, .invalidName, .unsupported],
    "removePreviousBodies(ofRows:in:)": [],
    "replacePreviousBody(ofRow:with:in:)": [],
  ]
  package static let blobs: [String: Set<StoreError.Code>] = [
    "blob(_:)": [.corruptFile],
    "blobs(after:limit:)": [.corruptFile],
    "chunk(_:of:_:)": [.corruptFile],
    "chunkState(_:of:)": [],
    "addBlob(_:_:)": [.unsupported],
    "beginBlob(chunkLength:_:)": [.unsupported],
    "continueBlob(_:touched:)": [.notFound],
    "appendChunk(_:state:to:)": [.documentTooLarge],
    "finishBlob(_:_:)": [.notFound],
    "resealBlob(_:as:_:)": [],
    "deleteBlobs(_:)": [],
    "endLeases(of:)": [],
  ]
}
