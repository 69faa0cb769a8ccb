// SPDX-License-Identifier: MIT

import NanoDocument

/// The committed pages of a write-ahead log, for a file that SQLite no longer recognizes as a database and whose
/// log it therefore does not read (https://www.sqlite.org/fileformat2.html#the_write_ahead_log).
final class LogOverlay {
  private let file: MappedFile
  let pageSize: Int
  /// The offset of each page's newest committed content.
  private var offsets: [Int: Int] = [:]
  /// The number of pages in the log.
  var pageCount: Int { offsets.count }
  /// The size of the database in pages after the last commit.
  private(set) var lastPage = 0

  /// Returns `nil` for a log without a commit.
  init?(_ file: MappedFile) {
    self.file = file
    let bytes = file.bytes
    guard bytes.count >= 32, bytes.number32(0) & ~1 == 0x377F_0682 else { return nil }
    pageSize = bytes.number32(8)
    guard PageSizeGuess.sizes.contains(pageSize) else { return nil }
    let isBigEndian = bytes.number32(0) & 1 == 1
    var sum = Checksum(isBigEndian: isBigEndian)
    sum.add(bytes, 0..<24)
    guard sum.matches(bytes, 24) else { return nil }
    readFrames(&sum)
    if offsets.isEmpty { return nil }
  }

  func page(_ number: Int) -> UnsafeRawBufferPointer? {
    offsets[number].map { UnsafeRawBufferPointer(rebasing: file.bytes[$0..<$0 + pageSize]) }
  }

  /// Reads frames up to the first one that is incomplete or does not belong to this log.
  private func readFrames(_ sum: inout Checksum) {
    let bytes = file.bytes
    var uncommitted: [Int: Int] = [:]
    var at = 32
    while at + 24 + pageSize <= bytes.count {
      guard bytes.number32(at + 8) == bytes.number32(16),
        bytes.number32(at + 12) == bytes.number32(20)
      else { return }
      sum.add(bytes, at..<at + 8)
      sum.add(bytes, at + 24..<at + 24 + pageSize)
      guard sum.matches(bytes, at + 16) else { return }
      uncommitted[bytes.number32(at)] = at + 24
      let size = bytes.number32(at + 4)
      if size > 0 {
        offsets.merge(uncommitted) { $1 }
        uncommitted.removeAll()
        lastPage = size
      }
      at += 24 + pageSize
    }
  }

  /// The checksum of the log, which each frame continues.
  private struct Checksum {
    let isBigEndian: Bool
    var first: UInt32 = 0
    var second: UInt32 = 0

    init(isBigEndian: Bool) { self.isBigEndian = isBigEndian }

    mutating func add(_ bytes: UnsafeRawBufferPointer, _ range: Range<Int>) {
      for offset in stride(from: range.lowerBound, to: range.upperBound, by: 8) {
        first = first &+ word(bytes, offset) &+ second
        second = second &+ word(bytes, offset + 4) &+ first
      }
    }

    private func word(_ bytes: UnsafeRawBufferPointer, _ offset: Int) -> UInt32 {
      let word = bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
      return isBigEndian ? UInt32(bigEndian: word) : UInt32(littleEndian: word)
    }

    func matches(_ bytes: UnsafeRawBufferPointer, _ offset: Int) -> Bool {
      Int(first) == bytes.number32(offset) && Int(second) == bytes.number32(offset + 4)
    }
  }
}
