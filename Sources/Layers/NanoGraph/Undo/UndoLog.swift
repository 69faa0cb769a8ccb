// SPDX-License-Identifier: MIT

import NanoDocument

/// What can be undone and redone in a context.
struct UndoLog {
  /// Groups that are kept at most; none are noted if 0.
  var levels: Int
  /// Changes since the last group was closed.
  var open = UndoGroup()
  private(set) var undone: [UndoGroup] = []
  private(set) var done: [UndoGroup] = []
  /// Both as they were at the last save, which is where a rollback goes back to.
  private var saved: (done: [UndoGroup], undone: [UndoGroup]) = ([], [])

  init(levels: Int) { self.levels = levels }

  var isEnabled: Bool { levels > 0 }

  mutating func note(_ kind: UndoRecord.Kind, _ object: any GraphObject, in table: ObjectTable) {
    guard isEnabled else { return }
    open.add(kind, object, table)
  }

  /// Closes the group of changes, if there are any, and forgets what was undone before them.
  mutating func close() {
    guard !open.records.isEmpty else { return }
    done.append(open)
    if done.count > levels { done.removeFirst(done.count - levels) }
    undone.removeAll()
    open = UndoGroup()
  }

  /// Makes the open group a part of the last one: what saving itself changes is undone with what asked for it.
  mutating func mergeOpen() {
    if let last = done.last { last.append(open) }
    open = UndoGroup()
  }

  mutating func lastDone() -> UndoGroup? { done.popLast() }
  mutating func lastUndone() -> UndoGroup? { undone.popLast() }
  mutating func push(done group: UndoGroup) { done.append(group) }
  mutating func push(undone group: UndoGroup) { undone.append(group) }

  mutating func didSave() { saved = (done, undone) }
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

/// Changes that are undone together, in the order in which they were made.
final class UndoGroup {
  var name: String?
  private(set) var records: [UndoRecord] = []
  /// The snapshots, one after the other.
  private var bytes: [UInt8] = []

  /// Notes what an object is before a change, or that it is new.
  func add(_ kind: UndoRecord.Kind, _ object: any GraphObject, _ table: ObjectTable) {
    let start = bytes.count
    if kind != .inserted {
      var writer = JSONWriter(capacity: 256)
      object._$writeSnapshot(to: &writer)
      bytes.append(contentsOf: writer.bytes)
    }
    records.append(
      UndoRecord(
        kind: kind, table: table, id: object._$object.rowID, range: start..<bytes.count,
        newerVersion: kind == .inserted ? nil : object._$unknownFields.newerVersion))
  }

  func append(_ other: UndoGroup) {
    let start = bytes.count
    bytes += other.bytes
    records += other.records.map { $0.moved(by: start) }
  }

  func withSnapshot<Result>(
    of record: UndoRecord, _ work: (UnsafeRawBufferPointer) throws -> Result
  ) rethrows -> Result {
    try bytes.withUnsafeBytes { try work(UnsafeRawBufferPointer(rebasing: $0[record.range])) }
  }
}

/// One change of one object.
struct UndoRecord {
  enum Kind {
    case inserted, updated, deleted
  }
  let kind: Kind
  let table: ObjectTable
  /// The row id, or the number that the object had as a new one.
  let id: Int64
  /// Where the snapshot of before is.
  private(set) var range: Range<Int>
  let newerVersion: Int64?

  func moved(by distance: Int) -> UndoRecord {
    var copy = self
    copy.range = range.lowerBound + distance..<range.upperBound + distance
    return copy
  }
}
