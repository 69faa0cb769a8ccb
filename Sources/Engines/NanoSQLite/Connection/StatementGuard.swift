// SPDX-License-Identifier: MIT

import GRDBSQLite
import NanoDocument
import NanoEngine

/// Keeps statements of the caller's own from damaging what the store keeps.
///
/// SQLite asks it about each step of a statement while the statement is prepared. Ours may do
/// everything. One of the caller's own may read everything, and write to the tables of collections
/// and to tables of its own, but not to those of the store, nor to definitions of the store, nor to
/// settings. A trigger of the caller's own is held to the same, whoever sets it off; those of the
/// store are not.
///
/// It takes the place of GRDB's authorizer, which finds out what statements of GRDB's observe. It is
/// set once, since SQLite prepares every statement anew when that changes.
///
/// Confined: only code that uses the connection may touch it.
final class StatementGuard {
  private let handle: OpaquePointer
  /// Whether the statement that is prepared is the caller's own.
  private var isForeign = false
  /// The names of the collections, in small letters.
  private var collections: Set<ExactName> = []
  private var refusal: StoreError?

  init(_ handle: OpaquePointer) {
    self.handle = handle
    sqlite3_set_authorizer(
      handle,
      { context, action, first, second, database, source in
        guard let context else { return SQLITE_OK }
        return Unmanaged<StatementGuard>.fromOpaque(context).takeUnretainedValue()
          .answer(action, first, second, database, source)
      }, Unmanaged.passUnretained(self).toOpaque())
  }

  /// As must be done before the connection closes.
  func remove() { sqlite3_set_authorizer(handle, nil, nil) }

  /// Prepares a statement of the caller's own.
  ///
  /// - Throws: ``StoreError/Code/notPermitted`` if it must not run.
  func preparing(
    with collections: Set<ExactName>, _ prepare: () throws -> SQLiteStatement
  ) throws -> SQLiteStatement {
    self.collections = collections
    isForeign = true
    defer { isForeign = false }
    return try prepare()
  }

  /// Why the last statement was refused, told once.
  func takeRefusal() -> StoreError? {
    defer { refusal = nil }
    return refusal
  }
}

extension StatementGuard {
  private typealias Text = UnsafePointer<CChar>

  private func answer(
    _ action: Int32, _ first: Text?, _ second: Text?, _ database: Text?, _ source: Text?
  ) -> Int32 {
    // What is read is asked for every column of every statement.
    if action == SQLITE_READ || action == SQLITE_SELECT { return SQLITE_OK }
    // Views have a name here too, and are as little ours.
    guard source.map({ !Self.isInternal($0) }) ?? isForeign else { return SQLITE_OK }
    let step = Step(
      action: action, first: first.map { String(cString: $0) },
      second: second.map { String(cString: $0) }, database: database.map { String(cString: $0) })
    guard let refused = step.problem(collections) else { return SQLITE_OK }
    refusal = refused
    return SQLITE_DENY
  }

  private static func isInternal(_ name: Text) -> Bool {
    sqlite3_strnicmp(name, "nano_", 5) == 0
  }

  /// A step of a statement as SQLite describes it (https://sqlite.org/c3ref/c_alter_table.html).
  private struct Step {
    let action: Int32
    let first: String?
    let second: String?
    let database: String?

    func problem(_ collections: Set<ExactName>) -> StoreError? {
      func isCollection(_ name: String?) -> Bool {
        name.map { collections.contains($0.folded) } ?? false
      }
      switch action {
      case SQLITE_INSERT, SQLITE_DELETE:
        return Self.isInternal(first) ? refusal(.write, first) : nil
      case SQLITE_UPDATE:
        if Self.isInternal(first) { return refusal(.write, first) }
        return second == "revision" && isCollection(first) ? refusal(.revision, first) : nil
      case SQLITE_CREATE_TABLE, SQLITE_CREATE_VIEW, SQLITE_CREATE_VTABLE, SQLITE_DROP_VIEW,
        SQLITE_DROP_VTABLE:
        return Self.isInternal(first) ? refusal(.definition, first) : nil
      case SQLITE_CREATE_TEMP_TABLE, SQLITE_CREATE_TEMP_VIEW:
        // It would be found in place of the collection's.
        return Self.isInternal(first) || isCollection(first) ? refusal(.definition, first) : nil
      case SQLITE_CREATE_INDEX, SQLITE_CREATE_TRIGGER, SQLITE_CREATE_TEMP_TRIGGER,
        SQLITE_CREATE_TEMP_INDEX, SQLITE_DROP_INDEX, SQLITE_DROP_TRIGGER:
        if Self.isInternal(first) { return refusal(.definition, first) }
        return Self.isInternal(second) ? refusal(.definition, second) : nil
      case SQLITE_DROP_TABLE:
        return Self.isInternal(first) || isCollection(first) ? refusal(.definition, first) : nil
      case SQLITE_ALTER_TABLE:
        // A temporary table may get any name, also that of a collection.
        return Self.isInternal(second) || isCollection(second) || first == "temp"
          ? refusal(.definition, second) : nil
      case SQLITE_PRAGMA:
        let name = first?.foldingASCII ?? ""
        return second == nil || Self.readingPragmas.contains(name) ? nil : refusal(.setting, first)
      default: return nil
      }
    }

    /// Tables of ours, and the one that gives every page of the file.
    private static func isInternal(_ name: String?) -> Bool {
      guard let name = name?.foldingASCII else { return false }
      return name.hasExactPrefix("nano_") || name == "sqlite_dbpage"
    }

    /// Those that take an argument and set nothing that lasts; the others belong to the
    /// configuration, or make the file one that is not ours.
    private static let readingPragmas: Set<String> = [
      "analysis_limit", "foreign_key_check", "foreign_key_list", "incremental_vacuum", "index_info",
      "index_list", "index_xinfo", "integrity_check", "optimize", "quick_check", "table_info",
      "table_list", "table_xinfo",
    ]

    private enum Kind { case write, revision, definition, setting }

    private func refusal(_ kind: Kind, _ name: String?) -> StoreError {
      let permit = "allowsInternalWrites of the configuration permits it"
      let (message, hint) =
        switch kind {
        case .write: ("A statement would write to a table of the store's own", permit)
        case .revision:
          (
            "A statement would write the revision of documents",
            "leave the column out, the store keeps it; \(permit)"
          )
        case .definition:
          (
            "A statement would change a definition of the store's own",
            "collections and indexes are made and dropped by calls; \(permit)"
          )
        case .setting:
          ("A statement would change a setting", "the configuration has settings; \(permit)")
        }
      guard kind != .setting else {
        return StoreError(.notPermitted, message, [.actual: "PRAGMA \(name ?? "")", .hint: hint])
      }
      return StoreError(.notPermitted, message, [.table: name ?? "", .hint: hint])
    }
  }
}
