// SPDX-License-Identifier: MIT

/// A library under a mixed load, with a file open. Every call exists in a synchronous and an asynchronous form.
protocol MixedProduct: Sendable {
  /// Returns the number of values read.
  func read(_ read: MixedRead) throws -> Int
  func readAsync(_ read: MixedRead) async throws -> Int
  func write(_ write: MixedWrite) throws
  func writeAsync(_ write: MixedWrite) async throws
  func close() throws
}

/// A library, and how it creates and opens its file.
struct MixedContestant: Sendable {
  let name: String
  /// Creates the file with all people.
  let fill: @Sendable (_ file: String, MixedData) throws -> Void
  /// Opens a copy of it.
  let open: @Sendable (_ file: String, MixedData) throws -> any MixedProduct

  /// The library to which the others are compared.
  static let reference = "GRDB hand-written"

  /// The number of connections that read at the same time, for every library: that of the most reading tasks.
  static let maximumReaders = 8

  static let all = [
    MixedContestant(
      name: "NanoStore", fill: { try MixedStore.fill($0, $1) }, open: { try MixedStore($0, $1) }),
    MixedContestant(
      name: reference, fill: { try MixedPool<PersonRow>.fill($0, $1) },
      open: { try MixedPool<PersonRow>($0, $1) }),
    MixedContestant(
      name: "GRDB Codable", fill: { try MixedPool<PersonRecord>.fill($0, $1) },
      open: { try MixedPool<PersonRecord>($0, $1) }),
  ]
}

/// Whether the readers and the writer are tasks that write `await`, or threads that wait.
enum MixedCalls: String, CaseIterable {
  case async, sync
}
