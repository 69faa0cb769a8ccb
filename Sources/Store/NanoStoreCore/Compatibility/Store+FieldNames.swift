// SPDX-License-Identifier: MIT

import NanoDocument
import Synchronization

extension Store {
  /// Whether field names and keys may contain periods. The default is true: paths put such names in
  /// quotes.
  ///
  /// Set it to false to reject them, for programs whose own path syntax has no quotes. It applies
  /// to documents stored from then on, through this store object only; reading and deleting are not
  /// affected.
  ///
  /// ```swift
  /// store.allowsPeriodsInNames = false
  /// try people.save(["name": "Ada"], key: "a.l")       // throws invalidKey
  /// try people.save(["first.name": "Ada"], key: "al")  // throws invalidName, at any depth
  /// ```
  public var allowsPeriodsInNames: Bool {
    get { !refusesPeriods.load(ordering: .relaxed) }
    set { refusesPeriods.store(!newValue, ordering: .relaxed) }
  }

  /// Rejects a key and field names that contain periods, if they are not allowed.
  ///
  /// - Parameters:
  ///   - body: The body of the document.
  ///   - key: Its key; nil if the key is generated or unchanged.
  /// - Throws: ``StoreError/Code/invalidKey``, ``StoreError/Code/invalidName``.
  func checkNames(_ body: UnsafeRawBufferPointer, key: DocumentKey?) throws(StoreError) {
    guard refusesPeriods.load(ordering: .relaxed) else { return }
    if let key, key.description.utf8.contains(UInt8(ascii: ".")) {
      throw StoreError(
        .invalidKey, "A key contains a period",
        [.key: key.description, .hint: "set allowsPeriodsInNames to accept it"])
    }
    var reader = JSONReader(body)
    try Self.checkNames(try reader.value())
  }

  private static func checkNames(_ value: DocumentValue) throws(StoreError) {
    switch value {
    case .object(let object):
      for (name, value) in object {
        guard !name.utf8.contains(UInt8(ascii: ".")) else {
          throw StoreError(
            .invalidName, "A field name contains a period",
            [
              .field: FieldPath(components: [name]).description,
              .hint: "set allowsPeriodsInNames to accept it",
            ])
        }
        try checkNames(value)
      }
    case .array(let array): for element in array { try checkNames(element) }
    default: break
    }
  }
}
