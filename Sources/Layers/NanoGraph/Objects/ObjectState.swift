// SPDX-License-Identifier: MIT

/// The state of an object in its context. Code that ``Model(collection:version:expires:)`` generates stores
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
    /// The unsaved changes are recorded; the object is watched for live results only.
    static var recorded: Flags { Flags(rawValue: 128) }
    /// The flags of an object that is deleted and whose content was never loaded. Watched, so that a change in place
    /// fills in the placeholders first.
    @inlinable static var removedFault: Flags { [.fault, .watched, .deleted, .removed] }

    /// Requests that the next change is recorded.
    mutating func rearm() {
      insert(.watched)
      remove(.recorded)
    }
  }

  /// Nil without a context. The context detaches all objects before it is deallocated.
  @usableFromInline unowned(unsafe) var table: ObjectTable?
  /// 0 without a context; negative while the object is not stored.
  @usableFromInline var rowID: Int64 = 0
  /// The number of the loaded content (``LoadedContent``).
  @usableFromInline var revision: Int64 = 0
  @usableFromInline var storedFlags: Flags = []
  /// 1 if reads of properties are reported to observers, or else 0: a number, so that a getter tests it together with
  /// the flag for faults.
  @usableFromInline var observable: UInt8 = 1
  /// Nil unless a property was read for an observer.
  @usableFromInline var observers: ObjectObservers?

  /// Creates the state of an object without a context.
  @inlinable
  public init() { table = nil }

  @inlinable
  deinit {
    if let observers { observers.end() }
    if let table { table.forget(rowID) }
  }

  @inlinable
  var flags: Flags {
    get { storedFlags }
    set {
      let old = storedFlags
      storedFlags = newValue
      if let observers { observers.flagsChanged(from: old, to: newValue) }
    }
  }

  /// Whether the content must be loaded before it is accessed.
  @inlinable @inline(__always)
  public var isFault: Bool { storedFlags.rawValue & 1 != 0 }
  /// Whether the context must be notified before the content changes.
  @inlinable @inline(__always)
  public var isWatched: Bool { storedFlags.rawValue & 2 != 0 }
  /// Whether a read must load the content first, or may have an observer.
  @inlinable @inline(__always)
  public var interceptsReads: Bool { storedFlags.rawValue & 1 | observable != 0 }
  /// Whether the object belongs to a context.
  @inlinable
  public var isInContext: Bool { table != nil }
  /// Whether a property was read for an observer.
  @inlinable @inline(__always)
  public var isObserved: Bool { observers != nil }
  @inlinable
  var isDeleted: Bool { storedFlags.contains(.deleted) }
  /// Whether the properties have values, and not only placeholders.
  var hasContent: Bool { storedFlags.isDisjoint(with: [.fault, .failed]) }
}

/// Several changes in one access: each access to the state of an object of unknown class is a call.
extension ObjectState {
  /// Makes an object without a context a new one.
  mutating func begin(in table: ObjectTable, number: Int64) {
    self.table = table
    observable = table.observable
    observers?.move(to: table)
    rowID = number
    flags = .inserted
  }

  /// What a save of changes needs to know.
  var stored: (flags: Flags, rowID: Int64, revision: Int64) { (storedFlags, rowID, revision) }

  /// Sets the revision of a saved object, unless it has left its context.
  mutating func noteSaved(_ revision: Int64) {
    if table != nil { self.revision = revision }
  }

  /// Requests that the next change is noted.
  ///
  /// - Returns: False if the object is deleted.
  mutating func watchUnlessDeleted() -> Bool {
    if isDeleted { return false }
    flags = .watched
    return true
  }

  /// Gives a new object a row ID, unless it has one.
  ///
  /// - Returns: The row ID of the object; 0 if it is deleted.
  mutating func assignRowID(_ id: Int64) -> Int64 {
    if isDeleted { return 0 }
    if rowID < 0 { rowID = id }
    return rowID
  }
}
