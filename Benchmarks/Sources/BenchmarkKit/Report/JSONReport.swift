// SPDX-License-Identifier: MIT

package import Foundation

extension RunResult {
  package func jsonReport() throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    return try encoder.encode(self)
  }
}
