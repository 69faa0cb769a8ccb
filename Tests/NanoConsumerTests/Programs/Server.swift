// SPDX-License-Identifier: MIT

import NanoStorePostgres

func server() async throws {
  var configuration = PostgresConfiguration()
  configuration.schema = "library"
  let store = try await Store.postgres(
    "postgresql://books@db.example/library", engine: configuration)
  try await store["films"].save(["title": "Ran"], key: "ran")
}
