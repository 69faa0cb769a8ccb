// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import Testing

@Suite("Internal collections")
struct InternalCollectionTests {
  @Test("Are recognized by their names in any case, and keep the spelling of a collection")
  func names() throws {
    for collection in InternalCollection.allCases {
      let name = collection.rawValue
      #expect(InternalCollection(named: name)?.rawValue == name)
      #expect(InternalCollection(named: name.uppercased())?.rawValue == name)
    }
    for name in ["Films", "films", "Ärger", "a b", "\u{301}x", "nano_bags"] {
      let found = try #require(InternalCollection(named: "Nano_REVISIONS_" + name))
      #expect(found.rawValue.hasSameBytes(as: "nano_revisions_" + name))
      #expect(found.identity == .key)
      #expect(found.description.isInternal)
      guard case .revisions(let collection) = found else {
        Issue.record("\(found)")
        continue
      }
      #expect(collection.hasSameBytes(as: name))
    }
  }

  @Test(
    "Other names are not internal",
    arguments: [
      "", "n", "films", "nano", "nano_", "nano_revisions", "nano_revisions_", "nano_syncstate",
      "nano_sync_state_", "nano_revisions_a\u{0}b", "xnano_revisions_films",
    ])
  func others(name: String) {
    #expect(InternalCollection(named: name) == nil)
  }
}
