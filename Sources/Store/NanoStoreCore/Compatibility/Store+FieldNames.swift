// SPDX-License-Identifier: MIT

import NanoDocument
import Synchronization

extension Store {
  /// Whether field names may contain periods. The default is true: paths put such names in quotes.
  ///
  /// Set it to false to reject them, for programs whose own path syntax has no quotes. It applies
  /// to documents stored from then on, through this store object only.
  public var allowsPeriodsInNames: Bool {
    get { !refusesPeriods.load(ordering: .relaxed) }
    set { refusesPeriods.store(!newValue, ordering: .relaxed) }
  }

  /// Rejects field names that contain periods, if they are not allowed.
  ///
  /// - Throws: ``StoreError/Code/invalidName``.
  func checkNames(_ body: UnsafeRawBufferPointer) throws(StoreError) {
    guard refusesPeriods.load(ordering: .relaxed) else { return }
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
