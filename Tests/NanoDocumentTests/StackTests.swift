// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import Testing

@Suite("Deeply nested documents")
struct StackTests {
  @Test("The deepest permitted document can be processed on a thread with a small stack")
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
          thread.stackSize = 4 << 20  // frames are five times as large without optimization
        #else
          thread.stackSize = 512 << 10  // the stack size of secondary threads on Apple platforms
        #endif
        thread.start()
      }
      #expect(isSame)
    }
  }
}
