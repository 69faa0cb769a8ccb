// SPDX-License-Identifier: MIT

import NanoDocument
import NanoQuery

extension FuzzTarget {
  /// The text of a field path. A valid path must round-trip, also in a query, and must find the value that was set.
  static let path = FuzzTarget("path", maximumLength: 100) { bytes in
    let text = String(decoding: bytes, as: UTF8.self)
    let path = FieldPath(text)
    guard path.isValid else {
      try require((try? path.validate()) == nil, "isValid and validate() disagree")
      return
    }
    try require(FieldPath(path.description) == path, "\(path) does not round-trip")
    try expectQuery(path)
    var document = try Document()
    document[path] = 7
    let isRowID = path.components == [DocumentObject.rowIDName]
    try require(document[path] == (isRowID ? nil : 7), "The value set at \(path) is missing")
    try document.withBytes { bytes in
      let stored = Document(Document.Header(), copying: bytes)
      try require(
        stored[path] == (isRowID ? nil : 7), "The value stored at \(path) is missing")
    }
  }

  private static func expectQuery(_ path: FieldPath) throws {
    let condition = Condition.exists(path)
    let query: QueryText
    do throws(StoreError) {
      query = try QueryText(condition.queryText)
    } catch {
      // NUL, the one character that names cannot contain in query text.
      try require(
        path.components.contains { $0.utf8.contains(0) },
        "\(condition.queryText) is rejected: \(error.debugDescription)")
      return
    }
    try require(query.condition == condition, "\(condition.queryText) parses to \(query)")
  }
}
