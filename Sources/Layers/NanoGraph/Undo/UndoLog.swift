// SPDX-License-Identifier: MIT

import NanoDocument

/// The undo and redo history of a context.
struct UndoLog {
  /// The maximum number of groups; 0 disables recording.
  let levels: Int
  /// The changes since the last group was closed.
  var open = UndoGroup()
  /// The name of groups that are closed.
  var name: String?
  private(set) var undone: [UndoGroup] = []
  private(set) var done: [UndoGroup] = []
  /// The history at the last save, which a rollback restores.
  private var saved: (done: [UndoGroup], undone: [UndoGroup]) = ([], [])

  init(levels: Int) { self.levels = levels }

  var isEnabled: Bool { levels > 0 }

  mutating func note(_ kind: UndoRecord.Kind, _ object: any GraphObject, in table: ObjectTable) {
    guard isEnabled else { return }
    open.add(kind, object, table)
  }

  /// Closes the current group if it has changes, and discards the redo history.
  mutating func close() {
    guard !open.records.isEmpty else { return }
    open.name = name
    done.append(open)
    if done.count > levels { done.removeFirst(done.count - levels) }
    undone.removeAll()
    open = UndoGroup()
  }

  /// Appends the current group to the last one: changes that a save makes are undone with the
  /// changes that caused them.
  mutating func mergeOpen() {
    if let last = done.last { last.append(open) }
    open = UndoGroup()
  }

  mutating func lastDone() -> UndoGroup? { done.popLast() }
  mutating func lastUndone() -> UndoGroup? { undone.popLast() }
  mutating func push(done group: UndoGroup) { done.append(group) }
  mutating func push(undone group: UndoGroup) { undone.append(group) }

  /// The groups that can be undone and redone.
  var history: (done: [UndoGroup], undone: [UndoGroup]) { (done, undone) }

  mutating func didSave() { didSave(history) }
  /// Records the history that belongs to the saved state, which may be older than the current one.
  mutating func didSave(_ history: (done: [UndoGroup], undone: [UndoGroup])) { saved = history }
  mutating func rollback() {
    open = UndoGroup()
    (done, undone) = saved
  }
  mutating func removeAll() {
    open = UndoGroup()
    done.removeAll()
    undone.removeAll()
    saved = ([], [])
  }
}

/// Changes that are undone together, in their order.
final class UndoGroup {
  var name: String?
  private(set) var records: [UndoRecord] = []
  /// The snapshots, concatenated.
  private var bytes: [UInt8] = []
  private var tables: [ObjectTable] = []
  /// The versions of objects that a newer version of the program wrote, by record.
  private var newerVersions: [Int: Int64] = [:]
  /// The errors of snapshots with values that cannot be stored, by record.
  private var failures: [Int: SnapshotFailure] = [:]

  /// Records the state of an object before a change, or that it is new.
  func add(_ kind: UndoRecord.Kind, _ object: any GraphObject, _ table: ObjectTable) {
    if kind != .inserted {
      var writer = JSONWriter(capacity: 256)
      object._$writeSnapshot(to: &writer)
      bytes.append(contentsOf: writer.bytes)
      if let error = writer.failure {
        failures[records.count] = SnapshotFailure(error, in: writer.bytes)
      }
      if let newer = object._$unknownFields.version(nil, in: table.documents.name) {
        newerVersions[records.count] = newer
      }
    }
    records.append(
      UndoRecord(
        id: object._$object.rowID, base: table.base(of: object), end: bytes.count,
        table: tableIndex(of: table), kind: kind))
  }

  private func tableIndex(of table: ObjectTable) -> Int32 {
    if let last = records.last?.table, tables[Int(last)] === table { return last }
    if let existing = tables.firstIndex(where: { $0 === table }) { return Int32(existing) }
    tables.append(table)
    return Int32(tables.count - 1)
  }

