// SPDX-License-Identifier: MIT

import Foundation
package import NanoDocument
package import NanoQuery

extension StoredDocument {
  /// Returns the value of an attribute as conditions see it.
  package func value(of attribute: Attribute) -> DocumentValue {
    switch attribute {
    case .key: key.map { .string($0.description) } ?? .null
    case .rowID: .int(rowID)
    case .type: type.map { .string($0) } ?? .null
    case .version: version.map { .int($0) } ?? .null
    case .added: added.map { .date(.init(microsecondsSince1970: $0)) } ?? .null
    case .leafPath: .null
    }
  }
}
