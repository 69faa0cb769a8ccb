// SPDX-License-Identifier: MIT

import Foundation
package import NanoDocument
package import NanoEngine
package import NanoQuery

extension StoredDocument {
  /// Returns the document as the subject of a condition.
  package func subject(_ object: DocumentObject) -> DocumentSubject {
    DocumentSubject(
      object, key: key.map { .string($0.description) } ?? .null, rowID: rowID,
      type: type.map { .string($0) } ?? .null, version: version.map { .int($0) } ?? .null,
      added: added.map { .date(Date(microsecondsSince1970: $0)) } ?? .null)
  }
}
