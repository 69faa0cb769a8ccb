// SPDX-License-Identifier: MIT

import Foundation

extension DocumentValue {
  /// Returns the value as JSON text.
  ///
  /// In the ``JSONDialect/extended`` dialect, ``init(json:dialect:)`` reads the same value back; the
  /// text is the stored form with fewer digits in dates. The plain dialect is for people and for
  /// programs that support only plain JSON: dates in ISO 8601, data in Base64, URLs as strings, decimals as
  /// numbers, NaN and infinities as `null`.
  ///
  /// Dates have 3, 6 or 9 fractional digits, the fewest that restore the same date.
  ///
  /// A value without a textual form, such as a date in the year 10000, is written as `null`. To detect
  /// this, use ``JSONWriter/text(_:pretty:dialect:)`` and check its failure.
  package func jsonString(pretty: Bool = false, dialect: JSONDialect = .extended) -> String {
    var writer = JSONWriter(capacity: 256)
    writer.text(self, pretty: pretty, dialect: dialect)
    return writer.text
  }
}

extension DocumentObject {
  /// Returns the object as JSON text.
  ///
  /// In the ``JSONDialect/extended`` dialect, ``init(json:dialect:)-(String,_)`` reads the same object back. In the
  /// plain dialect, dates are ISO 8601 strings, data is Base64, URLs are strings, decimals are numbers, and NaN and
  /// infinities are `null`. Dates have 3, 6 or 9 fractional digits, the fewest that restore the same date. A value
  /// without a textual form, such as a date in the year 10000, is written as `null`.
  public func jsonString(pretty: Bool = false, dialect: JSONDialect = .extended) -> String {
    DocumentValue.object(self).jsonString(pretty: pretty, dialect: dialect)
  }
}

extension JSONWriter {
  /// Writes a value as JSON text; see ``DocumentValue/jsonString(pretty:dialect:)``.
  package mutating func text(
    _ value: DocumentValue, pretty: Bool = false, dialect: JSONDialect = .extended
  ) {
    text(value, pretty, dialect, depth: 0)
  }

  private mutating func text(
    _ value: DocumentValue, _ pretty: Bool, _ dialect: JSONDialect, depth: Int
  ) {
    switch value {
    case .array(let elements):
      guard depth < DocumentValue.maximumDepth else { return fail(.nestedTooDeep) }
      byte(ASCII.openBracket)
      for (index, element) in elements.enumerated() {
        separate(index, pretty, depth + 1)
        text(element, pretty, dialect, depth: depth + 1)
      }
      if !elements.isEmpty { separate(0, pretty, depth) }
      byte(ASCII.closeBracket)
    case .object(let object):
      guard depth < DocumentValue.maximumDepth else { return fail(.nestedTooDeep) }
      byte(ASCII.openBrace)
      for (index, field) in object.enumerated() {
        separate(index, pretty, depth + 1)
        name(field.name, dialect)
        if pretty { byte(ASCII.space) }
        text(field.value, pretty, dialect, depth: depth + 1)
      }
      if !object.isEmpty { separate(0, pretty, depth) }
      byte(ASCII.closeBrace)
    case .date(let date) where dialect == .extended:
      depth < DocumentValue.maximumDepth ? extendedDate(date) : fail(.nestedTooDeep)
    case .decimal(let decimal) where dialect == .extended:
      depth < DocumentValue.maximumDepth ? extendedDecimal(decimal) : fail(.nestedTooDeep)
    default:
      dialect == .extended ? self.value(value, depth: depth) : plain(value)
    }
  }

  private mutating func separate(_ index: Int, _ pretty: Bool, _ depth: Int) {
    if index > 0 { byte(ASCII.comma) }
    guard pretty else { return }
    byte(0x0A)
    for _ in 0..<depth { literal("  ") }
  }

  private mutating func name(_ name: String, _ dialect: JSONDialect) {
    guard dialect == .plain else { return fieldName(name) }
    string(name)
    byte(ASCII.colon)
  }

  private mutating func plain(_ value: DocumentValue) {
    switch value {
    case .date(let date): plainDate(date.timeIntervalSinceReferenceDate)
    case .data(let data):
      byte(ASCII.quote)
      base64(data)
      byte(ASCII.quote)
    case .url(let url): string(url.absoluteString)
    case .decimal(let decimal):
      decimal.isStorable ? rawText(decimal.description) : self.decimal(decimal)
    case .double(let double): double.isFinite ? self.double(double) : null()
    case .null, .bool, .int, .string, .array, .object: self.value(value)
    }
  }

  private mutating func plainDate(_ interval: Double) {
    guard DateText.storable.contains(interval) else { return fail(.dateNotStorable(interval)) }
    byte(ASCII.quote)
    dateText(DateText.shortest(interval))
    byte(ASCII.quote)
  }

  private mutating func extendedDate(_ date: Date) {
    let interval = date.timeIntervalSinceReferenceDate
    guard DateText.storable.contains(interval) else { return self.date(date) }
    let digits = DateText.shortest(interval)
    // A date that nine digits do not restore is written with its exact interval, as in stored form.
    guard digits.isExact else { return self.date(date) }
    literal(#"{"$date":""#)
    dateText(digits)
    literal(#""}"#)
  }

  private mutating func dateText(_ digits: DateText.Digits) {
    reserve(DateText.length)
    used += DateText.write(digits, to: base + used)
  }
}
