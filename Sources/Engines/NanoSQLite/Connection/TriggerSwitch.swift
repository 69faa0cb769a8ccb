// SPDX-License-Identifier: MIT

import CSQLiteSettings

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
