// SPDX-License-Identifier: MIT

#if canImport(ObjectiveC)
  public import Foundation

  extension ObjectContext {
    /// Makes the changes since the last group one action of an `UndoManager`, as of a window or a document, so
    /// that its menu undoes and redoes them.
    ///
    /// Call it when an action of the user is finished. Foundation has no `UndoManager` on other systems.
    public func register(with manager: UndoManager, named name: String) throws {
      let before = undoLog.done.last
      try closeUndoGroup()
      guard let group = undoLog.done.last, group !== before else { return }
      group.name = name
      Self.register(self, manager, isRedo: false)
      manager.setActionName(name)
    }

    private static func register(
      _ context: ObjectContext, _ manager: UndoManager, isRedo: Bool
    ) {
      manager.registerUndo(withTarget: context) { context in
        _ = isRedo ? try? context.redo() : try? context.undo()
        register(context, manager, isRedo: !isRedo)
      }
    }
  }
#endif
