// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery

extension DocumentQuery {
  /// What is found, read as far as the cache does not have it.
  func documents(through cache: CollectionCache) throws -> [Document] {
    try collection.reading(.snapshot) { reader in
      // A transaction has no state in which documents would be known.
      if cache.withContents({ $0.prefersRowIDs }), !(reader is any EngineWriter),
        let found = try byRowIDs(reader, cache)
      {
        return found
      }
      return try byDocuments(reader, cache)
    }
  }

  /// Reads every document, and gives the cached one where the content is the same.
  private func byDocuments(
    _ reader: any EngineReader, _ cache: CollectionCache
  ) throws -> [Document] {
    var documents: [Document] = []
    var known = 0
    var state: CommittedState?
    try showAll(
      reader, sort: { Self.sort(&documents) },
      show: { stored in
        if documents.isEmpty { state = try reader.committedState() }
        let (document, wasKnown) = cache.document(
          stored, in: collection.name, isCommitted: state != nil, state)
        documents.append(document)
        if wasKnown { known += 1 }
      })
    cache.withContents { $0.noteRead(documents.count, known: known) }
    return documents
  }

  /// Asks which rows are found, and reads only those that the cache does not know in this state of the
  /// database. Nil if they are many.
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

  /// Puts the documents of missing places between the others.
  private func filling(
    _ known: [Document], _ missing: [Int], _ found: RowIDResult, _ reader: any EngineReader,
    _ cache: CollectionCache
  ) throws -> [Document] {
    var documents: [Document] = []
    documents.reserveCapacity(found.rowIDs.count)
    var rest = known[...]
    for place in missing {
      let between = place - documents.count
      documents.append(contentsOf: rest.prefix(between))
      rest = rest.dropFirst(between)
      try reader.get(.rowID(found.rowIDs[place]), in: collection.name) { stored in
        documents.append(
          cache.document(stored, in: collection.name, isCommitted: true, found.state).document)
      }
    }
    return documents + rest
  }
}
