// SPDX-License-Identifier: MIT

// @unchecked: only a value that the sender cannot reach any longer is put in, and only the receiver takes it.
/// A value on its way from one thread to another, whose type need not be `Sendable`.
package struct SendingBox<Value>: @unchecked Sendable {
  private let value: Value
  package init(_ value: sending Value) { self.value = value }
  /// The value; a block that is run again after it failed takes it again.
  package consuming func take() -> sending Value { value }
}

extension DocumentCollection {
  /// As ``onReader(_:)``, for values that the block makes and hands over.
  package func fromReader<Result>(
    _ work: @escaping @Sendable () throws -> sending Result
  ) async throws -> sending Result {
    try await onReader { SendingBox(try work()) }.take()
  }

  /// As ``onWriter(repeatable:_:)``, for a value that is handed over to the block and one that it makes.
  package func onWriter<Value, Result>(
    handing value: sending Value,
    _ work: @escaping @Sendable (sending Value) throws -> sending Result
  ) async throws -> sending Result {
    let value = SendingBox(value)
    return try await onWriter { SendingBox(try work(value.take())) }.take()
  }
}
