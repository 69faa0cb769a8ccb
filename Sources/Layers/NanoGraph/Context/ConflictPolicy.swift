// SPDX-License-Identifier: MIT

public import Foundation
public import NanoDocument

/// A conflict between an object's unsaved changes and a later change or deletion in the store.
public struct ObjectConflict: Sendable {
  /// The object.
  public let id: AnyObjectID
  /// The fields that the context would store; nil if it would delete the object.
  ///
  /// If the object's content could not be loaded before it was changed, the fields other than the
  /// change are placeholders.
  public let mine: DocumentObject?
  /// The stored fields; nil if the document was deleted.
  public let stored: DocumentObject?
  /// Whether the document was deleted in the store by another context, a collection method or
  /// another process.
  public var isDeletedInStore: Bool { stored == nil }
}

/// How a save resolves conflicts between unsaved changes and later changes in the store.
///
/// An object that was changed although its content could not be loaded has no complete version to
/// store: under every policy except ``keepStored``, the save throws an ``ObjectConflictError``.
public enum ConflictPolicy {
  /// The save throws an ``ObjectConflictError`` with all conflicts. Nothing is saved.
  case fail
  /// The context's version is stored. A deleted document is inserted again with its row ID and key.
  case overwrite
  /// The stored version is kept, and the objects have it after the save. An object whose document
  /// was deleted is removed from the context and its relationships.
  case keepStored
  /// The fields that the closure returns are stored, and the objects have them after the save. A
  /// deleted document is inserted again with these fields.
  ///
  /// If the closure returns nil, the conflict is resolved as by ``keepStored``. An object that the
  /// context would delete, whose conflict has no `mine`, is kept in both cases.
  ///
  /// The closure runs while objects are written. If it changes objects of the context, the save throws
  /// ``StoreError/Code/invalidArgument``, and stores nothing.
  case merge((ObjectConflict) throws -> DocumentObject?)
}

/// The error of a save with conflicts: objects were changed or deleted in the store after the
/// context read them. Nothing was saved.
public struct ObjectConflictError: LocalizedError, Sendable, CustomStringConvertible {
  /// The conflicts, with both versions of each object.
  public let conflicts: [ObjectConflict]

  /// The number of conflicts and deletions, and the id of the first object. Contains no field
  /// values.
  public var description: String {
    let deleted = conflicts.count { $0.isDeletedInStore }
    let details =
      ["\(conflicts.count)"] + (deleted == 0 ? [] : ["\(deleted) of them deleted"])
      + conflicts.prefix(1).map { "first \($0.id.collection) \($0.id.rowID)" }
    return "Objects were changed or deleted in the store since they were read "
      + "(\(details.joined(separator: ", ")))"
  }
  /// The description.
  public var errorDescription: String? { description }
}
