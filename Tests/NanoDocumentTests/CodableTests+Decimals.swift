// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import Testing

extension CodableTests {
  @Test(
    "A number beyond the range of a Decimal is a type mismatch",
    arguments: [
      #"{"$numberDouble":"Infinity"}"#, #"{"$numberDouble":"-Infinity"}"#, "1e300", "-1e300",
    ])
  func decimalOutOfRange(number: String) {
    expectMismatch("[\(number)]")
  }

  @Test(
    "Text that begins with a number but is not one is a type mismatch for a Decimal",
    arguments: ["12,50", "12 EUR", "2026-11-20", "12 ", " 12", "1e", "1e300", "", "-", "x"])
  func decimalFromOtherText(text: String) {
    expectMismatch(#"["\#(text)"]"#)
  }

  @Test(
    "The text of a Decimal, as earlier versions stored it, decodes to the same value",
    arguments: [
      "0", "-3", "0.1", "12.3", "100", "-0.000000012", "12345678901234567890.123", "1e20",
      "0.1000000000000000000000000000000001",
    ])
  func decimalFromText(number: String) throws {
    let value = try #require(Decimal(string: number, locale: Locale(identifier: "en_US_POSIX")))
    for text in [value.description, number] {
      #expect(try decode([Decimal].self, #"["\#(text)"]"#) == [value])
    }
  }

  @Test("NaN decodes to a Decimal that is not a number", arguments: ["text", "double"])
  func decimalNaN(form: String) throws {
    let text = form == "text" ? #"["NaN"]"# : #"[{"$numberDouble":"NaN"}]"#
    #expect(try decode([Decimal].self, text).first?.isNaN == true)
  }

  private func expectMismatch(_ text: String) {
    #expect {
      try decode([Decimal].self, text)
    } throws: { error in
      if case DecodingError.typeMismatch? = error as? DecodingError { true } else { false }
    }
  }
}
