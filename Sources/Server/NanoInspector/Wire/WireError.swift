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
    switch error {
    case let error as RouteError:
      return response(error.status, code: error.code, message: error.message, [])
    case let error as StoreError:
      return response(
        status(of: error.code), code: error.code.rawValue, message: error.message,
        error.details.map { (name: $0.name.rawValue, value: .string($0.value)) })
    case let error as TimeLimitExceeded:
      return response(
        504, code: "timeLimit",
        message: "The query was cancelled after \(seconds(error.limit)).",
        [("hint", "Narrow the condition, create an index, or run it again with more time.")])
    case is CancellationError:
      return response(408, code: "cancelled", message: "The query was cancelled.", [])
    default:
      return response(500, code: "internal", message: "\(error)", [])
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

  private static func response(
    _ status: Int, code: String, message: String, _ details: [(name: String, value: Wire)]
  ) -> ServerResponse {
    let error: Wire = [
      "error": [
        "code": .string(code), "message": .string(message), "details": .fields(details),
      ]
    ]
    return ServerResponse(status: status, contentType: "application/json", body: error.json)
  }

  static func seconds(_ duration: Duration) -> String {
    let value = duration / .seconds(1)
    return value == 1 ? "1 second" : "\(value.formatted()) seconds"
  }
}
