// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument

/// What CouchDB 3.5 answered for revision trees and contents.
enum RecordedExamples {
  static let trees = load("revisions")
  static let identifiers = load("revision-ids")

  private static func load(_ name: String) -> [DocumentObject] {
    let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    let url = folder.appending(path: "Fixtures/\(name).json")
    guard let data = try? Data(contentsOf: url),
      let value = try? DocumentValue(json: data, dialect: .plain), let array = value.array
    else { return [] }
    return array.compactMap(\.object)
  }
}

extension DocumentObject {
  subscript(path name: String, _ second: String) -> DocumentValue? { self[name]?.object?[second] }
  var number: Int { self["n"]?.int64.map { Int($0) } ?? 0 }
  var title: String { "\(number): \(self["name"]?.string ?? "")" }
}
