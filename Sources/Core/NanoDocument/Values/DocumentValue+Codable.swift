// SPDX-License-Identifier: MIT

import Foundation

// NanoStore's coders encode a value as itself. Other coders, such as Foundation's `JSONEncoder`, encode
// the closest equivalent: dates, data and URLs are decoded back as that coder represents them.

extension DocumentValue: Codable {
  /// Encodes the value as itself with NanoStore's encoder, or as the closest equivalent with other
  /// encoders.
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
    case .decimal(let value): try container.encode(value.decimal)
    case .string(let value): try container.encode(value)
    case .date(let value): try container.encode(value)
    case .data(let value): try container.encode(value)
    case .url(let value): try container.encode(value)
    case .null, .array, .object: try container.encodeNil()
    }
  }

  /// Decodes the value as itself with NanoStore's decoder, or as a JSON type with other decoders.
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
  /// Encodes the object as itself with NanoStore's encoder, or as the closest equivalent with other
  /// encoders.
  public func encode(to encoder: any Encoder) throws {
    if encoder is any NativeCoder {
      var container = encoder.singleValueContainer()
      return try container.encode(self)
    }
    var container = encoder.container(keyedBy: PathKey.self)
    for (name, value) in self { try container.encode(value, forKey: PathKey(stringValue: name)) }
  }

  /// Decodes the object as itself with NanoStore's decoder, or as JSON types with other decoders.
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

/// NanoStore's coders, which support ``DocumentValue`` natively.
private protocol NativeCoder {}
extension StreamEncoder: NativeCoder {}
extension TreeEncoder: NativeCoder {}
extension ByteDecoder: NativeCoder {}
