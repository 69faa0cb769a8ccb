// SPDX-License-Identifier: MIT

public import NanoDocument
import NanoEngine

/// A reference to binary content that the store keeps beside its documents.
///
/// It is a small value that documents contain: the digest of the content, its length and its type.
/// The content itself is stored once, however many documents refer to it. As a property of a
/// `Codable` or `@Model` type:
///
/// ```swift
/// @Model struct Film {
///   @Key var id: String
///   var poster: Attachment?
/// }
///
/// film.poster = try store.addAttachment(.file(url), contentType: "image/jpeg")
/// try films.save(film)
/// try store.data(of: film.poster!)
/// ```
///
/// In a document it is an object with the fields `digest`, `length` and `content_type`, which
/// queries can use as they use any field.
public struct Attachment: Sendable, Hashable, Codable {
  /// `sha256-` and the SHA-256 digest of the content as 64 hexadecimal digits.
  public var digest: String
  /// The number of bytes.
  public var length: Int64
  /// The media type, such as `image/jpeg`. The store does not interpret it.
  public var contentType: String

  /// Creates a reference from its parts, for content that the store has or will have.
  public init(digest: String, length: Int64, contentType: String) {
    self.digest = digest
    self.length = length
    self.contentType = contentType
  }

  enum CodingKeys: String, CodingKey {
    case digest
    case length
    case contentType = "content_type"
  }

  /// The media type of content of unknown type.
  public static let unknownContentType = "application/octet-stream"

  /// The field of a document that holds its named attachments.
  public static let field = "_attachments"

  /// Whether an attachment can have this length. Documents can contain any, and sums of impossible ones overflow.
  package static func isPossible(length: Int64) -> Bool {
    BlobRecord.isPossible(length: length, chunkLength: Int64(BlobWriter.chunkLength))
  }
}

extension Attachment: DocumentValueConvertible {
  /// The object that represents the attachment in a document.
  public var documentValue: DocumentValue {
    .object([
      "digest": .string(digest), "length": .int(length), "content_type": .string(contentType),
    ])
  }

  /// Creates a reference from the object that represents it in a document; nil for any other value.
  public init?(_ value: DocumentValue) {
    guard let object = value.object, let digest = object["digest"]?.string,
      let length = object["length"]?.int64
    else { return nil }
    self.init(
      digest: digest, length: length,
      contentType: object["content_type"]?.string ?? Self.unknownContentType)
  }
}

/// An attachment of a document, with the name that it has there.
public struct NamedAttachment: Sendable, Hashable {
  /// The name, unique in the document.
  public var name: String
  /// The reference to the content.
  public var attachment: Attachment

  /// Creates a named attachment.
  public init(name: String, attachment: Attachment) {
    self.name = name
    self.attachment = attachment
  }
}
