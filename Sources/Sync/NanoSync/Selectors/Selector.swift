// SPDX-License-Identifier: MIT

package import NanoDocument

/// A selector of CouchDB: a condition on documents as JSON.
///
/// ```json
/// {"type": "note", "year": {"$gte": 2020}, "$or": [{"tags": {"$all": ["a", "b"]}}, {"author.name": "Ada"}]}
/// ```
///
/// As in CouchDB, a condition on a missing field is false, `$ne`, `$nin` and negations included; only `"$exists": false`
/// is true of it. Conditions see documents as JSON text has them, in which a date is the object `{"$date": "…"}`.
package indirect enum Selector: Sendable {
  case all([Selector])
  case any([Selector])
  case not(Selector)
  /// A condition on the value at a path; that of the whole document has no components.
  case field([String], Selector)
  case exists(Bool)
  case compare(Comparison, DocumentValue)
  /// The values are in collation order.
  case isIn([DocumentValue])
  case isNotIn([DocumentValue])
  case containsAll([DocumentValue])
  case element(Selector)
  case allElements(Selector)
  case anyName(Selector)
  case type(String)
  case size(Int64)
  case remainder(divisor: Int64, Int64)
  case pattern(RegularExpression)
  case prefix(String)

  package enum Comparison: Sendable {
    case equal, notEqual, less, lessOrEqual, greater, greaterOrEqual
  }

  /// The depth to which conditions may be nested. Arbitrary.
  private static let maximumDepth = 100

  /// - Throws: ``ProtocolError`` with the reasons of CouchDB.
  package init(_ value: DocumentValue) throws(ProtocolError) {
    guard let object = value.object else {
      throw .badRequest("Selector must be a JSON object")
    }
    self = try Self.conditions(Self.plain(object), depth: 0).pushingNegations
  }

  /// Interprets an object: its fields and operators all have to match.
  private static func conditions(
    _ object: DocumentObject, depth: Int
  ) throws(ProtocolError) -> Selector {
    guard depth < maximumDepth else { throw .badRequest("The selector is nested too deeply") }
    var list: [Selector] = []
    for (name, value) in object {
      if name.utf8.first == UInt8(ascii: "$") {
        list.append(try operation(name, value, depth: depth))
      } else {
        list.append(.field(try path(name), try condition(value, depth: depth + 1)))
      }
    }
    return list.count == 1 ? list[0] : .all(list)
  }

  /// Interprets what a field is compared with.
  private static func condition(
    _ value: DocumentValue, depth: Int
  ) throws(ProtocolError) -> Selector {
    guard case .object(let object) = value, !object.isEmpty else {
      return .compare(.equal, value)
    }
    return try conditions(object, depth: depth)
  }

  /// Splits a path; a backslash before a period makes it part of a name.
  package static func path(_ text: String) throws(ProtocolError) -> [String] {
    var components: [String] = []
    var current = String.UnicodeScalarView()
    var isEscaped = false
    for scalar in text.unicodeScalars {
      if isEscaped {
        if scalar != "." && scalar != "\\" { current.append("\\") }
        current.append(scalar)
        isEscaped = false
      } else if scalar == "\\" {
        isEscaped = true
      } else if scalar == "." {
        components.append(String(current))
        current = String.UnicodeScalarView()
      } else {
        current.append(scalar)
      }
    }
    if isEscaped { current.append("\\") }
    components.append(String(current))
    return components
  }

  private static func operation(
    _ name: String, _ argument: DocumentValue, depth: Int
  ) throws(ProtocolError) -> Selector {
    func invalid() -> ProtocolError {
      .badRequest("Bad argument for operator \(name): \(argument.json)")
    }
    func list() throws(ProtocolError) -> [DocumentValue] {
      guard let list = argument.array else { throw invalid() }
      return list
    }
    // A client may send hundreds of thousands of values, each of which would be compared with each document.
    func sorted(_ list: [DocumentValue]) -> [DocumentValue] {
      list.sorted { CollationOrder.compare($0, $1) < 0 }
    }
    func selectors() throws(ProtocolError) -> [Selector] {
      var selectors: [Selector] = []
      for element in try list() {
        guard let object = element.object else { throw invalid() }
        selectors.append(try conditions(object, depth: depth + 1))
      }
      return selectors
    }
    switch name {
    case "$and": return .all(try selectors())
    case "$or": return .any(try selectors())
    case "$nor": return .not(.any(try selectors()))
    case "$not":
      guard let object = argument.object else { throw invalid() }
      return .not(try conditions(object, depth: depth + 1))
    case "$eq": return .compare(.equal, argument)
    case "$ne": return .compare(.notEqual, argument)
    case "$lt": return .compare(.less, argument)
    case "$lte": return .compare(.lessOrEqual, argument)
    case "$gt": return .compare(.greater, argument)
    case "$gte": return .compare(.greaterOrEqual, argument)
    case "$in": return .isIn(try sorted(list()))
    case "$nin": return .isNotIn(try sorted(list()))
    case "$all": return .containsAll(try list())
    case "$elemMatch": return .element(try condition(argument, depth: depth + 1))
    case "$allMatch": return .allElements(try condition(argument, depth: depth + 1))
    case "$keyMapMatch": return .anyName(try condition(argument, depth: depth + 1))
    case "$exists":
      guard let flag = argument.bool else { throw invalid() }
      return .exists(flag)
    case "$type":
      guard let type = argument.string,
        ["null", "boolean", "number", "string", "array", "object"].contains(type)
      else { throw invalid() }
      return .type(type)
    case "$size":
      guard let size = argument.int64, size >= 0 else { throw invalid() }
      return .size(size)
    case "$mod":
      guard let numbers = argument.array, numbers.count == 2, let divisor = numbers[0].int64,
        divisor != 0, let rest = numbers[1].int64
      else { throw invalid() }
      return .remainder(divisor: divisor, rest)
    case "$regex":
      guard let text = argument.string, let pattern = try? RegularExpression(text) else {
        throw invalid()
      }
      return .pattern(pattern)
    case "$beginsWith":
      guard let prefix = argument.string else { throw invalid() }
      return .prefix(prefix)
    default: throw .badRequest("Invalid operator: \(name)")
    }
  }
}

