// SPDX-License-Identifier: MIT

import CSQLiteSettings
import GRDBSQLite
import NanoDocument

/// Decides when a transaction that replaces many documents switches off the triggers of its connection.
///
/// A statement that could fire a trigger, and whose indexes call functions, copies each page before it changes it, even
/// if the trigger has nothing to do: SQLite would have to undo what the trigger has done if a function failed. Replacing
/// a document of a collection with eight indexes took nearly twice as long.
///
/// While triggers are off, only statements run that would fire none, and reads of single documents. Any other statement
/// switches them on first: switching makes a running statement fail when it opens a table, as for a correlated subquery
/// (`SQLITE_ABORT_ROLLBACK`).
struct TriggerSwitch {
  var isOn = true
  /// The work after which triggers are switched off. SQLite prepares every statement again after switching, so it grows
  /// in a transaction that also runs other statements. A replacement without indexes saves a quarter of what each
  /// index saves. Arbitrary.
  private var remaining = 512
  private var next = 2_048

  /// Returns whether triggers are to be switched off. Called for each replaced document.
  @inline(__always)
  mutating func paysOff(indexes: Int) -> Bool {
    remaining -= 1 + 4 * indexes
    guard remaining < 0 else { return false }
    remaining = next
    next *= 4
    return true
  }

  /// Returns whether it succeeded.
  static func set(_ isOn: Bool, on connection: OpaquePointer) -> Bool {
    nano_enable_triggers(connection, isOn ? 1 : 0) == 0
  }
}

extension SQLiteConnection {
  var firesTriggers: Bool { triggers.isOn }

  /// Called for each document that is replaced without firing a trigger, with the number of indexes on fields.
  @inline(__always)
  func noteReplacement(indexes: Int) throws {
    guard triggers.isOn, triggers.paysOff(indexes: indexes) else { return }
    // A running statement with a subquery would fail.
    guard !hasRunningStatements else { return }
    triggers.isOn = !TriggerSwitch.set(false, on: handle)
    try prepareRollbackAgain()
  }

  /// Makes triggers fire again.
  @inline(__always)
  func fireTriggers() {
    guard _slowPath(!triggers.isOn) else { return }
    triggers.isOn = TriggerSwitch.set(true, on: handle)
    try? prepareRollbackAgain()
  }

  /// After switching, SQLite would prepare the statement when it is needed, possibly without memory.
  private func prepareRollbackAgain() throws {
    rollbackStatement = try SQLiteStatement("ROLLBACK", on: self)
  }

  /// Called at the end of a transaction.
  func endTriggerSwitch() {
    fireTriggers()
    triggers = TriggerSwitch()
  }
}
