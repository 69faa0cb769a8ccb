// SPDX-License-Identifier: MIT

import NanoDocument
import NanoQuery

extension FuzzTarget {
  /// The text of a field's path: a path that is one is printed as it is read, also in a query, and finds what was
  /// set there.
  static let path = FuzzTarget("path", maximumLength: 100) { bytes in
    let text = String(decoding: bytes, as: UTF8.self)
    let path = FieldPath(text)
    guard path.isValid else {
      try require((try? path.validate()) == nil, "A path is valid and is not")
      return
    }
    try require(FieldPath(path.description) == path, "\(path) is read as another path")
    try expectQuery(path)
    var document = try Document()
    document[path] = 7
    let isRowID = path.components == [DocumentObject.rowIDName]
    try require(document[path] == (isRowID ? nil : 7), "What was set at \(path) is not there")
    try document.withBytes { bytes in
      let stored = Document(Document.Header(), copying: bytes)
      try require(
        stored[path] == (isRowID ? nil : 7), "What was stored at \(path) is not there")
    }
  }

  private static func expectQuery(_ path: FieldPath) throws {
    let condition = Condition.exists(path)
    let query: QueryText
    do throws(StoreError) {
      query = try QueryText(condition.queryText)
    } catch {
      // The one character that no name has in query text.
      try require(
        path.components.contains { $0.utf8.contains(0) },
        "\(condition.queryText) is refused: \(error.debugDescription)")
      return
    }
    try require(query.condition == condition, "\(condition.queryText) is read as \(query)")
  }
}
