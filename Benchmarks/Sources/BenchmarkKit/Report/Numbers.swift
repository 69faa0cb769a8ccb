// SPDX-License-Identifier: MIT

import Foundation

extension Int {
  /// A number with separators of thousands, in every locale the same.
  package var groupedText: String { formatted(.number.locale(Locale(identifier: "en_US"))) }
}

extension Double {
  /// A time in nanoseconds, without fractions where they are noise.
  package var nanosecondsText: String { String(format: self < 100 ? "%.1f" : "%.0f", self) }

  /// A ratio with about three digits.
  package var ratioText: String { String(format: self < 10 ? "%.2f" : "%.1f", self) }
}
