// SPDX-License-Identifier: MIT

package import NanoDocument
package import NanoEngine
package import NanoQuery

/// Evaluates the query of a live sequence, initially and whenever its result may have changed.
package struct LiveQueryEvaluator<Value: Sendable>: Sendable {
  let store: Store
  let collection: String
  let query: Query
  /// The collections of documents that the result includes, besides those that conditions name.
  let related: Set<ExactName>
  /// Whether a closure of the caller makes the values, so that two queries can make different values
  /// of equal documents.
  let isCustom: Bool
  /// Whether a result takes several calls, which must see the same state.
  private let isSnapshot: Bool
  /// Reads the result from a snapshot. Values are created outside of it.
  package let read: @Sendable (any EngineReader) throws -> LiveResult<Value>

  /// Creates an evaluator that reads something else whenever the result of another one may have changed.
  ///
  /// - Parameter isSnapshot: Whether a result takes several calls, which must see the same state.
  package init<Other: Sendable>(
    _ other: LiveQueryEvaluator<Other>, isSnapshot: Bool = false,
    read: @escaping @Sendable (any EngineReader) throws -> LiveResult<Value>
  ) {
    self.init(
      store: other.store, collection: other.collection, query: other.query,
      related: other.related, isCustom: other.isCustom,
      isSnapshot: isSnapshot || other.isSnapshot, read: read)
  }

  /// - Parameter query: Determines which commits can change the result.
  package init(
    store: Store, collection: String, query: Query, related: Set<ExactName> = [],
    isCustom: Bool = false, isSnapshot: Bool = false,
    read: @escaping @Sendable (any EngineReader) throws -> LiveResult<Value>
  ) {
    self.store = store
    self.collection = collection
    self.query = query
    self.related = related
    self.isCustom = isCustom
    self.isSnapshot = isSnapshot || !related.isEmpty || query.hasRelated
    self.read = read
  }

  /// Evaluates the query on the committed state, without buffered saves.
  func evaluate() async throws -> LiveResult<Value> {
    try await store.scheduler.read { [self] in try evaluateNow() }
  }

  /// Evaluates the query like ``evaluate()``, on this thread.
  func evaluateNow() throws -> LiveResult<Value> {
    // A condition or a result with other collections takes several calls.
    let scope: ReadScope = isSnapshot ? .snapshot : .call
    return try store.engine().read(scope, Interruption.current, read).finished()
  }

  /// Evaluates the query on the state that a reader sees.
  func evaluate(in reader: any EngineReader) throws -> LiveResult<Value> {
    try read(reader).finished()
  }

  /// The same evaluator without the type of its value.
  var erased: LiveQueryEvaluator<any Sendable> {
    LiveQueryEvaluator<any Sendable>(
      store: store, collection: collection, query: query, related: related, isCustom: isCustom,
      isSnapshot: isSnapshot
    ) { reader in
      let result = try read(reader)
      return LiveResult(result.fingerprint) { try result.make() }
    }
  }
}

/// A query result with its fingerprint.
package struct LiveResult<Value: Sendable>: Sendable {
  package var fingerprint: ResultFingerprint
  /// Creates the value after the read, since it may call a custom decoder that uses the store.
  package let make: @Sendable () throws -> Value
  /// The created value.
  private(set) var value: Value?

  package init(_ fingerprint: ResultFingerprint, _ make: @escaping @Sendable () throws -> Value) {
    self.fingerprint = fingerprint
    self.make = make
  }

  fileprivate func finished() throws -> LiveResult {
    var copy = self
    copy.value = try make()
    return copy
  }
}

/// A fingerprint that distinguishes results without retaining them.
package enum ResultFingerprint: Sendable {
  case documents([DocumentFingerprint])
  case values([UInt8])

  /// Values as stored JSON, since NaN is not equal to itself.
  package static func values(of rows: [AggregateRow]) throws(StoreError) -> ResultFingerprint {
    var writer = JSONWriter()
    writer.value(.array(rows.map { .array([.array($0.group), .array($0.values)]) }))
    if let failure = writer.failure { throw failure }
    return .values(Array(writer.bytes))
  }

  /// Whether the result equals an older one.
  func isUnchanged(since old: ResultFingerprint) -> Bool {
    switch (self, old) {
    case (.documents(let fingerprints), .documents(let old)):
      fingerprints.count == old.count
        && zip(fingerprints, old).allSatisfy { $0.isUnchanged(since: $1) }
    case (.values(let values), .values(let old)): values == old
    default: false
    }
  }

  /// Whether the result has the same content as an older one, however often it was written.
  func hasSameContent(as old: ResultFingerprint) -> Bool {
    guard case .documents(let fingerprints) = self, case .documents(let old) = old else {
      return isUnchanged(since: old)
    }
    return fingerprints.count == old.count
      && zip(fingerprints, old).allSatisfy { $0.hasSameContent(as: $1) }
  }

  var documents: [DocumentFingerprint] {
    if case .documents(let fingerprints) = self { fingerprints } else { [] }
  }

  /// The row IDs in the result; nil if unknown.
  var rows: Set<Int64>? {
    guard case .documents(let fingerprints) = self else { return nil }
    return Set(fingerprints.lazy.map(\.rowID))
  }
}

/// The identity and digest of a document.
package struct DocumentFingerprint: Sendable {
  let rowID: Int64
  private let digest: Int
  /// Nil if another program wrote the document last, or if the number of writes is irrelevant.
  private let revision: Int64?
  /// The revisions of included documents, in order, each like ``revision``.
  private var relatedRevisions: [Int64?] = []

  package init(_ document: StoredDocument) {
    // A document without a stored form is never adopted.
    self =
      (try? document.inStoredForm { DocumentFingerprint(hashing: $0) })
      ?? DocumentFingerprint(hashing: document)
  }

  private init(hashing document: StoredDocument) {
    var hasher = Hasher()
    // A collection that is dropped and recreated assigns the same row IDs to other documents.
    hasher.combine(document.key)
    hasher.combine(document.added)
    hasher.combine(document.type)
    hasher.combine(document.version)
    hasher.combine(bytes: document.body)
    rowID = document.rowID
    digest = hasher.finalize()
    revision = document.revision
  }

  /// Creates a fingerprint of selected fields: other fields and the number of writes are
  /// irrelevant.
  init(selected document: Document) throws {
    var hasher = Hasher()
    hasher.combine(document.key)
    hasher.combine(document.type)
    hasher.combine(document.version)
    try document.withBytes { hasher.combine(bytes: $0) }
    rowID = document.rowID ?? 0
    digest = hasher.finalize()
    revision = nil
  }

  /// Creates a fingerprint of a document with its related documents.
  init(_ including: IncludingDocument) throws {
    let document = including.document
    var hasher = Hasher()
    try including.hash(into: &hasher, &relatedRevisions)
    rowID = document.rowID ?? 0
    digest = hasher.finalize()
    revision = document.isPartial ? nil : document.revision
  }

  /// Whether the document is unchanged. A revision assigned when a writer adopted the row is not a
  /// change.
  func isUnchanged(since old: DocumentFingerprint) -> Bool {
    hasSameContent(as: old) && (revision == old.revision || old.revision == nil)
      && zip(relatedRevisions, old.relatedRevisions).allSatisfy { $0 == $1 || $1 == nil }
  }

  /// Whether it is the same document with equal content, however often it was written.
  func hasSameContent(as old: DocumentFingerprint) -> Bool {
    rowID == old.rowID && digest == old.digest
  }
}
