// SPDX-License-Identifier: MIT

import NanoTesting

/// Formats JSON in stored form as other programs might: with white space, unnecessary escapes, different digits of
/// numbers, and the fields of data in a different order.
struct ForeignFormatter {
  private let text: [Unicode.Scalar]
  private var output = String.UnicodeScalarView()
  private var place = 0
  private let hasSpaces: Bool
  private let hasEscapes: Bool
  private let hasNumbers: Bool

  static func format(_ text: String, _ random: inout SplitMix) -> String {
    var text = text
    if random.oneIn(2) {
      let subType = random.pick(["00", "0", "05"])
      text = text.replacing(/\{"base64":"([^"]*)","subType":"00"\}/) {
        "{\"subType\":\"\(subType)\",\"base64\":\"\($0.1)\"}"
      }
    }
    if random.oneIn(3) {
      text = text.replacing(".000000000Z\"}", with: random.pick(["Z", "+00:00", ".0Z"]) + "\"}")
    }
    var formatter = ForeignFormatter(text, &random)
    return formatter.run(&random)
  }

  private init(_ text: String, _ random: inout SplitMix) {
    self.text = Array(text.unicodeScalars)
    hasSpaces = random.oneIn(2)
    hasEscapes = random.oneIn(2)
    hasNumbers = random.oneIn(2)
  }

  private mutating func run(_ random: inout SplitMix) -> String {
    space(&random)
    while place < text.count {
      let scalar = text[place]
      switch scalar {
      case "\"": string(&random)
      case "-", "0"..."9": number(&random)
      default:
        output.append(scalar)
        place += 1
      }
      if !("a"..."z").contains(scalar) { space(&random) }
    }
    return String(output)
  }

  private mutating func space(_ random: inout SplitMix) {
    guard hasSpaces, random.oneIn(3) else { return }
    output.append(contentsOf: random.pick([" ", "\n", "\t", "\r\n", "  "]).unicodeScalars)
  }

  private mutating func string(_ random: inout SplitMix) {
    output.append("\"")
    place += 1
    while text[place] != "\"" {
      let scalar = text[place]
      if scalar == "\\" {
        let length = text[place + 1] == "u" ? 6 : 2
        output.append(contentsOf: text[place..<place + length])
        place += length
        continue
      }
      place += 1
      let isEscaped = hasEscapes && (scalar.value > 0x7F ? !random.oneIn(4) : random.oneIn(8))
      guard isEscaped else {
        output.append(scalar)
        continue
      }
      for unit in String(scalar).utf16 {
        let digits = String(unit, radix: 16, uppercase: random.oneIn(2))
        let zeros = String(repeating: "0", count: 4 - digits.count)
        output.append(contentsOf: "\\u\(zeros)\(digits)".unicodeScalars)
      }
    }
    output.append("\"")
    place += 1
  }

  private mutating func number(_ random: inout SplitMix) {
    var digits = ""
    while place < text.count, "+-.eE0123456789".unicodeScalars.contains(text[place]) {
      digits.unicodeScalars.append(text[place])
      place += 1
    }
    let isDouble = digits.contains(".") || digits.contains("e")
    if hasNumbers, isDouble, !digits.contains("e") {
      digits += random.pick(["0", "000", "e0", "E+0", "e-00", ""])
    } else if hasNumbers, digits == "0", random.oneIn(2) {
      digits = "-0"
    }
    output.append(contentsOf: digits.unicodeScalars)
  }
}
