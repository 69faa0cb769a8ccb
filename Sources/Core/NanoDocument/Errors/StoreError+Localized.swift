// SPDX-License-Identifier: MIT

public import Foundation

/// Without it `localizedDescription` would be "The operation could not be completed".
extension StoreError: LocalizedError {
  /// The sentence with the details that hold no user data.
  public var errorDescription: String? { description }
  /// What to do about it; nil if there is nothing to suggest.
  public var recoverySuggestion: String? { self[.hint] }
}
