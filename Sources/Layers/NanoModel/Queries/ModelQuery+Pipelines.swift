// SPDX-License-Identifier: MIT

public import NanoDocument
public import NanoQuery
public import NanoStoreCore

extension Model {
  /// Returns the stored field of a property, for the stages of a pipeline.
  ///
  /// ```swift
  /// let rows = try people.find(\.age > 30).pipe()
  ///   .grouped(by: ["city": Person.field(\.city)], ["people": .count, "oldest": .max(Person.field(\.age))])
  ///   .rows()
  /// ```
  ///
  /// - Throws: ``StoreError/Code/invalidArgument`` if the property is not stored,
  ///   ``StoreError/Code/unsupported`` for the key, which is not a field.
  public static func field(
    _ keyPath: any PartialKeyPath<Self> & Sendable
  ) throws(StoreError) -> Field {
    Field(try aggregatedLocation(of: keyPath).path)
  }
}

extension ModelQuery {
  /// Returns a pipeline over the documents of the results.
  ///
  /// Its stages see the stored fields, like those of ``documentQuery()``; ``Model/field(_:)`` returns the
  /// field of a property.
  public func pipe() throws -> DocumentPipeline { try documentQuery().pipe() }

  /// Returns a pipeline with stages written as text; see `DocumentPipeline.pipe(_:_:)`.
  public func pipe(
    _ text: String, _ arguments: any DocumentValueConvertible...
  ) throws -> DocumentPipeline {
    try documentQuery().pipe(text, arguments: arguments.map(\.documentValue))
  }
}
