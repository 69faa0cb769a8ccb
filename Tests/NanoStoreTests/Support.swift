// SPDX-License-Identifier: MIT

import NanoStore
@_exported import NanoTestSupport
import Testing

/// Returns the code of the ``StoreError`` that a closure throws, or nil.
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
