// SPDX-License-Identifier: MIT

import NanoDocument

/// The values of a document that may refer to other documents.
struct References {
  enum Target {
    case key(String)
    case row(collection: String, Int64)
  }
  struct Reference {
    var path: SurveyPath
    var target: Target
  }
  /// In the order of the document.
  private(set) var all: [Reference] = []
  /// The paths of integers, which may be row IDs; the first ``maximum``.
  private(set) var integers: [SurveyPath] = []
  /// The collections that the integers at a path refer to. There may be many integers at a path, and many paths.
  private var knownTargets: [SurveyPath: [String]] = [:]

  private let collection: String
  private let rules: ReferenceRules

  /// The maximum number of values that are looked up.
  static let maximum = 200
  /// The maximum length of a key that is looked up, in bytes; arbitrary, as is the depth.
  private static let maximumKey = 200
  private static let maximumDepth = 30

  init(of object: DocumentObject, in collection: String, _ rules: ReferenceRules) {
    self.collection = collection
    self.rules = rules
    add(object, at: SurveyPath(), 0)
  }

  private mutating func add(_ object: DocumentObject, at path: SurveyPath, _ depth: Int) {
    for (name, value) in object { add(value, at: path.appending(ExactName(name)), depth) }
  }

  private mutating func targets(_ path: SurveyPath) -> [String] {
    if let known = knownTargets[path] { return known }
    let found = rules.targets(path, in: collection)
    knownTargets[path] = found
    if integers.count < Self.maximum { integers.append(path) }
    return found
  }

  private mutating func add(_ value: DocumentValue, at path: SurveyPath, _ depth: Int) {
    guard all.count < Self.maximum, depth < Self.maximumDepth else { return }
    switch value {
    case .string(let text) where !text.isEmpty && text.utf8.count <= Self.maximumKey:
      all.append(Reference(path: path, target: .key(text)))
    case .int(let number):
      for target in targets(path) {
        all.append(Reference(path: path, target: .row(collection: target, number)))
      }
    case .array(let elements):
      for element in elements { add(element, at: path.appending(nil), depth + 1) }
    case .object(let object):
      // A relationship to objects of any class; see docs/SCHEMA.md.
      if object.count == 2, let name = object["collection"]?.string, let id = object["id"]?.int64 {
        all.append(Reference(path: path, target: .row(collection: name, id)))
      } else {
        add(object, at: path, depth + 1)
      }
    case .null, .bool, .double, .decimal, .string, .date, .url, .data: break
    }
  }
}
