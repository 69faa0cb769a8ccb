// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument

/// The named buffers of a BNRPersistence store: contents without metadata, versions and encryption.
final class BNRNamedBuffers {
  static let fileName = "NamedBuffers"
  let database: HashDatabase

  /// - Throws: The errors of ``HashDatabase/init(_:)``.
  init(_ url: URL) throws(StoreError) { database = try HashDatabase(url) }

  /// Passes each buffer with its name, or with `nil` if the name is not valid UTF-8.
  func forEach(
    _ body: (_ name: String?, _ content: [UInt8], _ offset: Int64) throws(StoreError) -> Void
  ) throws(StoreError) -> HashDatabaseReport {
    try database.forEach { (record) throws(StoreError) in
      try body(String(validating: record.key, as: UTF8.self), record.value, record.offset)
    }
  }
}
