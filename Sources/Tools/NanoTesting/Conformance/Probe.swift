// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery

/// An engine under test, with helpers for common operations.
final class Probe {
  private(set) var engine: any Engine
  private let reopenEngine: ((any Engine) throws -> any Engine)?

  init(_ engine: any Engine, reopen: ((any Engine) throws -> any Engine)?) {
    self.engine = engine
    reopenEngine = reopen
  }

  func has(_ capability: Capabilities) -> Bool { engine.capabilities.contains(capability) }

  /// Returns the kinds of indexes that the engine supports.
  func indexKinds(isUnique: Bool = false) -> [IndexDefinition.Kind] {
    IndexDefinition.Kind.allCases.filter { has($0.capability(isUnique: isUnique)) }
  }

  /// Closes the engine and reopens its database.
  func reopen(file: StaticString = #fileID, line: UInt = #line) throws {
    guard let reopenEngine else {
      throw ConformanceFailure("a durable engine requires the reopen closure", file, line)
    }
    engine = try ContractCheckingEngine(reopenEngine(engine.unchecked))
  }

  func write<Result>(_ work: (any EngineWriter) throws -> Result) throws -> Result {
    try engine.write(nil, work)
  }
  func read<Result>(_ work: (any EngineReader) throws -> Result) throws -> Result {
    try engine.read(.snapshot, nil, work)
  }

  @discardableResult
  func insert(_ object: DocumentObject, key: String? = nil, into collection: String = "c") throws
    -> Int64
  {
    try write { try $0.insert(object, key: key, into: collection) }
  }

  func ids(_ query: Query = Query(), in collection: String = "c") throws -> [Int64] {
    try read { try $0.ids(query, in: collection) }
  }

  /// Runs a transaction and rolls it back.
  ///
  /// - Throws: Any error of the closure.
  func rolledBack(_ work: (any EngineWriter) throws -> Void) throws {
    do {
      try write { writer in
        try work(writer)
        throw Rollback()
      }
    } catch is Rollback {}
  }
}

private struct Rollback: Error {}

extension EngineReader {
  func ids(_ query: Query = Query(), in collection: String = "c") throws -> [Int64] {
    var ids: [Int64] = []
    try find(query, in: collection) {
      ids.append($0.rowID)
      return true
    }
    return ids
  }

  /// Returns a copy of a document, or nil if it does not exist.
  func document(_ identity: Identity, in collection: String = "c") throws -> Snapshot? {
    var found: Snapshot?
    try get(identity, in: collection) { found = Snapshot($0) }
    return found
  }
}

extension EngineWriter {
  /// Runs a block in a savepoint and rolls it back.
  ///
  /// - Throws: Any error of the block.
  func rolledBack(_ work: () throws -> Void) throws {
    do {
      try savepoint {
        try work()
        throw Rollback()
      }
    } catch is Rollback {}
  }

  @discardableResult
  func insert(_ object: DocumentObject, key: String? = nil, into collection: String = "c") throws
    -> Int64
  {
    let key = try key.map { try DocumentKey($0) }
    return try GeneratedDocument(object, key: key).new { try insert($0, into: collection) }
  }

  /// Inserts several documents in one call.
  func insert(
    all documents: [GeneratedDocument], into collection: String = "c", _ rowIDs: inout [Int64]
  ) throws {
    var writer = JSONWriter()
    var ends: [Int] = []
    for document in documents {
      writer.object(document.object)
      ends.append(writer.count)
    }
    let new = zip(documents, zip([0] + ends, ends)).map { document, range in
      NewDocument(
        key: document.key, type: document.type, version: document.version, added: document.added,
        body: UnsafeRawBufferPointer(rebasing: writer.bytes[range.0..<range.1]))
    }
    try insert(new, into: collection, &rowIDs)
  }

  @discardableResult
  func save(_ object: DocumentObject, key: String? = nil, in collection: String = "c") throws
    -> Int64
  {
    let key = try key.map { try DocumentKey($0) }
    return try GeneratedDocument(object, key: key).new { try save($0, into: collection) }
  }
}

/// A copy of a stored document, which is valid only during a closure.
struct Snapshot: Equatable {
  var rowID: Int64
  var key: DocumentKey?
  var type: String?
  var version: Int64?
  var added: Int64?
  var revision: Int64?
  var body: String

  init(_ document: StoredDocument) {
    rowID = document.rowID
    key = document.key
    type = document.type
    version = document.version
    added = document.added
    revision = document.revision
    body = String(decoding: document.body, as: UTF8.self)
  }

  static func == (a: Snapshot, b: Snapshot) -> Bool {
    a.rowID == b.rowID && a.key == b.key && a.type.hasSameBytes(as: b.type)
      && a.version == b.version
      && a.added == b.added && a.revision == b.revision && a.body.hasSameBytes(as: b.body)
  }
}

func expect(
  _ condition: Bool, _ message: @autoclosure () -> String, file: StaticString = #fileID,
  line: UInt = #line
) throws {
  if !condition { throw ConformanceFailure(message(), file, line) }
}

func expectEqual<Value: Equatable>(
  _ actual: Value, _ expected: Value, _ message: String, file: StaticString = #fileID,
  line: UInt = #line
) throws {
  try expect(
    actual == expected, "\(message): expected \(expected), got \(actual)", file: file, line: line)
}

// `==` would not detect an engine that normalizes text: canonically equivalent strings are equal.

/// Compares the UTF-8 bytes of strings.
func expectEqual(
  _ actual: String, _ expected: String, _ message: String, file: StaticString = #fileID,
  line: UInt = #line
) throws {
  try expect(
    actual.hasSameBytes(as: expected), "\(message): expected \(expected), got \(actual)",
    file: file, line: line)
}

/// Compares the UTF-8 bytes of strings.
func expectEqual(
  _ actual: String?, _ expected: String?, _ message: String, file: StaticString = #fileID,
  line: UInt = #line
) throws {
  try expect(
    actual.hasSameBytes(as: expected),
    "\(message): expected \(expected ?? "nil"), got \(actual ?? "nil")", file: file, line: line)
}

/// Compares the UTF-8 bytes of strings.
func expectEqual(
  _ actual: [String], _ expected: [String], _ message: String, file: StaticString = #fileID,
  line: UInt = #line
) throws {
  try expect(
    actual.hasSameBytes(as: expected), "\(message): expected \(expected), got \(actual)",
    file: file, line: line)
}

@discardableResult
func expectError(
  _ code: StoreError.Code, _ message: String, file: StaticString = #fileID, line: UInt = #line,
  _ work: () throws -> Void
) throws -> StoreError {
  do {
    try work()
  } catch let error as StoreError where error.code == code {
    return error
  } catch let failure as ConformanceFailure {
    throw failure
  } catch {
    throw ConformanceFailure(
      "\(message): expected \(code.rawValue), got \(String(reflecting: error))", file, line)
  }
  throw ConformanceFailure("\(message): expected \(code.rawValue), nothing was thrown", file, line)
}
