// SPDX-License-Identifier: MIT

import Foundation

/// A text that is equal to another one only if its bytes are: texts of Swift are equal in any Unicode form, and
/// a field of another form is another field.
struct ExactText: Hashable, Sendable {
  let text: String

  init(_ text: String) { self.text = text }

  static func == (a: ExactText, b: ExactText) -> Bool {
    var (first, second) = (a.text, b.text)
    return first.withUTF8 { first in
      second.withUTF8 { second in
        guard let start = first.baseAddress, let other = second.baseAddress else {
          return first.count == second.count
        }
        return first.count == second.count && memcmp(start, other, first.count) == 0
      }
    }
  }

  func hash(into hasher: inout Hasher) {
    var text = text
    text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
  }
}

extension String {
  /// A collection's name without regard to the case of ASCII letters, under which it is known.
  var folded: ExactText { ExactText(foldingASCII) }
}

extension PostgresValue {
  static func exact(_ text: ExactText) -> PostgresValue { .text(text.text) }
}
