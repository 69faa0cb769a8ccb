// SPDX-License-Identifier: MIT

import Foundation
import NanoEncryption
import NanoStoreEncryption

extension ScryptCost {
  /// Quick, and worth nothing outside of tests.
  static let small = ScryptCost(rounds: 16, blockSize: 1, parallelism: 1)
}

extension Encryption {
  static func test(
    _ passphrase: String = "correct horse", sealing scope: Scope = .all,
    indexes: Indexes = .refused
  ) -> Encryption {
    Encryption(.passphrase(passphrase), sealing: scope, indexes: indexes, cost: .small)
  }
}
