// SPDX-License-Identifier: MIT

import Foundation
public import NanoStore

/// One acceptance case from the files in Tests/Cases.
public struct AcceptanceCase: Sendable, CustomStringConvertible {
  public let id: String
  public let title: String
  public let fields: DocumentObject

  public init(id: String, title: String, fields: DocumentObject) {
    self.id = id
    self.title = title
    self.fields = fields
  }

  public var description: String { "\(id): \(title)" }
  public var steps: [DocumentObject] { (fields["steps"]?.array ?? []).compactMap(\.object) }

  /// Returns every case of a system from the folder in NANOSTORE_CASES, or from Tests/Cases.
  public static func all(of system: String) throws -> [AcceptanceCase] {
    try files(of: system).flatMap { content in
      (content["cases"]?.array ?? []).compactMap(\.object).map { one in
        var fields = one
        fields["fixtures"] = .object(content["fixtures"]?.object ?? [:])
        return AcceptanceCase(
          id: one["id"]?.string ?? "", title: one["title"]?.string ?? "", fields: fields)
      }
    }
  }

  /// Returns the operations that the conventions of a system define.
  public static func operations(of system: String) throws -> [String] {
    try files(of: system).flatMap { content in
      (content["conventions"]?["ops"]?.object ?? [:]).names.flatMap { names in
        names.split(separator: "/").map { String($0) }
      }
    }
  }

  /// Returns a case of one step, which runs an operation with arguments that do no harm.
  public static func probe(_ operation: String) -> AcceptanceCase {
    // `async*` stands for the asynchronous form of every operation.
    let operation = operation == "async*" ? "asyncInsert" : operation
    let step: DocumentObject = [
      "op": .string(operation), "path": "<temp>/probe", "name": "probe",
    ]
    return AcceptanceCase(
      id: "probe", title: operation, fields: ["steps": .array([.object(step)])])
  }

  private static func files(of system: String) throws -> [DocumentObject] {
    let ours = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../Cases").standardizedFileURL
    let folder = ProcessInfo.processInfo.environment["NANOSTORE_CASES"].map { URL(filePath: $0) }
    return try FileManager.default.contentsOfDirectory(
      at: folder ?? ours, includingPropertiesForKeys: nil
    ).sorted { $0.path < $1.path }.filter { $0.pathExtension == "json" }.compactMap { file in
      let content = try DocumentObject(json: Data(contentsOf: file), dialect: .plain)
      return content["system"]?.string == system ? content : nil
    }
  }

  /// Compares the result of a step with its expectations.
  ///
  /// - Parameter isSame: Compares the expected value, which the runner decodes, with the actual one.
  /// - Throws: ``CaseFailure`` for an expectation that does not hold, and for one that the result does not have:
  ///   the runner does not know it for the operation, or the operation failed.
  public func check(
    _ step: DocumentObject, _ number: Int, _ actual: DocumentObject,
    isSame: (_ field: String, _ wanted: DocumentValue, _ found: DocumentValue) throws -> Bool
  ) throws {
    for (field, wanted) in step["expect"]?.object ?? [:] {
      guard let found = actual[field] else {
        throw CaseFailure(
          description: "\(place(step, number)): "
            + (actual["error"]?.isNull == false
              ? "it failed, so there is no \(field)"
              : "the runner does not know the expectation \"\(field)\"")
            + "; all: \(actual.jsonString())")
      }
      guard try isSame(field, wanted, found) else {
        throw CaseFailure(
          description: "\(place(step, number)): \(field) is \(found.jsonString()), expected "
            + "\(wanted.jsonString()); all: \(actual.jsonString())")
      }
    }
  }

  private func place(_ step: DocumentObject, _ number: Int) -> String {
    "\(id) step \(number), \(step.jsonString(dialect: .plain))"
  }
}

extension DocumentObject {
  /// Adds the expectations that every operation has: whether it succeeded, and its error.
  public var asResult: DocumentObject {
    var result = self
    if result["error"] == nil { result["error"] = .null }
    if result["ok"] == nil { result["ok"] = .bool(result["error"]?.isNull != false) }
    return result
  }
}

/// An expectation of a case that does not hold, or a case that the runner cannot run.
public struct CaseFailure: Error, CustomStringConvertible {
  public let description: String
  /// Whether the runner does not know an operation. Such a case fails, so that it is not lost unnoticed.
  public let isUnknownOperation: Bool

  public init(description: String) {
    self.description = description
    isUnknownOperation = false
  }

  public init(_ one: AcceptanceCase, unknownOperation operation: String) {
    description = "\(one.id): the runner does not know the operation \"\(operation)\""
    isUnknownOperation = true
  }
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

  /// Returns whether this value is part of another one: an object may have more fields.
  public func isPart(of other: DocumentValue) -> Bool {
    guard case .object(let a) = self, case .object(let b) = other else { return matches(other) }
    return a.allSatisfy { field in b[field.name].map { field.value.isPart(of: $0) } ?? false }
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
