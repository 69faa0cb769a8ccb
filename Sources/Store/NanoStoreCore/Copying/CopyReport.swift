// SPDX-License-Identifier: MIT

public import NanoEngine

/// What a copy wrote, or how two stores differ.
public struct CopyReport: Sendable, Hashable {
  /// What a collection holds: two collections with equal ones hold the same documents in the same rows.
  ///
  /// The checksum tells accidents, by 128 bits. It is no protection against somebody who wants two
  /// collections to have the same one.
  public struct Contents: Sendable, Hashable {
    public var documents: Int
    /// 32 hexadecimal digits, made of row ids, keys, classes, versions, moments and bodies in the order of
    /// row ids. Not of revisions, which begin anew in a copy.
    public var checksum: String
    package init(documents: Int, checksum: String) {
      self.documents = documents
      self.checksum = checksum
    }
  }

  /// A collection in both stores. One that a store does not have is empty there.
  public struct Collection: Sendable, Hashable {
    public var name: String
    public var source: Contents
    public var target: Contents
    /// Documents that this call wrote; fewer than there are if an earlier one had begun.
    public var copied: Int
    public var isEqual: Bool { source == target }
    package init(name: String, source: Contents, target: Contents, copied: Int = 0) {
      self.name = name
      self.source = source
      self.target = target
      self.copied = copied
    }
  }

  /// A definition that the target does not have because its engine cannot.
  public struct LeftOut: Sendable, Hashable {
    public var collection: String
    /// The name of the index, or `everything` for the policy.
    public var definition: String
    /// What the engine said.
    public var reason: String
    package init(collection: String, definition: String, reason: String) {
      self.collection = collection
      self.definition = definition
      self.reason = reason
    }
  }

  /// The collections of both stores by name, those that hold bags included.
  public var collections: [Collection] = []
  /// How definitions, settings and metadata differ, beyond what was left out. Empty after a copy.
  public var differences: [VerificationProblem] = []
  /// What the copy went without.
  public var leftOut: [LeftOut] = []
  /// Whether an earlier copy had begun that this one went on with.
  public var isContinued = false

  package init() {}

  /// Whether all documents are the same.
  public var hasEqualDocuments: Bool { collections.allSatisfy(\.isEqual) }
  /// Whether everything is the same, apart from what was left out.
  public var isEqual: Bool { hasEqualDocuments && differences.isEmpty }
  /// Documents of the source.
  public var documents: Int { collections.reduce(0) { $0 + $1.source.documents } }
  /// Documents that this call wrote.
  public var copied: Int { collections.reduce(0) { $0 + $1.copied } }
}
