// SPDX-License-Identifier: MIT

import NanoDocument
import NanoSync

/// Interprets documents that clients send, with the errors of CouchDB.
enum DocumentParser {
  /// - Parameter documents: What is a document: the object, or elements of an array in it.
  static func object(
    _ bytes: [UInt8], documents: SyncJSON.Documents = .outermost
  ) throws(ProtocolError) -> DocumentObject {
    try object(value(bytes, documents))
  }

  private static func value(
    _ bytes: [UInt8], _ documents: SyncJSON.Documents
  ) throws(ProtocolError) -> DocumentValue {
    do {
      return try SyncJSON.value(bytes, documents: documents)
    } catch {
      throw .badRequest("invalid UTF-8 JSON")
    }
  }

  static func object(_ value: DocumentValue) throws(ProtocolError) -> DocumentObject {
    guard let object = value.object else {
      throw .badRequest("Document must be a JSON object")
    }
    return object
  }

  static func document(_ object: DocumentObject) throws(ProtocolError) -> WireDocument {
    if let deleted = object["_deleted"], deleted.bool == nil {
      throw .invalidDocument("Bad special document member: _deleted")
    }
    if let attachments = object["_attachments"], attachments.object == nil {
      throw .invalidDocument("Bad special document member: _attachments")
    }
    return try WireDocument(object)
  }

  /// Checks the length of a document, whose attachments do not count.
  static func checkSize(_ document: WireDocument, limit: Int) throws(ProtocolError) {
    try checkSize(document.body, of: document.id, limit: limit)
  }

  static func checkSize(
    _ body: DocumentObject, of id: String?, limit: Int
  ) throws(ProtocolError) {
    guard SyncJSON.bytes(body).count <= limit else {
      throw ProtocolError(413, "document_too_large", id ?? "")
    }
  }
}
