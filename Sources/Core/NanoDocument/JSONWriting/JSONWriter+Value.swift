// SPDX-License-Identifier: MIT

public import Foundation

extension JSONWriter {
  /// Writes `{"$date":"2026-11-20T21:17:00.123456789Z"}`, with the exact interval if nine digits do not
  /// restore the same date, as happens in the months around 2001-01-01.
  ///
  /// A date outside the years 0 to 9999 is recorded as a failure.
  public mutating func date(_ date: Date) {
    let interval = date.timeIntervalSinceReferenceDate
    guard let (seconds, nanoseconds) = DateText.split(interval) else {
      return fail(.dateNotStorable(interval))
    }
    literal(#"{"$date":""#)
    reserve(DateText.length)
    DateText.write(seconds: seconds, nanoseconds: nanoseconds, to: base + used)
    used &+= DateText.length
    if DateText.join(seconds: seconds, nanoseconds: nanoseconds) == interval {
      literal(#""}"#)
    } else {
      literal(#"","$interval":"#)
      double(interval)
      byte(ASCII.closeBrace)
    }
  }

  /// Writes `{"$binary":{"base64":"…","subType":"00"}}`.
  @inline(never)  // reduces stack use for deeply nested arrays
  public mutating func data(_ data: Data) {
    literal(#"{"$binary":{"base64":""#)
    base64(data)
    literal(#"","subType":"00"}}"#)
  }

  mutating func base64(_ data: Data) {
    let length = Base64.encodedLength(data.count)
    reserve(length)
    data.withUnsafeBytes { Base64.encode($0, to: base + used) }
    used &+= length
  }

  /// Writes `{"$url":"…"}`, with a `$base` if the URL is relative.
  ///
  /// An empty URL is recorded as a failure: `URLComponents` creates it, but `URL(string:)` does not accept its text.
  @inline(never)  // reduces stack use for deeply nested arrays
  public mutating func url(_ url: URL) {
    let base = url.baseURL
    let text = base == nil ? url.absoluteString : url.relativeString
    guard !text.isEmpty else {
      return fail(StoreError(.valueNotStorable, "A URL is empty"))
    }
    literal(#"{"$url":"#)
    string(text)
    if let base {
      literal(#","$base":"#)
      string(base.absoluteString)
    }
    byte(ASCII.closeBrace)
  }

  /// Writes any value in its stored form. Nesting deeper than ``DocumentValue/maximumDepth`` sets
  /// ``failure``.
  public mutating func value(_ value: DocumentValue) { self.value(value, depth: depth) }

  /// Writes an object in its stored form. Excessive nesting or a date out of range is
  /// recorded as a failure.
  public mutating func object(_ object: DocumentObject) {
    self.object(object, depth: depth + 1)
  }

  /// Writes values of documents within a few arrays, for ``JSONReader/wrappedValue()``: a document of the greatest
  /// depth is then nested more deeply than one can be.
  package mutating func wrappedValue(_ value: DocumentValue) {
    self.value(value, depth: -DocumentValue.maximumWrapping)
  }

  /// - Parameter depth: The number of objects and arrays that enclose the value.
  mutating func value(_ value: DocumentValue, depth: Int) {
    switch value {
    case .null: null()
    case .bool(let value): bool(value)
    case .int(let value): integer(value)
    case .string(let value): string(value)
    case .double(let value):
      value.isFinite || fits(depth + 1) ? double(value) : failDepth()
    case .decimal(let value): fits(depth + 1) ? decimal(value) : failDepth()
    case .date(let value): fits(depth + 1) ? date(value) : failDepth()
    case .data(let value): fits(depth + 2) ? data(value) : failDepth()
    case .url(let value): fits(depth + 1) ? url(value) : failDepth()
    case .array(let elements): array(elements, depth: depth + 1)
    case .object(let value): object(value, depth: depth + 1)
    }
  }

  private mutating func array(_ elements: [DocumentValue], depth: Int) {
    guard fits(depth) else { return failDepth() }
    byte(ASCII.openBracket)
    var isFirst = true
    for element in elements {
      if !isFirst { byte(ASCII.comma) }
      isFirst = false
      value(element, depth: depth)
    }
    byte(ASCII.closeBracket)
  }

  /// - Parameter depth: The nesting depth inside the object, itself included.
  mutating func object(_ object: DocumentObject, depth: Int) {
    guard fits(depth) else { return failDepth() }
    byte(ASCII.openBrace)
    let elements = object.fields.elements
    for index in 0..<elements.count {
      if index > 0 { byte(ASCII.comma) }
      fieldName(elements[index].key.text)
      value(elements[index].value, depth: depth)
    }
    byte(ASCII.closeBrace)
  }

  private func fits(_ depth: Int) -> Bool { depth <= DocumentValue.maximumDepth }

  @usableFromInline @inline(never)
  mutating func failDepth() { fail(.nestedTooDeep) }
}

extension DocumentValue {
  /// The maximum nesting depth of a document's text. Dates and URLs add one level and data adds two,
  /// because of their stored forms. SQLite's limit is 1000.
  @usableFromInline package static let maximumDepth = 512
  /// The number of arrays in which a value may be wrapped to be read again by the library itself. Arbitrary.
  static let maximumWrapping = 4
}

extension StoreError {
  static func dateNotStorable(_ interval: Double) -> StoreError {
    StoreError(
      .valueNotStorable, "A date is outside the years 0 to 9999",
      [.value: "\(interval) s since 2001-01-01"])
  }

  static var nestedTooDeep: StoreError {
    StoreError(
      .valueNotStorable, "A value is nested too deeply",
      [.limit: "\(DocumentValue.maximumDepth) levels"])
  }
}
