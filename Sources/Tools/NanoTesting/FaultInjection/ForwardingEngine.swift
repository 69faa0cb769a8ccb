// SPDX-License-Identifier: MIT

package import NanoEngine

/// An engine that tests put in front of another one: it forwards what does not read or write documents.
package protocol ForwardingEngine: Engine {
  var engine: any Engine { get }
}

extension ForwardingEngine {
  package var capabilities: Capabilities { engine.capabilities }
  package var isReadOnly: Bool { engine.isReadOnly }

  package func compact() throws { try engine.compact() }
  package func backup(
    to destination: BackupDestination, progress: ((Double) throws -> Void)?
  ) throws {
    try engine.backup(to: destination, progress: progress)
  }
  package func verify() throws -> [VerificationProblem] { try engine.verify() }
  package func statistics() throws -> EngineStatistics { try engine.statistics() }
  package func close() throws { try engine.close() }
}
