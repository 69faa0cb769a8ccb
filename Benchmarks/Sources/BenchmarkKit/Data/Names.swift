// SPDX-License-Identifier: MIT

import Foundation

/// The names and cities of the generated people.
package enum Names {
  package static let first = [
    "Maria", "Joan", "Oriol", "Montserrat", "Aaron", "John", "Sofía", "Zoë", "Benjamin",
    "Elizabeth", "Tito", "Núria", "Guillem", "Christopher", "Anna", "Pere",
  ]

  /// 1,000 different names, so that a name selects 0.1 % of the people.
  package static let last = (0..<1000).map { syllables($0 * 7 + 400) }

  /// 4,000 different words for titles.
  package static let words = (0..<4000).map { syllables($0 * 2 + 1).lowercased() }

  package static let cities =
    (0..<198).map { syllables($0 * 39 + 400) } + ["Barcelona", "São Paulo"]

  package static let countries = ["ES", "US", "FR", "DE", "GB", "CN", "JP", "BR"]

  /// Returns a number below 8,000 as three syllables.
  private static func syllables(_ number: Int) -> String {
    (table[number % 20] + table[number / 20 % 20] + table[number / 400 % 20]).capitalized
  }

  private static let table = [
    "ba", "cor", "de", "fen", "gu", "hal", "in", "jor", "ka", "lum", "mar", "nes", "os", "per",
    "qui", "ros", "san", "tor", "ul", "vi",
  ]
}
