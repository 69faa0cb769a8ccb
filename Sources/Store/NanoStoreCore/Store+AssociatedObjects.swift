// SPDX-License-Identifier: MIT

import Synchronization

/// What layers keep for a store, as long as it lives.
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
  /// Goes up when this program drops a collection or an index, or undoes what may have made one: what a layer
  /// remembers of indexes may no longer be so.
  package var droppedDefinitions: Int { drops.load(ordering: .acquiring) }

  func noteDroppedDefinition() { drops.add(1, ordering: .acquiringAndReleasing) }

  /// The one object of a class that belongs to this store, made when it is first asked for. It must not
  /// keep the store alive.
  ///
  /// For what a layer on top of the store has to remember beside it, such as which indexes it has seen to.
  package func companion<Object: AnyObject & Sendable>(
    _ type: Object.Type = Object.self, make: () -> Object
  ) -> Object {
    companions.object(make)
  }
}
