// SPDX-License-Identifier: MIT

import NanoDocument

/// A database file as numbered pages, read without SQLite (https://www.sqlite.org/fileformat2.html), so that a
/// damaged header or B-tree does not hide the rest.
///
/// The file's content is not trusted: every number is validated before it is used.
final class PageFile {
  private let file: MappedFile
  private let log: LogOverlay?
  let pageSize: Int
  /// The number of bytes of a page that hold content; the rest is reserved for extensions.
  let usable: Int
  /// The number of pages, numbered from 1.
  let count: Int
  /// Whether the page size in the header agrees with the pages.
  let isHeaderSound: Bool

  /// - Parameter log: The write-ahead log, whose content may not be in the file yet.
  init(_ file: MappedFile, log: MappedFile?) {
    self.file = file
    let bytes = file.bytes
    let declared = Self.declaredPageSize(bytes)
    // A header that states the correct file length also states the correct page size.
    let isPlausible = declared.map { $0 * bytes.number32(28) == bytes.count } ?? false
    let detected = isPlausible ? declared : PageSizeGuess(bytes).best
    let logged = log.flatMap { LogOverlay($0) }
    pageSize = bytes.count == 0 ? logged?.pageSize ?? 4096 : detected ?? declared ?? 4096
    self.log = logged?.pageSize == pageSize ? logged : nil
    isHeaderSound = declared == pageSize
    let reserved = isHeaderSound ? Int(bytes[20]) : 0
    // SQLite itself requires at least this many bytes.
    usable = pageSize - reserved >= 480 ? pageSize - reserved : pageSize
    // An intact log contains every page that the file lacks.
    let inFile = bytes.count / pageSize
    count = max(inFile, min(self.log?.lastPage ?? 0, inFile + (self.log?.pageCount ?? 0)))
  }

  /// The number of page bytes after which mapped pages are released. Arbitrary.
  private static let bytesInMemory = 64 << 20
  private var bytesReturned = 0

  /// Returns the usable bytes of a page; `nil` for a number that is out of range.
  func page(_ number: Int) -> UnsafeRawBufferPointer? {
    guard number >= 1, number <= count else { return nil }
    bytesReturned += pageSize
    if bytesReturned > Self.bytesInMemory {
      bytesReturned = 0
      file.release()
    }
    if let logged = log?.page(number) {
      return UnsafeRawBufferPointer(rebasing: logged.prefix(usable))
    }
    let start = (number - 1) * pageSize
    guard start + pageSize <= file.bytes.count else { return nil }
    return UnsafeRawBufferPointer(rebasing: file.bytes[start..<start + usable])
  }

  /// Returns a number of the file's header, or 0 if there is no header.
  func header(_ offset: Int) -> Int {
    guard let first = page(1), first.count >= 100 else { return 0 }
    return first.number32(offset)
  }

  private static func declaredPageSize(_ bytes: UnsafeRawBufferPointer) -> Int? {
    guard bytes.count >= 100, bytes.starts(with: "SQLite format 3\0".utf8) else { return nil }
    let declared = bytes.number16(16)
    let size = declared == 1 ? 65_536 : declared
    return PageSizeGuess.sizes.contains(size) ? size : nil
  }
}

/// An estimate of a file's page size, from the offsets at which something resembles a B-tree page.
struct PageSizeGuess {
  static let sizes = [512, 1_024, 2_048, 4_096, 8_192, 16_384, 32_768, 65_536]
  private let bytes: UnsafeRawBufferPointer

  init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

  /// The most likely size; `nil` if no size fits.
  ///
  /// Twice the right size finds half of the pages. Half the right size finds most of them, and little else.
  var best: Int? {
    let counts = Self.sizes.map { (size: $0, count: count($0)) }
    guard let most = counts.map(\.count).max(), most > 0 else { return nil }
    return counts.last { 4 * $0.count >= 3 * most }?.size
  }

  /// The number of bytes examined. Arbitrary; sufficient for an estimate.
  private static let sample = 32 << 20

  /// Returns the number of pages of this size that resemble a B-tree page.
  private func count(_ size: Int) -> Int {
    (0..<min(bytes.count, Self.sample) / size).count { page in
      let whole = UnsafeRawBufferPointer(rebasing: bytes[page * size..<(page + 1) * size])
      return resemblesTreePage(whole, first: page == 0)
    }
  }

  private func resemblesTreePage(_ page: UnsafeRawBufferPointer, first: Bool) -> Bool {
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
