// SPDX-License-Identifier: MIT

public import NanoDocument

/// A condition made ready to be checked on the bytes of many stored documents.
///
/// It answers as ``Evaluator`` does, without making values of what it reads: conditions on single
/// fields are answered on the bytes, the others by the evaluator on the fields they name.
///
/// Confined to one thread at a time.
public final class ConditionProgram {
  private indirect enum Node {
    case constant(Bool)
    case all([Node])
    case any([Node])
    case not(Node)
    /// Some value at the path passes.
    case test(BytePath, ValueTest)
    /// Some value at the path is null, or there is none.
    case isNull(BytePath, ValueTest)
    case exists(BytePath)
    case evaluated(Condition)
  }

  private let node: Node
  private var document: DocumentBytes
  /// For conditions that the evaluator answers.
  private var paths: [FieldPath: BytePath]

  /// - Throws: ``StoreError/Code/invalidArgument`` for a regular expression that does not parse.
  public init(_ condition: Condition) throws(StoreError) {
    var names = FieldNames()
    var paths: [FieldPath: BytePath] = [:]
    for path in condition.fields where !path.isElement { paths[path] = BytePath(path, &names) }
    node = try Self.compile(condition, paths)
    self.paths = paths
    document = DocumentBytes(names.names)
  }

  /// - Throws: ``StoreError/Code/corruptDocument``.
  public func holds(
    for body: UnsafeRawBufferPointer, _ attributes: (Attribute) -> DocumentValue
  ) throws(StoreError) -> Bool {
    document.reset(body)
    return try holds(node, attributes)
  }

  private static func compile(
    _ condition: Condition, _ paths: [FieldPath: BytePath]
  ) throws(StoreError) -> Node {
    switch condition {
    case .constant(let truth): return .constant(truth)
    case .all(let parts): return .all(try compile(parts, paths))
    case .any(let parts): return .any(try compile(parts, paths))
    case .not(let part): return .not(try compile(part, paths))
    case .exists(let path): return paths[path].map(Node.exists) ?? .evaluated(condition)
    default:
      guard let path = singleField(condition).flatMap({ paths[$0] }),
        let test = try ValueTest(condition)
      else { return .evaluated(condition) }
      if case .isNull = condition { return .isNull(path, test) }
      return .test(path, test)
    }
  }

  private static func compile(
    _ parts: [Condition], _ paths: [FieldPath: BytePath]
  ) throws(StoreError) -> [Node] {
    var nodes: [Node] = []
    for part in parts { nodes.append(try compile(part, paths)) }
    return nodes
  }

  private static func singleField(_ condition: Condition) -> FieldPath? {
    switch condition {
    case .comparison(.field(let path), _, .value), .comparison(.value, _, .field(let path)),
      .between(.field(let path), _, _), .membership(.field(let path), _),
      .text(.field(let path), _, _), .isNull(.field(let path)):
      path
    default: nil
    }
  }

  private func holds(
    _ node: Node, _ attributes: (Attribute) -> DocumentValue
  ) throws(StoreError) -> Bool {
    switch node {
    case .constant(let truth): return truth
    case .all(let parts):
      for part in parts where try !holds(part, attributes) { return false }
      return true
    case .any(let parts):
      for part in parts where try holds(part, attributes) { return true }
      return false
    case .not(let part): return try !holds(part, attributes)
    case .test(let path, let test):
      return try document.values(path) { (value) throws(StoreError) in try test.passes(value) }
    case .isNull(let path, let test):
      var isEmpty = true
      let hasNull = try document.values(path) { (value) throws(StoreError) in
        isEmpty = false
        return try test.passes(value)
      }
      return hasNull || isEmpty
    case .exists(let path): return try document.ends(path) { _ in true }
    case .evaluated(let condition):
      let subject = try StoredSubject(condition.fields, paths, &document, attributes)
      return try Evaluator(subject).holds(condition)
    }
  }
}

/// The fields of a stored document that an evaluator asks for, decoded beforehand.
struct StoredSubject: Subject {
  private var values: [FieldPath: [DocumentValue]] = [:]
  private var existing: Set<FieldPath> = []
  private var attributes: [Attribute: DocumentValue] = [:]

  init(
    _ fields: [FieldPath], _ paths: [FieldPath: BytePath], _ document: inout DocumentBytes,
    _ attributes: (Attribute) -> DocumentValue
  ) throws(StoreError) {
    for field in fields where values[field] == nil {
      guard let path = paths[field] else { continue }
      var found: [DocumentValue] = []
      var exists = false
      _ = try document.values(path) { (reader) throws(StoreError) in
        var reader = reader
        exists = true
        found.append(try reader.value())
        return false
      }
      values[field] = found
      if exists { existing.insert(field) }
    }
    for attribute in Attribute.allCases { self.attributes[attribute] = attributes(attribute) }
  }

  func values(at path: FieldPath) -> [DocumentValue] { values[path] ?? [] }
  func exists(at path: FieldPath) -> Bool { existing.contains(path) }
  func attribute(_ attribute: Attribute) -> DocumentValue { attributes[attribute] ?? .null }
}
