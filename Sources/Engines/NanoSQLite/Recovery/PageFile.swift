// SPDX-License-Identifier: MIT

import NanoDocument

/// A database file as numbered pages, read without SQLite (https://www.sqlite.org/fileformat2.html), so that a
/// broken header or tree hides nothing that stands elsewhere.
///
/// Nothing in the file is believed: every number is checked before it is used.
final class PageFile {
  private let file: MappedFile
  private let log: LogOverlay?
  let pageSize: Int
  /// Bytes of a page that hold something; the rest is reserved for extensions.
  let usable: Int
  /// Pages from 1 to this one.
  let count: Int
  /// Whether the header says what the pages say.
  let isHeaderSound: Bool

  /// - Parameter log: What a write-ahead log holds that is not in the file yet.
  init(_ file: MappedFile, log: MappedFile?) {
    self.file = file
    let bytes = file.bytes
    let said = Self.saidPageSize(bytes)
    // A header that knows the length of its file is right about its pages.
    let isPlausible = said.map { $0 * bytes.number32(28) == bytes.count } ?? false
    let seen = isPlausible ? said : PageSizeGuess(bytes).best
    let logged = log.flatMap { LogOverlay($0) }
    pageSize = bytes.count == 0 ? logged?.pageSize ?? 4096 : seen ?? said ?? 4096
    self.log = logged?.pageSize == pageSize ? logged : nil
    isHeaderSound = said == pageSize
    let reserved = isHeaderSound ? Int(bytes[20]) : 0
    // SQLite itself asks for so many bytes at least.
    usable = pageSize - reserved >= 480 ? pageSize - reserved : pageSize
    // A log that is right has each page that the file lacks.
    let inFile = bytes.count / pageSize
    count = max(inFile, min(self.log?.lastPage ?? 0, inFile + (self.log?.pageCount ?? 0)))
  }

  /// Bytes of pages after which they are taken out of memory. Arbitrary.
  private static let bytesInMemory = 64 << 20
  private var bytesShown = 0

  /// The bytes of a page that count; nil for a number that no page has.
  func page(_ number: Int) -> UnsafeRawBufferPointer? {
    guard number >= 1, number <= count else { return nil }
    bytesShown += pageSize
    if bytesShown > Self.bytesInMemory {
      bytesShown = 0
      file.release()
    }
    if let logged = log?.page(number) {
      return UnsafeRawBufferPointer(rebasing: logged.prefix(usable))
    }
    let start = (number - 1) * pageSize
    guard start + pageSize <= file.bytes.count else { return nil }
    return UnsafeRawBufferPointer(rebasing: file.bytes[start..<start + usable])
  }

  /// A number of the file's header, 0 if there is none.
  func header(_ offset: Int) -> Int {
    guard let first = page(1), first.count >= 100 else { return 0 }
    return first.number32(offset)
  }

  private static func saidPageSize(_ bytes: UnsafeRawBufferPointer) -> Int? {
    guard bytes.count >= 100, bytes.starts(with: "SQLite format 3\0".utf8) else { return nil }
    let said = bytes.number16(16)
    let size = said == 1 ? 65_536 : said
    return PageSizeGuess.sizes.contains(size) ? size : nil
  }
}

/// How large the pages of a file are, told by where something begins that looks like a page of a tree.
struct PageSizeGuess {
  static let sizes = [512, 1_024, 2_048, 4_096, 8_192, 16_384, 32_768, 65_536]
  private let bytes: UnsafeRawBufferPointer

  init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

  /// Nil if no size looks right. Twice the right size finds half of the pages; half of it finds most, and
  /// little else.
  var best: Int? {
    let counts = Self.sizes.map { (size: $0, count: count($0)) }
    guard let most = counts.map(\.count).max(), most > 0 else { return nil }
    return counts.last { 4 * $0.count >= 3 * most }?.size
  }

  /// Bytes of the file that are looked at. Arbitrary, enough to tell.
  private static let sample = 32 << 20

  /// The pages of this size that look like one of a tree.
  private func count(_ size: Int) -> Int {
    (0..<min(bytes.count, Self.sample) / size).count { page in
      let whole = UnsafeRawBufferPointer(rebasing: bytes[page * size..<(page + 1) * size])
      return looksRight(whole, first: page == 0)
    }
  }

  private func looksRight(_ page: UnsafeRawBufferPointer, first: Bool) -> Bool {
    let start = first ? 100 : 0
    let isLeaf = page[start] == 10 || page[start] == 13
    guard isLeaf || page[start] == 2 || page[start] == 5 else { return false }
    let cells = page.number16(start + 3)
    let content = page.number16(start + 5)
    let pointers = start + (isLeaf ? 8 : 12) + 2 * cells
    return pointers <= (content == 0 ? 65_536 : content)
      && (content == 0 ? page.count == 65_536 : content <= page.count)
      && page[start + 7] <= 60 && (cells > 0 || content == page.count)
  }
}
