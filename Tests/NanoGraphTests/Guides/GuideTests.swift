// SPDX-License-Identifier: MIT

import NanoTestSupport
import Testing

/// Each Swift block of a guide also appears verbatim in a file of this folder, which compiles and runs it.
@Suite("Code in the object guides")
struct GuideTests {
  private static let guides = [
    "docs/COMING-FROM-BNRPERSISTENCE.md", "docs/COMING-FROM-SWIFTDATA.md",
    "docs/USER-INTERFACES.md",
  ]

  @Test("Every Swift block is compiled and run", arguments: guides)
  func compiled(guide: String) {
    let blocks = SwiftBlocks(of: guide)
    #expect(blocks.blocks.count >= 5)
    // The import of old stores is a product of its own, with tests of its own.
    let files =
      SwiftBlocks.files(in: "Tests/NanoGraphTests/Guides", ".swift")
      + ["Tests/NanoLegacyTests/LegacyGuideTests.swift"]
    for block in blocks.missing(in: files) {
      Issue.record("not compiled:\n\(block)")
    }
  }
}
