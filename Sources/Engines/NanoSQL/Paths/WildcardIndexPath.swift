// SPDX-License-Identifier: MIT

/// A path with indexed values.
package struct WildcardIndexPath: Sendable, Hashable {
  package var number: Int32
  /// The path as text, without array steps; `nil` where the values of many paths are indexed together because
  /// their names are not tracked.
  package var path: String?
}
