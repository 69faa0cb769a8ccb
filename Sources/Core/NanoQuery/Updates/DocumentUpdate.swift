// SPDX-License-Identifier: MIT

package import NanoDocument

/// Update operators, prepared for any number of documents.
package struct DocumentUpdate {
  package let changes: [FieldChange]
  /// `nil` if an operator needs the whole document.
  private let patches: [Patch]?
  /// The fields that ``patch(_:to:)`` changes.
  package let patchedFields: [[StoredName]]

  /// - Throws: ``StoreError/Code/invalidArgument`` and others if the condition of a change is invalid.
  package init(_ changes: [FieldChange]) throws(StoreError) {
    for change in changes {
      do throws(StoreError) {
        try change.operation.validateCondition()
        try change.refuseRowID()
      } catch {
        throw error.adding(.field, change.path.description)
      }
    }
    self.changes = changes
    patches = Patch.all(changes)
    patchedFields = patches?.map(\.names) ?? []
  }

  /// Writes the changed form of a body in stored form, of which it parses only the fields that change.
  ///
  /// - Returns: Whether that was possible. If not, the changes must be applied to the parsed document, with the same
  ///   result.
  /// - Throws: The errors of ``FieldChange/apply(to:isInsert:)``.
  package func patch(
    _ body: UnsafeRawBufferPointer, to writer: inout JSONWriter
  ) throws(StoreError) -> Bool {
    guard let patches else { return false }
    guard let first = patches.first else {
      writer.raw(body)
      return true
    }
    guard try first.apply(to: body, &writer) else { return false }
    for patch in patches.dropFirst() {
      // A null stands for a value that cannot be stored, unless a later change replaces it.
      guard writer.failure == nil else { return false }
      let changed = writer.withBytes { Array($0) }
      writer.removeAll()
      let span = changed.withUnsafeBytes { bytes in
        Result { () throws(StoreError) in try patch.apply(to: bytes, &writer) }
      }
      guard try span.get() else { return false }
    }
    return true
  }
}

extension FieldChange {
  /// Setting the row ID has no effect, so that an object that was read can be passed to an update. Anything else would
  /// lose the value.
  fileprivate func refuseRowID() throws(StoreError) {
    func isRowID(_ path: FieldPath) -> Bool { path.components.first == DocumentObject.rowIDName }
    switch operation {
    case .set where path.components.count == 1, .setOnInsert where path.components.count == 1:
      return
    case .rename(let target) where isRowID(target): break
    default: guard isRowID(path) else { return }
    }
    throw StoreError(
      .invalidArgument, "An update cannot change the row ID of a document",
      [.hint: "use another name for the field"])
  }
}

/// A change that replaces or appends one value of a body.
private struct Patch {
  let change: FieldChange
  let names: [StoredName]

  private enum Place {
    case value(Range<Int>, DocumentValue)
    /// Before the brace at an offset, which closes an object.
    case end(Int, isEmpty: Bool)
  }

  /// Arbitrary: deeper fields are rare, and a value so deep may exceed the depth of a document.
  private static let maximumDepth = 8

  static func all(_ changes: [FieldChange]) -> [Patch]? {
    var patches: [Patch] = []
    for change in changes {
      switch change.operation {
      case .rename, .pullMatching: return nil
      case .setOnInsert: continue
      default: break
      }
      let names = change.path.components
      guard (try? change.path.validate()) != nil, names.count <= maximumDepth,
        names.first != DocumentObject.rowIDName
      else { return nil }
      patches.append(Patch(change: change, names: names.map(StoredName.init)))
    }
    return patches
  }

  func apply(
    to body: UnsafeRawBufferPointer, _ writer: inout JSONWriter
  ) throws(StoreError) -> Bool {
    // What is damaged is reported by parsing the whole body.
    guard let place = try? place(in: body) else { return false }
    switch place {
    case .value(let range, let old):
      guard let new = try change.value(replacing: old, in: nil), new.isFlat else { return false }
      writer.raw(UnsafeRawBufferPointer(rebasing: body[..<range.lowerBound]))
      writer.value(new)
      writer.raw(UnsafeRawBufferPointer(rebasing: body[range.upperBound...]))
    case .end(let offset, let isEmpty):
      guard let new = try change.value(replacing: nil, in: nil) else {
        writer.raw(body)
        return true
      }
      guard new.isFlat, let name = change.path.components.last else { return false }
      writer.raw(UnsafeRawBufferPointer(rebasing: body[..<offset]))
      if !isEmpty { writer.byte(UInt8(ascii: ",")) }
      writer.fieldName(name)
      writer.value(new)
      writer.raw(UnsafeRawBufferPointer(rebasing: body[offset...]))
    }
    return true
  }

  /// Returns where the field is, or where it would be appended; `nil` if the path leads through anything but objects.
  private func place(in body: UnsafeRawBufferPointer) throws(StoreError) -> Place? {
    var reader = JSONReader(body)
    for (position, name) in names.enumerated() {
      reader.skipWhitespace()
      guard isPlainObject(body[reader.offset...]) else { return nil }
      let object = reader
      if try reader.findField(name) { continue }
      guard position == names.count - 1 else { return nil }
      var end = object
      try end.skipValue()
      var inner = object
      let isEmpty =
        inner.peekConsume(UInt8(ascii: "{")) && inner.peekConsume(UInt8(ascii: "}"))
      return .end(end.offset - 1, isEmpty: isEmpty)
    }
    let start = reader.offset
    let old = try reader.value()
    return .value(start..<reader.offset, old)
  }

  /// Whether the bytes begin with an object that is not the stored form of another value, such as `{"$date":`.
  private func isPlainObject(_ bytes: Slice<UnsafeRawBufferPointer>) -> Bool {
    bytes.starts(with: "{".utf8)
      && (!bytes.starts(with: #"{"$"#.utf8) || bytes.starts(with: #"{"$$"#.utf8))
  }
}

extension DocumentValue {
  /// Whether the value contains at most scalars, so that it is not nested too deeply anywhere.
  fileprivate var isFlat: Bool {
    switch self {
    case .object: false
    case .array(let array):
      array.allSatisfy { element in
        switch element {
        case .object, .array: false
        default: true
        }
      }
    default: true
    }
  }
}
