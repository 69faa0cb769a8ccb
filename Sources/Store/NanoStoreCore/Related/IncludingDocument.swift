// SPDX-License-Identifier: MIT

import Foundation
public import NanoDocument
import NanoEngine

/// A document with its related documents.
///
/// ```swift
/// let film = try films.find().including("directorID", from: people, as: "director").first()!
/// film["title"]                            // a field of the film
/// film.one("director")?["country"]         // a field of a related document
/// film.many("director").map(\.document.key)
/// film.merged["director.country"]          // the same, in one document
/// ```
@dynamicMemberLookup
public struct IncludingDocument: Sendable {
  /// The document without its related documents.
  public let document: Document
  /// The related documents by name, in the order in which the query names them.
  private let inclusions: [Included]

  struct Included: Sendable {
    let name: String
    let documents: [IncludingDocument]
    /// Whether the documents become an array when they are merged; otherwise there is at most one.
    let isArray: Bool
  }

  init(_ document: Document, _ inclusions: [Included] = []) {
    self.document = document
    self.inclusions = inclusions
  }

  /// Returns another form of the document with the same related documents.
  func with(_ document: Document) -> IncludingDocument { IncludingDocument(document, inclusions) }

  /// Returns the value of a field of the document.
  public subscript(path: FieldPath) -> DocumentValue? { document[path] }

  /// Returns the value of a field of the document, by its path in text form.
  @_disfavoredOverload
  public subscript(path: String) -> DocumentValue? { document[path] }

  /// Returns a property of the document, such as its key.
  public subscript<Value>(dynamicMember property: KeyPath<Document, Value>) -> Value {
    document[keyPath: property]
  }

  /// Returns the related document under a name: the first one if there are several; nil if there is none, or the query
  /// includes nothing under this name.
  public func one(_ name: String) -> IncludingDocument? { many(name).first }

  /// Returns the related documents under a name, in order; empty if the query includes nothing under this name.
  public func many(_ name: String) -> [IncludingDocument] {
    inclusions.first { $0.name.hasSameBytes(as: name) }?.documents ?? []
  }

  /// The document with its related documents as the values of fields.
  ///
  /// A single reference by key or row ID becomes an object, or null if the document does not exist; everything else
  /// becomes an array. A field with the name of the inclusion is replaced. Like a document with selected fields, it
  /// cannot replace the stored one.
  ///
  /// - Throws: ``StoreError/Code/corruptDocument``.
  public var merged: Document {
    get throws {
      var header = document.header
      header.isPartial = true
      let body = try mergedBody()
      return body.withUnsafeBytes { Document(header, copying: $0) }
    }
  }

  /// Returns the merged document in stored form. The bytes of related documents are copied as they are, unless a field
  /// is replaced.
  fileprivate func mergedBody() throws -> [UInt8] {
    guard !inclusions.isEmpty else { return try document.withBytes { Array($0) } }
    var writer = JSONWriter()
    var object = try document.withBytes { bytes in
      var reader = JSONReader(bytes)
      return try reader.object()
    }
    for included in inclusions { object[included.name] = nil }
    writer.object(object)
    if let failure = writer.failure { throw failure }
    var body = Array(writer.bytes)
    body.removeLast()
    for included in inclusions {
      if body.count > 1 { body.append(UInt8(ascii: ",")) }
      body += try Self.name(included.name)
      try included.append(to: &body)
    }
    body.append(UInt8(ascii: "}"))
    return body
  }

  /// Returns a field name in stored form, with a colon.
  private static func name(_ name: String) throws -> [UInt8] {
    var writer = JSONWriter()
    writer.object(DocumentObject([(name, .null)]))
    if let failure = writer.failure { throw failure }
    // {"name":null}
    return Array(writer.bytes.dropFirst().dropLast(5))
  }
}

extension IncludingDocument {
  /// Hashes everything that a program can read, except revisions: unlike in ``merged``, the fields with the name of an
  /// inclusion and the identity of each related document, too.
  ///
  /// - Parameter revisions: Receives the revisions of the related documents.
  func hash(into hasher: inout Hasher, _ revisions: inout [Int64?]) throws {
    hasher.combine(document.key)
    hasher.combine(document.type)
    hasher.combine(document.version)
    hasher.combine(document.added)
    try document.withBytes { bytes in
      // A row of another program is compared in the form that it has once it is adopted, if there is one.
      let rewritten = document.revision == nil ? try? CanonicalBody.rewritten(bytes) : nil
      hasher.combine(rewritten?.count ?? bytes.count)
      if let rewritten {
        rewritten.withUnsafeBytes { hasher.combine(bytes: $0) }
      } else {
        hasher.combine(bytes: bytes)
      }
    }
    for included in inclusions {
      hasher.combine(included.isArray)
      hasher.combine(included.documents.count)
      for related in included.documents {
        hasher.combine(related.document.rowID)
        revisions.append(related.document.isPartial ? nil : related.document.revision)
        try related.hash(into: &hasher, &revisions)
      }
    }
  }
}

extension IncludingDocument.Included {
  fileprivate func append(to body: inout [UInt8]) throws {
    guard isArray else {
      guard let one = documents.first else {
        body += Array("null".utf8)
        return
      }
      body += try one.mergedBody()
      return
    }
    body.append(UInt8(ascii: "["))
    for (index, document) in documents.enumerated() {
      if index > 0 { body.append(UInt8(ascii: ",")) }
      body += try document.mergedBody()
    }
    body.append(UInt8(ascii: "]"))
  }
}
