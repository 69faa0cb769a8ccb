// SPDX-License-Identifier: MIT

package import NanoDocument
package import NanoQuery

extension EngineDocumentReader where Self: EngineReader {
  package func pipeline(
    _ pipeline: Pipeline, _ query: Query, in collection: String,
    _ visit: (DocumentObject) throws -> Bool
  ) throws {
    try run(pipeline, query, in: collection, makeSpill: nil, visit)
  }

  /// Runs a pipeline in this process, on the results that the engine finds, or on the groups that it
  /// computes if the first group is one that engines compute.
  ///
  /// - Parameters:
  ///   - makeSpill: Creates external storage; `nil` keeps everything in memory, within a limit.
  ///   - interruption: The interruption of the call, which also stops the stages between two rows.
  package func run(
    _ pipeline: Pipeline, _ query: Query, in collection: String, makeSpill: SpillMaker?,
    interruption: Interruption? = nil, _ visit: (DocumentObject) throws -> Bool
  ) throws {
    let documents = ReaderDocuments(reader: self, interruption: interruption)
    let plan = PipelinePlan(pipeline, query)
    try withoutActuallyEscaping(visit) { visit in
      let runner = PipelineRunner(
        plan.rest, defaults: try documents.defaults(of: collection), documents: documents,
        makeSpill: makeSpill, visit)
      if let aggregates = plan.aggregates {
        try aggregate(aggregates.query, in: collection) { row in
          try runner.add(aggregates.object(row))
        }
      } else {
        try documents.each(plan.query, in: collection) { try runner.add($0, $1) }
      }
      try runner.finish()
    }
  }
}

/// The documents of a reader, as a pipeline reads them.
private struct ReaderDocuments: PipelineDocuments {
  let reader: any EngineReader
  let interruption: Interruption?

  func each(_ query: Query, in collection: String, _ visit: Visitor) throws {
    var query = query
    // A pipeline decides itself which fields it decodes.
    query.fields = nil
    try reader.find(query, in: collection) { stored in
      try visit(stored.body) { stored.value(of: $0) }
    }
  }

  func defaults(of collection: String) throws -> FieldDefaults? {
    FieldDefaults(try reader.settings(of: collection).defaults)
  }

  func check() throws { try interruption?.check() }
}
