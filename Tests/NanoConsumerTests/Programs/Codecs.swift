// SPDX-License-Identifier: MIT

import NanoStore

/// A type with a codec of its own, for every kind of value.
nonisolated struct Reading: DocumentRepresentable, Sendable {
  var name: String
  var isValid: Bool
  var values: [Double]
  var note: DocumentValue

  func write(to writer: inout JSONWriter) {
    guard writer.enter() else { return }
    writer.literal(#"{"name":"#)
    writer.string(name)
    writer.literal(#","isValid":"#)
    writer.bool(isValid)
    writer.literal(#","values":"#)
    writer.array(values) { $0.double($1) }
    writer.literal(#","note":"#)
    writer.value(note)
    writer.literal("}")
    writer.leave()
  }

  init(reading reader: inout JSONReader) throws(StoreError) {
    var (name, isValid, values, note) = (String?.none, false, [Double](), DocumentValue.null)
    try reader.fields { (reader: inout JSONReader, field) throws(StoreError) in
      if field.matches("name") {
        name = try reader.string()
      } else if field.matches("isValid") {
        isValid = try reader.bool()
      } else if field.matches("values") {
        values = try reader.array { (reader: inout JSONReader) throws(StoreError) in
          try reader.double()
        }
      } else if field.matches("note") {
        note = try reader.value()
      } else {
        try reader.skipValue()
      }
    }
    guard let name else { throw reader.missingField("name") }
    (self.name, self.isValid, self.values, self.note) = (name, isValid, values, note)
  }
}

/// The value itself in a condition on every value of a document.
func anyValue(_ readings: DocumentCollection) throws -> Int {
  try readings.find(.leaf(Field(FieldPath.element) == "broken")).count()
}
