// SPDX-License-Identifier: MIT

/// How far a commit goes before it returns, and the other settings that every variant shares.
enum Durability: String {
  /// In the write-ahead log: survives the process, not surely a power cut.
  case normal = "NORMAL"
  /// On the disk.
  case full = "FULL"

  /// What our store is to set too: 4 KB pages (the default of SQLite), 16 MiB of cache, 1 GiB of
  /// mapped memory.
  var pragmas: [String] {
    ["PRAGMA synchronous=\(rawValue)", "PRAGMA cache_size=-16384", "PRAGMA mmap_size=1073741824"]
  }
}
