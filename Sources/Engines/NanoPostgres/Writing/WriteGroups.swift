// SPDX-License-Identifier: MIT

import Dispatch
import NanoDocument
import NanoEngine

/// Combines writes of single documents that wait for others to be committed.
final class WriteGroups: Sendable {
  private let groups = CallGroups<GroupedWrite, Outcome>(
    // Both are arbitrary: a commit takes less than a tenth of the time on any disk.
    maximum: 64, patience: .milliseconds(100)
  ) { write, others in
    // One statement cannot write a document twice.
    write.matches(others[0]) && !others.contains { $0.key == write.key }
  }

  enum Outcome {
    case stored(SingleWriteResult)
    case committed(stamp: Int64)
    /// Nothing was written; the write must run on its own.
    case alone
    case failed(any Error)
  }

  /// Writes a document.
  ///
  /// - Parameters:
  ///   - write: The write; `nil` if it cannot be combined with others.
  ///   - alone: Writes it on its own.
  func run(
    _ write: GroupedWrite?, _ core: PostgresCore, alone: () throws -> SingleWriteOutcome
  ) throws -> SingleWriteOutcome {
    guard let write, write.canBeCombined else { return try alone() }
    return try groups.run(write, together: { GroupStatement(core, $0).run() }) { outcome in
      switch outcome {
      case .stored(let result): return .stored(result)
      case .committed(let stamp): return .committed(stamp: stamp)
      case .failed(let error): throw error
      case .alone, nil: return try alone()
      }
    }
  }
}
