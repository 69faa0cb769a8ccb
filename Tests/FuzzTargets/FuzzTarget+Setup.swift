// SPDX-License-Identifier: MIT

import Foundation
import NanoBags
import NanoDocument
import NanoEngine
import NanoQuery
import NanoSQLite
import NanoStoreCore

extension FuzzTarget {
  /// A setup file. A parsed setup must round-trip, and a store must apply it atomically.
  static let setup = FuzzTarget("setup", maximumLength: 400) { bytes in
    guard let object = try? DocumentObject(json: bytes) else { return }
    var ignored: [StoreError] = []
    let lenient = StoreSetup(object, ignored: &ignored)
    let strict: StoreSetup?
    do throws(StoreError) {
      strict = try StoreSetup(object)
    } catch {
      try require(error.code == .invalidArgument, "A setup is rejected with \(error)")
      strict = nil
    }
    try require(
      (strict == nil) == !ignored.isEmpty, "Strict and lenient parsing disagree on validity")
    if let strict {
      try require(strict == lenient, "Strict and lenient parsing return different setups")
    }
    let again = try StoreSetup(lenient.object)
    try require(again == lenient, "A setup does not round-trip")
    _ = lenient.file
    try expectAtomic(lenient)
  }

  private static func expectAtomic(_ setup: StoreSetup) throws {
    var setup = setup
    (setup.path, setup.name) = (nil, nil)
    let store = try Store { try SQLiteEngine(.memory, SQLiteConfiguration()) }
    defer { try? store.close() }
    do {
      try store.apply(setup)
    } catch is StoreError {
      try require(try store.collections().isEmpty, "A failed setup created a collection")
      return
    }
    // Applying a setup is idempotent.
    let before = try store.collections()
    try store.apply(setup)
    try require(try store.collections() == before, "Applying a setup twice changes the store")
    let problems = try store.verify()
    try require(problems.isEmpty, "\(problems)")
  }
}
