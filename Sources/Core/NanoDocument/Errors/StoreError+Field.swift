// SPDX-License-Identifier: MIT

extension StoreError {
  /// Returns the error with the path of the field instead of the byte offset.
  package func withField(in body: UnsafeRawBufferPointer) -> StoreError {
    guard let offset = self[.byteOffset].flatMap({ Int($0) }) else { return self }
    let names = JSONReader.path(toByte: offset, in: body)
    let field = (names + (self[.field].map { [$0] } ?? [])).joined(separator: ".")
    let plain = removing(.byteOffset)
    return field.isEmpty ? plain : plain.replacing(.field, field)
  }
}
