// SPDX-License-Identifier: MIT

import NanoDocument

/// A row of a pipeline: an object, with the metadata of the document that it was created from.
struct PipelineRow: Subject, SortableEntry {
  var object: DocumentObject
  /// The values of ``attributeOrder``; empty if no stage uses them, and for rows of groups.
  private var attributes: [DocumentValue]
  private var rowID: DocumentValue
  /// The values of fields that the document does not have.
  private var defaults: FieldDefaults?

  private static let attributeOrder: [Attribute] = [.key, .rowID, .type, .version, .added]

  init(_ object: DocumentObject) {
    self.object = object
    attributes = []
    rowID = .null
  }

  /// Creates the row of a document.
  init(
    _ object: DocumentObject, _ attribute: (Attribute) -> DocumentValue, usesAttributes: Bool,
    _ defaults: FieldDefaults?
  ) {
    self.object = object
    attributes = usesAttributes ? Self.attributeOrder.map(attribute) : []
    rowID = attribute(.rowID)
    self.defaults = defaults
  }

  /// Returns the row with other fields, which have no defaults.
  func replacing(_ object: DocumentObject) -> PipelineRow {
    var row = self
    row.object = object
    row.defaults = nil
    return row
  }

  /// Removes the defaults of the fields that a stage has left without a value.
  mutating func removeDefaults(of names: some Sequence<String>) {
    guard defaults != nil else { return }
    for name in names where object[name] == nil { defaults = defaults?.removing(name: name) }
  }

  /// Removes the default at a path that a stage has left without a value.
  mutating func removeDefault(at path: FieldPath) { defaults = defaults?.removing(path) }

  /// The defaults if they have a value at a path, and the document has none.
  func defaultRoot(of path: FieldPath) -> DocumentObject? {
    guard let defaults, defaults.reaches(path),
      !PathValues.exists(in: .object(object), at: path)
    else { return nil }
    return defaults.object
  }

  func values(at path: FieldPath) -> [DocumentValue] {
    let found = PathValues.values(in: .object(object), at: path)
    return found.isEmpty ? defaults?.values(at: path) ?? [] : found
  }
  func exists(at path: FieldPath) -> Bool { !values(at: path).isEmpty }
  func attribute(_ attribute: Attribute) -> DocumentValue {
    guard !attributes.isEmpty, let index = Self.attributeOrder.firstIndex(of: attribute) else {
      return .null
    }
    return attributes[index]
  }
  func leaves() -> [Leaf] { Leaves.all(in: .object(object)) }

  /// Evaluates something on the row. An error names the document.
  func evaluating<Result>(
    _ budget: EvaluationBudget,
    _ work: (Evaluator<PipelineRow>) throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    budget.reset()
    do throws(StoreError) {
      return try work(Evaluator(self, budget, splitsArrays: true))
    } catch {
      throw error.addingRowID(rowID)
    }
  }

  var approximateBytes: Int { object.approximateBytes + 32 * attributes.count }
}

extension PipelineRow {
  var stored: DocumentValue {
    .array([
      .object(object), .array(attributes), rowID, defaults.map { .object($0.object) } ?? .null,
    ])
  }

  init(stored: DocumentValue) {
    let parts = stored.array ?? []
    self.init(parts.first?.object ?? [:])
    guard parts.count == 4 else { return }
    attributes = parts[1].array ?? []
    rowID = parts[2]
    defaults = parts[3].object.flatMap(FieldDefaults.init)
  }
}

extension Ordering {
  /// Returns the sort value of a row, as for a document.
  func value(for row: PipelineRow, _ budget: EvaluationBudget) throws(StoreError) -> DocumentValue {
    if case .field(let path) = expression {
      return sortValue(of: PathValues.ends(amongValues: row.values(at: path)))
    }
    let expression = expression
    return sortValue(
      of: try row.evaluating(budget) { (evaluator) throws(StoreError) in
        try evaluator.forConditions.values(expression)
      })
  }
}
