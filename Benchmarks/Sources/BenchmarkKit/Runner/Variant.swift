// SPDX-License-Identifier: MIT

/// An implementation of a scenario.
///
/// ```swift
/// Variant("lazy documents", target: 1.3) { folder in
///   let store = try Store(.file(folder.file("ours.db")))   // once, not measured
///   return { watch in                                      // once per round
///     try watch.measure { try store["people"].count() }
///   }
/// }
/// ```
package struct Variant {
  /// One round: measures its work with the stopwatch and returns the result.
  package typealias Round = (Stopwatch) async throws -> Int

  package let name: String
  /// The largest acceptable ratio to raw SQLite.
  package let target: Double?
  /// Prepares what all rounds share, in a separate folder.
  package let prepare: (Folder) async throws -> Round

  package init(
    _ name: String, target: Double? = nil,
    prepare: @escaping (Folder) async throws -> Round
  ) {
    self.name = name
    self.target = target
    self.prepare = prepare
  }
}
