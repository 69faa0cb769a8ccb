// SPDX-License-Identifier: MIT

import Crypto
import NanoDocument
import Synchronization

/// The keys of a store as far as an engine knows them. Other connections may have changed them since.
final class KnownKeys: Sendable {
  private struct State {
    var ring: Keyring
    /// The keys that open the store, or did since the engine was created, by their derivation. A snapshot from before a
    /// change of the key has the previous header.
    var wrapping: [KeyDerivation: SymmetricKey]
    /// The last header that these keys do not open, and why, so that each read does not try again.
    var failure: (value: DocumentValue, error: StoreError)?
    /// Counts the changes of the keys, each of which may open the header.
    var changes = 0

    mutating func noteChange() {
      failure = nil
      changes += 1
    }
  }
  private let state: Mutex<State>

  init(_ ring: Keyring) {
    state = Mutex(State(ring: ring, wrapping: [ring.header.derivation: ring.wrapping]))
  }

  /// The newest keys.
  var ring: Keyring { state.withLock { $0.ring } }

  /// Adds a key that will open the store, before the header that requires it is committed.
  func add(_ wrapping: SymmetricKey, _ derivation: KeyDerivation) {
    state.withLock {
      $0.wrapping[derivation] = wrapping
      $0.noteChange()
    }
  }

  /// Replaces the newest keys, unless they are no longer the ones that the new ones follow.
  func replace(_ previous: Keyring, with new: Keyring) {
    state.withLock { state in
      guard state.ring.value == previous.value else { return }
      state.ring = new
      state.noteChange()
    }
  }

  /// Returns the keys of a stored header.
  ///
  /// - Parameter known: The newest keys before the transaction of the header began; `nil` if the header may be older.
  /// - Throws: ``StoreError/Code/wrongKey``, ``StoreError/Code/corruptFile``,
  ///   ``StoreError/Code/newerFormat``.
  func keyring(_ value: DocumentValue, after known: Keyring?) throws(StoreError) -> Keyring {
    if let known, known.value == value { return known }
    let state = self.state.withLock(\.self)
    if state.ring.value == value { return state.ring }
    if let failure = state.failure, failure.value == value { throw failure.error }
    let found: Keyring
    do throws(StoreError) {
      let derivation = try EncryptionHeader(value).derivation
      found = try Keyring(value, state.wrapping[derivation] ?? state.ring.wrapping)
    } catch {
      self.state.withLock { if $0.changes == state.changes { $0.failure = (value, error) } }
      throw error
    }
    if let known { replace(known, with: found) }
    return found
  }
}
