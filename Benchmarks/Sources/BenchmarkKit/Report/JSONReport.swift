// SPDX-License-Identifier: MIT

package import Foundation

extension Encodable {
  /// The value as readable JSON.
  package func jsonReport() throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    return try encoder.encode(self)
  }
}
