// SPDX-License-Identifier: MIT

package import NanoDocument

extension Selector {
  /// Returns a selector as JSON text has it: values of types that JSON lacks are objects, such as `{"$date": "…"}`.
  ///
  /// Such an object would be a list of operators where a field is compared with it, so that it gets the operator `$eq`.
  package static func plain(_ selector: DocumentObject) -> DocumentObject {
    DocumentObject(
      selector.map { field -> (String, DocumentValue) in
        let (name, value) = (field.name, field.value)
        guard name.utf8.first == UInt8(ascii: "$") else { return (name, condition(value)) }
        switch name {
        case "$and", "$or", "$nor", "$not": return (name, conditions(value))
        case "$elemMatch", "$allMatch", "$keyMapMatch": return (name, condition(value))
        default: return (name, value.withPlainValues)
        }
      })
  }

  private static func conditions(_ value: DocumentValue) -> DocumentValue {
    switch value {
    case .array(let elements): .array(elements.map(conditions))
    case .object(let object): .object(plain(object))
    default: value.withPlainValues
    }
  }

  /// What a field is compared with.
  private static func condition(_ value: DocumentValue) -> DocumentValue {
    if case .object(let object) = value { return .object(plain(object)) }
    let argument = value.withPlainValues
    if case .object = argument { return ["$eq": argument] }
    return argument
  }
}

extension DocumentValue {
  /// The value as JSON text has it, if it is of a type that JSON lacks.
  var plainValue: DocumentValue {
    switch self {
    case .null, .bool, .int, .string, .array, .object: return self
    case .double(let number) where number.isFinite: return self
    case .double, .decimal, .date, .data, .url:
      // Null is what a date without a text is written as.
      return (try? DocumentValue(json: SyncJSON.bytes(self), dialect: .plain)) ?? .null
    }
  }

  /// The value with those in it as JSON text has them. Objects that look like them stay.
  fileprivate var withPlainValues: DocumentValue {
    switch self {
    case .array(let elements): .array(elements.map(\.withPlainValues))
    case .object(let object):
      .object(DocumentObject(object.map { ($0.name, $0.value.withPlainValues) }))
    default: plainValue
    }
  }
}
