// SPDX-License-Identifier: MIT

import NanoDocument

/// Which integers of a document are row IDs of documents of another collection.
///
/// An integer does not say what it refers to. A field refers to a collection if it is named like it, such as `songs`,
/// `song`, `songID` or `song_ids` for the collection `Song`, or if the page says so with a link.
struct ReferenceRules {
  /// Says that the integers at a path of a collection are row IDs of another one.
  struct Link: Hashable {
    var collection: ExactName
    var path: String
    var target: String
  }

  /// The collections by the singular of their names.
  private let collections: [ExactName: [String]]
  private let links: [Link]

  init(collections: [String], links: [Link]) {
    self.collections = Dictionary(grouping: collections) { ExactName(Self.stem(ofCollection: $0)) }
    self.links = links
  }

  /// Returns the collections that the integers at a path refer to.
  func targets(_ path: SurveyPath, in collection: String) -> [String] {
    let linked = links.filter {
      $0.collection == ExactName(collection) && $0.path.hasSameBytes(as: path.text)
    }
    guard linked.isEmpty else { return linked.map(\.target) }
    guard let name = path.names.last.map(Self.stem(ofField:)), !name.isEmpty else { return [] }
    return collections[ExactName(name)] ?? []
  }

  /// Returns the singular of a collection's name in lowercase.
  private static func stem(ofCollection name: String) -> String { singular(name.lowercased()) }

  /// Returns what a field's name says, in singular and lowercase, without an ending such as `ID`.
  private static func stem(ofField name: String) -> String {
    for ending in ["_ids", "_id", "IDs", "Ids", "ID", "Id"] where name.hasExactSuffix(ending) {
      return singular(name.dropLast(ending.count).lowercased())
    }
    return singular(name.lowercased())
  }

  private static func singular(_ name: String) -> String {
    if name.hasExactSuffix("ies") { return name.dropLast(3) + "y" }
    return name.hasExactSuffix("s") ? String(name.dropLast()) : name
  }
}

extension String {
  fileprivate func hasExactSuffix(_ suffix: String) -> Bool {
    utf8.count >= suffix.utf8.count && utf8.suffix(suffix.utf8.count).elementsEqual(suffix.utf8)
  }
}
