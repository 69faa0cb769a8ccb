// SPDX-License-Identifier: MIT

import Foundation

extension Int {
  /// A number with separators of thousands, in every locale the same.
  package var groupedText: String { formatted(.number.locale(Locale(identifier: "en_US"))) }

  /// What a caption says of a result of this many rounds: "median of 5 rounds", or "one round".
  package var roundsText: String { self == 1 ? "one round" : "median of \(self) rounds" }
}

extension Double {
  /// A time in nanoseconds, without fractions where they are noise.
  package var nanosecondsText: String { String(format: self < 100 ? "%.1f" : "%.0f", self) }

  /// A ratio with about three digits.
  package var ratioText: String { String(format: self < 10 ? "%.2f" : "%.1f", self) }

  /// A ratio with another digit if it would otherwise look like the target that it exceeds.
  package func ratioText(above target: Double) -> String {
    ratioText == target.ratioText ? String(format: self < 10 ? "%.3f" : "%.2f", self) : ratioText
  }
}
