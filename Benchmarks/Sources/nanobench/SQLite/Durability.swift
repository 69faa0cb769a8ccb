// SPDX-License-Identifier: MIT

/// The durability of a commit, and the other settings that all variants share.
enum Durability: String {
  /// A commit is in the write-ahead log. It survives the end of the process, but not necessarily a power loss.
  case normal = "NORMAL"
  /// A commit is on the disk.
  case full = "FULL"

  /// The settings that NanoStore also uses: 4 KB pages (SQLite's default), a 16 MiB cache, 1 GiB of mapped memory.
  var pragmas: [String] {
    ["PRAGMA synchronous=\(rawValue)", "PRAGMA cache_size=-16384", "PRAGMA mmap_size=1073741824"]
  }
}
