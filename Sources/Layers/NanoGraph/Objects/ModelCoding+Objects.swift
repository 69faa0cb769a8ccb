// SPDX-License-Identifier: MIT

public import NanoDocument
public import NanoModel

/// Objects stand in documents of their own: the compiler says so where a property holds one.
extension ModelCoding {
  @available(*, unavailable, message: "mark a property that holds objects with '@Relationship'")
  public static func write<O: GraphObject>(_ value: O, _ writer: inout JSONWriter) {}
  @available(*, unavailable, message: "mark a property that holds objects with '@Relationship'")
  public static func write<O: GraphObject>(_ value: [O], _ writer: inout JSONWriter) {}
}
