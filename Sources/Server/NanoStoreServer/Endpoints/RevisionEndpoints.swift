// SPDX-License-Identifier: MIT

import NanoDocument
import NanoSync

// `_revs_diff` and `_missing_revs`: which revisions the database lacks.
extension SyncHandler {
  func revisionsDifference(_ access: Access) async throws -> SyncResponse {
    let asked = try await revisionLists(access)
    let found = try await missing(asked, access)
    var answer = DocumentObject()
    for id in asked.ids {
      if let others = asked.others[id] {
        if !others.isEmpty { answer[id] = ["missing": .array(others.map { .string($0) })] }
        continue
      }
      guard let result = found[id] else { continue }
      // In the order of the request.
      let all = Set(result.missing)
      let missing = (asked.map[id] ?? []).filter { all.contains($0) }
      var object: DocumentObject = ["missing": Self.list(missing)]
      if !result.ancestors.isEmpty { object["possible_ancestors"] = Self.list(result.ancestors) }
      answer[id] = .object(object)
    }
    return .json(.object(answer))
  }

  func missingRevisions(_ access: Access) async throws -> SyncResponse {
    let asked = try await revisionLists(access)
    let found = try await missing(asked, access)
    var answer = DocumentObject()
    for id in asked.ids {
      if let missing = found[id]?.missing { answer[id] = Self.list(missing) }
    }
    return .json(["missing_revs": .object(answer)])
  }

  /// Returns what the database lacks as far as the user may know: what is not visible is missing, so that a client that
  /// has it sends it again, which changes nothing.
  private func missing(
    _ asked: RevisionLists, _ access: Access
  ) async throws -> IDMap<MissingRevisions> {
    let visibility = access.visibility
    guard visibility.isLimited else {
      return try await access.served.run { try $0.missingRevisions(asked.map) }
    }
    var result = IDMap<MissingRevisions>()
    let ids = asked.map.ids
    for start in stride(from: 0, to: ids.count, by: Listing.pageLength) {
      let page = Array(ids[start..<min(start + Listing.pageLength, ids.count)])
      let found = try await access.served.revisions(page)
      for id in page {
        let visible = found[id].map { document in
          document.leaves.map(\.id).filter { document[$0].map { visibility.allows($0) } ?? false }
        }
        let known = Set((visible ?? []).flatMap { found[id]?.tree.history(of: $0) ?? [] })
        let missing = Set(asked.map[id] ?? []).subtracting(known).sorted()
        guard let highest = missing.last else { continue }
        result[id] = MissingRevisions(
          missing: missing,
          ancestors: (visible ?? []).filter { $0.generation < highest.generation })
      }
    }
    return result
  }

  private func revisionLists(_ access: Access) async throws -> RevisionLists {
    try access.call.require("POST")
    try access.request.requireJSON()
    return try await revisionLists(access.request)
  }

  func revisionLists(_ request: SyncRequest) async throws -> RevisionLists {
    try RevisionLists(
      try await request.plainBody(limit: configuration.maximumBody)
        .collect(limit: configuration.maximumBody))
  }

  private static func list(_ revisions: [RevisionID]) -> DocumentValue {
    .array(revisions.map { .string("\($0)") })
  }
}
