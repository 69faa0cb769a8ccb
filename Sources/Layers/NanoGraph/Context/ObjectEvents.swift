// SPDX-License-Identifier: MIT

/// An observer of a context's changes. All methods have empty default implementations.
public protocol ObjectContextObserver: AnyObject {
  /// Called after a new object was inserted into the context.
  func context(_ context: ObjectContext, willInsert object: any GraphObject)
  /// Called before the first change of an object since the last save or group of changes, which can be the removal of a
  /// reference by a save. Objects that the method then changes or inserts are saved too; it cannot delete any.
  func context(_ context: ObjectContext, willUpdate object: any GraphObject)
  /// Called after an object was deleted from the context and its delete rules were applied.
  func context(_ context: ObjectContext, willDelete object: any GraphObject)
  /// Called after undo or redo changed an object.
  func context(_ context: ObjectContext, didChange object: any GraphObject)
}

extension ObjectContextObserver {
  /// Does nothing.
  public func context(_ context: ObjectContext, willInsert object: any GraphObject) {}
  /// Does nothing.
  public func context(_ context: ObjectContext, willUpdate object: any GraphObject) {}
  /// Does nothing.
  public func context(_ context: ObjectContext, willDelete object: any GraphObject) {}
  /// Does nothing.
  public func context(_ context: ObjectContext, didChange object: any GraphObject) {}
}

/// A change in a context, as a value that can be sent to other tasks.
public struct ObjectEvent: Sendable, Hashable {
  /// The kind of a change.
  public enum Kind: Sendable, Hashable {
    /// A new object was inserted into the context.
    case willInsert
    /// An object is about to change for the first time since the last save or group of changes.
    case willUpdate
    /// An object was deleted from the context.
    case willDelete
    /// Undo or redo changed an object.
    case didChange
    /// The context was saved.
    case didSave
  }
  /// The kind of the change.
  public let kind: Kind
  /// The object; nil for a save, and for a new object that is not stored yet.
  public let id: AnyObjectID?
  /// The collection of the object; nil for a save.
  public let collection: String?
}

extension ObjectContext {
  /// Returns a stream of the context's changes from now on, until the context is closed.
  ///
  /// ```swift
  /// let events = context.events()
  /// Task { for await event in events where event.kind == .didSave { upload() } }
  /// ```
  ///
  /// The stream buffers events without limit, so that a slow consumer receives all of them.
  public func events() -> AsyncStream<ObjectEvent> {
    let (stream, continuation) = AsyncStream.makeStream(of: ObjectEvent.self)
    streams.add(continuation)
    isObserved = true
    return stream
  }

  @inline(__always)
  func notify(_ kind: ObjectEvent.Kind, _ object: any GraphObject, _ table: ObjectTable) {
    if isObserved { notifyObservers(kind, object, table) }
  }

  private func notifyObservers(
    _ kind: ObjectEvent.Kind, _ object: any GraphObject, _ table: ObjectTable
  ) {
    switch kind {
    case .willInsert: observer?.context(self, willInsert: object)
    case .willUpdate: observer?.context(self, willUpdate: object)
    case .willDelete: observer?.context(self, willDelete: object)
    case .didChange: observer?.context(self, didChange: object)
    case .didSave: break
    }
    let id = object._$object.rowID
    let name = table.documents.name
    streams.yield(
      ObjectEvent(
        kind: kind, id: id > 0 ? AnyObjectID(collection: name, rowID: id) : nil,
        collection: name))
  }

  func notifySaved() {
    guard !streams.isEmpty else { return }
    streams.yield(ObjectEvent(kind: .didSave, id: nil, collection: nil))
  }
}

/// The active event streams.
struct ObjectEventStreams {
  private var continuations: [AsyncStream<ObjectEvent>.Continuation] = []

  var isEmpty: Bool { continuations.isEmpty }

  mutating func add(_ continuation: AsyncStream<ObjectEvent>.Continuation) {
    continuations.append(continuation)
  }

  mutating func yield(_ event: ObjectEvent) {
    continuations.removeAll { continuation in
      if case .terminated = continuation.yield(event) { return true }
      return false
    }
  }

  mutating func finish() {
    for continuation in continuations { continuation.finish() }
    continuations = []
  }
}
