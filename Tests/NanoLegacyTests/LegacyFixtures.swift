// SPDX-License-Identifier: MIT

import Foundation

/// Files that the original libraries wrote, each with JSON that lists their contents.
enum LegacyFixtures {
  static func url(_ path: String) -> URL {
    URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Fixtures")
      .appending(path: path)
  }
}
