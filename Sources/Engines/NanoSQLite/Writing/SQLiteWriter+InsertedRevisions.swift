// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoSQL

extension SQLiteWriter {
  /// Runs a statement of the user, and rejects it if it inserts rows with a revision into collections.
  ///
  /// SQLite tells before a statement is run which columns it updates, but not which it inserts, for example with
  /// `INSERT INTO people SELECT * FROM archive`. Creating a trigger makes SQLite prepare all statements again, so it is not
  /// done for a statement that names its columns.
  ///
  /// - Parameter isDirect: Whether only the statement itself inserts, and no trigger of the user.
  func refusingRevisions<Result>(
    in collections: [String], isDirect: Bool, of statement: SQLiteStatement,
    _ work: () throws -> Result
  ) throws -> Result {
    // Creating a trigger makes a running statement fail; see ``TriggerSwitch``.
    guard !connection.hasRunningStatements else {
      throw StoreError(
        .notPermitted,
        "A statement that may insert revisions cannot run while a query returns its results",
        [
          .collection: collections[0],
          .hint: isDirect
            ? "name the columns of the INSERT, without revision"
            : "a trigger inserts into the collection: run the statement after the query",
        ])
    }
    let triggers = collections.indices.map { "nano_inserted_\($0)" }
    let result = Swift.Result {
      for (trigger, name) in zip(triggers, collections) {
        try connection.execute(
          "CREATE TEMP TRIGGER \(trigger) BEFORE INSERT ON main.\(SQLName.quoted(name)) "
            + "WHEN NEW.revision IS NOT NULL BEGIN SELECT RAISE(ABORT, '\(trigger)'); END")
      }
      return try work()
    }
    statement.reset()
    // A rollback has removed them.
    guard connection.isInTransaction else { return try result.get() }
    do {
      for trigger in triggers { try connection.execute("DROP TRIGGER IF EXISTS temp.\(trigger)") }
    } catch {
      // They would reject the rows of the store, and are gone after a rollback.
      connection.lose(error)
      throw error
    }
    do {
      return try result.get()
    } catch let error as StoreError {
      let place = triggers.firstIndex { error[.engineMessage] == $0 }
      throw place.map { StatementGuard.refusedRevision(collections[$0]) } ?? error
    }
  }
}
