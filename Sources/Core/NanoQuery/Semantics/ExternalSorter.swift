// SPDX-License-Identifier: MIT

package import NanoDocument

/// Sorts entries that do not fit in memory by key.
package protocol ExternalSorter: AnyObject {
  /// Adds an entry. Keys need not be unique.
  func add(_ key: [UInt8], _ content: UnsafeRawBufferPointer) throws(StoreError)

  /// Passes each entry to the closure in key order (`memcmp`), and in insertion order for equal keys,
  /// until the closure returns `false`.
  func each(
    _ body: (_ key: UnsafeRawBufferPointer, _ content: UnsafeRawBufferPointer) throws -> Bool
  ) throws
}

/// Creates an external sorter when the memory budget is exhausted.
package typealias SpillMaker = () throws(StoreError) -> any ExternalSorter

/// The memory budget of one query. Keys beyond it go to an ``ExternalSorter``.
struct SpillBudget {
  /// Arbitrary: about 50,000 groups of numbers.
  static let maximumBytes = 32 << 20
  /// The approximate size of a group in addition to its key, in bytes.
  static let overhead = 512

  private var used = 0

  /// Returns whether another key fits in memory, and charges it if so.
  mutating func keeps(_ key: [UInt8]) -> Bool {
    guard used < Self.maximumBytes else { return false }
    used += 2 * key.count + Self.overhead
    return true
  }
}
