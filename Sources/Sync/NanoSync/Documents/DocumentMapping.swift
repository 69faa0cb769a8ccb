// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoStoreCore

/// The correspondence between stored documents and the JSON that is replicated.
///
/// The key is `_id`. Named attachments are in `_attachments` on both sides, with the digests that each side uses; there are
/// more of them in replicated JSON, see ``ReferencedContent``. Class and version, which JSON has no place for, are in the
/// field `$nanostore`, like in exported text.
enum DocumentMapping {
  static let header = "$nanostore"

  /// The parts of a stored document.
  struct Parts {
    var body: DocumentObject
    /// The references in `_attachments`, in order.
    var attachments: [NamedAttachment]

    /// All content that is transferred with the document.
    var contents: [NamedAttachment] { attachments + ReferencedContent.references(in: body) }
  }

  /// - Throws: ``StoreError/Code/valueNotStorable`` for a document with a field that the protocol reserves.
  static func parts(of document: Document) throws(StoreError) -> Parts {
    var object = try document.object()
    let header = document.header
    if let key = header.key, key.description.hasExactPrefix("_") {
      throw StoreError(
        .valueNotStorable, "A document cannot be synced: its key begins with an underscore",
        [.collection: document.collection ?? "", .key: key.description, .hint: "use another key"])
    }
    var attachments: [NamedAttachment] = []
    if let value = object[Attachment.field] {
      guard let named = value.object else {
        throw reserved(Attachment.field, "is not an object", document)
      }
      for (name, value) in named {
        guard let attachment = Attachment(value), BlobDigest(text: attachment.digest) != nil,
          !name.isEmpty, !name.hasExactPrefix("_"), Attachment.isPossible(length: attachment.length)
        else {
          throw reserved(Attachment.field, "has an entry that is no attachment", document)
        }
        // An earlier version has listed the content of references.
        guard !ReferencedContent.isName(name) else { continue }
        attachments.append(NamedAttachment(name: name, attachment: attachment))
      }
      object[Attachment.field] = nil
    }
    if let underscored = object.names.first(where: isReserved) {
      throw reserved(underscored, "begins with an underscore", document)
    }
    guard object[Self.header] == nil else {
      throw reserved(Self.header, "is reserved for the class of a document", document)
    }
    if header.type != nil || header.version != nil {
      var value = DocumentObject()
      if let type = header.type { value["type"] = .string(type) }
      if let version = header.version { value["version"] = .int(version) }
      var body: DocumentObject = [Self.header: .object(value)]
      body.merge(object)
      object = body
    }
    return Parts(body: object, attachments: attachments)
  }

  /// Whether the protocol reserves the name of a field.
  static func isReserved(_ name: String) -> Bool {
    name.utf8.first == UInt8(ascii: "_") && !SyncDocument.isContent(name)
  }

  private static func reserved(
    _ field: String, _ reason: String, _ document: Document
  ) -> StoreError {
    StoreError(
      .valueNotStorable, "A document cannot be synced: a field \(reason)",
      [
        .collection: document.collection ?? "", .field: field, .key: document.key ?? "",
        .rowID: document.rowID.map { "\($0)" } ?? "", .hint: "rename the field",
      ])
  }

  /// Interprets the field with class and version. Any other content would be lost, but the revision would stay the same.
  private static func header(
    _ value: DocumentValue, _ revision: SyncDocument
  ) throws(StoreError) -> (type: String?, version: Int64?) {
    var (type, version): (String?, Int64?)
    for (name, value) in value.object ?? [:] {
      switch value {
      case .string(let text) where name.hasSameBytes(as: "type"): type = text
      case .int(let number) where name.hasSameBytes(as: "version"): version = number
      default: throw reservedHeader(revision)
      }
    }
    guard type != nil || version != nil else { throw reservedHeader(revision) }
    return (type, version)
  }

  private static func reservedHeader(_ revision: SyncDocument) -> StoreError {
    StoreError(
      .valueNotStorable, "A field is reserved for the class and version of a document",
      [.field: header, .key: revision.id, .hint: "rename the field"])
  }

  /// Returns the document to be stored for a revision.
  ///
  /// - Throws: ``StoreError/Code/valueNotStorable`` for a field ``header`` that has another form, and others.
  static func document(_ revision: SyncDocument) throws(StoreError) -> Document {
    var object = revision.body
    var type: String?
    var version: Int64?
    if let header = object[Self.header] {
      (type, version) = try self.header(header, revision)
      object[Self.header] = nil
    }
    let listed = revision.attachments.filter { !ReferencedContent.isName($0.name) }
    if !listed.isEmpty {
      var named = DocumentObject()
      for attachment in listed {
        guard let content = attachment.content else { continue }
        named[attachment.name] =
          Attachment(
            digest: content.digest, length: attachment.length, contentType: attachment.contentType
          ).documentValue
      }
      object[Attachment.field] = .object(named)
    }
    var writer = JSONWriter(capacity: 512)
    writer.object(object)
    if let failure = writer.failure { throw failure }
    let key = try DocumentKey(revision.id)
    return Document(
      Document.Header(key: key, type: type, version: version), copying: writer.bytes)
  }
}
