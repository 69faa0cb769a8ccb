// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import Testing

extension CodableTests {
  @Test("A document that nests without end is an error")
  func depth() throws {
    struct Chain: Codable { var next: [Chain]? }
    var chain = Chain()
    for _ in 0..<100 { chain = Chain(next: [chain]) }
    _ = try decode(Chain.self, try text(chain))
    for _ in 0..<200 { chain = Chain(next: [chain]) }
    #expect(throws: StoreError.self) { try text(chain) }
    #expect(throws: StoreError.self) {
      try decode(
        Chain.self,
        String(repeating: #"{"next":["#, count: 300) + String(repeating: "]}", count: 300))
    }
  }

  /// Objects in objects, and a field of the innermost one.
  struct Nest: Encodable {
    var depth: Int
    var leaf: (inout KeyedEncodingContainer<PlainKey>) throws -> Void

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: PlainKey.self)
      guard depth > 1 else { return try leaf(&container) }
      try container.encode(Nest(depth: depth - 1, leaf: leaf), forKey: PlainKey("n"))
    }
  }

  @Test("A value that is stored as an object or array counts in the nesting depth")
  func depthOfStoredForms() throws {
    let leaves: [(levels: Int, leaf: (inout KeyedEncodingContainer<PlainKey>) throws -> Void)] = [
      (1, { try $0.encode(Date(timeIntervalSince1970: 0), forKey: PlainKey("a")) }),
      (2, { try $0.encode(Data([1]), forKey: PlainKey("a")) }),
      (1, { try $0.encode(URL(string: "http://a.example")!, forKey: PlainKey("a")) }),
      (1, { try $0.encode(Decimal(1), forKey: PlainKey("a")) }),
      (1, { try $0.encode(Double.infinity, forKey: PlainKey("a")) }),
      (1, { try $0.encode(-Float.infinity, forKey: PlainKey("a")) }),
      (2, { try $0.encode([Double.infinity], forKey: PlainKey("a")) }),
      (1, { try $0.encode(["a"], forKey: PlainKey("a")) }),
      (0, { try $0.encode(1.5, forKey: PlainKey("a")) }),
    ]
    for (index, (levels, leaf)) in leaves.enumerated() {
      let deepest = try text(Nest(depth: 512 - levels, leaf: leaf))
      #expect(throws: Never.self) { _ = try DocumentValue(json: deepest) }
      let error = #expect(throws: StoreError.self, "\(index)") {
        try text(Nest(depth: 513 - levels, leaf: leaf))
      }
      #expect(error?.code == .valueNotStorable, "\(index)")
    }
  }
}
