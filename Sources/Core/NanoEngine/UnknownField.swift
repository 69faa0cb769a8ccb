// SPDX-License-Identifier: MIT

public import NanoDocument

/// A field that a query uses but that no document of the collection has.
public struct UnknownField: Sendable, Hashable {
  /// The path of the field, as written in the query.
  public var path: FieldPath
  /// The existing field with the most similar name; `nil` if no name is similar.
  public var nearest: FieldPath?

  /// Creates an unknown field.
  package init(path: FieldPath, nearest: FieldPath? = nil) {
    self.path = path
    self.nearest = nearest
  }
}

/// The configuration that this library was built in.
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
