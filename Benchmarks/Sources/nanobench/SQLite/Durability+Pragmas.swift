// SPDX-License-Identifier: MIT

import NanoStore

extension Durability {
  /// The settings that NanoStore also uses: 4 KB pages (SQLite's default), a 16 MiB cache, 1 GiB of mapped memory.
  var pragmas: [String] {
    // NanoStore's levels are SQLite's, by another name.
    let synchronous =
      switch self {
      case .fast: "OFF"
      case .normal: "NORMAL"
      case .full: "FULL"
      }
    return [
      "PRAGMA synchronous=\(synchronous)", "PRAGMA cache_size=-16384",
      "PRAGMA mmap_size=1073741824",
    ]
  }
}
