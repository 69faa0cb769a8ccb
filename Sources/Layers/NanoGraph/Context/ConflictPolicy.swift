// SPDX-License-Identifier: MIT

public import NanoDocument

/// An object that was changed in a context, and in the store since the context read it.
public struct ObjectConflict: Sendable {
  /// The object.
  public let id: AnyObjectID
  /// The fields that the context would store; nil if it would delete the object.
  public let mine: DocumentObject?
  /// The fields that are stored; nil if the document was removed.
  public let stored: DocumentObject?
}

/// What is done with objects that were changed in a context, and in the store since the context read them.
public enum ConflictPolicy {
  /// Saving throws an ``ObjectConflictError`` with all of them, and nothing is saved.
  case fail
  /// The context's version is stored. A document that was removed is there again.
  case overwrite
  /// The stored version stays, and the objects have it after saving.
  case keepStored
  /// The fields that the closure gives are stored, and the objects have them after saving; if it gives nil, the
  /// stored version stays. Either way an object that was to be deleted stays, and its conflict has no `mine`.
  case merge((ObjectConflict) throws -> DocumentObject?)
}

/// Objects were changed in a context, and in the store since the context read them. Nothing was saved.
public struct ObjectConflictError: Error, Sendable, CustomStringConvertible {
  /// Each of them with both versions.
  public let conflicts: [ObjectConflict]

  /// The number of objects and the first one, without its content.
  public var description: String {
    let first = conflicts.first.map { ", first \($0.id.collection) \($0.id.rowID)" } ?? ""
    return "Objects were changed in the store since they were read (\(conflicts.count)\(first))"
  }
}
