// SPDX-License-Identifier: MIT

package import NanoDocument
import NanoQuery

/// The definitions and the metadata of a snapshot.
package protocol EngineCatalogReader: AnyObject {
  /// Returns the existing collections, sorted by name, in which the case of ASCII letters does not matter.
  func collections() throws -> [CollectionDescription]
  /// Returns what identifies the documents of a collection; a key if the collection does not exist yet.
  func identity(of collection: String) throws -> CollectionIdentity
  /// Returns the indexes of a collection, sorted by name.
  func indexes(in collection: String) throws -> [IndexDefinition]
  /// Returns the full-text indexes of a collection, sorted by name.
  func fullTextIndexes(in collection: String) throws -> [FullTextIndexDefinition]
  /// Returns what is indexed in addition to those; ``IndexingPolicy/declared`` if the collection does not exist.
  func indexing(in collection: String) throws -> IndexingPolicy
  /// Returns the class names that documents are stored under, each once, sorted.
  func types(in collection: String) throws -> [String]
  /// Returns the settings of a collection; empty ones if the collection does not exist.
  func settings(of collection: String) throws -> CollectionSettings
  /// Returns every path that documents of the collection have ever contained, sorted, with the types observed there.
  func observedPaths(in collection: String) throws -> [ObservedPath]
  /// Returns a metadata value, which is stored outside the collections; `nil` if there is none with this name.
  func metadata(_ name: String) throws -> DocumentValue?
  /// Returns the names of the metadata values, sorted.
  func metadataNames() throws -> [String]
}

extension EngineCatalogReader where Self: EngineDocumentReader {
  package func fullTextIndexes(in collection: String) throws -> [FullTextIndexDefinition] { [] }

  package func types(in collection: String) throws -> [String] {
    var names: Set<ExactName> = []
    var query = Query(!Condition.isNull(.attribute(.type)))
    query.fields = []
    try find(query, in: collection) { document in
      if let type = document.type { names.insert(ExactName(type)) }
      return true
    }
    return names.sorted().map(\.text)
  }
}
