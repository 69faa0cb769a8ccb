// SPDX-License-Identifier: MIT

import NanoDocument
import NanoSync

/// Which changes a client wants, and may see.
struct ChangesFilter: Sendable {
  enum Kind: Sendable {
    case all
    case ids(Set<ExactName>)
    case selector(Selector)
    case designDocuments
    case function(@Sendable (SyncRevision, [String: String]) -> Bool, [String: String])
  }
  let kind: Kind
  let visibility: Visibility

  /// Whether documents have to be read to decide.
  var readsDocuments: Bool {
    if visibility.isLimited { return true }
    switch kind {
    case .selector, .function: return true
    case .all, .ids, .designDocuments: return false
    }
  }

  /// Whether every change is wanted.
  var acceptsAll: Bool { if case .all = kind { !visibility.isLimited } else { false } }

  /// Whether revisions that cannot be read are among the changes: a client that asks for them reports the error.
  var acceptsUnreadable: Bool {
    if case .selector = kind { !visibility.isLimited } else { false }
  }

  func accepts(_ id: String) -> Bool {
    switch kind {
    case .ids(let ids): ids.contains(ExactName(id))
    case .designDocuments: id.hasExactPrefix("_design/")
    case .all, .selector, .function: true
    }
  }

  func accepts(_ document: SyncDocument) -> Bool {
    guard visibility.allows(document) else { return false }
    switch kind {
    case .selector(let selector): return selector.matches(document)
    case .function(let function, let parameters):
      return function(SyncRevision(document), parameters)
    case .all, .ids, .designDocuments: return true
    }
  }
}

extension SyncHandler {
  /// Interprets the filter of a request for changes.
  func filter(_ access: Access) async throws -> ChangesFilter {
    ChangesFilter(kind: try await filterKind(access), visibility: access.visibility)
  }

  private func filterKind(_ access: Access) async throws -> ChangesFilter.Kind {
    let request = access.request
    let body: DocumentObject
    if request.verb == "POST" {
      try request.requireJSON()
      body = try await request.object(limit: configuration.maximumBody, isOptional: true)
    } else {
      body = [:]
    }
    switch request["filter"] ?? "" {
    case "":
      // PouchDB names no filter with them.
      guard let ids = try body["doc_ids"] ?? request.json("doc_ids"), ids != .null else {
        return .all
      }
      return .ids(try Self.ids(ids))
    case "_doc_ids":
      guard let ids = try body["doc_ids"] ?? request.json("doc_ids") else {
        throw ProtocolError.badRequest("`doc_ids` filter parameter is not a list of doc ids.")
      }
      return .ids(try Self.ids(ids))
    case "_selector":
      guard let selector = body["selector"] else {
        throw ProtocolError.badRequest("Selector must be specified in POST payload")
      }
      // PouchDB shows its users this reason, which is not that of `_find`.
      guard selector.object != nil else {
        throw ProtocolError.badRequest("Selector error: expected a JSON object")
      }
      return .selector(try Selector(selector))
    case "_design": return .designDocuments
    case "_view":
      let name = request["view"] ?? ""
      throw try await missingFunction(
        name, "views", "`view` must be of the form `designname/viewname`", access)
    case let name:
      if let function = access.rules.filters[name] {
        return .function(
          function, Dictionary(request.parameters.map { ($0.name, $0.value) }) { first, _ in first }
        )
      }
      throw try await missingFunction(
        name, "filters", "`filter` must be of the form `designname/filtername`", access)
    }
  }

  private static func ids(_ value: DocumentValue) throws(ProtocolError) -> Set<ExactName> {
    guard let list = value.array else {
      throw .badRequest("`doc_ids` filter parameter is not a list of doc ids.")
    }
    return Set(list.compactMap { $0.string.map { ExactName($0) } })
  }

  /// Returns the error for a function of a design document. The server runs no JavaScript, so that all are unknown.
  private func missingFunction(
    _ name: String, _ member: String, _ malformed: String, _ access: Access
  ) async throws -> ProtocolError {
    let parts = name.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, !parts[0].isEmpty else { return .badRequest(malformed) }
    let design = try await access.served.revisions(of: "_design/\(parts[0])")?.winner
    guard let design, !design.isDeleted, access.visibility.allows(design) else { return .missing }
    let exists = design.body[member]?.object?[String(parts[1])] != nil
    return ProtocolError(
      404, "not_found",
      exists
        ? "missing json key: \(parts[1]) (the server does not run functions of design documents)"
        : "missing json key: \(parts[1])")
  }
}
