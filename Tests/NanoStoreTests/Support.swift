// SPDX-License-Identifier: MIT

import Foundation
import NanoStore
import Testing

/// A folder of its own for a test, gone with it.
final class Scratch: Sendable {
  let path: String

  init() throws {
    path = NSTemporaryDirectory() + "nanostore-tests-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  func file(_ name: String) -> String { path + "/" + name }

  func write(_ bytes: some Sequence<UInt8>, _ name: String) throws -> String {
    try Data(bytes).write(to: URL(fileURLWithPath: file(name)))
    return file(name)
  }

  func bytes(_ name: String) throws -> Data {
    try Data(contentsOf: URL(fileURLWithPath: file(name)))
  }

  var names: [String] {
    get throws { try FileManager.default.contentsOfDirectory(atPath: path).sorted() }
  }
}

/// The code of the ``StoreError`` that a block throws; nil if it throws none.
func code(
  _ location: SourceLocation = #_sourceLocation, _ work: () throws -> Void
) -> StoreError.Code? {
  error(location, work)?.code
}

func error(
  _ location: SourceLocation = #_sourceLocation, _ work: () throws -> Void
) -> StoreError? {
  do {
    try work()
  } catch let error as StoreError {
    return error
  } catch {
    Issue.record("Not a StoreError: \(error)", sourceLocation: location)
  }
  return nil
}

func asyncCode(
  _ location: SourceLocation = #_sourceLocation, _ work: () async throws -> Void
) async -> StoreError.Code? {
  do {
    try await work()
  } catch let error as StoreError {
    return error.code
  } catch {
    Issue.record("Not a StoreError: \(error)", sourceLocation: location)
  }
  return nil
}

extension Store {
  /// A store that makes no index by itself, so that plans do not depend on how fast a machine is.
  static func file(
    _ path: String, _ change: (inout Configuration) -> Void = { _ in }
  ) throws -> Store {
    var configuration = Configuration()
    configuration.indexTuning = .off
    change(&configuration)
    return try Store(.file(path), configuration: configuration)
  }
}
