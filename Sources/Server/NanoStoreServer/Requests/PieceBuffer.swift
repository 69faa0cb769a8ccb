// SPDX-License-Identifier: MIT

/// Collects short pieces of a response, each of which would otherwise be written on its own.
struct PieceBuffer {
  private var bytes: [UInt8] = []

  /// The length from which the pieces are written. Arbitrary.
  static let length = 64 << 10

  mutating func append(
    _ piece: [UInt8], _ write: SyncResponse.Stream.Write
  ) async throws {
    bytes += piece
    if bytes.count >= Self.length { try await flush(write) }
  }

  mutating func flush(_ write: SyncResponse.Stream.Write) async throws {
    guard !bytes.isEmpty else { return }
    try await write(bytes)
    bytes = []
  }
}
