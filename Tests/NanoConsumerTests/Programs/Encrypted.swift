// SPDX-License-Identifier: MIT

import NanoStoreEncryption

func encrypted() throws {
  let store = try Store(.file("secret.db"), encryption: Encryption(.passphrase("correct horse")))
  try store["notes"].save(["text": "hidden"], key: "first")
}
