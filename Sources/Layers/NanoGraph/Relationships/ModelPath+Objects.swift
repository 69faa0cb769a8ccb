// SPDX-License-Identifier: MIT

import NanoDocument
public import NanoModel
import NanoQuery

extension ModelPath where Root: GraphObject {
  /// Returns the condition that the relationship contains an object.
  ///
  /// ```swift
  /// try context.find(Playlist.self) { $0.songs.contains(song) }.fetch()
  /// ```
  ///
  /// The condition refers to the object as it is when the condition is created: if the object is new
  /// then, the condition finds unsaved objects that relate to it, and none after the next save.
  public func contains<Target: GraphObject>(_ object: Target) -> ModelCondition<Root>
  where Value == [Target] { relates(to: object._$object.rowID) }

  /// Returns the condition that the relationship contains the object with an id.
  public func contains<Target: GraphObject>(_ id: ObjectID<Target>) -> ModelCondition<Root>
  where Value == [Target] { relates(to: id.rowID) }

  /// Returns the condition that the relationship refers to an object.
  public func isObject<Target: GraphObject>(_ object: Target) -> ModelCondition<Root>
  where Value == Target? { relates(to: object._$object.rowID) }

  /// Returns the condition that the relationship refers to the object with an id.
  public func isObject<Target: GraphObject>(_ id: ObjectID<Target>) -> ModelCondition<Root>
  where Value == Target? { relates(to: id.rowID) }

  /// Returns the condition that some object of the relationship satisfies a condition.
  ///
  /// ```swift
  /// try context.find(Song.self) { $0.album.has { $0.year > 1970 } }.fetch()
  /// ```
  ///
  /// Related objects are evaluated as saved, without unsaved changes.
  public func has<Target: GraphObject>(
    _ condition: (ModelProperties<Target>) -> ModelCondition<Target>
  ) -> ModelCondition<Root> where Value == Target? {
    related(Target.self, by: .rowID, condition(ModelProperties()))
  }

  /// Returns the condition that some object of the relationship satisfies a condition; see
  /// ``has(_:)-((ModelProperties<Target>)->ModelCondition<Target>)``.
  public func has<Target: GraphObject>(
    _ condition: (ModelProperties<Target>) -> ModelCondition<Target>
  ) -> ModelCondition<Root> where Value == [Target] {
    related(Target.self, by: .rowID, condition(ModelProperties()))
  }

  private func relates(to rowID: Int64) -> ModelCondition<Root> {
    condition(onField: { .comparison($0, .equal, .value(.int(rowID))) })
  }
}
