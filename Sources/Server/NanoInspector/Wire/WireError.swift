// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoServer

/// An error of the API itself, as opposed to a ``StoreError``.
struct RouteError: Error {
  let status: Int
  let code: String
  let message: String

  static let unknownRoute = RouteError(
    status: 404, code: "unknownRoute", message: "The inspector has no such page or call.")

  static func invalid(_ name: String, _ expected: String) -> RouteError {
    RouteError(
      status: 400, code: "invalidParameter", message: "Parameter '\(name)' has to be \(expected).")
  }

  static func missing(_ what: String) -> RouteError {
    RouteError(status: 404, code: "notFound", message: "\(what) no longer exists.")
  }

  static let readOnly = RouteError(
    status: 403, code: "readOnly",
    message: "The inspector does not write; start it with --write to allow that.")
}

/// Errors as responses.
enum WireError {
  /// Returns the response for an error: what failed, and for query text, where.
  static func response(_ error: any Error) -> ServerResponse {
    let body: Wire = ["error": wire(error)]
    return ServerResponse(
      status: parts(of: error).status, contentType: "application/json", body: body.json)
  }

  /// Returns an error as a part of a response.
  static func wire(_ error: any Error) -> Wire {
    if let failure = error as? MaintenanceFailure { return .json(failure.json) }
    let parts = parts(of: error)
    return [
      "code": .string(parts.code), "message": .string(parts.message),
      "details": .fields(parts.details),
    ]
  }

  private struct Parts {
    var status: Int
    var code: String
    var message: String
    var details: [(name: String, value: Wire)] = []
  }

  private static func parts(of error: any Error) -> Parts {
    switch error {
    case let error as RouteError:
      return Parts(status: error.status, code: error.code, message: error.message)
    case let error as StoreError:
      return Parts(
        status: status(of: error.code), code: error.code.rawValue, message: error.message,
        details: error.details.map { (name: $0.name.rawValue, value: .string($0.value)) })
    case let error as TimeLimitExceeded:
      return Parts(
        status: 504, code: "timeLimit",
        message: "The query was canceled after \(seconds(error.limit)).",
        details: [
          ("hint", "Narrow the condition, create an index, or run it again with more time.")
        ])
    case is CancellationError:
      return Parts(status: 408, code: "canceled", message: "The operation was canceled.")
    default: return Parts(status: 500, code: "internal", message: "\(error)")
    }
  }

  private static func status(of code: StoreError.Code) -> Int {
    switch code {
    case .notFound: 404
    case .revisionConflict, .uniqueViolation, .duplicateKey, .alreadyExists: 409
    case .readOnly, .notPermitted, .deleteDenied: 403
    case .invalidArgument, .invalidQuery, .invalidPath, .invalidKey, .invalidName, .invalidJSON,
      .unsupported, .tooComplex, .typeMismatch, .valueNotStorable, .documentTooLarge:
      400
    case .locked, .connectionLost, .closed, .fileReplaced: 503
    default: 500
    }
  }

  static func seconds(_ duration: Duration) -> String {
    let value = duration / .seconds(1)
    return value == 1 ? "1 second" : "\(value.formatted()) seconds"
  }
}
