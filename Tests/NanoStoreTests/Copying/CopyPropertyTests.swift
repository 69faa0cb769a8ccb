// SPDX-License-Identifier: MIT

import NanoStore
import NanoTestSupport
import NanoTesting
import Testing

@Suite("Copies of random stores")
struct CopyPropertyTests {
  @Test("A random store equals its copy of a copy", arguments: 1...12 as ClosedRange<UInt64>)
  func property(seed: UInt64) throws {
    var random = SplitMix(seed: seed)
    let store = try anyStore()
    let engine = try store.engine()
    for name in ["a", "Ä b", "nanos"].prefix(random.number(1...3)) {
      var generator = DocumentGenerator(random: random.split(), isUniform: random.oneIn(2))
      for number in 0..<random.number(0...60) {
        if random.oneIn(10) { generator.change() }
        let key = random.oneIn(3) ? try DocumentKey("k\(number)") : nil
        let document = generator.document(key: key)
        var writer = JSONWriter()
        writer.object(document.object)
        guard writer.failure == nil else { continue }
        _ = try engine.write(nil) {
          try $0.insert(
            NewDocument(
              key: document.key, type: document.type, version: document.version,
              added: document.added, body: writer.bytes), into: name)
        }
      }
      for _ in 0..<random.number(0...9) {
        try store[name].delete(rowID: Int64(random.number(1...60)))
      }
    }
    let middle = try Store.reference()
    let back = try anyStore()
    let options = CopyOptions(batchDocuments: random.number(1...30), batchBytes: 4_000)

    try store.copy(to: middle, options)
    try middle.copy(to: back, options)

    #expect(try store.compare(with: back).isEqual)
    #expect(try store.checksums() == back.checksums())
    #expect(try back.verify().isEmpty)
  }
}
