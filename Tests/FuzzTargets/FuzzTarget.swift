// SPDX-License-Identifier: MIT

/// A function that accepts any bytes and checks what must hold for all of them.
///
/// The fuzzer of `make fuzz` searches for bytes that fail a check. The tests run the inputs found before.
public struct FuzzTarget: Sendable, CustomStringConvertible {
  public let name: String
  /// The maximum length that the fuzzer tries, because longer inputs only take longer.
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

  /// - Throws: ``Finding`` if a check fails, or any unexpected error.
  public func run(_ bytes: UnsafeRawBufferPointer) throws { try body(bytes) }

  public static let all = [
    json, extendedJSON, storedForm, query, textQuery, setup, path, arguments, records, csv,
    terminal, archive, oldFile, oldFolder,
  ]

  public static func named(_ name: String) -> FuzzTarget? { all.first { $0.name == name } }
}

/// A failed check.
public struct Finding: Error, CustomStringConvertible {
  public let description: String
}

/// Throws a ``Finding`` if the condition is false.
func require(_ holds: Bool, _ message: @autoclosure () -> String) throws {
  guard holds else { throw Finding(description: message()) }
}
