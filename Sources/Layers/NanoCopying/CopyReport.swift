// SPDX-License-Identifier: MIT

public import NanoEngine

/// The result of a copy, or the differences between two stores.
public struct CopyReport: Sendable, Hashable {
  /// A summary of a collection's contents. Equal summaries mean the same documents with the same
  /// row IDs.
  ///
  /// The 128-bit checksum detects accidental differences. It is not cryptographic, and does not
  /// protect against deliberate collisions.
  public struct Contents: Sendable, Hashable {
    /// The number of documents.
    public var documents: Int
    /// The checksum of the documents, as 32 hexadecimal digits.
    ///
    /// It is computed from row IDs, keys, classes, versions, insertion times and bodies in the
    /// order of row IDs. Revisions are not included, since a copy starts them over.
    public var checksum: String
    /// Creates a summary.
    package init(documents: Int, checksum: String) {
      self.documents = documents
      self.checksum = checksum
    }
  }

  /// A collection in both stores. If a store does not have it, it counts as empty there.
  public struct Collection: Sendable, Hashable {
    /// The name of the collection.
    public var name: String
    /// Its contents in the source.
    public var source: Contents
    /// Its contents in the target.
    public var target: Contents
    /// The number of documents written by this call; fewer than the total if an earlier copy was
    /// resumed.
    public var copied: Int
    /// Whether both stores have the same documents.
    public var isEqual: Bool { source == target }
    /// Creates a comparison of a collection.
    package init(name: String, source: Contents, target: Contents, copied: Int = 0) {
      self.name = name
      self.source = source
      self.target = target
      self.copied = copied
    }
  }

  /// A definition that was skipped because the target's engine does not support it.
  public struct OmittedDefinition: Sendable, Hashable {
    /// The name of the collection.
    public var collection: String
    /// The name of the index, or `everything` for the policy.
    public var definition: String
    /// The engine's error message.
    public var reason: String
    /// Creates a skipped definition.
    package init(collection: String, definition: String, reason: String) {
      self.collection = collection
      self.definition = definition
      self.reason = reason
    }
  }

  /// The collections of both stores sorted by name, including the internal collections of bags.
  public var collections: [Collection] = []
  /// The differences between definitions, settings and metadata, except for skipped definitions.
  /// Empty after a copy.
  public var differences: [VerificationProblem] = []
  /// The definitions that the copy skipped.
  public var omitted: [OmittedDefinition] = []
  /// Whether this call resumed an earlier copy.
  public var isContinued = false

  /// Creates an empty report.
  package init() {}

  /// Whether all documents are the same.
  public var hasEqualDocuments: Bool { collections.allSatisfy(\.isEqual) }
  /// Whether everything is the same, except for skipped definitions.
  public var isEqual: Bool { hasEqualDocuments && differences.isEmpty }
  /// The number of documents in the source.
  public var documents: Int { collections.reduce(0) { $0 + $1.source.documents } }
  /// The number of documents written by this call.
  public var copied: Int { collections.reduce(0) { $0 + $1.copied } }
}
