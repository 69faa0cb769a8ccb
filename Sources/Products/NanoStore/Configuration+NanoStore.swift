// SPDX-License-Identifier: MIT

public import NanoSQLite
public import NanoStoreCore

extension Store.Configuration {
  /// The settings that NanoStore's engine had: a busy timeout of 250 milliseconds and a cache of
  /// 1,000 pages at least.
  public static var nanoStore: Store.Configuration {
    var configuration = Store.Configuration()
    configuration.setBusyTimeout(milliseconds: 250)
    return configuration
  }

  /// Takes a busy timeout as NanoStore did: outside of 100...5,000 milliseconds it is 250.
  public mutating func setBusyTimeout(milliseconds: Int) {
    busyTimeout = Double((100...5_000).contains(milliseconds) ? milliseconds : 250) / 1_000
  }

  /// Takes a size of the cache in pages, as NanoStore did: fewer than 1,000 count as 1,000.
  public mutating func setCacheSize(pages: Int) { cacheSize = max(1_000, pages) * pageSize }

  /// What NanoStore called its two modes: the safe default, and fast, which waits for nothing.
  public enum ProcessingMode: String, Sendable, CaseIterable { case `default`, fast }

  public var processingMode: ProcessingMode {
    get { durability == .fast ? .fast : .default }
    set { durability = newValue == .fast ? .fast : .full }
  }
}
