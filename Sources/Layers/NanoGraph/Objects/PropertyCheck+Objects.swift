// SPDX-License-Identifier: MIT

public import NanoModel

/// Objects are stored in their own documents, so that a stored property cannot contain them.
extension PropertyCheck {
  /// Fails: an object property needs `@Relationship`.
  public static func stored<O: GraphObject>(_ type: O.Type) -> Failed { Failed() }
  /// Fails: an array of objects needs `@Relationship`.
  public static func stored<O: GraphObject>(_ type: [O].Type) -> Failed { Failed() }
  /// Fails: documents cannot store a dictionary of objects.
  public static func stored<O: GraphObject>(_ type: [String: O].Type) -> Failed { Failed() }

  /// Passes if a key path refers from one class to objects of the other. Called by generated code.
  public static func inverse<Target: GraphObject, Owner: GraphObject>(
    _ path: KeyPath<Target, [Owner]>, _ target: Target.Type, _ owner: Owner.Type
  ) -> Passed { Passed() }
  /// Passes for a to-one inverse.
  public static func inverse<Target: GraphObject, Owner: GraphObject>(
    _ path: KeyPath<Target, Owner?>, _ target: Target.Type, _ owner: Owner.Type
  ) -> Passed { Passed() }
  /// Fails for all other key paths.
  @_disfavoredOverload
  public static func inverse<Root, Value, Target, Owner>(
    _ path: KeyPath<Root, Value>, _ target: Target.Type, _ owner: Owner.Type
  ) -> Failed { Failed() }
}
