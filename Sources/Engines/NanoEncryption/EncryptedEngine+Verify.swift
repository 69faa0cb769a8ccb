// SPDX-License-Identifier: MIT

import NanoDocument
package import NanoEngine
import NanoQuery

extension EncryptedEngine {
  /// Returns the problems of the inner engine, keys that are damaged or missing, and every encrypted document and value
  /// that does not decrypt.
  package func verify() throws -> [VerificationProblem] {
    let problems = try inner.verify()
    return try problems
      + read(.snapshot, nil) { reader in
        guard let reader = reader as? EncryptedReader else { return [] }
        return try reader.headerProblems
          + reader.collections().flatMap { try reader.problems(of: $0.name) }
          + reader.problems(of: "metadata") {
            for name in try reader.metadataNames() { _ = try reader.metadata(name) }
          }
      }
  }
}

extension EncryptedReader {
  /// A wrong key is no damage: another connection has changed it.
  fileprivate var headerProblems: [VerificationProblem] {
    guard let failure, failure.code == .corruptFile else { return [] }
    return [VerificationProblem(subject: "metadata", message: failure.description)]
  }

  fileprivate func problems(of collection: String) throws -> [VerificationProblem] {
    guard ring.encrypts(collection) else { return [] }
    var problems = try problems(of: collection) {
      _ = try settings(of: collection)
      _ = try observedPaths(in: collection)
      _ = try blindIndexes(of: collection)
    }
    // Damage to them is a problem already.
    let hasIndexes = !((try? blindIndexes(of: collection))??.indexes ?? []).isEmpty
    let decryptor = DocumentDecryptor(ring, collection)
    try inner.find(Query(), in: collection) { stored in
      problems += try self.problems(of: collection) {
        if hasIndexes, !SealedBody.isSealed(stored.body) {
          throw decryptor.corrupt(stored, "A document is not encrypted")
        }
        try decrypt(stored, decryptor, in: collection) { _ in }
      }
      return true
    }
    return try problems + previousBodies(of: collection, decryptor)
  }

  private func previousBodies(
    of collection: String, _ decryptor: DocumentDecryptor
  ) throws -> [VerificationProblem] {
    var problems: [VerificationProblem] = []
    var last: Int64?
    repeat {
      let start = last
      last = nil
      try inner.previousBodies(after: start, limit: EncryptedWriter.batch, in: collection) {
        stored in
        last = stored.rowID
        problems += try self.problems(of: collection) {
          try decrypt(stored, decryptor, in: collection) { _ in }
        }
      }
    } while last != nil
    return problems
  }

  /// A value that does not decrypt must not hide other problems.
  fileprivate func problems(
    of subject: String, _ check: () throws -> Void
  ) throws -> [VerificationProblem] {
    do {
      try check()
      return []
    } catch let error as StoreError
      where [.corruptDocument, .corruptFile, .database].contains(error.code)
    {
      return [VerificationProblem(subject: subject, message: error.description)]
    }
  }
}
