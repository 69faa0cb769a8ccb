// SPDX-License-Identifier: MIT

import BenchmarkKit
import Foundation

/// Keys and JSON bodies that are ready to bind, so that raw SQLite pays only for SQLite.
final class StoredDocuments {
  let count: Int
  private let keys: UnsafeMutableRawBufferPointer
  private let bodies: UnsafeMutableRawBufferPointer
  private let bodyEnds: [Int]

  /// - Parameter documents: The number of documents, which have the bodies in turn; nil for one of each.
  init(_ storedJSON: [String], documents: Int? = nil) {
    var keys: [UInt8] = []
    var bodies: [UInt8] = []
    var bodyEnds: [Int] = []
    count = documents ?? storedJSON.count
    for number in 0..<count {
      withUnsafeBytes(of: UUID(version7: number).uuid) { keys += $0 }
    }
    for body in storedJSON {
      bodies += body.utf8
      bodyEnds.append(bodies.count)
    }
    self.keys = Self.permanent(keys)
    self.bodies = Self.permanent(bodies)
    self.bodyEnds = bodyEnds
  }

  deinit {
    keys.deallocate()
    bodies.deallocate()
  }

  /// The 16 bytes of a key. Valid during the lifetime of this object.
  func key(_ number: Int) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: keys[16 * number..<16 * number + 16])
  }

  /// The bytes of a body. Valid during the lifetime of this object.
  func body(_ number: Int) -> UnsafeRawBufferPointer {
    let place = number < bodyEnds.count ? number : number % bodyEnds.count
    let start = place == 0 ? 0 : bodyEnds[place - 1]
    return UnsafeRawBufferPointer(rebasing: bodies[start..<bodyEnds[place]])
  }

  /// Returns a copy at a stable address that SQLite can read in place.
  private static func permanent(_ bytes: [UInt8]) -> UnsafeMutableRawBufferPointer {
    let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 8)
    copy.copyBytes(from: bytes)
    return copy
  }
}
