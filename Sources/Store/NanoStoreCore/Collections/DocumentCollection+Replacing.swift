// Reads a document, changes it, and replaces it if it has not been changed in the meantime.

package import NanoDocument
package import NanoEngine
package import NanoQuery

extension DocumentCollection {
  /// Applies changes to the newest state of a document.
  ///
  /// - Parameter upsert: Whether a document that does not exist is inserted under its key.
  /// - Returns: The document before and after; nil before if it was inserted.
  func update(
    _ identity: Identity, _ changes: [FieldChange], upsert: Bool
  ) throws -> (before: Document?, after: Document) {
    try checkFailure()
    try InternalCollection.refuse(name)
    let prepared = try DocumentUpdate(changes)
    if case .key(let key) = identity, let changed = try updateOptimistically(key, prepared, upsert)
    {
      return changed
    }
    return try writing { engine in
      if let changed = try update(identity, engine, prepared) { return changed }
      guard upsert, case .key(let key) = identity else { throw Self.notFound(identity, name) }
      do {
        return (nil, try insert(key, engine, changes))
      } catch let error as StoreError where error.code == .duplicateKey {
        // Another transaction has inserted it, in a block that does not lock what it reads.
        guard let changed = try update(identity, engine, prepared) else { throw error }
        return changed
      }
    }
  }

  /// Changes one document and returns it before and after, or nil if it does not exist.
  ///
  /// - Parameter query: A query that found the document with a revision, and must find it again if it
  ///   has another one.
  func update(
    _ identity: Identity, _ engine: any EngineWriter, _ update: DocumentUpdate,
    ofQuery query: (query: Query, revision: Int64?)? = nil
  ) throws -> (before: Document?, after: Document)? {
    try replacingNewest(identity, engine, ofQuery: query) { found in
      try replace(found, update) { try engine.replace(identity, with: $0, in: name) }
    }
  }

  /// Replaces the newest state of a document by what a closure makes of it, which is called again if
  /// another transaction changes the document in the meantime.
  ///
  /// - Parameters:
  ///   - query: A query that found the document with a revision, and must find it again if it has
  ///     another one.
  ///   - change: Returns the document with other fields, or with another version.
  /// - Returns: The document before and after, or nil if it does not exist.
  package func replaceNewest(
    _ identity: Identity, ofQuery query: (query: Query, revision: Int64?)? = nil,
    _ change: (Document) throws -> Document
  ) throws -> (before: Document?, after: Document)? {
    try checkFailure()
    try InternalCollection.refuse(name)
    return try writing { engine in
      try replacingNewest(identity, engine, ofQuery: query) { found in
        let changed = try change(found)
        var writer = JSONWriter(capacity: 512)
        try changed.write(to: &writer)
        return try stored(changed.header, &writer) {
          try engine.replace(identity, with: $0, in: name)
        }
      }
    }
  }

  /// - Parameter replace: Stores the changed document if it still has its revision, and returns nil if
  ///   it has not.
  private func replacingNewest(
    _ identity: Identity, _ engine: any EngineWriter,
    ofQuery query: (query: Query, revision: Int64?)?,
    _ replace: (Document) throws -> Document?
  ) throws -> (before: Document?, after: Document)? {
    // What was not replaced. A row of another program has no revision.
    var read: (rowID: Int64?, revision: Int64?)?
    while true {
      var stored: Document?
      try engine.get(identity, in: name) { stored = Document($0, in: name) }
      // The engine rejects a revision that the document still has if it is deleted otherwise.
      guard let found = stored else { return nil }
      if let read, read == (found.rowID, found.revision) { return nil }
      if let query, let revision = query.revision, found.revision != revision,
        try engine.count(query.query.only(found.rowID), in: name) == 0
      {
        return nil
      }
      if let replaced = try replace(found) { return (found, replaced) }
      // Another transaction has changed it, in a block that does not lock what it reads.
      read = (found.rowID, found.revision)
    }
  }

