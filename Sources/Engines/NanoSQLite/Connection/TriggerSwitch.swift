// SPDX-License-Identifier: MIT

import CSQLiteSettings

/// Decides when a transaction that replaces many documents switches off the triggers of its connection.
///
/// A statement that could fire a trigger, and whose indexes call functions, copies each page before it changes it, even
/// if the trigger has nothing to do: SQLite would have to undo what the trigger has done if a function failed. Replacing
/// a document of a collection with eight indexes took nearly twice as long. Only statements that would fire no trigger
/// run while triggers are off; before any other, they are switched on.
struct TriggerSwitch {
  var isOn = true
  /// The number of documents to replace before triggers are switched off. SQLite prepares every statement again after
  /// switching, so the number grows in a transaction that also writes what fires triggers. Arbitrary.
  private var remaining = 64
  private var next = 256

  /// Returns whether triggers are to be switched off. Called for each replaced document.
  @inline(__always)
  mutating func paysOff() -> Bool {
    remaining -= 1
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
