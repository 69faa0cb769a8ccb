// SPDX-License-Identifier: MIT

import NanoStoreEncryption
import NanoStorePostgres

func sealing(_ store: Store, _ key: EncryptionKey) async throws {
  try await store.changeKey(to: key)
  try await store.rotateKeys()
  try await store.rotateKeys { print($0) }
  try await store.sealAll()
  try await store.sealAll { print($0) }
}

func connecting() async throws {
  let store = try await Store.postgres("postgresql://books@db.example/library")
  let other = try await Store.postgres("postgresql://b@c/d", engine: PostgresConfiguration())
  print(store.isClosed, other.isClosed)
}
