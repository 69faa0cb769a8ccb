// SPDX-License-Identifier: MIT

import Foundation

/// The machine on which a result was measured.
package struct Machine: Codable {
  package var system: String
  package var processors: Int
  package var sqlite: String
  package var postgres: String?

  package init(system: String, processors: Int, sqlite: String, postgres: String? = nil) {
    self.system = system
    self.processors = processors
    self.sqlite = sqlite
    self.postgres = postgres
  }

  /// Describes this machine, with the specified versions.
  package init(sqlite: String, postgres: String? = nil) {
    self.init(
      system: ProcessInfo.processInfo.operatingSystemVersionString,
      processors: ProcessInfo.processInfo.activeProcessorCount, sqlite: sqlite,
      postgres: postgres)
  }

  package var description: String {
    "\(system), \(processors) processors, SQLite \(sqlite)"
      + (postgres.map { ", PostgreSQL \($0)" } ?? "")
  }
}
