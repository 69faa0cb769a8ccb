// SPDX-License-Identifier: MIT

extension Double {
  /// An amount of money as an integer, to compare sums with different orders of addition.
  var cents: Int { Int((self * 100).rounded()) }
}
