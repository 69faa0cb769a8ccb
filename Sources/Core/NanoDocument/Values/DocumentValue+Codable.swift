// SPDX-License-Identifier: MIT

import Foundation

// With our own coders a value is what it is. With others, such as Foundation's JSONEncoder, it is
// what comes nearest: dates, data and URLs come back as what that coder makes of them.

extension DocumentValue: Codable {
  /// Encodes as itself with our encoder, as what comes nearest with others.
  public func encode(to encoder: any Encoder) throws {
    switch self {
    case .object(let object) where !(encoder is any NativeCoder): try object.encode(to: encoder)
    case .array(let elements) where !(encoder is any NativeCoder):
      var container = encoder.unkeyedContainer()
      for element in elements { try container.encode(element) }
    default:
      var container = encoder.singleValueContainer()
      if encoder is any NativeCoder { return try container.encode(self) }
      try encodeScalar(to: &container)
    }
  }

  private func encodeScalar(to container: inout any SingleValueEncodingContainer) throws {
    switch self {
    case .bool(let value): try container.encode(value)
    case .int(let value): try container.encode(value)
    case .double(let value): try container.encode(value)
    case .string(let value): try container.encode(value)
    case .date(let value): try container.encode(value)
    case .data(let value): try container.encode(value)
    case .url(let value): try container.encode(value)
    case .null, .array, .object: try container.encodeNil()
    }
  }

  /// Decodes itself with our decoder; with others there are only the types of JSON.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if decoder is any NativeCoder {
      self = try container.decode(DocumentValue.self)
    } else if container.decodeNil() {
      self = .null
    } else if let value = try? container.decode(Bool.self) {
      self = .bool(value)
    } else if let value = try? container.decode(Int64.self) {
      self = .int(value)
    } else if let value = try? container.decode(Double.self) {
      self = .double(value)
    } else if let value = try? container.decode(String.self) {
      self = .string(value)
    } else if let value = try? container.decode([DocumentValue].self) {
      self = .array(value)
    } else {
      self = .object(try container.decode(DocumentObject.self))
    }
  }
}

extension DocumentObject: Codable {
  /// Encodes as itself with our encoder, as what comes nearest with others.
  public func encode(to encoder: any Encoder) throws {
    if encoder is any NativeCoder {
      var container = encoder.singleValueContainer()
      return try container.encode(self)
    }
    var container = encoder.container(keyedBy: PathKey.self)
    for (name, value) in self { try container.encode(value, forKey: PathKey(stringValue: name)) }
  }

  /// Decodes itself with our decoder; with others there are only the types of JSON.
  public init(from decoder: any Decoder) throws {
    if decoder is any NativeCoder {
      self = try decoder.singleValueContainer().decode(DocumentObject.self)
      return
    }
    let container = try decoder.container(keyedBy: PathKey.self)
    self.init()
    for key in container.allKeys {
      self[key.stringValue] = try container.decode(DocumentValue.self, forKey: key)
    }
  }
}

/// Our own coders, which know how to write and read a ``DocumentValue``.
private protocol NativeCoder {}
extension StreamEncoder: NativeCoder {}
extension TreeEncoder: NativeCoder {}
extension ByteDecoder: NativeCoder {}
