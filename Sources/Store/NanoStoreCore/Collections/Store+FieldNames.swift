// SPDX-License-Identifier: MIT

import NanoDocument
import Synchronization

extension Store {
  /// Whether names of fields may hold periods. They may unless this is set to false: paths put such
  /// names in quotes. Programs whose own paths know no quotes can have them refused.
  ///
  /// It counts for what is stored from then on, for this store object only.
  public var allowsPeriodsInNames: Bool {
    get { !refusesPeriods.load(ordering: .relaxed) }
    set { refusesPeriods.store(!newValue, ordering: .relaxed) }
  }

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
            .invalidName, "The name of a field holds a period",
            [.field: FieldPath(components: [name]).description])
        }
        try checkNames(value)
      }
    case .array(let array): for element in array { try checkNames(element) }
    default: break
    }
  }
}
