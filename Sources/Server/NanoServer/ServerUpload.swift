// SPDX-License-Identifier: MIT

/// Receives the body of a request in parts, and returns the response. The task is canceled when the client closes the
/// connection.
package typealias ServerUpload = @Sendable (ServerUploadBody) async -> ServerResponse

/// The body of a request that is received in parts.
package struct ServerUploadBody {
  /// The number of bytes; nil if the client does not know it.
  package let length: Int?
  private let receive: () async throws -> [UInt8]?

  package init(length: Int?, _ receive: @escaping () async throws -> [UInt8]?) {
    self.length = length
    self.receive = receive
  }

  /// Returns the next part; nil at the end.
  package func next() async throws -> [UInt8]? { try await receive() }
}
