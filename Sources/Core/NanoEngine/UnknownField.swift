// SPDX-License-Identifier: MIT

public import NanoDocument

/// A field that a query uses and that no document of the collection has.
public struct UnknownField: Sendable, Hashable {
  /// The field, as the query names it.
  public var path: FieldPath
  /// A field of documents with a similar name; nil if there is none.
  public var nearest: FieldPath?

  package init(path: FieldPath, nearest: FieldPath? = nil) {
    self.path = path
    self.nearest = nearest
  }
}

/// How this library was built.
package enum BuildMode {
  /// Whether it is a debug build.
  package static var isDebug: Bool {
    #if DEBUG
      true
    #else
      false
    #endif
  }
}
