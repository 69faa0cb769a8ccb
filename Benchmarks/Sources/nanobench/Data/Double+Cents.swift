// SPDX-License-Identifier: MIT

extension Double {
  /// An amount of money as an integer, to compare answers that were added up in another order.
  var cents: Int { Int((self * 100).rounded()) }
}