extension Selector {
  /// The selector with negations moved to the conditions on fields, which makes them false for missing ones.
  private var pushingNegations: Selector {
    switch self {
    case .all(let list): .all(list.map(\.pushingNegations))
    case .any(let list): .any(list.map(\.pushingNegations))
    case .field(let path, let inner): .field(path, inner.pushingNegations)
    case .not(let inner): inner.negated
    default: self
    }
  }

  private var negated: Selector {
    switch self {
    case .all(let list): .any(list.map(\.negated))
    case .any(let list): .all(list.map(\.negated))
    case .not(let inner): inner.pushingNegations
    case .field(let path, let inner): .field(path, inner.negated)
    case .exists(let flag): .exists(!flag)
    case .isIn(let list): .isNotIn(list)
    case .isNotIn(let list): .isIn(list)
    case .compare(let comparison, let value): .compare(comparison.negated, value)
    default: .not(self)
    }
  }
}

extension Selector.Comparison {
  fileprivate var negated: Selector.Comparison {
    switch self {
    case .equal: .notEqual
    case .notEqual: .equal
    case .less: .greaterOrEqual
    case .lessOrEqual: .greater
    case .greater: .lessOrEqual
    case .greaterOrEqual: .less
    }
  }

  func holds(_ order: Int) -> Bool {
    switch self {
    case .equal: order == 0
    case .notEqual: order != 0
    case .less: order < 0
    case .lessOrEqual: order <= 0
    case .greater: order > 0
    case .greaterOrEqual: order >= 0
    }
  }
}

extension DocumentValue {
  fileprivate var json: String { String(decoding: SyncJSON.bytes(self), as: UTF8.self) }
}