  /// Inserts what the changes make of an empty document.
  private func insert(
    _ key: DocumentKey, _ engine: any EngineWriter, _ changes: [FieldChange]
  ) throws -> Document {
    var object = DocumentObject()
    for change in changes { try change.apply(to: &object, isInsert: true) }
    var writer = JSONWriter(capacity: 512)
    writer.object(object.withoutRowID)
    try store.checkNames(writer.bytes, key: key)
    try writer.checkStorable(limit: store.maximumDocumentSize)
    var header = Document.Header(collection: name, key: key)
    let added = Clock.microseconds()
    header.added = added
    header.rowID = try engine.insert(
      NewDocument(key: key, added: added, body: writer.bytes), into: name)
    return Document(header, copying: writer.bytes)
  }

  /// How often a document is read and replaced before it is locked. Arbitrary.
  private static let attempts = 3

  /// Reads a document, and replaces it if it has the same revision, on an engine where that is faster than a
  /// transaction. Returns nil if a transaction is needed.
  private func updateOptimistically(
    _ key: DocumentKey, _ update: DocumentUpdate, _ upsert: Bool
  ) throws -> (before: Document?, after: Document)? {
    guard let engine = try store.engineForPutting() else { return nil }
    for _ in 0..<Self.attempts {
      var stored: Document?
      _ = try store.retrying {
        try engine.get(.key(key), in: name, Interruption.current) {
          stored = Document($0, in: name)
        }
      }
      guard let found = stored else {
        guard upsert else { throw Self.notFound(.key(key), name) }
        return nil
      }
      guard found.revision != nil else { return nil }
      var isPossible = true
      let replaced = try replace(found, update) { replacement in
        let isReplaced = try store.retrying {
          try engine.replace(key: key, with: replacement, in: name, Interruption.current)
        }
        isPossible = isReplaced != nil
        return isReplaced ?? false
      }
      if let replaced { return (found, replaced) }
      if !isPossible { return nil }
    }
    return nil
  }

  /// Passes the changed form of a document to a closure that stores it if the document has the same revision. Returns
  /// nil if the closure has not stored it.
  private func replace(
    _ found: Document, _ update: DocumentUpdate,
    _ store: (NewDocument) throws -> Bool
  ) throws -> Document? {
    let header = found.header
    var writer = JSONWriter(capacity: 512)
    // Another program may have written the body in another form.
    let isPatched =
      try header.revision != nil && found.withBytes { try update.patch($0, to: &writer) }
    if !isPatched {
      var object = try found.object()
      // Not the row ID, but a field of the same name that was stored from JSON text.
      let field = object[DocumentObject.rowIDName]
      for change in update.changes { try change.apply(to: &object) }
      object[DocumentObject.rowIDName] = field
      writer.removeAll()
      writer.object(object)
    }
    return try stored(header, &writer, changing: isPatched ? update.patchedFields : nil, store)
  }

  /// Passes encoded fields to a closure that stores them if the document has the revision in the
  /// header. Returns nil if the closure has not stored them.
  private func stored(
    _ given: Document.Header, _ writer: inout JSONWriter, changing fields: [[StoredName]]? = nil,
    _ store: (NewDocument) throws -> Bool
  ) throws -> Document? {
    var header = given
    try self.store.checkNames(writer.bytes, key: header.key)
    try writer.checkStorable(limit: self.store.maximumDocumentSize)
    var document = NewDocument(
      key: header.key, type: header.type, version: header.version,
      added: header.added ?? Clock.microseconds(), rowID: header.rowID,
      replacedRevision: header.revision, body: writer.bytes)
    document.changedFields = fields
    guard try store(document) else { return nil }
    header.revision = header.revision.flatMap(\.nextRevision)
    return Document(header, copying: writer.bytes)
  }
}

extension Query {
  /// The same condition for one document.
  fileprivate func only(_ rowID: Int64?) -> Query {
    Query(.all([condition, .rowID(in: [rowID].compactMap(\.self))]))
  }
}
