// SPDX-License-Identifier: MIT

import Dispatch
@_exported import NanoEncryption
public import NanoSQLite
@_exported import NanoStore

extension Store {
  /// Opens an encrypted store on SQLite, creating it if needed. docs/ENCRYPTION.md describes the
  /// differences to an unencrypted store.
  ///
  /// ```swift
  /// let store = try Store(.file("~/private.db"), encryption: Encryption(.passphrase("correct horse")))
  /// ```
  ///
  /// An unencrypted store stays readable: its documents are encrypted as they are written, or all
  /// at once with ``encryptAll(progress:)-(((Double)throws->Void)?)``.
  ///
  /// - Throws: ``StoreError/Code/wrongKey`` before anything is written,
  ///   ``StoreError/Code/unsupported`` if an unencrypted store has indexes that must be dropped
  ///   first, ``StoreError/Code/corruptFile`` if its keys are damaged or missing, and the errors of
  ///   the initializer without encryption.
  public convenience init(
    _ location: Location, configuration: Configuration = Configuration(),
    engine: SQLiteConfiguration = SQLiteConfiguration(), encryption: Encryption
  ) throws {
    try encryption.validate()
    let session = EncryptionSession(encryption)
    var configuration = configuration
    // Field names are encrypted, and must not appear in logs.
    configuration.warnsAboutUnknownFields = false
    // Nothing is left that could be indexed automatically.
    if encryption.scope == .all { configuration.indexTuning = .off }
    try self.init(location, configuration: configuration, engine: engine) {
      try EncryptedEngine($0, session)
    }
  }

  /// Opens the encrypted store that a setup names, and applies the setup to its collections.
  ///
  /// The store is created if needed.
  ///
  /// - Throws: The errors of ``init(_:configuration:engine:encryption:)-(Location,_,_,_)`` and
  ///   ``NanoStoreCore/Store/apply(_:)-(StoreSetup)``.
  public convenience init(
    _ setup: StoreSetup, configuration: Configuration = Configuration(),
    engine: SQLiteConfiguration = SQLiteConfiguration(), encryption: Encryption
  ) throws {
    try self.init(
      .file(setup.file), configuration: configuration, engine: engine, encryption: encryption)
    try apply(setup)
  }

  /// Changes the key that opens the store. Takes effect immediately; documents are not
  /// re-encrypted.
  ///
  /// Anyone with the previous key and a copy of the file can open the copy, and so has the
  /// keys of the documents; ``rotateKeys(progress:)-(((Double)throws->Void)?)`` replaces those.
  ///
  /// - Parameters:
  ///   - key: The new key.
  ///   - cost: The cost of deriving the key from a passphrase; if `nil`, that of the previous passphrase or of the
  ///     `Encryption` that opened the store, whichever is higher.
  /// - Throws: ``StoreError/Code/invalidArgument`` for an invalid key; the previous key stays
  ///   valid. ``StoreError/Code/unsupported`` if the store is not encrypted.
  public func changeKey(to key: EncryptionKey, cost: ScryptCost? = nil) throws {
    try encryptedEngine().changeKey(to: key, cost: cost)
  }
  /// The asynchronous form of `changeKey(to:cost:)`, which does not block the calling thread.
  public func changeKey(to key: EncryptionKey, cost: ScryptCost? = nil) async throws {
    try await onDedicatedThread { try self.changeKey(to: key, cost: cost) }
  }

  /// Generates a new data key and re-encrypts everything with it, in many small transactions. The
  /// store can be used meanwhile. Documents that have expired are deleted instead.
  ///
  /// If the call ends early, by an error or the end of the process, calling it again resumes; until
  /// then the store keeps both keys. Each collection with blind indexes is re-encrypted in one
  /// transaction.
  ///
  /// ```swift
  /// try store.changeKey(to: .passphrase("another horse"))
  /// try store.rotateKeys { print("\(Int($0 * 100)) %") }
  /// ```
  ///
  /// - Parameter progress: Called with values from 0 to 1 after each transaction, outside of it. If
  ///   it throws, the call ends.
  /// - Throws: ``StoreError/Code/corruptDocument`` if a document cannot be decrypted. Delete it, or
  ///   restore it from a backup, and call this again. ``StoreError/Code/unsupported`` if the store
  ///   is not encrypted, ``StoreError/Code/invalidArgument`` inside a read or write block, and the
  ///   errors of `flush()`.
  public func rotateKeys(progress: ((Double) throws -> Void)? = nil) throws {
    let engine = try encryptedEngine()
    // The engine does not read expired documents, which would keep the previous key.
    try deleteExpired()
    try engine.rotate(progress: progress)
  }
  /// The asynchronous form of `rotateKeys(progress:)`, which does not block the calling thread.
  /// Canceling the task ends the call after the current step.
  public func rotateKeys(progress: (@Sendable (Double) throws -> Void)? = nil) async throws {
    try await onDedicatedThread(progress) { try self.rotateKeys(progress: $0) }
  }

  /// Encrypts all documents that are still unencrypted, in many small transactions. Those that have
  /// expired are deleted instead.
  ///
  /// These were written before the store was encrypted, or by another program without encryption.
  /// From then on, an unencrypted document counts as injected: reading it throws.
  ///
  /// Documents are encrypted without verification, in stored form: call this while you trust everyone
  /// who can write to the file. The plaintext remains in free pages of the file until
  /// ``NanoStoreCore/Store/compact(attachmentLease:)-(Duration)``.
  ///
  /// - Parameter progress: As in ``rotateKeys(progress:)-(((Double)throws->Void)?)``.
  /// - Throws: ``StoreError/Code/corruptDocument``, with the collection and the row ID, if a document
  ///   of another program has no stored form, such as one with a duplicate field name. Repair or
  ///   delete it, and call this again. ``StoreError/Code/corruptFile`` if the unencrypted content of
  ///   an attachment is incomplete, ``StoreError/Code/unsupported`` if the store is not encrypted,
  ///   ``StoreError/Code/invalidArgument`` inside a read or write block, and the errors of `flush()`.
  public func encryptAll(progress: ((Double) throws -> Void)? = nil) throws {
    let engine = try encryptedEngine()
    // The engine does not read expired documents, which would stay unencrypted.
    try deleteExpired()
    try engine.encryptAll(progress: progress)
  }
  /// The asynchronous form of `encryptAll(progress:)`, which does not block the calling thread.
  /// Canceling the task ends the call after the current step.
  public func encryptAll(progress: (@Sendable (Double) throws -> Void)? = nil) async throws {
    try await onDedicatedThread(progress) { try self.encryptAll(progress: $0) }
  }

  private func encryptedEngine() throws -> EncryptedEngine {
    guard let engine = try engine().unchecked as? EncryptedEngine else {
      throw StoreError(
        .unsupported, "The store is not encrypted", [.hint: "open it with an Encryption"])
    }
    return engine
  }

  /// Runs long work on a dedicated thread. Canceling the task ends it after the current step.
  private func onDedicatedThread(
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

  private func onDedicatedThread(_ work: @escaping @Sendable () throws -> Void) async throws {
    try await onDedicatedThread(nil) { _ in try work() }
  }
}
