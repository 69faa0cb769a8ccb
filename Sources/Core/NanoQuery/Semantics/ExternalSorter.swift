// SPDX-License-Identifier: MIT

package import NanoDocument

/// Keeps entries that are too many for memory and shows them in the order of their keys.
package protocol ExternalSorter: AnyObject {
  /// Adds an entry. Several may have one key.
  func add(_ key: [UInt8], _ content: UnsafeRawBufferPointer) throws(StoreError)

  /// Shows each entry, in the order of keys (`memcmp`) and of one key in the order in which they were added,
  /// until the closure says false.
  func each(
    _ show: (_ key: UnsafeRawBufferPointer, _ content: UnsafeRawBufferPointer) throws -> Bool
  ) throws
}

/// Makes a spill when memory is used up.
package typealias SpillMaker = () throws(StoreError) -> any ExternalSorter

/// What is kept in memory of one question before the rest goes to a ``ExternalSorter``.
struct SpillBudget {
  /// Arbitrary: some 50,000 groups of numbers.
  static let maximumBytes = 32 << 20
  /// What a group takes beside its key, about.
  static let overhead = 512

  private var used = 0

  /// Whether another key may be kept; counts it if so.
  mutating func keeps(_ key: [UInt8]) -> Bool {
    guard used < Self.maximumBytes else { return false }
    used += 2 * key.count + Self.overhead
    return true
  }
}
