// SPDX-License-Identifier: MIT

/// Told what a context is about to do with objects. What is not written does nothing.
public protocol ObjectContextObserver: AnyObject {
  /// A new object was inserted into the context.
  func context(_ context: ObjectContext, willInsert object: any GraphObject)
  /// An object is about to change for the first time since the last save or group of changes.
  func context(_ context: ObjectContext, willUpdate object: any GraphObject)
  /// An object was deleted from the context, after its delete rules.
  func context(_ context: ObjectContext, willDelete object: any GraphObject)
  /// Undoing or redoing changed an object.
  func context(_ context: ObjectContext, didChange object: any GraphObject)
}

extension ObjectContextObserver {
  public func context(_ context: ObjectContext, willInsert object: any GraphObject) {}
  public func context(_ context: ObjectContext, willUpdate object: any GraphObject) {}
  public func context(_ context: ObjectContext, willDelete object: any GraphObject) {}
  public func context(_ context: ObjectContext, didChange object: any GraphObject) {}
}

/// What a context did with an object, for those who are elsewhere.
public struct ObjectEvent: Sendable, Hashable {
  public enum Kind: Sendable, Hashable {
    case willInsert, willUpdate, willDelete, didChange
    /// The context was saved.
    case didSave
  }
  public let kind: Kind
  /// The object; nil for a save, and for a new object, which is not stored yet.
  public let id: AnyObjectID?
  /// The collection of the object; nil for a save.
  public let collection: String?
}

extension ObjectContext {
  /// What the context does from now on, until it is closed.
  ///
  /// ```swift
  /// let events = context.events()
  /// Task { for await event in events where event.kind == .didSave { upload() } }
  /// ```
  ///
  /// A slow reader misses nothing: what it has not read is kept for it.
  public func events() -> AsyncStream<ObjectEvent> {
    let (stream, continuation) = AsyncStream.makeStream(of: ObjectEvent.self)
    streams.add(continuation)
    isObserved = true
    return stream
  }

  @inline(__always)
  func tell(_ kind: ObjectEvent.Kind, _ object: any GraphObject, _ table: ObjectTable) {
    if isObserved { tellObservers(kind, object, table) }
  }

  private func tellObservers(
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

  func tellSaved() {
    guard !streams.isEmpty else { return }
    streams.yield(ObjectEvent(kind: .didSave, id: nil, collection: nil))
  }
}

/// The streams of events that someone reads.
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
