// SPDX-License-Identifier: MIT

public import Foundation

/// Without this conformance, `localizedDescription` would be "The operation could not be completed".
extension StoreError: LocalizedError {
  /// The message with the details that contain no user data.
  public var errorDescription: String? { description }
  /// The suggested remedy, or `nil` if there is none.
  public var recoverySuggestion: String? { self[.hint] }
}
