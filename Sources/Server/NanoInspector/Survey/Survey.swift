// SPDX-License-Identifier: MIT

import NanoDocument

/// The paths of documents, with statistics of the values at each.
struct Survey {
  private(set) var documents = 0
  private(set) var paths: [(path: SurveyPath, statistics: PathStatistics)] = []
  /// Whether paths were left out because there are more than ``maximumPaths``.
  private(set) var isTruncated = false
  private var positions: [SurveyPath: Int] = [:]

  /// The maximum number of paths: where field names are data, each document may have others.
  static let maximumPaths = 500
  /// The maximum number of elements that are examined of one array; arbitrary.
  private static let maximumElements = 1_000
  private static let maximumDepth = 30

  mutating func add(_ object: DocumentObject) {
    add(object, below: SurveyPath(), 0)
    documents += 1
  }

  private mutating func add(_ object: DocumentObject, below parent: SurveyPath, _ depth: Int) {
    for (name, value) in object { add(value, at: parent.appending(ExactName(name)), depth) }
  }

  private mutating func add(_ value: DocumentValue, at path: SurveyPath, _ depth: Int) {
    guard let position = position(of: path) else { return }
    paths[position].statistics.add(value, document: documents)
    guard depth < Self.maximumDepth else { return }
    switch value {
    case .object(let object): add(object, below: path, depth + 1)
    case .array(let elements):
      let inner = path.appending(nil)
      for element in elements.prefix(Self.maximumElements) { add(element, at: inner, depth + 1) }
    default: break
    }
  }

  private mutating func position(of path: SurveyPath) -> Int? {
    if let position = positions[path] { return position }
    guard paths.count < Self.maximumPaths else {
      isTruncated = true
      return nil
    }
    positions[path] = paths.count
    paths.append((path, PathStatistics()))
    return paths.count - 1
  }

  /// The paths so that fields follow the object or array that contains them.
  var ordered: [(path: SurveyPath, statistics: PathStatistics)] {
    var children: [SurveyPath: [Int]] = [:]
    for (index, entry) in paths.enumerated() {
      children[SurveyPath(Array(entry.path.steps.dropLast())), default: []].append(index)
    }
    var result: [(path: SurveyPath, statistics: PathStatistics)] = []
    func append(below parent: SurveyPath) {
      for index in children[parent] ?? [] {
        result.append(paths[index])
        append(below: paths[index].path)
      }
    }
    append(below: SurveyPath())
    return result
  }
}
