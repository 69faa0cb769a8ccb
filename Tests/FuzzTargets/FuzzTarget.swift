// SPDX-License-Identifier: MIT

/// A function that any bytes may be given, and that knows what must hold whatever they are.
///
/// The fuzzer of `make fuzz` looks for bytes with which it does not hold; the tests give it the bytes that were
/// found before.
public struct FuzzTarget: Sendable, CustomStringConvertible {
  public let name: String
  /// Bytes that the fuzzer tries at most: what is longer only takes longer.
  public let maximumLength: Int
  private let body: @Sendable (UnsafeRawBufferPointer) throws -> Void

  init(
    _ name: String, maximumLength: Int,
    _ body: @escaping @Sendable (UnsafeRawBufferPointer) throws -> Void
  ) {
    self.name = name
    self.maximumLength = maximumLength
    self.body = body
  }

  public var description: String { name }

  /// - Throws: ``Finding`` if something does not hold, or an error where there should be none.
  public func run(_ bytes: UnsafeRawBufferPointer) throws { try body(bytes) }

  public static let all = [
    json, extendedJSON, storedForm, query, textQuery, setup, path, arguments, records, terminal,
  ]

  public static func named(_ name: String) -> FuzzTarget? { all.first { $0.name == name } }
}

/// Something that should hold and does not.
public struct Finding: Error, CustomStringConvertible {
  public let description: String
}

/// Stops with a sentence unless a condition holds.
func require(_ holds: Bool, _ sentence: @autoclosure () -> String) throws {
  guard holds else { throw Finding(description: sentence()) }
}
