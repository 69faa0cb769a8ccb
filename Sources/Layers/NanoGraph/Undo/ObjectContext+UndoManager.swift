// SPDX-License-Identifier: MIT

#if canImport(ObjectiveC)
  public import Foundation

  extension ObjectContext {
    /// Registers the changes since the last group as an action of an `UndoManager`, such as that of
    /// a window or document, whose menu can then undo and redo them.
    ///
    /// Call this method when a user action is complete. Foundation provides `UndoManager` only on
    /// Apple platforms, for the main actor.
    @MainActor
    public func register(with manager: UndoManager, named name: String) throws {
      let before = undoLog.done.last
      try closeUndoGroup()
      guard let group = undoLog.done.last, group !== before else { return }
      group.name = name
      Self.register(self, manager, isRedo: false)
      manager.setActionName(name)
    }

    @MainActor
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
