// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import Testing

@Suite("Deep documents")
struct StackTests {
  @Test("The deepest document passes through on a thread with little stack")
  func smallStack() async throws {
    let objects = (1..<512).reduce(DocumentValue.object([:])) { value, _ in ["a": value] }
    for value in [nested(512), objects] {
      let isSame = await withCheckedContinuation { continuation in
        let thread = Thread {
          let text = value.jsonString()
          let pretty = value.jsonString(pretty: true)
          let all = [
            try? stored(text), try? DocumentValue(json: text), try? DocumentValue(json: pretty),
          ]
          let coded = try? DocumentValue(encoding: value)
          continuation.resume(returning: all.allSatisfy { $0 == value } && coded == value)
        }
        #if DEBUG
          thread.stackSize = 4 << 20  // frames are five times as large without optimisation
        #else
          thread.stackSize = 512 << 10  // what secondary threads have on Apple's systems
        #endif
        thread.start()
      }
      #expect(isSame)
    }
  }
}
