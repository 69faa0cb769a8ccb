// SPDX-License-Identifier: MIT

public import NanoDocument

/// An object that was changed in a context, and changed or deleted in the store since the context read it.
public struct ObjectConflict: Sendable {
  /// The object.
  public let id: AnyObjectID
  /// The fields that the context would store; nil if it would delete the object. If its content could not be
  /// loaded before it was changed, these are first values besides the change.
  public let mine: DocumentObject?
  /// The fields that are stored; nil if the document was deleted.
  public let stored: DocumentObject?
  /// Whether the document was deleted in the store, by another context, a call on the collection or another
  /// process.
  public var isDeletedInStore: Bool { stored == nil }
}

/// What a save does with objects that were changed in a context, and changed or deleted in the store since the
/// context read them.
///
/// An object that was changed although its content could not be loaded has no version of its own: under every
/// policy but ``keepStored`` the save throws an ``ObjectConflictError``.
public enum ConflictPolicy {
  /// Saving throws an ``ObjectConflictError`` with all of them, and nothing is saved.
  case fail
  /// The context's version is stored. A document that was deleted is inserted again, with its row id and key.
  case overwrite
  /// The stored version stays, and the objects have it after saving. An object whose document was deleted is
  /// removed from the context: it is deleted, and relationships no longer show it.
  case keepStored
  /// The fields that the closure returns are stored, and the objects have them after saving; a document that was
  /// deleted is inserted again with them. If the closure returns nil, the result is that of ``keepStored``.
  /// Either way an object that was to be deleted stays, and its conflict has no `mine`.
  case merge((ObjectConflict) throws -> DocumentObject?)
}

/// Objects were changed in a context, and changed or deleted in the store since the context read them. Nothing
/// was saved.
public struct ObjectConflictError: Error, Sendable, CustomStringConvertible {
  /// Each of them with both versions.
  public let conflicts: [ObjectConflict]

  /// The number of objects, how many of them were deleted, and the first one, without its content.
  public var description: String {
    let deleted = conflicts.count { $0.isDeletedInStore }
    let details =
      ["\(conflicts.count)"] + (deleted == 0 ? [] : ["\(deleted) of them deleted"])
      + conflicts.prefix(1).map { "first \($0.id.collection) \($0.id.rowID)" }
    return "Objects were changed or deleted in the store since they were read "
      + "(\(details.joined(separator: ", ")))"
  }
}
