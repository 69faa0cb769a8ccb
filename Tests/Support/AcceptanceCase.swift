// SPDX-License-Identifier: MIT

import Foundation
public import NanoStore

/// One acceptance case from the files in Tests/Cases.
public struct AcceptanceCase: Sendable, CustomStringConvertible {
  public let id: String
  public let title: String
  public let fields: DocumentObject

  public var description: String { "\(id): \(title)" }
  public var steps: [DocumentObject] { (fields["steps"]?.array ?? []).compactMap(\.object) }

  /// Returns every case of a system from the folder in NANOSTORE_CASES, or from Tests/Cases.
  public static func all(of system: String) throws -> [AcceptanceCase] {
    let ours = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../Cases").standardizedFileURL
    let folder = ProcessInfo.processInfo.environment["NANOSTORE_CASES"].map { URL(filePath: $0) }
    var cases: [AcceptanceCase] = []
    for file in try FileManager.default.contentsOfDirectory(
      at: folder ?? ours, includingPropertiesForKeys: nil
    ).sorted(by: { $0.path < $1.path }) where file.pathExtension == "json" {
      let content = try DocumentObject(json: Data(contentsOf: file), dialect: .plain)
      guard content["system"]?.string == system else { continue }
      let fixtures = content["fixtures"]?.object ?? [:]
      for one in (content["cases"]?.array ?? []).compactMap(\.object) {
        var fields = one
        fields["fixtures"] = .object(fixtures)
        cases.append(
          AcceptanceCase(
            id: one["id"]?.string ?? "", title: one["title"]?.string ?? "", fields: fields))
      }
    }
    return cases
  }
}

/// An expectation of a case that does not hold.
public struct CaseFailure: Error, CustomStringConvertible {
  public let description: String

  public init(description: String) { self.description = description }
}

extension DocumentValue {
  /// Compares as the cases require: numbers by value, objects regardless of order.
  public func matches(_ other: DocumentValue) -> Bool {
    switch (self, other) {
    case (.int, .double), (.double, .int): double == other.double
    case (.array(let a), .array(let b)):
      a.count == b.count && zip(a, b).allSatisfy { $0.matches($1) }
    case (.object(let a), .object(let b)):
      a.count == b.count
        && a.allSatisfy { field in b[field.name].map { field.value.matches($0) } ?? false }
    default: self == other
    }
  }

  /// Returns whether two arrays have the same values in any order.
  public static func isSameSet(_ wanted: DocumentValue, _ found: DocumentValue) -> Bool {
    guard let wanted = wanted.array, var rest = found.array, rest.count == wanted.count else {
      return false
    }
    for value in wanted {
      guard let place = rest.firstIndex(where: { value.matches($0) }) else { return false }
      rest.remove(at: place)
    }
    return true
  }
}
