// SPDX-License-Identifier: MIT

public import NanoDocument

/// When the documents of a collection expire.
///
/// ```swift
/// try sessions.setExpirationRule(.after(.seconds(3_600)))              // an hour after the last write
/// try coupons.setExpirationRule(.field("validUntil"))                  // at the date in a field
/// try logs.setExpirationRule(.field("at", after: .seconds(86_400)))    // a day after the date in a field
/// ```
public enum ExpirationRule: Sendable, Hashable {
  /// A duration after the last write of the document: at least a microsecond, to which it is rounded down.
  case after(Duration)
  /// The date in a field, or a duration after it. A document expires only if the value of the field is a date; a path
  /// does not traverse arrays.
  case field(FieldPath, after: Duration = .zero)
}

extension ExpirationRule {
  /// The time at which a document expires, in microseconds since 1970; `nil` if it does not.
  ///
  /// - Parameters:
  ///   - body: The fields in stored form.
  ///   - now: The time of the write.
  package func expiration(
    of body: UnsafeRawBufferPointer, at now: Int64
  ) throws(StoreError) -> Int64? {
    switch self {
    case .after(let duration): return now.addingOrClamping(duration.inMicroseconds)
    case .field(let path, let duration):
      var reader = JSONReader(body)
      for name in path.components {
        guard try reader.findField(StoredName(name)) else { return nil }
      }
      guard case .date(let date) = try reader.value() else { return nil }
      return date.microsecondsSince1970?.addingOrClamping(duration.inMicroseconds)
    }
  }

  /// Checks that the rule can be stored and that every engine can evaluate it.
  ///
  /// - Throws: ``StoreError/Code/invalidPath``, ``StoreError/Code/invalidArgument``.
  package func validate() throws(StoreError) {
    switch self {
    case .after(let duration):
      // Rounded, as it is stored and validated again when it is read.
      guard duration.inMicroseconds > 0, duration <= Self.longest else {
        throw Self.outOfRange(duration)
      }
    case .field(let path, let duration):
      try path.validate()
      guard duration.inMicroseconds.magnitude <= Self.longest.inMicroseconds.magnitude else {
        throw Self.outOfRange(duration)
      }
      guard path.components.allSatisfy(Self.isPlain), !path.addressesElement else {
        throw StoreError(
          .invalidArgument, "A field with this name cannot hold the expiration of documents",
          [.field: path.description])
      }
    }
  }

  /// Arbitrary: a thousand years, with which no sum overflows.
  private static let longest = Duration.seconds(31_556_952_000)

  private static func outOfRange(_ duration: Duration) -> StoreError {
    StoreError(
      .invalidArgument, "A duration of an expiration rule is out of range",
      [.limit: "\(longest.components.seconds) seconds", .actual: "\(duration)"])
  }

  /// SQLite's path language has no escape for the others, and its triggers evaluate the rule for rows of other
  /// programs.
  private static func isPlain(_ name: String) -> Bool {
    !name.isEmpty && name.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x22 && $0 != 0x5C }
  }
}

extension ExpirationRule {
  /// The rule as an object: `{"after":3600.0}`, `{"field":"validUntil"}`, or both.
  package var object: DocumentObject {
    switch self {
    case .after(let duration): ["after": Self.number(duration)]
    case .field(let path, .zero): ["field": .string(path.description)]
    case .field(let path, let duration):
      ["field": .string(path.description), "after": Self.number(duration)]
    }
  }

  /// Reads a rule from an object; `nil` for one that is not a rule.
  package init?(_ object: DocumentObject) {
    let seconds = object["after"]?.double
    guard object["after"] == nil || seconds?.isFinite == true,
      (seconds ?? 0).magnitude <= Self.longest.inSeconds
    else { return nil }
    let duration = Duration.microseconds(((seconds ?? 0) * 1e6).rounded())
    if let field = object["field"] {
      guard let text = field.string else { return nil }
      self = .field(FieldPath(text), after: duration)
    } else {
      guard seconds != nil else { return nil }
      self = .after(duration)
    }
  }

  private static func number(_ duration: Duration) -> DocumentValue {
    let microseconds = duration.inMicroseconds
    return microseconds % 1_000_000 == 0
      ? .int(microseconds / 1_000_000) : .double(Double(microseconds) / 1e6)
  }
}
