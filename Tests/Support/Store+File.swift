// SPDX-License-Identifier: MIT

public import NanoStore

extension Store {
  /// A store that makes no index by itself, so that plans do not depend on how fast a machine is.
  public static func file(
    _ path: String, _ change: (inout Configuration) -> Void = { _ in }
  ) throws -> Store {
    var configuration = Configuration()
    configuration.indexTuning = .off
    change(&configuration)
    return try Store(.file(path), configuration: configuration)
  }

  /// Closes the store when the work with it is done.
  @discardableResult
  public func using<Result>(_ work: (Store) throws -> Result) throws -> Result {
    let result = try work(self)
    try close()
    return result
  }
}
