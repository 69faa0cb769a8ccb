// SPDX-License-Identifier: MIT

import NanoDocument
package import NanoEngine
import NanoQuery

/// Compares an engine with the reference engine while documents are written, expire, and are deleted, on one clock.
///
/// ```swift
/// try ExpiryComparison { try SQLiteEngine(.memory, configuration(clock: $0)) }.run(seed: 1, steps: 200)
/// ```
package struct ExpiryComparison {
  private let make: (ManualClock) throws -> any Engine
  private let reopen: ((any Engine, ManualClock) throws -> any Engine)?

  /// - Parameters:
  ///   - reopen: Closes an engine and opens its database again; `nil` if it is not durable.
  ///   - make: Creates an engine on an empty database.
  package init(
    reopen: ((any Engine, ManualClock) throws -> any Engine)? = nil,
    _ make: @escaping (ManualClock) throws -> any Engine
  ) {
    (self.make, self.reopen) = (make, reopen)
  }

  /// A difference between the engines, with the steps that led to it.
  package struct Difference: Error, CustomStringConvertible {
    package let description: String
  }

  private enum Step: CustomStringConvertible {
    case insert(String, DocumentObject)
    case save(String, DocumentObject)
    case replace(String, DocumentObject)
    case batch([String], DocumentObject)
    case delete(String)
    case deleteWhere(Int64)
    case expire(String, Int64?)
    case rule(ExpirationRule?)
    case advance(Duration)
    case sweep(Int)
    case reopen
    indirect case rolledBack(Step)

    var description: String {
      switch self {
      case .insert(let key, let object): "insert \(key) \(object)"
      case .save(let key, let object): "save \(key) \(object)"
      case .replace(let key, let object): "replace \(key) \(object)"
      case .batch(let keys, let object): "insert \(keys) \(object)"
      case .delete(let key): "delete \(key)"
      case .deleteWhere(let n): "delete where n = \(n)"
      case .expire(let key, let time): "expire \(key) at \(time.map(String.init) ?? "never")"
      case .rule(let rule): "rule \(rule.map { "\($0)" } ?? "none")"
      case .advance(let duration): "advance by \(duration)"
      case .sweep(let limit): "sweep \(limit)"
      case .reopen: "reopen"
      case .rolledBack(let step): "roll back: \(step)"
      }
    }
  }

  /// Runs random steps.
  ///
  /// - Parameter uniqueIndex: Whether a field of the documents has a unique index.
  /// - Throws: ``Difference``.
  package func run(seed: UInt64, steps: Int, uniqueIndex: Bool = false) throws {
    var random = SplitMix(seed: seed)
    let clock = ManualClock()
    var engine = try make(clock)
    let reference = ReferenceEngine(clock: clock)
    defer { try? engine.close() }
    if uniqueIndex {
      let index = IndexDefinition(columns: [.init("u")], isUnique: true)
      for engine in [engine, reference] {
        try engine.write(nil) { try $0.createIndex(index, in: "c") }
      }
    }
    var history: [String] = []
    for _ in 0..<steps {
      let step = Self.step(&random, clock)
      history.append("\(step)")
      switch step {
      case .advance(let duration): clock.advance(by: duration)
      case .reopen: if let reopen { engine = try reopen(engine, clock) }
      default:
        let expected = Self.outcome(step, reference)
        let found = Self.outcome(step, engine)
        guard expected == found else {
          throw Self.difference(seed, history, "the outcome is \(found) instead of \(expected)")
        }
      }
      let expected = try Self.state(reference)
      let found = try Self.state(engine)
      guard expected == found else {
        throw Self.difference(seed, history, "the documents are\n\(found)\ninstead of\n\(expected)")
      }
    }
  }

  private static func difference(_ seed: UInt64, _ history: [String], _ text: String) -> Difference
  {
    Difference(description: "seed \(seed): after\n\(history.joined(separator: "\n"))\n\(text)")
  }

  private static func step(_ random: inout SplitMix, _ clock: ManualClock) -> Step {
    let key = "k\(random.number(0...9))"
    func object() -> DocumentObject {
      var object: DocumentObject = ["n": .int(Int64(random.number(0...3)))]
      if random.oneIn(2) { object["u"] = .int(Int64(random.number(0...12))) }
      switch random.number(0...3) {
      case 0: break
      case 1: object["at"] = "never"
      default:
        let seconds = clock.now() / 1_000_000 + Int64(random.number(-20...60))
        object["at"] = .date(.init(microsecondsSince1970: seconds * 1_000_000))
      }
      return object
    }
    switch random.number(0...19) {
    case 0...2: return .insert(key, object())
    case 3...5: return .save(key, object())
    case 6: return .replace(key, object())
    case 7: return .batch((0..<3).map { "\(key)\(random.number(0...3))\($0)" }, object())
    case 8: return .delete(key)
    case 9: return .deleteWhere(Int64(random.number(0...3)))
    case 10...12:
      return .expire(
        key, random.oneIn(5) ? nil : clock.now() + Int64(random.number(-10...60)) * 1_000_000)
    case 13:
      return .rule(
        random.pick([
          nil, .after(.seconds(random.number(1...40))),
          .field("at", after: .seconds(random.number(-5...5))),
        ]))
    case 14...16: return .advance(.milliseconds(random.number(1...20_000)))
    case 17: return .sweep(random.number(1...5))
    case 18: return .reopen
    default: return .rolledBack(random.oneIn(2) ? .save(key, object()) : .expire(key, clock.now()))
    }
  }

  private struct Rollback: Error {}

  /// Runs a step and describes its result.
  private static func outcome(_ step: Step, _ engine: any Engine) -> String {
    do {
      return try engine.write(nil) { writer in
        writer.expiry.sweeps = true
        return try outcome(step, writer)
      }
    } catch let error as StoreError {
      // A document may violate both.
      return error.code == .duplicateKey ? "\(StoreError.Code.uniqueViolation)" : "\(error.code)"
    } catch {
      return "\(type(of: error))"
    }
  }

  private static func outcome(_ step: Step, _ writer: any EngineWriter) throws -> String {
    func new<Result>(
      _ key: String, _ object: DocumentObject, _ work: (NewDocument) throws -> Result
    ) throws -> Result { try GeneratedDocument(object, key: try DocumentKey(key)).new(work) }
    switch step {
    case .insert(let key, let object):
      _ = try new(key, object) { try writer.insert($0, into: "c") }
      return "inserted"
    case .save(let key, let object):
      _ = try new(key, object) { try writer.save($0, into: "c") }
      return "saved"
    case .replace(let key, let object):
      return try
        "\(new(key, object) { try writer.replace(.key(try DocumentKey(key)), with: $0, in: "c") })"
    case .batch(let keys, var object):
      object["u"] = nil
      var rowIDs: [Int64] = []
      try writer.insert(
        all: try keys.map { GeneratedDocument(object, key: try DocumentKey($0)) }, into: "c",
        &rowIDs)
      return "\(rowIDs.count)"
    case .delete(let key): return try "\(writer.delete(.key(try DocumentKey(key)), from: "c"))"
    case .deleteWhere(let n): return try "\(writer.delete(Query(Field("n") == n), from: "c"))"
    case .expire(let key, let time):
      var rowID: Int64?
      try writer.get(.key(try DocumentKey(key)), in: "c") { rowID = $0.rowID }
      guard let rowID else { return "absent" }
      try writer.setExpirations([(rowID, time)], in: "c")
      return "set"
    case .rule(let rule):
      var settings = try writer.settings(of: "c")
      settings.expiration = rule
      try writer.setSettings(settings, of: "c")
      return "set"
    case .sweep(let limit):
      // How many are left to delete differs, since engines delete a different number with each write.
      _ = try writer.sweepExpired(limit: limit, from: "c")
      return "swept"
    case .rolledBack(let step):
      _ = try writer.insert(["n": 0], into: "c")
      do {
        try writer.savepoint {
          _ = try outcome(step, writer)
          throw Rollback()
        }
      } catch is Rollback {}
      return try "\(writer.count(Query(), in: "c"))"
    case .advance, .reopen: return ""
    }
  }

  /// Describes what readers see.
  private static func state(_ engine: any Engine) throws -> String {
    try engine.read(.snapshot, nil) { reader in
      var lines: [String] = []
      var rowIDs: [Int64: String] = [:]
      try reader.find(Query(orderings: [.forward("n")]), in: "c") { document in
        let name = document.key?.description ?? "-"
        rowIDs[document.rowID] = name
        lines.append("\(name) \(String(decoding: document.body, as: UTF8.self))")
        return true
      }
      let times = try reader.expirations(ofRows: Array(rowIDs.keys), in: "c")
      lines += times.map { "\(rowIDs[$0.key] ?? "") expires at \($0.value)" }
      lines.sort()
      lines.append("count \(try reader.count(Query(Field("n") >= 1), in: "c"))")
      lines.append("distinct \(try reader.distinct("n", Query(), in: "c"))")
      let rows = try reader.aggregate(
        AggregateQuery(groups: ["n"], aggregates: [.count]), in: "c")
      lines.append("groups \(rows.map { "\($0.group) \($0.values)" })")
      for number in 0...9 {
        let key = try DocumentKey("k\(number)")
        let exists = try reader.get(.key(key), in: "c") { _ in }
        lines.append("\(key) \(exists)")
      }
      return lines.joined(separator: "\n")
    }
  }
}
