// SPDX-License-Identifier: MIT

import NanoDocument
import NanoQuery

/// How a field stores a key that is not stored as the key's text.
///
/// The text of a key is a UUID in lower case or the digits of an integer.
enum KeyForm: Sendable {
  /// A UUID in upper case.
  case uuid
  /// A number.
  case integer

  /// Returns the text of the keys in a field.
  func keyText(of field: QueryExpression) -> QueryExpression {
    switch self {
    case .uuid: .function(.lower, [field])
    case .integer: .cast(field, .text)
    }
  }

  /// Returns the text of the key in a field.
  func keyText(ofField value: DocumentValue) -> DocumentValue {
    switch (self, value) {
    case (.uuid, .string(let text)): .string(text.lowercased())
    case (.integer, .int(let number)): .string("\(number)")
    default: value
    }
  }

  /// Returns the value of fields that hold a key.
  func fieldValue(ofKey key: DocumentValue) -> DocumentValue {
    guard case .string(let text) = key else { return key }
    switch self {
    case .uuid: return .string(text.uppercased())
    case .integer:
      // A text such as "007" is another key.
      guard let number = Int64(text), "\(number)".hasSameBytes(as: text) else { return key }
      return .int(number)
    }
  }

  /// Returns whether a property of this form refers to keys of a model; nil stands for a model that is not known.
  func matchesKeys(of model: (any Model.Type)?) -> Bool {
    guard let key = model?.fieldTable.fields.first(where: \.location.isKey) else {
      // The store creates UUIDs as keys.
      return self == .uuid || model == nil
    }
    return key.location.keyForm == self
  }
}

/// A source of related documents that are values of a model.
protocol ModelSource {
  static var model: any Model.Type { get }
}
extension ModelQuery: ModelSource {
  static var model: any Model.Type { M.self }
}
extension ModelCollection: ModelSource {
  static var model: any Model.Type { M.self }
}
