// SPDX-License-Identifier: MIT

/// An error of a store, with a code for the program and details for logs.
///
/// `description` is a constant message followed by details that are safe to log, such as the
/// collection, the index or a byte offset. Details that may contain user data, such as a key, a value
/// or a local path, appear only in `debugDescription`.
///
/// ```swift
/// do { try people.insert(["name": "Ada"], key: "ada") }
/// catch let error as StoreError where error.code == .duplicateKey { … }
/// ```
public struct StoreError: Error, Sendable, Hashable {
  /// The kinds of errors that callers handle differently.
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// The text is not valid JSON; `byteOffset` is the position of the error.
    case invalidJSON
    /// A row or the header of a CSV file is not valid; `line` is the position of the error.
    case invalidCSV
    /// A field path has an empty component or an unclosed quote.
    case invalidPath
    /// The query text does not parse; `position` is where, and `expected` what was expected there.
    case invalidQuery
    /// An argument is out of range, missing or of the wrong kind.
    case invalidArgument
    /// A key is empty, contains a NUL character or is too long, or contains a period, which the store
    /// was configured to reject.
    case invalidKey
    /// The name of a collection, index or metadata entry is not valid or reserved, or that of a field
    /// contains a period, which the store was configured to reject.
    case invalidName
    /// A value has no stored form, such as an integer that does not fit in 64 bits.
    case valueNotStorable
    /// A document, an index entry or an attachment exceeds the size limit of the engine.
    case documentTooLarge
    /// A document with this key already exists.
    case duplicateKey
    /// A unique index already contains this value; `index` is its name.
    case uniqueViolation
    /// The stored document does not have the expected revision; `actual` is the one it has. The
    /// document was not replaced or removed.
    case revisionConflict
    /// A delete rule prevents the deletion of an object; `field` is the relationship.
    case deleteDenied
    /// The document or other object that a call refers to does not exist.
    case notFound
    /// An object of this name already exists with a different definition.
    case alreadyExists
    /// A document contains a value of a type other than the requested one.
    case typeMismatch
    /// Evaluating a query on a document, or the memory of a pipeline or of a condition on related documents, would
    /// exceed its limit; `limit` names the limit.
    case tooComplex
    /// A document that contains only some of its fields cannot replace the whole document.
    case partialDocument
    /// A stored document cannot be decoded.
    case corruptDocument
    /// The database file, or the content of an attachment, is damaged.
    case corruptFile
    /// The file is not a database, or not a NanoStore database.
    case notADatabase
    /// The file was written by a newer version of the library.
    case newerFormat
    /// The file cannot be opened or created, or the server was never reached or rejects the login.
    case cannotOpen
    /// The file was deleted, moved or replaced while the store was open. Nothing was written; close the
    /// store and open it again.
    case fileReplaced
    /// The store is encrypted, and the key is missing or wrong.
    case wrongKey
    /// The store, its file or its folder is read-only.
    case readOnly
    /// A user-supplied statement would change the store's internal data; `table` is the table.
    case notPermitted
    /// The disk is full, or the file has reached its maximum size.
    case full
    /// The database could not allocate memory. If SQLite reports this in a write block, the block is rolled
    /// back, even if it catches the error.
    case outOfMemory
    /// Another connection held the lock for longer than the busy timeout.
    case locked
    /// The operation was canceled or interrupted.
    case interrupted
    /// The store is closed.
    case closed
    /// The store's server can no longer be reached, has too many connections, or the connection was lost.
    /// Nothing was applied.
    case connectionLost
    /// The connection was lost during the commit of a transaction, which was either applied completely
    /// or not at all.
    case outcomeUnknown
    /// The engine does not support the operation; `capability` is the missing capability.
    case unsupported
    /// The operating system reported a read or write error. If SQLite reports this in a write block, the block
    /// is rolled back, even if it catches the error.
    case inputOutput
    /// The database rejected a statement for a reason without a code of its own.
    case database
  }

  /// The name of a detail.
  public enum Detail: String, Sendable, Hashable {
    /// The collection's name.
    case collection
    /// The path of the field.
    case field
    /// The index's name.
    case index
    /// The number of the record in an import, starting at 1.
    case record
    /// The byte offset of the error.
    case byteOffset
    /// The line of the error, starting at 1.
    case line
    /// The position of the error, such as a column of a query text.
    case position
    /// What was expected or is allowed.
    case expected
    /// The limit that was exceeded.
    case limit
    /// What was found instead.
    case actual
    /// The missing capability of the engine.
    case capability
    /// The document's row ID.
    case rowID
    /// The database's error code.
    case engineCode
    /// The operation that failed, or the setting or expression that caused the error.
    case operation
    /// A suggested remedy.
    case hint
    /// The name of a database table.
    case table
    /// The name of a table column, or its number, starting at 1.
    case column
    /// The document's key. May contain user data.
    case key
    /// A value. May contain user data.
    case value
    /// A file path, or the path of a value in an encoded type. May contain user data.
    case path
    /// The offending text. May contain user data.
    case text
    /// The database's error message. May contain user data.
    case engineMessage

    /// Whether the detail's value may contain data from documents or from the user's machine.
    public var mayHoldUserData: Bool {
      switch self {
      case .key, .value, .path, .text, .engineMessage: true
      default: false
      }
    }
  }

  /// The kind of error, for programs.
  public let code: Code
  /// A constant message that is the same each time this error is thrown.
  public let message: String
  /// Labeled details, the most relevant first.
  public let details: [(name: Detail, value: String)]

  /// Creates an error with a constant message and its details.
  public init(
    _ code: Code, _ message: String, _ details: KeyValuePairs<Detail, String> = [:]
  ) {
    self.code = code
    self.message = message
    self.details = details.map { ($0.key, $0.value) }
  }

  /// The value of a detail, or `nil` if the error does not have it.
  public subscript(detail: Detail) -> String? { details.first { $0.name == detail }?.value }

  /// Returns the error with a detail added, or unchanged if it already has that detail.
  package func adding(_ name: Detail, _ value: @autoclosure () -> String) -> StoreError {
    guard self[name] == nil else { return self }
    return StoreError(code, message, details: details + [(name, value())])
  }

  /// Returns the error with a new value for a detail.
  package func replacing(_ name: Detail, _ value: String) -> StoreError {
    removing(name).adding(name, value)
  }

  /// Returns the error without a detail.
  package func removing(_ name: Detail) -> StoreError {
    StoreError(code, message, details: details.filter { $0.name != name })
  }

  private init(_ code: Code, _ message: String, details: [(name: Detail, value: String)]) {
    self.code = code
    self.message = message
    self.details = details
  }

  /// Returns whether both errors have the same code, message and details.
  public static func == (a: StoreError, b: StoreError) -> Bool {
    a.code == b.code && a.message == b.message
      && a.details.elementsEqual(b.details) { $0.name == $1.name && $0.value == $1.value }
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(code)
    hasher.combine(message)
  }
}

extension StoreError: CustomStringConvertible, CustomDebugStringConvertible {
  /// The message with the details that contain no user data.
  public var description: String { render { !$0.mayHoldUserData } }
  /// The message with all details.
  public var debugDescription: String { render { _ in true } }

  private func render(_ isIncluded: (Detail) -> Bool) -> String {
    let parts = details.filter { isIncluded($0.name) }.map { "\($0.name.rawValue): \($0.value)" }
    return parts.isEmpty
      ? "\(message) [\(code.rawValue)]"
      : "\(message) [\(code.rawValue)] (\(parts.joined(separator: ", ")))"
  }
}
