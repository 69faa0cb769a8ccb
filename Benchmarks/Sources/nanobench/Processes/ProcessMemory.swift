// SPDX-License-Identifier: MIT

import CMalloc
import Foundation
import GRDBSQLite

/// The memory of this process, in bytes.
enum ProcessMemory {
  /// What the program has allocated and not released, in every arena. Exact, unlike the resident memory, which has
  /// whole pages, including those of mapped files and those that the allocator keeps.
  static var allocated: Int {
    #if os(Linux)
      let info = mallinfo2()
      return Int(info.uordblks) + Int(info.hblkhd)
    #else
      var statistics = malloc_statistics_t()
      malloc_zone_statistics(nil, &statistics)
      return statistics.size_in_use
    #endif
  }

  /// The most resident memory so far.
  static var peakResident: Int {
    #if os(Linux)
      let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)
      let line = status?.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
      let kilobytes = line?.split(whereSeparator: { " \t".contains($0) }).dropFirst().first
      return (kilobytes.flatMap { Int($0) } ?? 0) * 1024
    #else
      var usage = rusage()
      getrusage(RUSAGE_SELF, &usage)
      return Int(usage.ru_maxrss)
    #endif
  }

  /// The most that the page caches of all SQLite connections have allocated.
  static var largestPageCache: Int {
    var current: sqlite3_int64 = 0
    var largest: sqlite3_int64 = 0
    sqlite3_status64(SQLITE_STATUS_PAGECACHE_OVERFLOW, &current, &largest, 0)
    return Int(largest)
  }
}
