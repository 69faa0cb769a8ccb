// SPDX-License-Identifier: MIT

import NanoStore
import NanoStoreSync

func resolveConflicts(_ store: Store) async throws {
  try await store.enableSync(for: ["films"])
  for conflict in try await store.conflicts(in: "films") {
    let isResolved = try await store.resolve(conflict, with: .object(conflict.mine))
    print(conflict.key, isResolved)
  }
}
