// SPDX-License-Identifier: MIT

import NanoStore

/// The result of a call, for comparing two stores.
indirect enum Outcome: Sendable {
  case done
  case text(String)
  case lines([String])
  /// Observed paths. A store may report additional ones, of rejected documents.
  case paths([ObservedPath])
  /// Values that are equal if they sort the same. Numbers may differ in their last digits, because sums depend on the
  /// order of addition.
  case values([[DocumentValue]])
  /// Documents by rank. Documents of nearly the same rank may be in any order.
  case ranks([(document: String, rank: Double)])
  case failed(StoreError.Code)
  /// A result that is wrong whatever the reference engine returns.
  case broken(String)
  case several([Outcome])

  init(_ problems: [VerificationProblem]) {
    self =
      problems.isEmpty
      ? .done : .broken(problems.map { "\($0.subject): \($0.message)" }.joined(separator: "; "))
  }

  static func count(_ number: Int) -> Outcome { .text("\(number)") }
  static func flag(_ flag: Bool) -> Outcome { .text("\(flag)") }

  /// Returns whether another store may return the other result if the reference engine returns this one.
  func agrees(with other: Outcome) -> Bool {
    switch (self, other) {
    case (.done, .done): true
    case (.text(let a), .text(let b)): a.utf8.elementsEqual(b.utf8)
    case (.lines(let a), .lines(let b)):
      a.elementsEqual(b) { $0.utf8.elementsEqual($1.utf8) }
    case (.paths(let a), .paths(let b)):
      a.allSatisfy { known in
        b.contains {
          $0.path.utf8.elementsEqual(known.path.utf8) && $0.types.isSuperset(of: known.types)
        }
      }
    case (.values(let a), .values(let b)):
      a.elementsEqual(b) { $0.elementsEqual($1, by: Self.areNear) }
    case (.ranks(let a), .ranks(let b)): Self.agree(a, b)
    // If both a key and a unique value are duplicates, either may be reported.
    case (.failed(let a), .failed(let b)):
      a == b || Self.refusals.isSuperset(of: [a, b])
    case (.several(let a), .several(let b)): a.elementsEqual(b) { $0.agrees(with: $1) }
    default: false
    }
  }

  var isBroken: Bool {
    switch self {
    case .broken: true
    case .several(let parts): parts.contains(where: \.isBroken)
    default: false
    }
  }

  private static let refusals: Set<StoreError.Code> = [.duplicateKey, .uniqueViolation]

  private static func areNear(_ a: DocumentValue, _ b: DocumentValue) -> Bool {
    guard let x = a.double, let y = b.double else { return a == b || "\(a)" == "\(b)" }
    if x == y || (x.isNaN && y.isNaN) { return true }
    // Beyond that, a sum depends entirely on its order.
    let scale = max(x.magnitude, y.magnitude)
    return scale > 1e15 || (x - y).magnitude <= max(scale, 1e6) * 1e-9
  }

  private static func agree(
    _ a: [(document: String, rank: Double)], _ b: [(document: String, rank: Double)]
  ) -> Bool {
    let other = Dictionary(b.map { ($0.document, $0.rank) }) { first, _ in first }
    return a.count == b.count
      && zip(a, b).allSatisfy { ($0.rank - $1.rank).magnitude < 1e-9 }
      && a.allSatisfy { row in other[row.document].map { ($0 - row.rank).magnitude < 1e-9 } ?? false
      }
  }
}

extension Outcome: CustomStringConvertible {
  var description: String {
    switch self {
    case .done: "done"
    case .text(let text): text
    case .lines(let lines): "[" + lines.joined(separator: "; ") + "]"
    case .paths(let paths):
      "\(paths.map { "\($0.path) \($0.types.names)" })"
    case .values(let rows): "\(rows.map { $0.map { $0.jsonString() } })"
    case .ranks(let rows): "\(rows.map { "\($0.document) at \($0.rank)" })"
    case .failed(let code): "error \(code.rawValue)"
    case .broken(let problem): problem
    case .several(let parts): parts.map(\.description).joined(separator: " | ")
    }
  }
}
