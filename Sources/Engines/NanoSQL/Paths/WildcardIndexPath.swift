// SPDX-License-Identifier: MIT

/// A path that has indexed values.
package struct WildcardIndexPath: Sendable, Hashable {
  package var number: Int32
  /// The text of the path, in which arrays add nothing; nil where leaves of many paths are kept
  /// together because their names are not.
  package var path: String?
}
