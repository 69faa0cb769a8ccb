// SPDX-License-Identifier: MIT

import Synchronization

/// Support for field types that only conform to Codable, such as enums with associated values and
/// library types.
extension JSONWriter {
  /// Writes a value through its `encode(to:)`.
  ///
  /// If the value cannot be encoded, ``failure`` is set to ``StoreError/Code/valueNotStorable``, with
  /// the underlying error as a detail that is not logged.
  package mutating func codable(_ value: some Encodable) {
    let start = count
    do {
      try CodingPool.encoder.use { try $0.encodeValue(value, into: &self) }
    } catch {
      truncate(to: start)
      fail(
        error as? StoreError
          ?? StoreError(
            .valueNotStorable, "A field cannot be encoded", [.value: "\(error)"]))
    }
  }
}

extension JSONReader {
  /// Reads a value through its `init(from:)`.
  ///
  /// - Throws: ``StoreError/Code/typeMismatch`` with the location in the document if the type rejects
  ///   the value; ``StoreError/Code/corruptDocument``.
  package mutating func codable<Value: Decodable>(
    as type: Value.Type = Value.self
  ) throws(StoreError) -> Value {
    skipWhitespace()
    let before = self
    try skipValue()
    let bytes = UnsafeRawBufferPointer(start: before.cursor, count: cursor - before.cursor)
    do {
      return try CodingPool.decoder.use { try $0.decode(type, from: bytes, inside: before.depth) }
    } catch let error as StoreError where error.code == .corruptDocument {
      throw before.corrupt("a value that decodes")
    } catch {
      throw before.refused(by: "\(type)", error)
    }
  }

  /// Returns the error that reports where in the value decoding stopped, and why.
  @inline(never)
  private func refused(by type: String, _ error: any Error) -> StoreError {
    let context =
      switch error {
      case DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context),
        DecodingError.keyNotFound(_, let context), DecodingError.dataCorrupted(let context):
        context
      default: DecodingError.Context(codingPath: [], debugDescription: "\(error)")
      }
    let path = context.codingPath.map { $0.intValue.map { "\($0)" } ?? $0.stringValue }
    let refused = StoreError(
      .typeMismatch, "A field holds a value that its type does not accept",
      [.byteOffset: "\(offset)", .expected: type, .value: context.debugDescription])
    return path.isEmpty ? refused : refused.adding(.field, path.joined(separator: "."))
  }
}

/// Shared coders. Creating a coder costs more than coding a small value.
private enum CodingPool {
  static let encoder = ReusableCoder { DocumentEncoder() }
  static let decoder = ReusableCoder { DocumentDecoder() }

  // @unchecked: `kept` is used only by the caller that took it under the mutex.
  final class ReusableCoder<Coder>: @unchecked Sendable {
    private let isFree = Mutex(true)
    private let kept: Coder
    private let make: @Sendable () -> Coder

    init(_ make: @escaping @Sendable () -> Coder) {
      self.make = make
      kept = make()
    }

    /// Runs `work` with the shared coder, or with a new one if it is in use.
    func use<Result>(_ work: (Coder) throws -> Result) rethrows -> Result {
      let isAcquired = isFree.withLock { isFree in
        defer { isFree = false }
        return isFree
      }
      guard isAcquired else { return try work(make()) }
      defer { isFree.withLock { $0 = true } }
      return try work(kept)
    }
  }
}
