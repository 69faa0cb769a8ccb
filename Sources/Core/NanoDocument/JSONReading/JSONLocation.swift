// SPDX-License-Identifier: MIT

/// Locates a byte of JSON text by field path, for error details.
enum JSONLocation {
  private enum Level {
    /// A field of an object; the range spans its quoted name.
    case field(Range<Int>)
    case element(Int)
  }

  /// Returns the path of the object that contains a position, or `nil` if it is the outermost object.
  ///
  /// - Precondition: The text before the position is valid.
  static func path(
    of position: UnsafePointer<UInt8>, from start: UnsafePointer<UInt8>
  ) -> FieldPath? {
    let text = UnsafeRawBufferPointer(start: start, count: position - start)
    var levels: [Level] = []
    var index = 0
    var string = 0..<0
    while index < text.count {
      switch text[index] {
      case ASCII.quote:
        string = index..<endOfString(text, from: index + 1)
        index = string.upperBound - 1
      case ASCII.colon:
        levels.removeLast()
        levels.append(.field(string))
      case ASCII.openBrace: levels.append(.field(0..<0))
      case ASCII.openBracket: levels.append(.element(0))
      case ASCII.closeBrace, ASCII.closeBracket: levels.removeLast()
      case ASCII.comma:
        if case .element(let number)? = levels.last {
          levels.removeLast()
          levels.append(.element(number + 1))
        }
      default: break
      }
      index += 1
    }
    let names = levels.dropLast().map { level -> String in
      switch level {
      case .element(let number): "\(number)"
      case .field(let range): name(text[range])
      }
    }
    return names.isEmpty ? nil : FieldPath(components: names)
  }

  private static func endOfString(_ text: UnsafeRawBufferPointer, from first: Int) -> Int {
    var index = first
    while index < text.count, text[index] != ASCII.quote {
      index += text[index] == ASCII.backslash ? 2 : 1
    }
    return min(index + 1, text.count)
  }

  private static func name(_ quoted: Slice<UnsafeRawBufferPointer>) -> String {
    var parser = StrictParser(UnsafeRawBufferPointer(rebasing: quoted), .plain)
    guard case .string(let name)? = try? parser.text() else { return "?" }
    return name
  }
}
