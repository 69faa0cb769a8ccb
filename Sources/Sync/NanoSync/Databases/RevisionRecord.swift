// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine

/// What the store keeps about the revisions of one document, beside the document.
///
/// The content of the winning revision is the document itself. The record has the tree, the content of losing leaves, of
/// deletions that have fields, and of some ancestors, for merging.
struct RevisionRecord: Sendable {
  var id: DocumentKey
  var tree = RevisionTree()
  /// The row of the document that is the winning revision; nil if that is a deletion, or kept here.
  var row: Row?
  /// The attachments of the winning revision in the row.
  var attachments: [SyncAttachment] = []
  /// Content that is not in the document.
  var bodies: [RevisionID: Content] = [:]
  /// The newest revision that arrived from another store.
  var shared: RevisionID?
  /// Whether the stored record has several live leaves, which is noted.
  private(set) var wasConflicted = false

  struct Row: Sendable, Hashable {
    var rowID: Int64
    /// The revision of the stored document, which tells whether it was changed since.
    var revision: Int64?
  }

  struct Content: Sendable, Hashable {
    var body: DocumentObject
    var attachments: [SyncAttachment] = []
  }

  init(_ id: DocumentKey) { self.id = id }

  /// Whether the document is kept in the record only: design documents are for servers, not for the application.
  var isHidden: Bool { Self.isHidden(id) }
  static func isHidden(_ id: DocumentKey) -> Bool {
    if case .text(let text) = id { text.utf8.first == UInt8(ascii: "_") } else { false }
  }

  /// The leaves that do not delete the document; several are a conflict.
  var liveLeaves: [RevisionTree.Leaf] { tree.leaves.filter { !$0.isDeleted } }

  /// Returns a revision of the document with a content; nil for one that is empty or not known.
  func document(_ revision: RevisionID, _ content: Content?) -> SyncDocument {
    SyncDocument(
      id: id.description, revision: revision, isDeleted: tree.isDeleted(revision),
      body: content?.body ?? [:], attachments: content?.attachments ?? [],
      history: tree.history(of: revision))
  }
}

// The stored form.
extension RevisionRecord {
  var body: DocumentObject {
    var object: DocumentObject = ["t": .string(tree.storedText)]
    if let row {
      object["r"] = .int(row.rowID)
      if row.revision != 1 { object["n"] = row.revision.map { .int($0) } ?? .null }
    }
    if let shared, shared != tree.winner?.id { object["s"] = .string(shared.description) }
    if shared != nil, shared == tree.winner?.id { object["s"] = true }
    if !attachments.isEmpty { object["a"] = .array(attachments.map(\.recordValue)) }
    if !bodies.isEmpty {
      var contents = DocumentObject()
      for (id, content) in bodies.sorted(by: { $0.key < $1.key }) {
        var value: DocumentObject = ["body": .object(content.body)]
        if !content.attachments.isEmpty {
          value["attachments"] = .array(content.attachments.map(\.recordValue))
        }
        contents[id.description] = .object(value)
      }
      object["b"] = .object(contents)
    }
    return object
  }

  /// - Throws: ``StoreError/Code/corruptDocument``.
  init(_ id: DocumentKey, _ object: DocumentObject) throws(StoreError) {
    self.init(id)
    guard let tree = object["t"]?.string.flatMap({ RevisionTree(storedText: $0) }) else {
      throw StoreError(
        .corruptDocument, "The revisions of a document are damaged", [.key: id.description])
    }
    self.tree = tree
    wasConflicted = liveLeaves.count > 1
    if let row = object["r"]?.int64 {
      self.row = Row(rowID: row, revision: object["n"].map { $0.int64 } ?? 1)
    }
    shared = object["s"] == true ? tree.winner?.id : object["s"]?.string.flatMap { RevisionID($0) }
    attachments = object["a"]?.array?.compactMap { SyncAttachment(recordValue: $0) } ?? []
    for (name, value) in object["b"]?.object ?? [:] {
      guard let id = RevisionID(name), let content = value.object else { continue }
      bodies[id] = Content(
        body: content["body"]?.object ?? [:],
        attachments: content["attachments"]?.array?.compactMap { SyncAttachment(recordValue: $0) }
          ?? [])
    }
  }
}

extension RevisionRecord {
  /// The number of ancestors whose content is kept for merging. Arbitrary: a conflict that began more revisions ago can be
  /// merged if another store still has it.
  private static let keptAncestors = 16

  /// Keeps the content of a revision that is replaced, so that conflicting edits of it can be merged.
  mutating func keepAncestor(_ id: RevisionID, _ content: Content) {
    var content = content
    content.attachments = content.attachments.map(\.former)
    bodies[id] = content
    trimAncestors()
  }

  /// Limits the content of revisions that are not leaves to the newest ones, whose attachments are no longer kept.
  mutating func trimAncestors() {
    guard !bodies.isEmpty else { return }
    let leaves = tree.leafIDs
    let ancestors = bodies.keys.filter { !leaves.contains($0) }.sorted()
    for old in ancestors.dropLast(Self.keptAncestors) { bodies[old] = nil }
    for id in ancestors.suffix(Self.keptAncestors) {
      guard var content = bodies[id], !content.attachments.isEmpty else { continue }
      content.attachments = content.attachments.map(\.former)
      bodies[id] = content
    }
  }

  /// The length in bytes beyond which a record keeps less content of earlier revisions. PostgreSQL refuses
  /// values of 256 MB, in a binary form that can take six times as much as the text.
  static let maximumLength = 32 << 20

  /// Keeps the content of earlier revisions only as far as a record can hold it, the newest first. It is for merging, and
  /// must not keep the document from being written.
  mutating func limitAncestors() {
    let leaves = tree.leafIDs
    let ancestors = bodies.filter { !leaves.contains($0.key) }
    bodies = bodies.filter { leaves.contains($0.key) }
    guard let length = Self.length(of: body) else { return }
    var rest = Self.maximumLength - length
    for (id, content) in ancestors.sorted(by: { $0.key > $1.key }) {
      guard let length = Self.length(of: content.body, levels: Self.levelsOfContent), length <= rest
      else { continue }
      bodies[id] = content
      rest -= length
    }
  }

  /// The number of objects that enclose content in the stored form: `{"b":{"1-a":{"body":{}}}}`.
  private static let levelsOfContent = 3

  /// Returns the length of an object inside a number of others; nil if it cannot be stored there.
  private static func length(of object: DocumentObject, levels: Int = 0) -> Int? {
    var json = JSONWriter(capacity: 256)
    for _ in 0..<levels { _ = json.enter() }
    json.object(object)
    return json.failure == nil ? json.count : nil
  }

  /// Removes the content of revisions that the tree no longer has.
  mutating func dropUnknownBodies() {
    var unknown = Set(bodies.keys)
    for node in tree.nodes where !unknown.isEmpty { unknown.remove(node.id) }
    for id in unknown { bodies[id] = nil }
  }

  /// Limits each branch to its newest revisions, of which the content is kept.
  mutating func stem(to limit: Int) {
    if tree.stem(to: limit) { dropUnknownBodies() }
  }
}
