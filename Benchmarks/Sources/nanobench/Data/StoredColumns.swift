// SPDX-License-Identifier: MIT

import Foundation

/// The values of a table with real columns, ready to bind, so that raw SQLite pays only for SQLite.
final class StoredColumns {
  struct Numbers {
    var age: Int
    var salary: Double
    var joined: Double
  }

  /// The numeric columns of each person.
  let numbers: [Numbers]
  private let bytes: UnsafeMutableRawBufferPointer
  private let ends: [Int]

  init(_ people: [Person]) {
    var bytes: [UInt8] = []
    var ends: [Int] = []
    for person in people {
      for text in person.columnTexts {
        bytes += text.utf8
        ends.append(bytes.count)
      }
    }
    numbers = people.map {
      Numbers(
        age: $0.age, salary: $0.salary, joined: $0.joined.timeIntervalSinceReferenceDate)
    }
    self.bytes = .allocate(byteCount: bytes.count, alignment: 8)
    self.bytes.copyBytes(from: bytes)
    self.ends = ends
  }

  deinit { bytes.deallocate() }

  static let textCount = 7

  /// The bytes of a text column. Valid during the lifetime of this object.
  func text(_ column: Int, of number: Int) -> UnsafeRawBufferPointer {
    let index = number * Self.textCount + column
    let start = index == 0 ? 0 : ends[index - 1]
    return UnsafeRawBufferPointer(rebasing: bytes[start..<ends[index]])
  }
}

extension Person {
  /// The text columns in the order of the table.
  fileprivate var columnTexts: [String] {
    [firstName, lastName, city, emailColumn, address.street, address.zip, address.country]
  }

  /// All addresses in one column. They contain no line breaks, and splitting costs a fraction of decoding JSON.
  var emailColumn: String { emails.joined(separator: "\n") }
}
