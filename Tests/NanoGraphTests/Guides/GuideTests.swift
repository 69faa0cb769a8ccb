// SPDX-License-Identifier: MIT

import NanoTestSupport
import Testing

/// Each block of Swift in a guide stands word for word in a file beside this one, which compiles and runs it.
@Suite("Code in the guides to objects")
struct GuideTests {
  private static let guides = [
    "docs/COMING-FROM-BNRPERSISTENCE.md", "docs/COMING-FROM-SWIFTDATA.md",
  ]

  @Test("Every block of Swift is compiled and run", arguments: guides)
  func compiled(guide: String) {
    let blocks = SwiftBlocks(of: guide)
    #expect(blocks.blocks.count >= 5)
    for block in blocks.missing(in: SwiftBlocks.files(in: "Tests/NanoGraphTests/Guides", ".swift"))
    {
      Issue.record("is nowhere compiled:\n\(block)")
    }
  }
}
