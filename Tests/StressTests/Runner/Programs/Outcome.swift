// SPDX-License-Identifier: MIT

import NanoStore
import NanoTesting

/// The result of a call, for comparing two stores.
indirect enum Outcome: Sendable {
  case done
  case text(String)
  case lines([String])
  /// Observed paths. A store may report additional ones, of rejected documents.
  case paths([ObservedPath])
  /// Rows of values that are equal if they sort the same. Sums and averages of doubles may differ in their last digits,
  /// because they depend on the order of addition: `sums` are those of each row, by column.
  case values([[DocumentValue]], sums: [[Int: Sum]] = [])
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

  /// The outcome of a call that throws an error.
  init(_ error: any Error) {
    self =
      switch error {
      case let error as StoreError: .failed(error.code)
      // Fields that do not match a type.
      case is DecodingError: .text("\(error)")
      case is StressTestFailure: .broken("\(error)")
      default: .broken("another error: \(error)")
      }
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
    case (.values(let a, let sums), .values(let b, _)):
      a.count == b.count
        && a.indices.allSatisfy { row in
          Self.agree(a[row], b[row], sums.indices.contains(row) ? sums[row] : [:])
        }
    case (.ranks(let a), .ranks(let b)): Self.agree(a, b)
    // If both a key and a unique value are duplicates, either may be reported.
    case (.failed(let a), .failed(let b)):
      a == b || Self.refusals.isSuperset(of: [a, b])
    case (.several(let a), .several(let b)): a.elementsEqual(b) { $0.agrees(with: $1) }
    default: false
    }
  }

  /// Returns whether the outcome is wrong whatever the reference engine returns.
  ///
  /// - Parameter mustSucceed: Whether only buffered saves that a unique index rejects may make the call fail.
  func isBroken(mustSucceed: Bool) -> Bool {
    switch self {
    case .broken: true
    case .failed(let code):
      code.isOfEnvironment || (mustSucceed && !Self.refusals.contains(code))
    case .several(let parts): parts.contains { $0.isBroken(mustSucceed: mustSucceed) }
    default: false
    }
  }

  private static let refusals: Set<StoreError.Code> = [.duplicateKey, .uniqueViolation]

  private static func agree(
    _ a: [DocumentValue], _ b: [DocumentValue], _ sums: [Int: Sum]
  ) -> Bool {
    a.count == b.count
      && a.indices.allSatisfy { column in
        ValueOrder.compare(a[column], b[column]) == 0
          || (sums[column]?.allows(a[column], b[column]) ?? false)
      }
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

extension Outcome {
  /// What a sum or an average in a row was computed from.
  struct Sum: Sendable {
    private let numbers: AddedNumbers
    private let isAverage: Bool

    init(of values: [DocumentValue], isAverage: Bool = false) {
      numbers = AddedNumbers(values)
      self.isAverage = isAverage
    }

    /// Returns whether another store may return the actual result, which is not equal to the expected one.
    func allows(_ expected: DocumentValue, _ actual: DocumentValue) -> Bool {
      numbers.allow(expected, actual, isAverage: isAverage, isOnServer: false)
    }
  }
}

extension StoreError.Code {
  /// Whether the code reports damage or a failure of the environment, which no call of a program causes.
  var isOfEnvironment: Bool { Self.ofEnvironment.contains(self) }

  private static let ofEnvironment: Set<StoreError.Code> = [
    .cannotOpen, .closed, .connectionLost, .corruptDocument, .corruptFile, .database, .fileReplaced,
    .full, .inputOutput, .interrupted, .locked, .newerFormat, .notADatabase, .notPermitted,
    .outOfMemory, .outcomeUnknown, .wrongKey,
  ]
}

extension Outcome: CustomStringConvertible {
  var description: String {
    switch self {
    case .done: "done"
    case .text(let text): text
    case .lines(let lines): "[" + lines.joined(separator: "; ") + "]"
    case .paths(let paths):
      "\(paths.map { "\($0.path) \($0.types.names)" })"
    case .values(let rows, _): "\(rows.map { $0.map { $0.jsonString() } })"
    case .ranks(let rows): "\(rows.map { "\($0.document) at \($0.rank)" })"
    case .failed(let code): "error \(code.rawValue)"
    case .broken(let problem): problem
    case .several(let parts): parts.map(\.description).joined(separator: " | ")
    }
  }
}
