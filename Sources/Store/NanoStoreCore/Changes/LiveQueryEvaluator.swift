// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery

/// A question that is asked again whenever its answer may be another one.
struct LiveQueryEvaluator<Value: Sendable>: Sendable {
  let store: Store
  let collection: String
  let query: Query
  /// Asks it of a state, and makes a value outside of that.
  let read: @Sendable (any EngineReader) throws -> LiveAnswer<Value>

  /// The committed state, without what is collected and not written yet.
  func ask() async throws -> LiveAnswer<Value> {
    try await store.scheduler.read { [self] in
      try store.engine().read(.call, Interruption.current, read).finished()
    }
  }
}

/// An answer, with what tells it from another one.
struct LiveAnswer<Value: Sendable>: Sendable {
  var mark: AnswerMark
  /// Runs after the read, since it may be a type's own way of decoding, which may use the store.
  let make: @Sendable () throws -> Value
  /// What was made.
  private(set) var value: Value?

  init(_ mark: AnswerMark, _ make: @escaping @Sendable () throws -> Value) {
    self.mark = mark
    self.make = make
  }

  fileprivate func finished() throws -> LiveAnswer {
    var copy = self
    copy.value = try make()
    return copy
  }
}

/// What tells an answer from another one, without keeping it.
enum AnswerMark: Sendable {
  case documents([DocumentMark])
  case values([UInt8])

  /// Values as stored JSON: two that are not numbers are the same there.
  static func values(of rows: [AggregateRow]) throws(StoreError) -> AnswerMark {
    var writer = JSONWriter()
    writer.value(.array(rows.map { .array([.array($0.group), .array($0.values)]) }))
    if let failure = writer.failure { throw failure }
    return .values(Array(writer.bytes))
  }

  /// Whether observers have seen this answer already.
  func isUnchanged(since old: AnswerMark) -> Bool {
    switch (self, old) {
    case (.documents(let marks), .documents(let old)):
      marks.count == old.count && zip(marks, old).allSatisfy { $0.isUnchanged(since: $1) }
    case (.values(let values), .values(let old)): values == old
    default: false
    }
  }

  var documents: [DocumentMark] { if case .documents(let marks) = self { marks } else { [] } }

  /// The documents in the answer; nil if they are not known.
  var rows: Set<Int64>? {
    guard case .documents(let marks) = self else { return nil }
    return Set(marks.lazy.map(\.rowID))
  }
}

/// A document, and a number that is another one when the document is.
struct DocumentMark: Sendable {
  let rowID: Int64
  private let digest: Int
  /// Nil where another program wrote the document last, and where the number of writes is no matter.
  private let revision: Int64?

  init(_ document: StoredDocument) {
    // One without such a form is not adopted.
    self = (try? document.inStoredForm { DocumentMark(shown: $0) }) ?? DocumentMark(shown: document)
  }

  private init(shown document: StoredDocument) {
    var hasher = Hasher()
    // A collection that was dropped and made again gives its row ids to other documents.
    hasher.combine(document.key)
    hasher.combine(document.added)
    hasher.combine(document.type)
    hasher.combine(document.version)
    hasher.combine(bytes: document.body)
    rowID = document.rowID
    digest = hasher.finalize()
    revision = document.revision
  }

  /// Of chosen fields: others make no difference, and neither does the number of writes.
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

  /// Whether nothing of the document has changed since. A revision that it got when a writer adopted it
  /// is no change.
  func isUnchanged(since old: DocumentMark) -> Bool {
    rowID == old.rowID && digest == old.digest
      && (revision == old.revision || old.revision == nil)
  }
}
