// SPDX-License-Identifier: MIT

import Foundation
import Synchronization

/// A violation of the engine contract, by an engine or by its caller. Contains no user data.
package struct ContractViolation: Sendable, Hashable, CustomStringConvertible {
  /// The type of the engine.
  package var engine: String
  /// The call, as it is declared in the contract.
  package var call: String
  package var rule: Rule
  /// The error codes or types that broke the rule; `nil` for other rules.
  package var detail: String?

  /// The engine, the call, and the rule that was broken.
  package var description: String {
    "\(engine).\(call): \(rule.rawValue)\(detail.map { " (\($0))" } ?? "")"
  }
}

extension ContractViolation {
  /// The rules that ``ContractCheckingEngine`` checks.
  package enum Rule: String, Sendable, CaseIterable {
    // Rules for callers.
    case usedOutsideBlock = "The reader or writer was used after its block had ended"
    case usedOnOtherThread = "The reader or writer was used on a thread other than its block's"
    case tooManyWriters = "Several transactions ran on an engine that runs one at a time"
    case nestedWrite = "A thread began a transaction inside its own transaction"

    // Rules for the life of an engine.
    case usableAfterClose = "A call on the closed engine did not fail with 'closed'"
    case blockNotRunOnce = "The engine did not run the block exactly once"

    // Rules for errors.
    case undeclaredError = "The engine threw an error code that the contract does not declare"
    case foreignError = "The engine threw an error that is no StoreError"
    case changedError = "The engine replaced the error that the caller's closure threw"
    case swallowedError = "The engine returned, although the caller's closure threw an error"

    // Rules for results.
    case calledAfterEnd =
      "The engine called the closure again after it had returned false or thrown"
    case beyondLimit = "The engine returned more results than the query's limit"
    case wrongDocument = "The engine passed a document that was not requested"
    case repeatedDocument = "The engine passed a document twice"
    case wrongResult = "The result contradicts the documents that were passed"
    case rowIDNotPositive = "The row ID of a new document is not positive"
    case rowIDNotNew = "The row ID of a new document is not greater than those before it"
    case rowIDNotRequested = "The document was stored with a row ID other than the requested one"
    case wrongRowIDCount = "The number of row IDs differs from the number of stored documents"
    case negativeCount = "The result is negative"
    case notSorted = "The result is not sorted, or contains a name twice"
    case stateInTransaction = "A transaction reported a committed state"
    case acceptedInvalidName = "The engine accepted an invalid or reserved name"
    case missingCapability = "The call succeeded, although the engine lacks the capability"
    case progressOutOfRange = "The progress is not between 0 and 1"
  }

  /// Receives violations.
  package typealias Handler = @Sendable (ContractViolation) -> Void

  /// Ends the process with a description of the violation.
  package static let trap: Handler = { fatalError("Engine contract: \($0)") }

  /// Prints each violation once to the standard error, except of rules that a damaged file can break.
  ///
  /// The tests of this package fail if they print one. A program is not ended: the call has its result or its error.
  package static let print: Handler = { violation in
    guard !violation.rule.dependsOnStoredData,
      printed.withLock({ $0.insert(violation).inserted })
    else { return }
    FileHandle.standardError.write(Data("Engine contract: \(violation)\n".utf8))
  }
  private static let printed = Mutex<Set<ContractViolation>>([])
}

extension ContractViolation.Rule {
  /// Whether damaged indexes, counters, or names in a file can make a correct engine break the rule.
  package var dependsOnStoredData: Bool {
    switch self {
    case .wrongDocument, .repeatedDocument, .rowIDNotPositive, .rowIDNotNew, .negativeCount,
      .notSorted:
      true
    default: false
    }
  }
}
