// SPDX-License-Identifier: MIT

package import NanoDocument

/// The documents that a pipeline reads.
package protocol PipelineDocuments {
  /// A visitor of documents, which returns whether it needs more of them.
  typealias Visitor = (UnsafeRawBufferPointer, (Attribute) -> DocumentValue) throws -> Bool

  /// Passes the results of a query to the closure, in order, until it returns `false`.
  func each(_ query: Query, in collection: String, _ visit: Visitor) throws

  /// The values of fields that documents of a collection do not have.
  func defaults(of collection: String) throws -> FieldDefaults?

  /// Throws if the call was canceled. Called often while the stages process rows.
  func check() throws
}

extension PipelineDocuments {
  package func check() throws {}
}

/// Runs a pipeline over the bytes of stored documents, in one pass.
///
/// Confined to one thread at a time.
package final class PipelineRunner {
  private let input: DocumentRows
  private let head: RowSink
  private var goesOn = true

  /// - Parameters:
  ///   - defaults: The values of fields that a document does not have.
  ///   - documents: The documents of the other collections that the pipeline reads.
  ///   - makeSpill: Creates external storage for what does not fit in memory; `nil` keeps everything
  ///     in memory, within a limit.
  ///   - visit: Receives the rows of the last stage until it returns `false`.
  package init(
    _ pipeline: Pipeline, defaults: FieldDefaults?, documents: any PipelineDocuments,
    makeSpill: SpillMaker?, _ visit: @escaping (DocumentObject) throws -> Bool
  ) {
    input = DocumentRows(pipeline.stages, defaults)
    let context = PipelineContext(makeSpill: makeSpill, check: { try documents.check() }) {
      source, stages, sink in
      let rows = DocumentRows(stages, try documents.defaults(of: source.collection))
      try documents.each(source.query, in: source.collection) { body, attribute in
        try sink.add(try rows.row(body, attribute))
      }
      try sink.finish()
    }
    head = context.chain(pipeline.stages[...], to: ClosureSink { try visit($0.object) })
  }

  /// Adds a document.
  ///
  /// - Returns: Whether further documents can make a difference.
  package func add(
    _ body: UnsafeRawBufferPointer, _ attribute: (Attribute) -> DocumentValue
  ) throws -> Bool {
    goesOn = try head.add(try input.row(body, attribute))
    return goesOn
  }

  /// Adds the row of an engine's aggregates.
  package func add(_ row: DocumentObject) throws -> Bool {
    goesOn = try head.add(PipelineRow(row))
    return goesOn
  }

  /// Passes on the rows that depend on all documents. Called once, after the last document.
  package func finish() throws { try head.finish() }
}

/// Makes rows of stored documents, with the fields that the stages use.
private final class DocumentRows {
  private var document: DocumentBytes
  private let names: [String]?
  private let usesAttributes: Bool
  private let defaults: FieldDefaults?

  init(_ stages: [Pipeline.Stage], _ defaults: FieldDefaults?) {
    var fields = FieldNames()
    names = Pipeline.usedNames(stages[...])?.sorted().map(\.text)
    for name in names ?? [] { _ = fields.number(name) }
    document = DocumentBytes(fields.names)
    usesAttributes = Pipeline.usesAttributes(stages)
    self.defaults = defaults
  }

  func row(
    _ body: UnsafeRawBufferPointer, _ attribute: (Attribute) -> DocumentValue
  ) throws(StoreError) -> PipelineRow {
    document.reset(body)
    var object = DocumentObject()
    if let names {
      for (number, name) in names.enumerated() {
        guard var reader = try document.field(number) else { continue }
        object[name] = try reader.value()
      }
    } else {
      object = try document.value().object ?? [:]
    }
    return PipelineRow(object, attribute, usesAttributes: usesAttributes, defaults)
  }
}
