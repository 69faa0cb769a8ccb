// SPDX-License-Identifier: MIT

import ArgumentParser
import NanoStore

struct SchemaCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "schema",
    abstract: "Show which fields documents have, of which types, and how often.",
    discussion: """
      Reads every document, or those that fulfil the condition. A path with [] is that of the \
      elements of a list. The share is that of the documents that have the path; after each type \
      stands how many of them have it with this type.
      """)

  @OptionGroup var place: CollectionOptions
  @OptionGroup var condition: ConditionOptions
  @OptionGroup var format: FormatOptions

  func run() throws {
    try place.withCollection(.reading) { collection in
      var survey = PathSurvey()
      var unfaithful = UnrepresentableDocuments()
      var writer = JSONWriter()
      try condition.query(in: collection).each { document in
        writer.removeAll()
        _ = try unfaithful.attempt(document) { try document.write(to: &writer) }
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
      if survey.isCut {
        Diagnostics.print(
          "note: more than \(PathSurvey.maximumPaths) paths; later ones are left out")
      }
      try unfaithful.finish()
    }
  }

  /// Never 100 % where a document lacks the field.
  private static func share(_ part: Int, of whole: Int) -> String {
    let thousandths = whole == 0 ? 0 : part * 1000 / whole
    return "\(thousandths / 10).\(thousandths % 10) %"
  }
}

/// Counts in how many documents each path occurs, and with which types.
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
  /// Whether there were more paths than are kept.
  private(set) var isCut = false
  private var places: [ExactName: Int] = [:]

  /// Names made of data (an object with a field for each day) would fill the memory.
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
    note(Self.type(of: value), at: path)
    switch value {
    case .object(let object): add(object, below: path)
    case .array(let elements): for element in elements { add(element, at: path + "[]") }
    default: break
    }
  }

  private mutating func note(_ type: String, at path: String) {
    guard let place = places[ExactName(path)] ?? newPlace(path) else { return }
    if paths[place].lastDocument != documents {
      paths[place].lastDocument = documents
      paths[place].lastTypes.removeAll(keepingCapacity: true)
      paths[place].documents += 1
    }
    let index =
      paths[place].types.firstIndex { $0.name == type }
      ?? {
        paths[place].types.append((type, 0))
        return paths[place].types.count - 1
      }()
    guard !paths[place].lastTypes.contains(index) else { return }
    paths[place].lastTypes.append(index)
    paths[place].types[index].documents += 1
  }

  private mutating func newPlace(_ path: String) -> Int? {
    guard paths.count < Self.maximumPaths else {
      isCut = true
      return nil
    }
    places[ExactName(path)] = paths.count
    paths.append(Path(path: path))
    return paths.count - 1
  }

  private static func type(of value: DocumentValue) -> String {
    switch value {
    case .null: "null"
    case .bool: "boolean"
    case .int: "integer"
    case .double: "real"
    case .string: "text"
    case .date: "date"
    case .data: "data"
    case .url: "url"
    case .array: "array"
    case .object: "object"
    }
  }
}
