// SPDX-License-Identifier: MIT

import Synchronization

/// Objects that layers attach to a store and that live as long as it does.
final class AssociatedObjects: Sendable {
  private let objects = Mutex<[ObjectIdentifier: any AnyObject & Sendable]>([:])

  func object<Object: AnyObject & Sendable>(_ make: () -> Object) -> Object {
    objects.withLock { objects in
      if let object = objects[ObjectIdentifier(Object.self)] as? Object { return object }
      let object = make()
      objects[ObjectIdentifier(Object.self)] = object
      return object
    }
  }
}

extension Store {
  /// A counter that increases when this process drops a collection or an index, or rolls back a
  /// transaction that may have created one. Layers compare it to invalidate what they cached about
  /// indexes.
  package var droppedDefinitions: Int { drops.load(ordering: .acquiring) }

  package func noteDroppedDefinition() { drops.add(1, ordering: .acquiringAndReleasing) }

  /// Returns the associated object of this class, creating it on first use. It must not retain the
  /// store.
  ///
  /// Lets a layer on top of the store keep per-store state, such as which indexes it has already
  /// created.
  package func associatedObject<Object: AnyObject & Sendable>(
    _ type: Object.Type = Object.self, make: () -> Object
  ) -> Object {
    associatedObjects.object(make)
  }
}
