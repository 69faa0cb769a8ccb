// SPDX-License-Identifier: MIT

public import NanoSQLite

extension SQLiteConfiguration {
  /// The settings of the original NanoStore engine: a busy timeout of 250 milliseconds and a cache
  /// of at least 1,000 pages.
  public static var nanoStore: SQLiteConfiguration {
    var configuration = SQLiteConfiguration()
    configuration.setBusyTimeout(milliseconds: 250)
    return configuration
  }

  /// Sets the busy timeout as the original NanoStore did: values outside of 100...5,000
  /// milliseconds count as 250.
  public mutating func setBusyTimeout(milliseconds: Int) {
    busyTimeout = .milliseconds((100...5_000).contains(milliseconds) ? milliseconds : 250)
  }

  /// Sets the page cache size as the original NanoStore did: values below 1,000 pages count as
  /// 1,000.
  public mutating func setCacheSize(pages: Int) { pageCacheSize = max(1_000, pages) * pageSize }

  /// The processing modes of the original NanoStore: the safe default, and fast, which does not
  /// wait for the disk.
  public enum ProcessingMode: String, Sendable, CaseIterable {
    /// Safe: setting it makes commits durable, which means that they survive a power failure.
    case `default`
    /// Does not wait for the disk: a power failure may damage the file.
    case fast
  }

  /// The processing mode; it maps to `durability`.
  public var processingMode: ProcessingMode {
    get { durability == .fast ? .fast : .default }
    set { durability = newValue == .fast ? .fast : .full }
  }
}
