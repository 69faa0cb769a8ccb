// SPDX-License-Identifier: MIT

import NanoStore
import NanoStoreSync

func synchronize(_ store: Store) throws {
  let sync = try store.replicate(["films"], with: .url("https://sync.example.com"))
  sync.retry()
  print(sync.status.phase)
}
