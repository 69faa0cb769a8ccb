// SPDX-License-Identifier: MIT

import Logging
import NanoDocument
import NanoEngine
import NanoQuery
import Synchronization

/// Logs each field that queries use and that no document has, once per collection.
///
/// The known fields of a collection are read once, and again when a query uses an unknown field.
final class UnknownFieldWarnings: Sendable {
  private struct State {
    var known: KnownFields?
    var logged: Set<FieldPath> = []
    var reads = 0
  }
  private let states = Mutex<[ExactName: State]>([:])
  private let logger: Logger

  /// The maximum number of times that the known fields of a collection are read, for programs that
  /// generate field names from data. Arbitrary.
  private static let maximumReads = 100

  /// - Parameter logger: If it discards everything, as the default configuration's logger does, the
  ///   program's logging system is used instead.
  init(_ logger: Logger) {
    self.logger =
      logger.handler is SwiftLogNoOpLogHandler ? Logger(label: logger.label) : logger
  }

  /// Logs those of the fields that no document has.
  func check(
    _ fields: [FieldPath], in collection: String,
    _ read: ((any EngineReader) throws -> KnownFields) throws -> KnownFields
  ) throws {
    let name = collection.folded
    let state = states.withLock { $0[name] } ?? State()
    let open = fields.filter {
      !state.logged.contains($0) && !(state.known?.contains($0) ?? false)
    }
    guard !open.isEmpty, state.reads < Self.maximumReads else { return }
    let known = try read { try KnownFields($0, in: collection) }
    // Without documents every field counts as known, and little was read.
    guard known.hasDocuments else { return }
    let unknown = known.unknown(among: open)
    let new = states.withLock { states in
      states[name, default: State()].known = known
      states[name, default: State()].reads += 1
      return unknown.filter { states[name, default: State()].logged.insert($0.path).inserted }
    }
    for field in new { log(field, collection) }
  }

  private func log(_ field: UnknownField, _ collection: String) {
    var metadata: Logger.Metadata = [
      "collection": "\(Self.line(collection))", "field": "\(Self.line("\(field.path)"))",
    ]
    if let nearest = field.nearest { metadata["nearest"] = "\(Self.line("\(nearest)"))" }
    logger.warning("A query uses a field that no document has", metadata: metadata)
  }

  /// Formats a name of any origin for a log: on one line, without control characters, and
  /// truncated.
  private static func line(_ name: String) -> String {
    var line = ""
    for scalar in name.unicodeScalars.prefix(longestName) {
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned:
        line += "\\u{\(String(scalar.value, radix: 16))}"
      default: line.unicodeScalars.append(scalar)
      }
    }
    return line
  }

  /// The maximum length of a name in a log. Arbitrary.
  private static let longestName = 200
}

extension Store {
  /// Whether unknown fields in queries are logged.
  package var logsUnknownFields: Bool { unknownFieldWarnings != nil }
}

extension DocumentQuery {
  /// Validates the query, and logs fields that no document has if these warnings are on.
  @inline(__always)
  func validate() throws {
    try query.validate()
    guard let warnings = collection.store.unknownFieldWarnings else { return }
    try check(query.usedFields, warnings)
  }

  /// Validates an aggregate query over this query; see ``validate()``.
  func validate(_ question: AggregateQuery) throws {
    try question.validate()
    guard let warnings = collection.store.unknownFieldWarnings else { return }
    try check(question.usedFields, warnings)
  }

  /// Validates a pipeline over this query; see ``validate()``.
  func validate(_ pipeline: Pipeline) throws {
    try query.validate()
    try validateStages(of: pipeline)
    guard let warnings = collection.store.unknownFieldWarnings else { return }
    try check(query.usedFields + pipeline.documentFields, warnings)
  }

  /// Validates the stages of a pipeline over this query, without logging.
  func validateStages(of pipeline: Pipeline) throws {
    try pipeline.validate()
    guard query.fields == nil, pipeline.sources.allSatisfy({ $0.query.fields == nil }) else {
      throw StoreError(
        .invalidArgument, "The documents of a pipeline have all fields",
        [.hint: "select fields with a stage: find().pipe().select([\"name\": \"name\"])"])
    }
    for source in pipeline.sources { try InternalCollection.refuse(source.collection) }
  }

  /// Logs unknown fields, using a reader that is already open.
  func logUnknown(_ fields: [FieldPath], _ reader: any EngineReader) throws {
    guard let warnings = collection.store.unknownFieldWarnings, let fields = checked(fields)
    else { return }
    try warnings.check(fields, in: collection.name) { try $0(reader) }
  }

  private func check(_ fields: [FieldPath], _ warnings: UnknownFieldWarnings) throws {
    // Paths written by a running transaction are not in the catalog until they are flushed.
    guard let fields = checked(fields),
      TransactionContext.current(of: collection.store)?.writer == nil
    else { return }
    try warnings.check(fields, in: collection.name) { read in
      try collection.reading(.snapshot) { try read($0) }
    }
  }

  /// Returns the fields to check; nil if there are none.
  private func checked(_ fields: [FieldPath]) -> [FieldPath]? {
    guard let declaredNames else { return nil }
    let checked = fields.filter { !declaredNames.contains(ExactName($0.components[0])) }
    return checked.isEmpty ? nil : checked
  }
}
