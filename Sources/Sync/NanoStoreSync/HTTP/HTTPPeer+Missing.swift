// SPDX-License-Identifier: MIT

import NIOCore
import NanoDocument
package import NanoSync

extension HTTPPeer {
  package func missing(_ revisions: IDMap<[RevisionID]>) async throws -> IDMap<MissingRevisions> {
    guard !revisions.isEmpty else { return [:] }
    guard !lacks(.revisionsDiff) else { return Self.all(revisions) }
    let asked = DocumentObject(
      revisions.map { ($0.id, .array($0.value.map { .string("\($0)") })) })
    return try await connector.send(HTTPCall(.POST, url.text("_revs_diff"), .json(asked))) {
      answer in
      if answer.status == 404 || answer.status == 405 {
        let failure = try await answer.failure()
        if failure.kind == .noDatabase { throw failure }
        // It ignores what it has.
        self.note(lackOf: .revisionsDiff)
        return Self.all(revisions)
      }
      guard answer.status == 200 else { throw try await answer.failure() }
      return try Self.missing(try await answer.object(), answer)
    }
  }

  private static func all(_ revisions: IDMap<[RevisionID]>) -> IDMap<MissingRevisions> {
    var result = IDMap<MissingRevisions>()
    for (id, revisions) in revisions { result[id] = MissingRevisions(missing: revisions.sorted()) }
    return result
  }

  private static func missing(
    _ object: DocumentObject, _ answer: HTTPAnswer
  ) throws -> IDMap<MissingRevisions> {
    var result = IDMap<MissingRevisions>()
    for (id, value) in object {
      guard let value = value.object, let missing = revisions(value["missing"] ?? []),
        let ancestors = revisions(value["possible_ancestors"] ?? [])
      else { throw answer.invalid() }
      // Some peers list documents of which they lack nothing.
      if !missing.isEmpty {
        result[id] = MissingRevisions(missing: missing.sorted(), ancestors: ancestors)
      }
    }
    return result
  }

  private static func revisions(_ value: DocumentValue) -> [RevisionID]? {
    guard let list = value.array else { return nil }
    let revisions = list.compactMap { $0.string.flatMap { RevisionID($0) } }
    return revisions.count == list.count ? revisions : nil
  }
}
