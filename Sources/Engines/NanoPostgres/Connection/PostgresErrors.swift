// SPDX-License-Identifier: MIT

import CLibPQ
import NanoDocument

/// A failure that the server reported for a statement.
struct PostgresFailure: Error {
  /// The five-character SQLSTATE code; empty when the connection is lost.
  let state: String
  let message: String
  /// The name of the violated constraint or index.
  let constraint: String?

  init(state: String, message: String, constraint: String? = nil) {
    self.state = state
    self.message = message
    self.constraint = constraint
  }

  init(_ result: OpaquePointer) {
    func field(_ code: Character) -> String? {
      PQresultErrorField(result, Int32(code.asciiValue ?? 0)).map { String(cString: $0) }
    }
    self.init(
      state: field("C") ?? "",
      message: field("M") ?? String(cString: PQresultErrorMessage(result)), constraint: field("n"))
  }

  /// Whether the connection is unusable.
  ///
  /// Source: https://www.postgresql.org/docs/current/errcodes-appendix.html
  var isConnectionLoss: Bool {
    state.isEmpty || state.hasPrefix("08") || Self.endsOfConnections.contains(state)
  }

  /// The server was shut down or crashed, the database was dropped, or a timeout ended the session.
  private static let endsOfConnections: Set = [
    "57P01", "57P02", "57P03", "57P04", "57P05", "25P03", "25P04",
  ]

  /// Whether a schema, table, column or function does not exist.
  var isMissingObject: Bool { ["42P01", "42703", "42883", "3F000"].contains(state) }

  static let uniqueViolation = "23505"
  /// A transaction that cannot be serialized with another one.
  static let conflict = PostgresFailure(
    state: "40001", message: "what a rolled-back block has read was changed")
  static let missingStatement = "26000"
  static let deadlock = "40P01"
  static let syntaxError = "42601"
  static let internalError = "XX000"

  /// The corresponding `StoreError`.
  ///
  /// The server's message may contain values, and repeats the parameters of entire batches. It is truncated,
  /// and attached as a detail that is not shown by default.
  func error(operation: String? = nil) -> StoreError {
    var error = StoreError(code, sentence)
    if !state.isEmpty { error = error.adding(.engineCode, state) }
    if let operation { error = error.adding(.operation, operation) }
    if let hint { error = error.adding(.hint, hint) }
    return error.adding(.engineMessage, String(message.prefix(Self.longestMessage)))
  }

  private static let longestMessage = 500

  /// The message if neither the violated index nor the other document is known.
  static let equalValues = "A document has the values of another one"

  private var code: StoreError.Code {
    switch state {
    case "57014": .interrupted
    case "55P03", Self.deadlock, "40001": .locked
    case Self.uniqueViolation: .uniqueViolation
    case "25006": .readOnly
    case "42501": .notPermitted
    case "53100": .full
    case "53200": .outOfMemory
    case "54000", "22P05", "54001": .documentTooLarge
    case "2200H": .valueNotStorable
    case "58030", "58P01", "XX001", "XX002": state.hasPrefix("XX") ? .corruptFile : .inputOutput
    case "3D000", "28P01", "28000": .cannotOpen
    case "": .connectionLost
    case _ where isConnectionLoss || state.hasPrefix("53"): .connectionLost
    default: .database
    }
  }

  private var sentence: String {
    switch code {
    case .interrupted: "The operation was canceled"
    case .locked:
      state == "55P03"
        ? "Another connection holds the lock"
        : "The transaction conflicted with another one and was rolled back"
    case .uniqueViolation: "A unique index already has this value"
    case .readOnly: "The server or the transaction is read-only"
    case .notPermitted: "The server role lacks the permission for this operation"
    case .full: "The server's disk is full"
    case .outOfMemory: "The server is out of memory"
    case .documentTooLarge: "A value exceeds a limit of the server"
    case .valueNotStorable: "A sequence, such as that of row IDs, has no more values"
    case .corruptFile: "The server reported data corruption"
    case .inputOutput: "The server reported an I/O error"
    case .cannotOpen: "The server rejected the connection"
    case .connectionLost: "The connection to the server is lost"
    default: "The server rejected a statement"
    }
  }

  private var hint: String? {
    switch state {
    case "40001", Self.deadlock: "nothing was written; try again"
    case "57014":
      "unless the program canceled it, the server did, for example by its statement_timeout"
    case "53300": "the server has too many connections; use a smaller pool or a pooler"
    default: nil
    }
  }
}
