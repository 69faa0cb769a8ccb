// SPDX-License-Identifier: MIT

import Dispatch
@_exported import NanoEncryption
import NanoSQLite
@_exported import NanoStore

extension Store {
  /// Opens an encrypted store on SQLite, and makes it if it is not there. Everything else is as with one
  /// that is not encrypted; docs/ENCRYPTION.md says what differs.
  ///
  /// ```swift
  /// let store = try Store(.file("~/private.db"), encryption: Encryption(.passphrase("correct horse")))
  /// ```
  ///
  /// A store that was not encrypted stays readable: its documents are sealed as they are written, or all at
  /// once with ``sealAll(progress:)-(((Double)throws->Void)?)``.
  ///
  /// - Throws: ``StoreError/Code/wrongKey`` before anything is written,
  ///   ``StoreError/Code/unsupported`` if a store that was not encrypted has indexes that must go
  ///   first, ``StoreError/Code/corruptFile`` if its keys are damaged or missing, and what the initializer
  ///   without encryption throws.
  public convenience init(
    _ location: Location, configuration: Configuration = Configuration(), encryption: Encryption
  ) throws {
    let session = EncryptionSession(encryption)
    var configuration = configuration
    // Names of fields are sealed, and stay out of logs.
    configuration.warnsAboutUnknownFields = false
    // Nothing that could be indexed by itself is left.
    if encryption.scope == .all { configuration.indexTuning = .off }
    try self.init(location, configuration: configuration) { try EncryptedEngine($0, session) }
  }

  /// Opens the encrypted store that a setup names, makes it if it is not there, and makes its collections as
  /// the setup says.
  ///
  /// - Throws: As ``init(_:configuration:encryption:)-(Location,_,_)`` and
  ///   ``NanoStoreCore/Store/apply(_:)-(StoreSetup)``.
  public convenience init(
    _ setup: StoreSetup, configuration: Configuration = Configuration(), encryption: Encryption
  ) throws {
    try self.init(.file(setup.file), configuration: configuration, encryption: encryption)
    try apply(setup)
  }

  /// Lets another key open the store, at once. Documents are not sealed anew.
  ///
  /// Whoever had the key before and a copy of the file can open the copy, and knows the keys of the
  /// documents: ``rotateKeys(progress:)-(((Double)throws->Void)?)`` makes other ones.
  ///
  /// - Parameter cost: What deriving it from a passphrase costs.
  /// - Throws: ``StoreError/Code/invalidArgument`` for a key that is none. The key before stays.
  ///   ``StoreError/Code/unsupported`` if the store is not encrypted.
  public func changeKey(to key: EncryptionKey, cost: ScryptCost = ScryptCost()) throws {
    try sealedEngine().changeKey(to: key, cost: cost)
  }
  public func changeKey(to key: EncryptionKey, cost: ScryptCost = ScryptCost()) async throws {
    try await apart { try self.changeKey(to: key, cost: cost) }
  }

  /// Makes a new key and seals everything with it, in many small transactions. Others may read and write
  /// meanwhile.
  ///
  /// When it ends before it is done, by an error or the end of the process, calling it again goes on; until
  /// then the store keeps both keys. Collections with blind indexes are sealed in one transaction each.
  ///
  /// ```swift
  /// try store.changeKey(to: .passphrase("another horse"))
  /// try store.rotateKeys { print("\(Int($0 * 100)) %") }
  /// ```
  ///
  /// - Parameter progress: Called with 0...1 after each transaction, outside of it. An error that it throws
  ///   ends the call.
  /// - Throws: ``StoreError/Code/corruptDocument`` if a document does not open. Remove it, or restore it
  ///   from a backup, and call this again. ``StoreError/Code/unsupported`` if the store is not encrypted.
  public func rotateKeys(progress: ((Double) throws -> Void)? = nil) throws {
    try sealedEngine().rotate(progress: progress)
  }
  public func rotateKeys(progress: (@Sendable (Double) throws -> Void)? = nil) async throws {
    try await apart(progress) { try self.rotateKeys(progress: $0) }
  }

  /// Seals what was written before the store was encrypted, or by another program without sealing it, in many
  /// small transactions. From then on a document that is not sealed is taken for one that somebody
  /// slipped in: reading it is an error.
  ///
  /// Documents are sealed as they are: call this while you trust whoever can write to the file. What the file
  /// held before stays in its free pages until ``NanoStoreCore/Store/compact()-()``.
  ///
  /// - Parameter progress: As in ``rotateKeys(progress:)-(((Double)throws->Void)?)``.
  public func sealAll(progress: ((Double) throws -> Void)? = nil) throws {
    try sealedEngine().sealAll(progress: progress)
  }
  public func sealAll(progress: (@Sendable (Double) throws -> Void)? = nil) async throws {
    try await apart(progress) { try self.sealAll(progress: $0) }
  }

  private func sealedEngine() throws -> EncryptedEngine {
    guard let engine = try engine() as? EncryptedEngine else {
      throw StoreError(
        .unsupported, "The store is not encrypted", [.hint: "open it with an Encryption"])
    }
    return engine
  }

  /// Runs what takes long on a thread of its own; cancelling the task ends it after the current step.
  private func apart(
    _ progress: (@Sendable (Double) throws -> Void)? = nil,
    _ work: @escaping @Sendable (@escaping @Sendable (Double) throws -> Void) throws -> Void
  ) async throws {
    let interruption = Interruption()
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation {
        (continuation: CheckedContinuation<Void, any Error>) in
        DispatchQueue(label: "NanoStore.encryption").async {
          continuation.resume(
            with: Result {
              try work { done in
                if interruption.isTriggered { throw CancellationError() }
                try progress?(done)
              }
            })
        }
      }
    } onCancel: {
      interruption.trigger()
    }
  }

  private func apart(_ work: @escaping @Sendable () throws -> Void) async throws {
    try await apart(nil) { _ in try work() }
  }
}
