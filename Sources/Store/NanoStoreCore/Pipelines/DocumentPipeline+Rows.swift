// SPDX-License-Identifier: MIT

public import NanoDocument
import NanoEngine
import NanoQuery

extension DocumentPipeline {
  /// Returns the rows, in order.
  ///
  /// - Throws: ``StoreError/Code/invalidArgument`` if two fields of a row have the same name, a bucket or
  ///   limit is out of range, or a unit, time zone or date format is unknown;
  ///   ``StoreError/Code/tooComplex`` if the rows that the stages hold in memory exceed the limit.
  public func rows() throws -> [DocumentObject] {
    var rows: [DocumentObject] = []
    try eachRow {
      rows.append($0)
      return true
    }
    return rows
  }
  /// The asynchronous form of `rows()`, which does not block the calling thread.
  public func rows() async throws -> [DocumentObject] { try await onReader { try $0.rows() } }

  /// Returns the rows decoded to a type.
  ///
  /// ```swift
  /// struct GenreCount: Decodable { var genre: String; var films: Int }
  /// let counts = try films.find().unwind("genres")
  ///   .grouped(by: ["genre": "genres"], ["films": .count]).rows(as: GenreCount.self)
  /// ```
  ///
  /// - Throws: `DecodingError` for a row whose fields do not match the type.
  public func rows<Value: Decodable>(as type: Value.Type) throws -> [Value] {
    let decoder = DocumentDecoder()
    // After the read: the type's own code may use the store.
    return try rows().map { try decoder.decode(type, from: .object($0)) }
  }
  /// The asynchronous form of `rows(as:)`, which does not block the calling thread.
  public func rows<Value: Decodable & Sendable>(as type: Value.Type) async throws -> [Value] {
    try await onReader { try $0.rows(as: type) }
  }

  /// Returns the first row, or nil if there is none.
  public func first() throws -> DocumentObject? {
    var first: DocumentObject?
    try eachRow {
      first = $0
      return false
    }
    return first
  }
  /// The asynchronous form of `first()`, which does not block the calling thread.
  public func first() async throws -> DocumentObject? { try await onReader { try $0.first() } }

  /// Calls a closure with each row, from one snapshot and without keeping them in memory.
  ///
  /// The closure may read from the store. It may write only inside a
  /// ``Store/write(retries:isolation:_:)-(_,_,()->_)`` block, where all rows are computed before the
  /// closure is first called.
  ///
  /// - Throws: An error thrown by the closure, which ends the call.
  public func each(_ visit: (DocumentObject) throws -> Void) throws {
    if TransactionContext.current(of: source.collection.store)?.writer != nil {
      for row in try rows() { try visit(row) }
      return
    }
    try validate()
    try source.collection.readingDocuments { reader in
      try run(reader) { row in
        try visit(row)
        return true
      }
    }
  }
  /// The asynchronous form of `each(_:)`, which does not block the calling thread. The closure runs on a
  /// thread of the store.
  public func each(_ visit: @escaping @Sendable (DocumentObject) throws -> Void) async throws {
    try await onReader { try $0.each(visit) }
  }
}

extension DocumentPipeline {
  /// Passes the rows to the closure one at a time until it returns `false`.
  package func eachRow(_ visit: (DocumentObject) throws -> Bool) throws {
    try validate()
    // The rows of a union, and the defaults of a collection, belong to one state.
    try source.collection.reading(.snapshot) { try run($0, visit) }
  }

  func run(_ reader: any EngineReader, _ visit: (DocumentObject) throws -> Bool) throws {
    try reader.pipeline(pipeline, source.query, in: source.collection.name, visit)
  }

  /// Validates the query and the stages, and logs fields that no document has if these warnings are on.
  func validate() throws {
    try source.validate(pipeline)
  }

  private func onReader<Result: Sendable>(
    _ work: @escaping @Sendable (DocumentPipeline) throws -> Result
  ) async throws -> Result {
    try await source.collection.onReader { try work(self) }
  }
}
