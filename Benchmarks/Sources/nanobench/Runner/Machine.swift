// SPDX-License-Identifier: MIT

import Foundation
import GRDBSQLite

/// Where a result was measured.
struct Machine: Codable {
  var system: String
  var processors: Int
  var sqlite: String

  static var current: Machine {
    Machine(
      system: ProcessInfo.processInfo.operatingSystemVersionString,
      processors: ProcessInfo.processInfo.activeProcessorCount,
      sqlite: String(cString: sqlite3_libversion()))
  }
}
