// SPDX-License-Identifier: MIT

import NanoDocument
import NanoSync

// `_revs_diff` and `_missing_revs`: which revisions the database lacks.
extension SyncHandler {
  func revisionsDifference(_ access: Access) async throws -> SyncResponse {
    let asked = try await revisionLists(access)
    let found = try await access.served.run { try $0.missingRevisions(asked.map) }
    var answer = DocumentObject()
    for id in asked.ids {
      if let others = asked.others[id] {
        if !others.isEmpty { answer[id] = ["missing": .array(others.map { .string($0) })] }
        continue
      }
      guard let result = found[id] else { continue }
      // In the order of the request.
      let missing = (asked.map[id] ?? []).filter { result.missing.contains($0) }
      var object: DocumentObject = ["missing": Self.list(missing)]
      if !result.ancestors.isEmpty { object["possible_ancestors"] = Self.list(result.ancestors) }
      answer[id] = .object(object)
    }
    return .json(.object(answer))
  }

  func missingRevisions(_ access: Access) async throws -> SyncResponse {
    let asked = try await revisionLists(access)
    let found = try await access.served.run { try $0.missingRevisions(asked.map) }
    var answer = DocumentObject()
    for id in asked.ids {
      if let missing = found[id]?.missing { answer[id] = Self.list(missing) }
    }
    return .json(["missing_revs": .object(answer)])
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
