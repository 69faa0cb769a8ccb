// SPDX-License-Identifier: MIT

import GRDBSQLite
import NanoDocument
import NanoEngine
import NanoSQL

/// Prevents user-supplied statements from damaging the store's data.
///
/// SQLite's authorizer callback calls it for each step of a statement while the statement is prepared. The
/// store's own statements are unrestricted. A user-supplied statement may read everything, and write to the
/// tables of collections and to user-defined tables, but not to the store's internal tables, schema definitions,
/// and settings. The same applies to a user-defined trigger, whichever statement fires it; the store's triggers
/// are unrestricted.
///
/// It replaces GRDB's authorizer, which determines what GRDB's statements observe. It is set once, because
/// SQLite re-prepares every statement when the authorizer changes.
///
/// Confined: only code that uses the connection may access it.
final class StatementGuard {
  private let handle: OpaquePointer
  /// Whether the statement being prepared is user-supplied.
  private var isUserSupplied = false
  /// The names of the known collections in lowercase. The store's own statements need them too, because they fire
  /// user-defined triggers.
  private var collections: Set<ExactName> = []
  /// Whether they include all collections that existed when the first one was used.
  private(set) var knowsCollections = false
  private var refusal: StoreError?
  /// The collections into which the statement inserts, with columns that SQLite does not report.
  private var inserted: Set<ExactName> = []
  /// Whether triggers of the user are among those that insert.
  private var triggersInsert = false

  init(_ handle: OpaquePointer) {
    self.handle = handle
    sqlite3_set_authorizer(
      handle,
      { context, action, first, second, database, source in
        guard let context else { return SQLITE_OK }
        return Unmanaged<StatementGuard>.fromOpaque(context).takeUnretainedValue()
          .authorize(action, first, second, database, source)
      }, Unmanaged.passUnretained(self).toOpaque())
  }

  /// Removes the authorizer, as required before the connection closes.
  func remove() { sqlite3_set_authorizer(handle, nil, nil) }

  /// Prepares a user-supplied statement.
  ///
  /// - Parameter collections: The names of all collections; `nil` for a statement that only reads.
  /// - Throws: ``StoreError/Code/notPermitted`` if it must not run.
  func preparing(
    with collections: Set<ExactName>?, _ prepare: () throws -> SQLiteStatement
  ) throws -> SQLiteStatement {
    if let collections {
      self.collections = collections
      knowsCollections = true
    }
    inserted = []
    triggersInsert = false
    isUserSupplied = true
    defer { isUserSupplied = false }
    return try prepare()
  }

  /// Adds a collection.
  func note(_ name: String) { collections.insert(name.folded) }

  /// Adds all collections.
  func note(all names: [String]) {
    collections.formUnion(names.map(\.folded))
    knowsCollections = true
  }

  /// Returns the collections into which the last statement inserts, and whether only the statement itself does.
  func takeInserted() -> (names: [String], isDirect: Bool) {
    defer { inserted = [] }
    return (inserted.map(\.text), !triggersInsert)
  }

  /// Returns the reason why the last statement was rejected, and clears it.
  func takeRefusal() -> StoreError? {
    defer { refusal = nil }
    return refusal
  }
}

extension StatementGuard {
  /// Returns the error for a statement that inserts rows with a revision.
  static func refusedRevision(_ collection: String) -> StoreError {
    Step.refusal(.revision, collection)
  }

  /// Rejects a statement that gives a table an internal name, which SQLite does not report.
  static func checkNewName(in text: String) throws(StoreError) {
    guard SQLText(text).isAlteration else { return }
    var tokens = SQLTokens(text)
    var words: [String] = []
    while let token = tokens.next() {
      let name: String
      switch token {
      case .word(let text), .quoted(let text): name = text
      case .symbol: continue
      }
      if words.suffix(2) == ["rename", "to"], Step.isInternal(name) {
        throw Step.refusal(.definition, name)
      }
      words.append(name.lowercased())
    }
  }

  private typealias Text = UnsafePointer<CChar>

