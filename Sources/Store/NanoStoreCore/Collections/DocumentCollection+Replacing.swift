// Reads a document, changes it, and replaces it if no one else has changed it meanwhile.

import NanoDocument
import NanoEngine
import NanoQuery

extension DocumentCollection {
  func update(
    _ identity: Identity, _ change: (inout DocumentObject) throws -> Void
  ) throws -> Document {
    try InternalCollection.refuse(name)
    if case .key(let key) = identity, let changed = try updateOptimistically(key, change) {
      return changed
    }
    return try writing { engine in
      guard let changed = try update(identity, engine, change) else {
        throw Self.notFound(identity, name)
      }
      return changed
    }
  }

  /// Changes one document and returns it, or nil if it does not exist.
  ///
  /// - Parameter query: A query that found the document with a revision, and must find it again if it
  ///   has another one.
  func update(
    _ identity: Identity, _ engine: any EngineWriter,
    ofQuery query: (query: Query, revision: Int64?)? = nil,
    _ change: (inout DocumentObject) throws -> Void
  ) throws -> Document? {
    var read: Int64?
    while true {
      var stored: Document?
      try engine.get(identity, in: name) { stored = Document($0, in: name) }
      // The engine rejects a revision that the document still has if it is deleted otherwise.
      guard let found = stored, read == nil || found.revision != read else { return nil }
      if let query, let revision = query.revision, found.revision != revision,
        try engine.count(query.query.only(found.rowID), in: name) == 0
      {
        return nil
      }
      let replaced = try replace(found, change) { try engine.replace(identity, with: $0, in: name) }
      if let replaced { return replaced }
      // Another transaction has changed it, in a block that does not lock what it reads.
      read = found.revision
    }
  }

  /// How often a document is read and replaced before it is locked. Arbitrary.
  private static let attempts = 3

  /// Reads a document, and replaces it if it has the same revision, on an engine where that is faster than a
  /// transaction. Returns nil if a transaction is needed.
  private func updateOptimistically(
    _ key: DocumentKey, _ change: (inout DocumentObject) throws -> Void
  ) throws -> Document? {
    guard let engine = try store.engineForPutting() else { return nil }
    for _ in 0..<Self.attempts {
      var stored: Document?
      _ = try store.retrying {
        try engine.get(.key(key), in: name, Interruption.current) {
          stored = Document($0, in: name)
        }
      }
      guard let found = stored else { throw Self.notFound(.key(key), name) }
      guard found.revision != nil else { return nil }
      var isPossible = true
      let replaced = try replace(found, change) { replacement in
        let isReplaced = try store.retrying {
          try engine.replace(key: key, with: replacement, in: name, Interruption.current)
        }
        isPossible = isReplaced != nil
        return isReplaced ?? false
      }
      if replaced != nil || !isPossible { return replaced }
    }
    return nil
  }

  /// Passes the changed form of a document to a closure that stores it if the document has the same revision. Returns
  /// nil if the closure has not stored it.
  private func replace(
    _ found: Document, _ change: (inout DocumentObject) throws -> Void,
    _ store: (NewDocument) throws -> Bool
  ) throws -> Document? {
    var object = try found.object()
    // Not the row ID, but a field of the same name that was stored from JSON text.
    let field = object[DocumentObject.rowIDName]
    try change(&object)
    object[DocumentObject.rowIDName] = field
    var writer = JSONWriter(capacity: 512)
    writer.object(object)
    var header = found.header
    try self.store.checkNames(writer.bytes, key: header.key)
    try writer.checkStorable(limit: self.store.maximumDocumentSize)
    let document = NewDocument(
      key: header.key, type: header.type, version: header.version,
      added: header.added ?? Clock.microseconds(), replacedRevision: header.revision,
      body: writer.bytes)
    guard try store(document) else { return nil }
    header.revision = header.revision.map { $0 + 1 }
    return Document(header, copying: writer.bytes)
  }
}

extension Query {
  /// The same condition for one document.
  fileprivate func only(_ rowID: Int64?) -> Query {
    Query(.all([condition, .rowID(in: [rowID].compactMap(\.self))]))
  }
}
