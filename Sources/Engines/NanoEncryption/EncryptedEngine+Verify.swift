// SPDX-License-Identifier: MIT

import NanoDocument
package import NanoEngine
import NanoQuery

extension EncryptedEngine {
  /// Returns the problems of the inner engine, keys that are damaged or missing, and every encrypted document and value
  /// that does not decrypt.
  package func verify() throws -> [VerificationProblem] {
    let problems = try inner.verify()
    let own = try read(.snapshot, nil) { reader -> [VerificationProblem] in
      guard let reader = reader as? EncryptedReader else { return [] }
      return try reader.headerProblems
        + reader.listedCollections().flatMap { try reader.problems(of: $0.name) }
        + reader.problems(of: "metadata") {
          for name in try reader.metadataNames() { _ = try reader.metadata(name) }
        }
    }
    // Both can find the same damage.
    var seen = Set(problems)
    return problems + own.filter { seen.insert($0).inserted }
  }
}

extension EncryptedReader {
  /// A wrong key is no damage: another connection has changed it.
  fileprivate var headerProblems: [VerificationProblem] {
    guard let failure, failure.code == .corruptFile else { return [] }
    return [VerificationProblem(subject: "metadata", message: failure.description)]
  }

  /// Returns no collections if they cannot be listed, which the inner engine reports.
  fileprivate func listedCollections() throws -> [CollectionDescription] {
    do { return try collections() } catch let error as StoreError where error.isDamage {
      return []
    }
  }

  fileprivate func problems(of collection: String) throws -> [VerificationProblem] {
    guard ring.encrypts(collection) else { return [] }
    let problems = try problems(of: collection) {
      _ = try settings(of: collection)
      _ = try observedPaths(in: collection)
      _ = try blindIndexes(of: collection)
    }
    // Damage to them is a problem already.
    let hasIndexes = !((try? blindIndexes(of: collection))??.indexes ?? []).isEmpty
    let decryptor = DocumentDecryptor(ring, collection)
    var found: [VerificationProblem] = []
    let unread = try self.problems(of: collection) {
      try inner.find(Query(), in: collection) { stored in
        let damage = try self.problems(of: collection) {
          if hasIndexes, !SealedBody.isSealed(stored.body) {
            throw decryptor.corrupt(stored, "A document is not encrypted")
          }
          try decrypt(stored, decryptor, in: collection) { _ in }
        }
        found += damage
        return true
      }
    }
    return try problems + found + unread + previousBodies(of: collection, decryptor)
  }

  private func previousBodies(
    of collection: String, _ decryptor: DocumentDecryptor
  ) throws -> [VerificationProblem] {
    var found: [VerificationProblem] = []
    let unread = try problems(of: collection) {
      var last: Int64?
      repeat {
        let start = last
        last = nil
        try inner.previousBodies(after: start, limit: EncryptedWriter.batch, in: collection) {
          stored in
          last = stored.rowID
          let damage = try self.problems(of: collection) {
            try decrypt(stored, decryptor, in: collection) { _ in }
          }
          found += damage
        }
      } while last != nil
    }
    return found + unread
  }

  /// A value that does not decrypt, or a page that cannot be read, must not hide other problems.
  fileprivate func problems(
    of subject: String, _ check: () throws -> Void
  ) throws -> [VerificationProblem] {
    do {
      try check()
      return []
    } catch let error as StoreError where error.isDamage {
      return [VerificationProblem(subject: subject, message: error.description)]
    }
  }
}

extension StoreError {
  /// Whether the error indicates damage, rather than a wrong key, a lock or a disk problem.
  fileprivate var isDamage: Bool {
    [.corruptDocument, .corruptFile, .database, .documentTooLarge].contains(code)
  }
}
