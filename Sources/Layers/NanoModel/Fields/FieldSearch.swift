// SPDX-License-Identifier: MIT

public import NanoDocument

/// Finds the fields of an object by their names, for the code that ``Model(collection:version:expires:)``
/// generates to read documents whose fields are not in declaration order.
///
/// All names are searched by one function: generated code that compared them took the compiler twice
/// as long as the rest of a model.
public final class FieldSearch {
  private struct Field {
    let name: JSONReader.Name
    /// A reader at the value.
    let value: JSONReader
    let text: UnsafeRawBufferPointer.SubSequence
    var isDeclared = false
  }

  private var fields: [Field]
  private let start: JSONReader
  /// A reader behind the object.
  private let end: JSONReader
  /// The offset behind the value that was found last, to which reading it must lead.
  private var endOfValue: Int?

  /// Finds the fields of the object at which the reader is.
  ///
  /// - Throws: ``StoreError/Code/corruptDocument`` or ``StoreError/Code/typeMismatch``.
  public init(_ reader: JSONReader) throws(StoreError) {
    var reader = reader
    var fields: [Field] = []
    start = reader
    try reader.fields { (reader: inout JSONReader, name) throws(StoreError) in
      reader.skipWhitespace()
      let value = reader
      try reader.skipValue()
      let text = value.rest.prefix(value.rest.count - reader.rest.count)
      fields.append(Field(name: name, value: value, text: text))
    }
    end = reader
    self.fields = fields
  }

  /// Moves the reader to the value of a field, and returns whether the document has it.
  ///
  /// Of duplicate fields the first one is found, and of several names the first one.
  ///
  /// - Parameters:
  ///   - name: The name in stored form.
  ///   - formerNames: Names to search if the document does not have the name.
  /// - Throws: ``StoreError/Code/corruptDocument`` if reading the value that was found before did not
  ///   lead to its end.
  public func find(
    _ name: StaticString, _ formerNames: StaticString..., reader: inout JSONReader
  ) throws(StoreError) -> Bool {
    try move(&reader, to: [name] + formerNames) { _ in true }
  }

  /// Moves the reader to the value of a field as ``find(_:_:reader:)`` does, but ignores fields that are
  /// null.
  public func findValue(
    _ name: StaticString, _ formerNames: StaticString..., reader: inout JSONReader
  ) throws(StoreError) -> Bool {
    try move(&reader, to: [name] + formerNames) { !$0.isNull }
  }

  private func move(
    _ reader: inout JSONReader, to names: [StaticString], _ isAccepted: (JSONReader) -> Bool
  ) throws(StoreError) -> Bool {
    try check(reader)
    var found: Field?
    for name in names {
      for index in fields.indices where !fields[index].isDeclared {
        guard fields[index].name.matches(name) else { continue }
        fields[index].isDeclared = true
        if found == nil, isAccepted(fields[index].value) { found = fields[index] }
      }
    }
    guard let found else { return false }
    reader = found.value
    endOfValue = reader.offset + found.text.count
    return true
  }

  /// Ignores a field whose value is known from elsewhere.
  public func ignore(_ name: StaticString) {
    for index in fields.indices where fields[index].name.matches(name) {
      fields[index].isDeclared = true
    }
  }

  /// Moves the reader behind the object, and returns the fields that were neither found nor ignored.
  ///
  /// - Throws: ``StoreError/Code/corruptDocument`` as ``find(_:_:reader:)`` does.
  public func finish(_ reader: inout JSONReader) throws(StoreError) -> UnknownFields {
    try check(reader)
    reader = end
    var bytes: [UInt8] = []
    for field in fields where !field.isDeclared {
      bytes.append(UInt8(ascii: ","))
      bytes.append(UInt8(ascii: "\""))
      bytes.append(contentsOf: field.name.bytes)
      bytes.append(UInt8(ascii: "\""))
      bytes.append(UInt8(ascii: ":"))
      bytes.append(contentsOf: field.text)
    }
    return UnknownFields(bytes)
  }

  private func check(_ reader: JSONReader) throws(StoreError) {
    guard let endOfValue else { return }
    if reader.offset != endOfValue { throw reader.unexpectedEnd }
    self.endOfValue = nil
  }

  /// Returns the error for a required field that the object does not have.
  public func missingField(_ name: StaticString) -> StoreError { start.missingField(name) }
}
