// SPDX-License-Identifier: MIT

import ArgumentParser
import NanoStore

struct SchemaCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "schema",
    abstract: "Print the fields of the documents with their types and frequencies.",
    discussion: """
      Reads every document, or those that match the condition. [] in a path denotes the elements of \
      an array. The share is the percentage of documents that have the path; the number after each \
      type is the number of documents that have the path with that type.
      """)

  @OptionGroup var target: CollectionOptions
  @OptionGroup var condition: ConditionOptions
  @OptionGroup var format: FormatOptions

  func run() throws {
    try target.withCollection(.reading) { collection in
      var survey = PathSurvey()
      var unrepresentable = UnrepresentableDocuments()
      var writer = JSONWriter()
      try condition.query(in: collection).each { document in
        writer.removeAll()
        let isRepresentable = try unrepresentable.attempt(document) {
          try document.write(to: &writer)
        }
        guard isRepresentable else {
          if let object = try? document.object() { survey.add(object) }
          return
        }
        survey.add(try document.object())
      }
      try Output.run { output in
        let rows = format.rows(["path", "types", "documents", "share"], to: output)
        try rows.begin()
        for path in survey.paths {
          let types = path.types.map { "\($0.name) \(Quantity.count($0.documents))" }
          try rows.add([
            .string(path.path), .string(types.joined(separator: ", ")),
            .int(Int64(path.documents)),
            .string(Self.share(path.documents, of: survey.documents)),
          ])
        }
        try rows.finish()
      }
      if survey.isTruncated {
        Diagnostics.print(
          "note: only the first \(PathSurvey.maximumPaths) paths are listed")
      }
      try unrepresentable.finish()
    }
  }

  /// Returns a percentage, rounded down so that a field missing from any document never has 100 %.
  private static func share(_ part: Int, of whole: Int) -> String {
    let thousandths = whole == 0 ? 0 : part * 1000 / whole
    return "\(thousandths / 10).\(thousandths % 10) %"
  }
}

/// Counts the documents that contain each path, and the types of its values.
struct PathSurvey {
  struct Path {
    var path: String
    var documents = 0
    var types: [(name: String, documents: Int)] = []
    fileprivate var lastDocument = 0
    fileprivate var lastTypes: [Int] = []
  }

  private(set) var paths: [Path] = []
  private(set) var documents = 0
  /// Whether paths were dropped because there were more than ``maximumPaths``.
  private(set) var isTruncated = false
  private var positions: [ExactName: Int] = [:]

  /// Limits memory when field names are data, such as an object with a field for each day.
  static let maximumPaths = 10_000

  mutating func add(_ object: DocumentObject) {
    documents += 1
    add(object, below: "")
  }

  private mutating func add(_ object: DocumentObject, below parent: String) {
    for (name, value) in object {
      let plain = FieldPath(components: [name]).description
      add(value, at: parent.isEmpty ? plain : "\(parent).\(plain)")
    }
  }

  private mutating func add(_ value: DocumentValue, at path: String) {
    note(value.typeName, at: path)
    switch value {
    case .object(let object): add(object, below: path)
    case .array(let elements): for element in elements { add(element, at: path + "[]") }
    default: break
    }
  }

  private mutating func note(_ type: String, at path: String) {
    guard let position = positions[ExactName(path)] ?? newPosition(path) else { return }
    if paths[position].lastDocument != documents {
      paths[position].lastDocument = documents
      paths[position].lastTypes.removeAll(keepingCapacity: true)
      paths[position].documents += 1
    }
    let index =
      paths[position].types.firstIndex { $0.name == type }
      ?? {
        paths[position].types.append((type, 0))
        return paths[position].types.count - 1
      }()
    guard !paths[position].lastTypes.contains(index) else { return }
    paths[position].lastTypes.append(index)
    paths[position].types[index].documents += 1
  }

  private mutating func newPosition(_ path: String) -> Int? {
    guard paths.count < Self.maximumPaths else {
      isTruncated = true
      return nil
    }
    positions[ExactName(path)] = paths.count
    paths.append(Path(path: path))
    return paths.count - 1
  }
}
