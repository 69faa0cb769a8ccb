// SPDX-License-Identifier: MIT

import Foundation
import NanoTesting

/// One way of damaging a store, determined by its seed and number.
struct DamageMutation {
  let sample: DamageSamples.Kind
  /// A description of the damage.
  private(set) var description = ""
  /// The kind of damage, for the figures.
  private(set) var sort = ""
  private var random: SplitMix

  init(seed: UInt64, number: Int) {
    random = SplitMix(seed: seed &* 0x9E37_79B9 &+ UInt64(number))
    // Consecutive seeds generate unrelated first numbers.
    sample = random.pick(DamageSamples.Kind.allCases)
  }

  /// Damages the store in this file.
  mutating func apply(to file: String) throws {
    // Opening the file with SQL rolls back a hot journal, so that it is rarely done to it.
    if random.oneIn(sample == .journal ? 6 : 2) {
      sort = "rows"
      description = try DamageRows(file, random.split()).apply()
      return
    }
    sort = "bytes"
    let log = file + (FileManager.default.fileExists(atPath: file + "-wal") ? "-wal" : "-journal")
    if FileManager.default.fileExists(atPath: log), random.oneIn(3) {
      sort = "log"
      description = "log: " + (try change(log))
    } else if random.oneIn(20) {
      sort = "log"
      description = try plant(beside: file)
    } else {
      description = try change(file)
    }
  }

  /// Creates a log that is invalid or does not belong to the file.
  private mutating func plant(beside file: String) throws -> String {
    let suffix = random.pick(["-wal", "-journal"])
    var bytes = Data(
      (0..<random.number(1...4_000)).map { _ in UInt8.random(in: 0...255, using: &random) })
    if random.oneIn(2) {
      let magic: [UInt8] =
        suffix == "-wal"
        ? [0x37, 0x7F, 0x06, 0x82, 0, 0x2D, 0xE2, 0x18]
        : [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7, 0, 0, 0, 3]
      bytes.replaceSubrange(0..<min(bytes.count, magic.count), with: magic.prefix(bytes.count))
    }
    try bytes.write(to: URL(filePath: file + suffix))
    return "a \(suffix) of \(bytes.count) bytes of garbage"
  }

  private mutating func change(_ path: String) throws -> String {
    let url = URL(filePath: path)
    var bytes = try Data(contentsOf: url)
    let description = changeBytes(&bytes)
    try bytes.write(to: url)
    return description
  }

  private mutating func changeBytes(_ bytes: inout Data) -> String {
    let size = sample.pageSize
    let pages = max(1, bytes.count / size)
    func place(_ page: Int) -> Range<Int> {
      page * size..<min(bytes.count, (page + 1) * size)
    }
    switch random.number(0...11) {
    case 0, 1:
      let count = random.number(1...8)
      let places = (0..<count).map { _ in random.number(0...bytes.count - 1) }
      for place in places { bytes[place] ^= 1 << UInt8(random.number(0...7)) }
      return "bits flipped at \(places)"
    case 2:
      let start = random.number(0...bytes.count - 1)
      let length = min(random.number(1...64), bytes.count - start)
      let fill = random.pick([0, 0xFF, nil] as [UInt8?])
      for place in start..<start + length { bytes[place] = fill ?? random.byte() }
      return "\(length) bytes changed at \(start)"
    case 3:
      let length = random.number(0...bytes.count - 1)
      bytes = bytes.prefix(length)
      return "cut to \(length) bytes"
    case 4:
      let length = random.number(1...8 * size)
      let isZero = random.oneIn(2)
      bytes.append(contentsOf: (0..<length).map { _ in isZero ? 0 : random.byte() })
      return "\(length) bytes appended"
    case 5, 6:
      let (from, to) = (random.number(0...pages - 1), random.number(0...pages - 1))
      guard place(from).count == size, place(to).count == size else { return "nothing" }
      let (first, second) = (Data(bytes[place(from)]), Data(bytes[place(to)]))
      bytes.replaceSubrange(place(to), with: first)
      guard random.oneIn(2) else { return "page \(from + 1) copied over \(to + 1)" }
      bytes.replaceSubrange(place(from), with: second)
      return "pages \(from + 1) and \(to + 1) exchanged"
    case 7:
      let page = random.number(0...pages - 1)
      for place in place(page) { bytes[place] = 0 }
      return "page \(page + 1) zeroed"
    case 8, 9:
      let page = random.number(0...pages - 1)
      let start = page * size + (page == 0 ? 100 : 0)
      let places = (0..<random.number(1...3)).map { _ in start + random.number(0...15) }
      for place in places where place < bytes.count {
        bytes[place] = random.pick([0, 1, 2, 5, 10, 13, 0x7F, 0xFF, random.byte()])
      }
      return "head of page \(page + 1) changed at \(places)"
    case 10:
      let places = (0..<random.number(1...3)).map { _ in random.number(0...99) }
      for place in places where place < bytes.count { bytes[place] = random.byte() }
      return "head of the file changed at \(places)"
    default:
      let page = random.number(0...pages - 1)
      for place in place(page) { bytes[place] = random.byte() }
      return "page \(page + 1) made garbage"
    }
  }
}

extension SplitMix {
  mutating func byte() -> UInt8 { UInt8(truncatingIfNeeded: next()) }
}
