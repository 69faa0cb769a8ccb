// SPDX-License-Identifier: MIT

public import NanoModel

/// Objects stand in documents of their own, and relationships lead to them.
extension PropertyCheck {
  public static func stored<O: GraphObject>(_ type: O.Type) -> Failed { Failed() }
  public static func stored<O: GraphObject>(_ type: [O].Type) -> Failed { Failed() }
  public static func stored<O: GraphObject>(_ type: [String: O].Type) -> Failed { Failed() }

  /// Whether a key path leads from one class to objects of the other.
  public static func inverse<Target: GraphObject, Owner: GraphObject>(
    _ path: KeyPath<Target, [Owner]>, _ target: Target.Type, _ owner: Owner.Type
  ) -> Passed { Passed() }
  public static func inverse<Target: GraphObject, Owner: GraphObject>(
    _ path: KeyPath<Target, Owner?>, _ target: Target.Type, _ owner: Owner.Type
  ) -> Passed { Passed() }
  @_disfavoredOverload
  public static func inverse<Root, Value, Target, Owner>(
    _ path: KeyPath<Root, Value>, _ target: Target.Type, _ owner: Owner.Type
  ) -> Failed { Failed() }
}
