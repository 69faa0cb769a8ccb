// SPDX-License-Identifier: MIT

import NanoDocument

/// The entry of the metadata by which a store that is opened without its key knows that it is encrypted.
///
/// An engine that opens sealed documents hides it, so that whoever sees it has none.
package enum EncryptionMarker {
  package static let name = "nano_encryption"

  /// - Throws: ``StoreError/Code/wrongKey`` if the documents of an engine are sealed and it does not open
  ///   them.
  package static func check(_ engine: any Engine) throws {
    // An error of reading is not for here: the store may be there to be verified.
    guard let mark = try? engine.read(.call, nil, { try $0.metadata(name) }),
      mark.object?["format"] != nil
    else { return }
    throw StoreError(
      .wrongKey, "The store is encrypted and was opened without a key",
      [.hint: "open it with NanoStoreEncryption"])
  }
}
