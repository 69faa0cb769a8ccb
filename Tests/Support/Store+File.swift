// SPDX-License-Identifier: MIT

public import NanoStore

extension Store {
  /// Opens a store without adaptive indexing, so that query plans do not depend on the speed of the machine, and with a
  /// timeout that only locks that are never released exceed.
  public static func file(
    _ path: String, _ change: (inout SQLiteConfiguration) -> Void = { _ in }
  ) throws -> Store {
    var engine = SQLiteConfiguration()
    engine.busyTimeout = .seconds(600)
    change(&engine)
    return try Store(.file(path), configuration: .withoutTuning, engine: engine)
  }

  /// Closes the store after the closure returns.
  @discardableResult
  public func using<Result>(_ work: (Store) throws -> Result) throws -> Result {
    let result = try work(self)
    try close()
    return result
  }
}

extension Store.Configuration {
  /// Without adaptive indexing, so that query plans do not depend on the speed of the machine.
  public static var withoutTuning: Self {
    var configuration = Self()
    configuration.indexTuning = .off
    return configuration
  }
}
