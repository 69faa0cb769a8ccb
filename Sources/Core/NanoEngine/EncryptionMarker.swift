// SPDX-License-Identifier: MIT

import NanoDocument

/// The metadata entry that marks a store as encrypted, so that opening it without its key fails.
///
/// An engine that decrypts documents hides the entry, so that a reader that sees it has no key.
package enum EncryptionMarker {
  /// The name of the entry.
  package static let name = "nano_encryption"

  /// - Throws: ``StoreError/Code/wrongKey`` if the engine's documents are encrypted and it does not decrypt
  ///   them.
  package static func check(_ engine: any Engine) throws {
    // A read error is not reported here: the store may have been opened to be verified.
    guard let mark = try? engine.read(.call, nil, { try $0.metadata(name) }),
      mark.object?["format"] != nil
    else { return }
    throw StoreError(
      .wrongKey, "The store is encrypted and was opened without a key",
      [.hint: "open it with NanoStoreEncryption"])
  }
}
