// SPDX-License-Identifier: MIT

/// The state of an object in its context. Code that ``Model(collection:version:)`` generates stores
/// one in each object.
///
/// Its deinitializer removes the object from the context's identity map, which costs less than a
/// weak reference for each object: Swift allocates a side table for those.
@frozen
public struct ObjectState: ~Copyable {
  @frozen @usableFromInline
  struct Flags: OptionSet {
    @usableFromInline let rawValue: UInt8
    @usableFromInline
    init(rawValue: UInt8) { self.rawValue = rawValue }
    /// The content is not loaded.
    @inlinable static var fault: Flags { Flags(rawValue: 1) }
    /// The context is notified before the next change.
    @inlinable static var watched: Flags { Flags(rawValue: 2) }
    /// The object is not stored yet.
    @inlinable static var inserted: Flags { Flags(rawValue: 4) }
    /// The object is stored and was changed since.
    @inlinable static var changed: Flags { Flags(rawValue: 8) }
    /// The object is deleted, or about to be.
    @inlinable static var deleted: Flags { Flags(rawValue: 16) }
    /// The content could not be loaded; properties have placeholder values.
    @inlinable static var failed: Flags { Flags(rawValue: 32) }
    /// The deletion of the object is saved.
    @inlinable static var removed: Flags { Flags(rawValue: 64) }
  }

  /// Nil without a context. The context detaches all objects before it is deallocated.
  @usableFromInline unowned(unsafe) var table: ObjectTable?
  /// 0 without a context; negative while the object is not stored.
  @usableFromInline var rowID: Int64 = 0
  /// The revision of the loaded content; 0 if unknown.
  @usableFromInline var revision: Int64 = 0
  @usableFromInline var flags: Flags = []

  /// Creates the state of an object without a context.
  @inlinable
  public init() { table = nil }

  @inlinable
  deinit { if let table { table.forget(rowID) } }

  /// Whether the content must be loaded before it is accessed.
  @inlinable @inline(__always)
  public var isFault: Bool { flags.rawValue & 1 != 0 }
  /// Whether the context must be notified before the content changes.
  @inlinable @inline(__always)
  public var isWatched: Bool { flags.rawValue & 2 != 0 }
}
