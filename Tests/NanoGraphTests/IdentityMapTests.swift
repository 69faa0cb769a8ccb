// SPDX-License-Identifier: MIT

import NanoTesting
import Testing

@testable import NanoGraph

@Suite("Identity map")
struct IdentityMapTests {
  @Test(
    "The identity map matches a dictionary", arguments: [1, 2, 7, 8, 1_024, 1 << 20, 1 << 33])
  func agrees(stride: Int64) {
    var random = SplitMix(seed: UInt64(stride))
    var map = IdentityMap()
    var expected: [Int64: UnsafeRawPointer] = [:]
    for step in 1...20_000 {
      let id = (1 + Int64(random.next() % 3_000)) &* stride
      if let known = expected[id], random.next() % 3 > 0 {
        #expect(map[id] == known)
        map.remove(id)
        expected[id] = nil
      } else if expected[id] == nil {
        let address = UnsafeRawPointer(bitPattern: step * 16)!
        map.insert(id, address)
        expected[id] = address
      }
      #expect(map.count == expected.count)
    }
    for id in 1...3_000 { #expect(map[Int64(id) &* stride] == expected[Int64(id) &* stride]) }
    #expect(map.rowIDs().sorted() == expected.keys.sorted())
  }

  @Test("Removing a missing object has no effect, and all objects can be removed")
  func removal() {
    var map = IdentityMap()
    map.remove(5)
    map.insert(5, UnsafeRawPointer(bitPattern: 16)!)
    map.remove(6)
    #expect(map.count == 1)
    map.removeAll()
    #expect(map[5] == nil && map.count == 0)
  }
}
