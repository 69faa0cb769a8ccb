// SPDX-License-Identifier: MIT

public import NanoEngine
import NanoStoreCore

/// Discarding what a context has read in a write block that is rolled back. Its revisions do not identify this content:
/// the next commit of another writer can have the same one.
extension ObjectContext {
  /// Called before documents are read, so that a read outside of write blocks costs nothing for each document.
  @usableFromInline
  func noteReading() {
    guard !readsUncommitted, let actions = store.rollbackActions else { return }
    readsUncommitted = true
    actions.onEnd { [weak self] in self?.readsUncommitted = false }
  }

  /// Called before the owners of an object are read, which its inverse relationships keep.
  func noteReadingOwners() {
    guard let actions = store.rollbackActions else { return }
    actions.append { [weak self, unowned actions] in self?.noteRollback(actions) }
  }

  /// Invalidates inverse relationships, and notifies observers when the transaction has ended: what they read in a
  /// transaction that continues would be noted, and discarded again, while the actions run.
  fileprivate func noteRollback(_ actions: RollbackActions) {
    inverseEpoch += 1
    guard !hasRolledBack else { return }
    hasRolledBack = true
    actions.onEnd { [weak self] in
      guard let self else { return }
      hasRolledBack = false
      updating { self.inverseEpoch += 1 }
    }
  }
}

extension ObjectTable {
  /// Called when an object receives the content of a document that the running write block may have changed.
  @usableFromInline @inline(never)
  func noteUncommitted(_ stored: StoredDocument) {
    guard let actions = context.store.rollbackActions else { return }
    let rowID = stored.rowID
    let content = (
      known: LoadedContent.number(of: stored), hash: LoadedContent.hash(of: stored)
    )
    actions.append { [self, unowned actions] in
      discardUncommitted(rowID, content, actions)
    }
  }

  /// Called when a document is missing or cannot be read, which may be the effect of the running write block.
  func noteUncommittedLoss(of rowID: Int64) {
    guard let actions = context.store.rollbackActions else { return }
    let own = ownRevisions[rowID]
    actions.append { [self, unowned actions] in
      ownRevisions[rowID] = own
      discardUncommitted(rowID, nil, actions)
    }
  }

  private func discardUncommitted(
    _ rowID: Int64, _ content: (known: Int64, hash: Int64)?, _ actions: RollbackActions
  ) {
    // The context exists as long as one of its objects.
    guard let object = live(rowID) else { return }
    context.noteRollback(actions)
    let flags = object._$object.flags
    if flags.contains(.removed) {
      if mayBeMissing(rowID) {
        actions.onEnd { [self] in
          guard let object = live(rowID), object._$object.flags.contains(.removed),
            (try? documents.exists(rowID: rowID)) != false
          else { return }
          removed.remove(rowID)
          noteRestoredByOthers(object)
        }
      } else {
        restore(object, removedWith: flags, actions)
      }
    } else if flags.isDisjoint(with: [.inserted, .changed, .deleted]) {
      guard object._$object.isObserved else { return discardContent(of: object) }
      // Reloaded by the operation that follows the transaction.
      let hadContent = object._$object.hasContent
      object._$object.flags = [.fault, .watched]
      context.updates.discarded.append((object, hadContent))
    } else if !flags.contains(.inserted), let content,
      // Undo may have set an earlier revision, and a failed save has not reverted those that it raised.
      [content.known, content.known &+ raisedRevisions].contains(object._$object.revision)
    {
      // The save compares the content: it is a conflict unless the block had read what is still stored.
      object._$object.revision = content.hash
      if context.undoLog.isEnabled { rolledBackContent[rowID] = (content.known, content.hash) }
    }
  }

  /// Returns whether the part of a transaction that was not rolled back may have deleted a document.
  private func mayBeMissing(_ rowID: Int64) -> Bool {
    context.store.rollbackActions != nil && (try? documents.exists(rowID: rowID)) != true
  }

  /// Makes an object whose document was missing a fault again.
  ///
  /// At once, because the transaction can continue, and a removed object does not note its changes; observers are
  /// notified when it has ended.
  private func restore(
    _ object: any GraphObject, removedWith flags: ObjectState.Flags, _ actions: RollbackActions
  ) {
    removed.remove(object._$object.rowID)
    let hadContent = object._$object.hasContent
    object._$object.storedFlags = [.fault, .watched]
    if object._$object.isObserved {
      context.updates.discarded.append((object, hadContent))
    } else {
      for relationship in relationships { relationship.dissolve(object) }
    }
    actions.onEnd { [context] in
      context.updating {
        context.updates.noteDeletion(of: object, wasDeleted: true)
        object._$object.observers?.flagsChanged(from: flags, to: object._$object.flags)
      }
    }
  }
}
