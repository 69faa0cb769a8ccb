// SPDX-License-Identifier: MIT

extension JSONReader {
  /// Returns the error for an unexpected byte where `byte` is required.
  @usableFromInline @inline(never)
  func unexpected(_ byte: UInt8) -> StoreError {
    corrupt("'\(Character(UnicodeScalar(byte)))'")
  }

  /// Returns the error for bytes that are not valid JSON.
  @usableFromInline @inline(never)
  func corrupt(_ expected: String) -> StoreError {
    StoreError(
      .corruptDocument, "A stored document does not decode",
      [.byteOffset: "\(offset)", .expected: expected])
  }

  /// Returns the error for a value of a different type, or for a missing value.
  @usableFromInline @inline(never)
  func mismatch(_ expected: StaticString) -> StoreError {
    guard let next, isValueStart(next) else { return corrupt("\(expected)") }
    return StoreError(
      .typeMismatch, "A field holds a value of a different type",
      [.byteOffset: "\(offset)", .expected: "\(expected)"])
  }

  private func isValueStart(_ byte: UInt8) -> Bool {
    switch byte {
    case ASCII.quote, ASCII.openBrace, ASCII.openBracket, ASCII.minus, 0x30...0x39: true
    case 0x74, 0x66, 0x6E: true  // true, false, null
    default: false
    }
  }

  /// Returns the error for a required field that the document does not have.
  @inline(never)
  public func missingField(_ name: StaticString) -> StoreError {
    StoreError(
      .typeMismatch, "A required field is missing",
      [.field: "\(name)", .byteOffset: "\(offset)"])
  }

  /// The error for a value that is followed by neither another one nor the end of its object.
  package var unexpectedEnd: StoreError { corrupt("',' or '}'") }

  @usableFromInline @inline(never)
  package static func tooDeep(at offset: Int) -> StoreError {
    StoreError(
      .corruptDocument, "A stored document is nested too deeply",
      [.byteOffset: "\(offset)", .limit: "\(DocumentValue.maximumDepth) levels"])
  }
}
