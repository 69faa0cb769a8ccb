// SPDX-License-Identifier: MIT

public import Foundation
import NanoDocument

/// The state of a synchronization.
public struct SyncStatus: Sendable, Hashable {
  /// What it is doing.
  public enum Phase: Sendable, Hashable {
    /// The other side cannot be reached. It is tried again automatically.
    case offline
    /// It checks the other side, and where to resume.
    case connecting
    /// It transfers documents.
    case busy
    /// Everything has been transferred; it waits for changes.
    case idle
    /// It has ended: because everything was transferred once, because it was stopped, or with an error.
    case stopped
  }
  /// What it is doing.
  public var phase = Phase.connecting
  /// The number of revisions received and stored.
  public var pulled = 0
  /// The number of revisions that the other side received.
  public var pushed = 0
  /// The number of changes that have been looked at.
  public var done = 0
  /// The number of changes to look at, as far as it is known.
  public var total = 0
  /// The number of bytes of documents and attachments that were transferred, before compression.
  public var bytes = 0
  /// The number of conflicts that were resolved.
  public var resolved = 0
  /// The last error that made it wait, or that ended it.
  public var error: SyncError?
  /// Documents that were not transferred, the newest last; at most ``maximumFailures``. A document is removed when it is
  /// tried again.
  public var failures: [SyncFailure] = []
  /// Fields that both sides had changed, whose value on the losing side was replaced; the newest last.
  public var overridden: [OverriddenFields] = []

  /// The number of failures, and of overridden fields, that a status lists. Arbitrary.
  public static let maximumFailures = 100

  /// Creates the status of a synchronization that begins.
  public init() {}

  package mutating func add(_ failure: SyncFailure) {
    failures.removeAll {
      $0.key.hasSameBytes(as: failure.key) && $0.collection.hasSameBytes(as: failure.collection)
    }
    failures.append(failure)
    failures = failures.suffix(Self.maximumFailures)
  }

  /// Removes the failures of documents that are tried again.
  package mutating func removeFailures(
    of keys: [String], in collection: String, _ direction: SyncFailure.Direction
  ) {
    guard !failures.isEmpty, !keys.isEmpty else { return }
    let names = Set(keys.map { ExactName($0) })
    failures.removeAll {
      $0.direction == direction && $0.collection.hasSameBytes(as: collection)
        && names.contains(ExactName($0.key))
    }
  }
}

/// Why a synchronization waits or has ended.
public struct SyncError: LocalizedError, Sendable, Hashable, CustomStringConvertible {
  /// The kind of an error.
  public enum Kind: Sendable, Hashable {
    /// The other side cannot be reached.
    case unreachable
    /// The other side is overloaded, or fails for now.
    case unavailable
    /// Name, password or token are wrong or missing.
    case unauthorized
    /// The user may not do this.
    case forbidden
    /// The other side has no such database.
    case notFound
    /// The other side does not speak the protocol.
    case invalidResponse
    /// This store failed.
    case store
    /// Another cause.
    case other
  }
  /// The kind.
  public let kind: Kind
  /// What happened, and where.
  public let message: String

  package init(_ kind: Kind, _ message: String) {
    self.kind = kind
    self.message = message
  }

  /// The message.
  public var description: String { message }
  /// The message.
  public var errorDescription: String? { message }
}

/// A document that was not transferred.
public struct SyncFailure: Sendable, Hashable {
  /// The direction.
  public enum Direction: Sendable, Hashable {
    /// From the other side.
    case pull
    /// To the other side.
    case push
  }
  /// The collection.
  public let collection: String
  /// The key of the document.
  public let key: String
  /// In which direction.
  public let direction: Direction
  /// The reason.
  public let message: String
  /// Whether it is tried again; otherwise when the document changes.
  public let isRetried: Bool

  package init(
    collection: String, key: String, direction: Direction, message: String, isRetried: Bool
  ) {
    self.collection = collection
    self.key = key
    self.direction = direction
    self.message = message
    self.isRetried = isRetried
  }
}

/// Fields of a document that were changed differently on both sides.
public struct OverriddenFields: Sendable, Hashable {
  /// The collection.
  public let collection: String
  /// The key of the document.
  public let key: String
  /// The paths of the fields.
  public let fields: [String]

  package init(collection: String, key: String, fields: [String]) {
    self.collection = collection
    self.key = key
    self.fields = fields
  }
}

extension SyncError {
  package init(_ error: any Error) {
    switch error {
    case let error as SyncError: self = error
    case let error as PeerError:
      let kind: Kind =
        switch error.kind {
        case .unreachable: .unreachable
        case .unavailable: .unavailable
        case .unauthorized: .unauthorized
        case .forbidden: .forbidden
        case .noDatabase: .notFound
        case .invalidAnswer: .invalidResponse
        case .missingAttachment, .tooLarge, .refused: .other
        }
      self.init(kind, error.message)
    // With the details that contain no user data, such as the collection that is damaged.
    case let error as StoreError: self.init(.store, error.description)
    default: self.init(.store, error.localizedText)
    }
  }
}
