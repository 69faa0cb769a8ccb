// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery

extension DocumentQuery {
  /// Returns the results, reading only documents that the cache does not have.
  func documents(through cache: CollectionCache) throws -> [Document] {
    try collection.reading(.snapshot) { reader in
      // A write transaction has no committed state in which documents could be known to be current.
      if cache.withContents({ $0.prefersRowIDs }), !(reader is any EngineWriter),
        let found = try byRowIDs(reader, cache)
      {
        return found
      }
      return try byDocuments(reader, cache)
    }
  }

  /// Reads every document, and returns the cached one where the content is the same.
  private func byDocuments(
    _ reader: any EngineReader, _ cache: CollectionCache
  ) throws -> [Document] {
    var documents: [Document] = []
    var known = 0
    var state: CommittedState?
    try visitAll(
      reader, sort: { Self.sort(&documents) },
      visit: { stored in
        if documents.isEmpty { state = try reader.committedState() }
        let (document, wasKnown) = cache.document(
          stored, in: collection.name, isCommitted: state != nil, state)
        documents.append(document)
        if wasKnown { known += 1 }
      })
    cache.withContents { $0.noteRead(documents.count, known: known) }
    return documents
  }

  /// Queries row IDs, and reads only the documents not cached in this database state. Returns nil
  /// if they are too many.
  private func byRowIDs(
    _ reader: any EngineReader, _ cache: CollectionCache
  ) throws -> [Document]? {
    let found = try reader.rowIDs(query, in: collection.name)
    guard let state = found.state else { return nil }
    var documents: [Document] = []
    guard
      let missing = cache.withContents({
        $0.documents(of: found, in: state, into: &documents)
      })
    else { return nil }
    guard !missing.isEmpty else { return documents }
    return try filling(documents, missing, found, reader, cache)
  }

  /// Inserts the missing documents at their positions.
  private func filling(
    _ known: [Document], _ missing: [Int], _ found: RowIDResult, _ reader: any EngineReader,
    _ cache: CollectionCache
  ) throws -> [Document] {
    var documents: [Document] = []
    documents.reserveCapacity(found.rowIDs.count)
    var rest = known[...]
    for position in missing {
      let between = position - documents.count
      documents.append(contentsOf: rest.prefix(between))
      rest = rest.dropFirst(between)
      try reader.get(.rowID(found.rowIDs[position]), in: collection.name) { stored in
        documents.append(
          cache.document(stored, in: collection.name, isCommitted: true, found.state).document)
      }
    }
    return documents + rest
  }
}
