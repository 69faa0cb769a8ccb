// SPDX-License-Identifier: MIT

import NanoDocument
public import NanoModel
import NanoQuery

extension ModelPath where Root: GraphObject {
  /// The relationship leads to this object, among others.
  ///
  /// ```swift
  /// try context.find(Playlist.self) { $0.songs.contains(song) }.fetch()
  /// ```
  ///
  /// An object that is not stored yet is related to by nothing that is stored.
  public func contains<Target: GraphObject>(_ object: Target) -> ModelCondition<Root>
  where Value == [Target] { leads(to: object._$object.rowID) }

  /// The relationship leads to the object with this id, among others.
  public func contains<Target: GraphObject>(_ id: ObjectID<Target>) -> ModelCondition<Root>
  where Value == [Target] { leads(to: id.rowID) }

  /// The relationship leads to this object.
  public func isObject<Target: GraphObject>(_ object: Target) -> ModelCondition<Root>
  where Value == Target? { leads(to: object._$object.rowID) }

  /// The relationship leads to the object with this id.
  public func isObject<Target: GraphObject>(_ id: ObjectID<Target>) -> ModelCondition<Root>
  where Value == Target? { leads(to: id.rowID) }

  private func leads(to rowID: Int64) -> ModelCondition<Root> {
    condition(onField: { .comparison($0, .equal, .value(.int(rowID))) })
  }
}