  /// Appends the changes of another group.
  func append(_ other: UndoGroup) {
    for index in other.records.indices {
      let record = other.records[index]
      bytes += other.bytes[other.start(of: index)..<record.end]
      newerVersions[records.count] = other.newerVersions[index]
      failures[records.count] = other.failures[index]
      records.append(
        UndoRecord(
          id: record.id, base: record.base, end: bytes.count,
          table: tableIndex(of: other.tables[Int(record.table)]),
          kind: record.kind))
    }
  }

  /// Removes the last changes, so that only a number of them remain.
  func removeRecords(after count: Int) {
    guard records.count > count else { return }
    records.removeLast(records.count - count)
    bytes.removeLast(bytes.count - start(of: count))
    newerVersions = newerVersions.filter { $0.key < count }
    failures = failures.filter { $0.key < count }
  }

  func table(at index: Int) -> ObjectTable { tables[Int(records[index].table)] }

  /// Checks that the snapshot of a change is complete.
  ///
  /// - Throws: ``StoreError/Code/valueNotStorable`` if the object had a value that cannot be stored.
  func requireSnapshot(at index: Int) throws {
    guard let failure = failures[index] else { return }
    throw failure.error.adding(.collection, table(at: index).documents.name)
  }

  /// The positions of changes of objects that had values that cannot be stored.
  var failedUpdates: [Int] { failures.keys.filter { records[$0].kind == .updated }.sorted() }

  /// Checks that an object can be filled with the snapshot of a change: it may lack the value that cannot be stored,
  /// but no others, and only if the property does not require one.
  ///
  /// - Throws: ``StoreError/Code/valueNotStorable``.
  func requireFilling(at index: Int) throws {
    guard let failure = failures[index] else { return }
    let table = table(at: index)
    let object: any GraphObject = table.type.init(_$fault: ())
    func fill() throws {
      try withSnapshot(at: index) { bytes, _ in
        var reader = JSONReader(bytes)
        try object._$fill(&reader, .none)
      }
    }
    guard !failure.losesOthers, (try? fill()) != nil else {
      throw failure.error.adding(.collection, table.documents.name)
    }
  }

  /// Passes the snapshot of a change to a closure, with the version that wrote it if it is newer
  /// than the version of the class.
  func withSnapshot<Result>(
    at index: Int, _ work: (UnsafeRawBufferPointer, Int64?) throws -> Result
  ) rethrows -> Result {
    try bytes.withUnsafeBytes { bytes in
      try work(
        UnsafeRawBufferPointer(rebasing: bytes[start(of: index)..<records[index].end]),
        newerVersions[index])
    }
  }

  private func start(of index: Int) -> Int { index == 0 ? 0 : records[index - 1].end }
}

/// The error of a snapshot with a value that cannot be stored.
private struct SnapshotFailure {
  let error: StoreError
  /// Whether the snapshot can lack other values too: after the first failure, the writer also writes null for each
  /// list and nested object.
  let losesOthers: Bool

  init(_ error: StoreError, in snapshot: some Sequence<UInt8>) {
    self.error = error
    var (nulls, isInString, isEscaped) = (0, false, false)
    for byte in snapshot {
      if isEscaped {
        isEscaped = false
      } else if byte == UInt8(ascii: "\"") {
        isInString.toggle()
      } else if isInString {
        isEscaped = byte == UInt8(ascii: "\\")
      } else if byte == UInt8(ascii: "n") {
        // No other token contains the letter.
        nulls += 1
      }
    }
    losesOthers = nulls > 1
  }
}

/// A change of an object. Compact, since a program can insert a million objects.
struct UndoRecord {
  enum Kind: UInt8 {
    case inserted, updated, deleted
  }
  /// The row ID, or the object's number when it was new.
  let id: Int64
  /// The revision on which the object's state was based (``ObjectTable/base(of:)``).
  let base: Int64
  /// The end offset of the snapshot, which begins at the end of the previous record's snapshot.
  let end: Int
  let table: Int32
  let kind: Kind
}
