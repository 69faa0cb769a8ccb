// SPDX-License-Identifier: MIT

package import NanoDocument

/// An error as the replication protocol reports it: a status, a name and a reason.
package struct ProtocolError: Error, Sendable, Hashable {
  package let status: Int
  package let name: String
  package let reason: String
  /// The methods that a response with status 405 lists (RFC 9110, section 15.5.6).
  package let allowed: String?

  package init(_ status: Int, _ name: String, _ reason: String, allowed: String? = nil) {
    self.status = status
    self.name = name
    self.reason = reason
    self.allowed = allowed
  }

  package static func badRequest(_ reason: String) -> ProtocolError {
    ProtocolError(400, "bad_request", reason)
  }

  package static func invalidDocument(_ reason: String) -> ProtocolError {
    ProtocolError(400, "doc_validation", reason)
  }

  package static let noDatabase = ProtocolError(404, "not_found", "Database does not exist.")
  package static let missing = ProtocolError(404, "not_found", "missing")
  package static let deleted = ProtocolError(404, "not_found", "deleted")
  package static let conflict = ProtocolError(409, "conflict", "Document update conflict.")

  /// Returns the error that a client receives for an error of the store.
  package init(_ error: StoreError) {
    switch error.code {
    case .revisionConflict: self = .conflict
    case .notFound where error[.operation] == SyncDatabase.missingStub:
      self.init(412, SyncDatabase.missingStub, error.message)
    case .notFound: self.init(404, "not_found", error.message)
    case .invalidArgument where error[.operation] == SyncDatabase.notEnabledOperation:
      self = .noDatabase
    case .invalidJSON: self = .badRequest("invalid UTF-8 JSON")
    case .invalidKey: self.init(400, "illegal_docid", error.message)
    case .documentTooLarge: self.init(413, "document_too_large", error[.key] ?? "")
    case .uniqueViolation, .deleteDenied, .readOnly, .notPermitted:
      self.init(403, "forbidden", error.message)
    case .valueNotStorable, .invalidName, .invalidArgument, .typeMismatch, .corruptDocument,
      .tooComplex:
      self = .invalidDocument(error.message)
    case .locked, .connectionLost, .closed, .full, .interrupted:
      self.init(503, "service_unavailable", error.message)
    default: self.init(500, "internal_server_error", error.message)
    }
  }
}
