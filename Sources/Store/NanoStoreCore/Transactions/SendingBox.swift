// SPDX-License-Identifier: MIT

// @unchecked: the value is no longer reachable by the sender when it is stored, and only the
// receiver takes it.
/// A box that transfers a value of any type, not necessarily `Sendable`, between threads.
package struct SendingBox<Value>: @unchecked Sendable {
  private let value: Value
  package init(_ value: sending Value) { self.value = value }
  /// Returns the value. A block that is retried after a failure takes it again.
  package consuming func take() -> sending Value { value }
}

extension DocumentCollection {
  /// Runs a read like ``onReader(_:)`` and transfers its result, which need not be `Sendable`.
  package func fromReader<Result>(
    _ work: @escaping @Sendable () throws -> sending Result
  ) async throws -> sending Result {
    try await onReader { SendingBox(try work()) }.take()
  }

  /// Runs a write like ``onWriter(repeatable:_:)``, transferring a value to the block and its
  /// result back.
  ///
  /// A sequence that is no collection may be empty when it is iterated again, so its write is not repeated.
  package func onWriter<Value, Result>(
    sending value: sending Value,
    _ work: @escaping @Sendable (sending Value) throws -> sending Result
  ) async throws -> sending Result {
    let isRepeatable = !(Value.self is any Sequence.Type) || Value.self is any Collection.Type
    let value = SendingBox(value)
    return try await onWriter(repeatable: isRepeatable) {
      SendingBox(try work(value.take()))
    }.take()
  }
}
