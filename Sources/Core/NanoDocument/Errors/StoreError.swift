// SPDX-License-Identifier: MIT

/// What went wrong, in a form that a program can act on and a log can keep.
///
/// `description` is a constant sentence with details that are safe to log (collection, index,
/// byte offset). Details that may hold user data (a key, a value, a path of this machine) appear
/// only in `debugDescription`.
///
/// ```swift
/// do { try people.insert(["name": "Ada"], key: "ada") }
/// catch let error as StoreError where error.code == .duplicateKey { … }
/// ```
public struct StoreError: Error, Sendable, Hashable {
  /// What a caller may want to tell apart. A code exists only if callers would act differently.
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// Text that should be JSON is not; `byteOffset` says where.
    case invalidJSON
    /// A field path has an empty component or an unclosed quote.
    case invalidPath
    /// Condition text does not parse; `position` says where, `expected` what was expected.
    case invalidQuery
    /// A parameter is out of its range, missing or of the wrong kind.
    case invalidArgument
    /// A key is empty, holds a NUL, or is too long.
    case invalidKey
    /// The name of a collection, index or metadata entry cannot be used.
    case invalidName
    /// A value has no stored form, such as an integer beyond 64 bits.
    case valueNotStorable
    /// The encoded document is over the limit.
    case documentTooLarge
    /// A document with this key exists already.
    case duplicateKey
    /// A unique index has this value already; `index` names it.
    case uniqueViolation
    /// A document has another revision than the one that was to be replaced or removed; `actual` says which.
    case revisionConflict
    /// A delete rule keeps an object; `field` names the relationship.
    case deleteDenied
    /// What an update or another call addresses does not exist.
    case notFound
    /// Something of this name exists already, with another definition.
    case alreadyExists
    /// A document holds a value of another type than was asked for.
    case typeMismatch
    /// Evaluating a query on a document would cost more than its budget; `limit` says of what.
    case tooComplex
    /// A document with only some of its fields cannot replace the whole one.
    case partialDocument
    /// A stored document does not decode.
    case corruptDocument
    /// The file is damaged.
    case corruptFile
    /// The file is not a database, or not one of ours.
    case notADatabase
    /// The file was written by a newer version of the library.
    case newerFormat
    /// The file cannot be opened or created.
    case cannotOpen
    /// The file was deleted, moved or replaced while the store had it open. Nothing was written; close the store and
    /// open it again.
    case fileReplaced
    /// The store is encrypted, and this is not its key, or there was none.
    case wrongKey
    /// The store, its file or its folder can only be read.
    case readOnly
    /// A statement of the caller's own would change what the store keeps for itself; `table` names it.
    case notPermitted
    /// No space is left, or the file has reached its permitted size.
    case full
    /// The database could not get memory.
    case outOfMemory
    /// Another connection holds the lock for longer than the busy timeout.
    case locked
    /// The operation was cancelled or interrupted.
    case interrupted
    /// The store is closed.
    case closed
    /// The server of the store cannot be reached, or the connection was lost. Nothing was applied.
    case connectionLost
    /// The connection was lost while a transaction was being committed: it happened wholly or not at all.
    case outcomeUnknown
    /// The engine cannot do this; `capability` says what is missing.
    case unsupported
    /// The operating system failed to read or write.
    case inputOutput
    /// The database refused a statement for another reason.
    case database
  }

  /// The name of one detail.
  public enum Detail: String, Sendable, Hashable {
    case collection, field, index, record, byteOffset, line, position, expected, limit, actual,
      capability
    case rowID, engineCode, operation, hint, table, column
    case key, value, path, text, engineMessage

    /// Whether what stands under this name may come from a user's documents or machine.
    public var mayHoldUserData: Bool {
      switch self {
      case .key, .value, .path, .text, .engineMessage: true
      default: false
      }
    }
  }

  /// What went wrong, for the program.
  public let code: Code
  /// A constant sentence, the same each time this error is thrown.
  public let message: String
  /// Labelled details in the order in which they are worth reading.
  public let details: [(name: Detail, value: String)]

  public init(
    _ code: Code, _ message: String, _ details: KeyValuePairs<Detail, String> = [:]
  ) {
    self.code = code
    self.message = message
    self.details = details.map { ($0.key, $0.value) }
  }

  /// The value of a detail, if it was given.
  public subscript(detail: Detail) -> String? { details.first { $0.name == detail }?.value }

  /// The same error with one more detail, unless it has that one already.
  package func adding(_ name: Detail, _ value: @autoclosure () -> String) -> StoreError {
    guard self[name] == nil else { return self }
    return StoreError(code, message, details: details + [(name, value())])
  }

  /// The same error with another value of a detail.
  package func replacing(_ name: Detail, _ value: String) -> StoreError {
    removing(name).adding(name, value)
  }

  /// The same error without a detail.
  package func removing(_ name: Detail) -> StoreError {
    StoreError(code, message, details: details.filter { $0.name != name })
  }

  private init(_ code: Code, _ message: String, details: [(name: Detail, value: String)]) {
    self.code = code
    self.message = message
    self.details = details
  }

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
  /// The sentence with the details that hold no user data.
  public var description: String { render { !$0.mayHoldUserData } }
  /// The sentence with all details.
  public var debugDescription: String { render { _ in true } }

  private func render(_ shown: (Detail) -> Bool) -> String {
    let parts = details.filter { shown($0.name) }.map { "\($0.name.rawValue): \($0.value)" }
    return parts.isEmpty
      ? "\(message) [\(code.rawValue)]"
      : "\(message) [\(code.rawValue)] (\(parts.joined(separator: ", ")))"
  }
}
