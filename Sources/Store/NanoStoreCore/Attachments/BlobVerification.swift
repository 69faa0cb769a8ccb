// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery

/// Verifies the content of every attachment, and that the store has what documents refer to.
struct BlobVerification {
  private let reader: any EngineReader

  init(_ reader: any EngineReader) { self.reader = reader }

  func problems() throws -> [VerificationProblem] {
    var problems: [VerificationProblem] = []
    var existing: Set<BlobDigest> = []
    var last: Int64 = 0
    do {
      while true {
        let blobs = try reader.blobs(after: last, limit: 1_000)
        guard let end = blobs.last?.rowID else { break }
        for blob in blobs {
          guard let digest = blob.digest else { continue }
          existing.insert(digest)
          if let problem = try problem(of: blob) { problems.append(problem) }
        }
        last = end
      }
    } catch let error as StoreError where [.corruptFile, .database].contains(error.code) {
      return problems + [Self.problem(error.debugDescription)]
    }
    return problems + (try missing(existing))
  }

  private static func problem(_ message: String) -> VerificationProblem {
    VerificationProblem(subject: "attachments", message: message)
  }

  private func problem(of blob: BlobRecord) throws -> VerificationProblem? {
    do {
      var verifier = try BlobVerifier(blob, reader)
      while !verifier.isAtEnd { try verifier.next(reader) { _ in } }
      return nil
    } catch let error as StoreError where error.code == .corruptFile {
      return Self.problem("\(blob.digest?.text ?? ""): \(error.debugDescription)")
    }
  }

  /// Returns no collections if they cannot be listed, which the verification of internal tables reports.
  private func collections() throws -> [CollectionDescription] {
    do { return try reader.collections() } catch let error as StoreError
      where [.corruptFile, .database].contains(error.code)
    {
      return []
    }
  }

  /// Finds references to content that the store does not have.
  private func missing(_ existing: Set<BlobDigest>) throws -> [VerificationProblem] {
    var problems: [VerificationProblem] = []
    for collection in try collections() {
      do {
        try reader.findInAnyOrder(Query(), in: collection.name) { document in
          let unknown = BlobMarks.digests(in: document.body).subtracting(existing)
          guard !unknown.isEmpty else { return true }
          var body = JSONReader(document.body)
          guard let object = try? body.object() else { return true }
          // Other texts may have the form of a digest.
          for digest in Self.references(.object(object)).intersection(unknown) {
            problems.append(
              VerificationProblem(
                subject: collection.name,
                message: "document \(document.rowID) refers to the attachment \(digest.text), "
                  + "whose content is missing"))
          }
          return true
        }
      } catch let error as StoreError
        where [.corruptDocument, .corruptFile, .database].contains(error.code)
      {
        // The verification of documents reports it, and a missing table.
      }
    }
    return problems
  }

  private static func references(_ value: DocumentValue) -> Set<BlobDigest> {
    switch value {
    case .array(let array): return array.reduce(into: []) { $0.formUnion(references($1)) }
    case .object(let object):
      let own = Attachment(value).flatMap { BlobDigest(text: $0.digest) }
      return object.reduce(into: own.map { [$0] } ?? []) { $0.formUnion(references($1.value)) }
    default: return []
    }
  }
}
