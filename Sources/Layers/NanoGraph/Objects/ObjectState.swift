// SPDX-License-Identifier: MIT

/// What an object knows of its place in a context. The macro gives every object one.
///
/// When the object goes, this goes with it and takes it out of the context's identity map: cheaper than a weak
/// reference for each object, which Swift keeps in an allocation of its own.
@frozen
public struct ObjectState: ~Copyable {
  @frozen @usableFromInline
  struct Flags: OptionSet {
    @usableFromInline let rawValue: UInt8
    @usableFromInline
    init(rawValue: UInt8) { self.rawValue = rawValue }
    /// The content is not loaded.
    @inlinable static var fault: Flags { Flags(rawValue: 1) }
    /// The context is to be told before the next change.
    @inlinable static var watched: Flags { Flags(rawValue: 2) }
    /// Not stored yet.
    @inlinable static var inserted: Flags { Flags(rawValue: 4) }
    /// Stored, and changed since.
    @inlinable static var changed: Flags { Flags(rawValue: 8) }
    /// Deleted, or about to be.
    @inlinable static var deleted: Flags { Flags(rawValue: 16) }
    /// The content could not be loaded; what it shows are first values.
    @inlinable static var failed: Flags { Flags(rawValue: 32) }
    /// Deleted, and that was saved.
    @inlinable static var removed: Flags { Flags(rawValue: 64) }
  }

  /// Nil without a context. The context takes itself out of all objects before it goes.
  @usableFromInline unowned(unsafe) var table: ObjectTable?
  /// 0 without a context, negative as long as the object is not stored.
  @usableFromInline var rowID: Int64 = 0
  /// Of the content that is loaded; 0 if it is not known.
  @usableFromInline var revision: Int64 = 0
  @usableFromInline var flags: Flags = []

  @inlinable
  public init() { table = nil }

  @inlinable
  deinit { if let table { table.forget(rowID) } }

  /// Whether the content has to be loaded before it is looked at.
  @inlinable @inline(__always)
  public var isFault: Bool { flags.rawValue & 1 != 0 }
  /// Whether the context has to be told before the content changes.
  @inlinable @inline(__always)
  public var isWatched: Bool { flags.rawValue & 2 != 0 }
}