  private func authorize(
    _ action: Int32, _ first: Text?, _ second: Text?, _ database: Text?, _ source: Text?
  ) -> Int32 {
    // Reads are authorized for every column of every statement, so they are allowed first.
    if action == SQLITE_READ || action == SQLITE_SELECT { return SQLITE_OK }
    // `source` may also name a view, which is not internal either.
    guard source.map({ !Self.isInternal($0) }) ?? isUserSupplied else { return SQLITE_OK }
    let step = Step(
      action: action, first: first.map { String(cString: $0) },
      second: second.map { String(cString: $0) }, database: database.map { String(cString: $0) })
    if action == SQLITE_INSERT, step.database == "main", let name = step.first?.folded,
      collections.contains(name)
    {
      inserted.insert(name)
      if source != nil { triggersInsert = true }
    }
    guard let refused = step.problem(collections) else { return SQLITE_OK }
    refusal = refused
    return SQLITE_DENY
  }

  private static func isInternal(_ name: Text) -> Bool {
    sqlite3_strnicmp(name, "nano_", 5) == 0
  }

  /// A step of a statement as described by SQLite (https://sqlite.org/c3ref/c_alter_table.html).
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
        return Self.isInternal(first) ? Self.refusal(.write, first) : nil
      case SQLITE_UPDATE:
        if Self.isInternal(first) { return Self.refusal(.write, first) }
        return second == "revision" && isCollection(first) ? Self.refusal(.revision, first) : nil
      case SQLITE_CREATE_TABLE, SQLITE_CREATE_VIEW, SQLITE_DROP_VIEW, SQLITE_DROP_VTABLE:
        return Self.isInternal(first) ? Self.refusal(.definition, first) : nil
      case SQLITE_CREATE_VTABLE:
        if Self.isInternal(first) { return Self.refusal(.definition, first) }
        // The module: a table of another name would also expose every page.
        return Self.isInternal(second) ? Self.refusal(.definition, second) : nil
      case SQLITE_CREATE_TEMP_TABLE, SQLITE_CREATE_TEMP_VIEW:
        // It would shadow the collection's table.
        return Self.isInternal(first) || isCollection(first)
          ? Self.refusal(.definition, first) : nil
      case SQLITE_CREATE_INDEX, SQLITE_CREATE_TRIGGER, SQLITE_CREATE_TEMP_TRIGGER,
        SQLITE_CREATE_TEMP_INDEX, SQLITE_DROP_INDEX, SQLITE_DROP_TRIGGER:
        if Self.isInternal(first) { return Self.refusal(.definition, first) }
        return Self.isInternal(second) ? Self.refusal(.definition, second) : nil
      case SQLITE_DROP_TABLE:
        return Self.isInternal(first) || isCollection(first)
          ? Self.refusal(.definition, first) : nil
      case SQLITE_ALTER_TABLE:
        // A temporary table can be renamed to any name, including a collection's.
        return Self.isInternal(second) || isCollection(second) || first == "temp"
          ? Self.refusal(.definition, second) : nil
      case SQLITE_PRAGMA:
        let name = first?.foldingASCII ?? ""
        return second == nil || Self.readingPragmas.contains(name)
          ? nil : Self.refusal(.setting, first)
      default: return nil
      }
    }

    /// Whether a name is that of an internal table, or of the virtual table that exposes every page of the file.
    fileprivate static func isInternal(_ name: String?) -> Bool {
      guard let name = name?.foldingASCII else { return false }
      return name.hasExactPrefix("nano_") || name == "sqlite_dbpage"
    }

    /// The pragmas that take an argument and set nothing persistent; the others belong to the configuration, or
    /// would make the file incompatible with the store.
    private static let readingPragmas: Set<String> = [
      "analysis_limit", "foreign_key_check", "foreign_key_list", "incremental_vacuum", "index_info",
      "index_list", "index_xinfo", "integrity_check", "optimize", "quick_check", "table_info",
      "table_list", "table_xinfo",
    ]

    fileprivate enum Kind { case write, revision, definition, setting }

    fileprivate static func refusal(_ kind: Kind, _ name: String?) -> StoreError {
      let permit = "allowsInternalWrites in the configuration permits it"
      let (message, hint) =
        switch kind {
        case .write: ("A statement would write to an internal table of the store", permit)
        case .revision:
          (
            "A statement would write the revision of documents",
            "omit the column, which the store maintains; \(permit)"
          )
        case .definition:
          (
            "A statement would change a schema definition of the store",
            "use the API to create and drop collections and indexes; \(permit)"
          )
        case .setting:
          ("A statement would change a setting", "use the configuration instead; \(permit)")
        }
      guard kind != .setting else {
        return StoreError(.notPermitted, message, [.actual: "PRAGMA \(name ?? "")", .hint: hint])
      }
      return StoreError(.notPermitted, message, [.table: name ?? "", .hint: hint])
    }
  }
}
