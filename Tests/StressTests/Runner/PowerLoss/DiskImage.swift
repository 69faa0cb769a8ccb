// SPDX-License-Identifier: MIT

import CFaults
import Foundation
import NanoTesting

/// The possible contents of a disk after a power loss.
///
/// The model assumes only what file systems guarantee: synced data is on the disk; any part of unsynced data may be,
/// in any order, torn between sectors; a file's name is on the disk only after its folder was synced. See Pillai et
/// al., "All File Systems Are Not Created Equal" (OSDI 2014).
struct DiskImage {
  private var files: [Int32: File] = [:]
  private var folder = Folder()

  fileprivate struct File {
    var synced: [UInt8] = []
    var pending: [Step] = []

    enum Step {
      case write(Int, UnsafeBufferPointer<UInt8>)
      case truncate(Int)
    }
  }

  fileprivate struct Folder {
    var synced: [String: Int32] = [:]
    var pending: [Step] = []

    enum Step {
      case link(String, Int32)
      case unlink(String)
      case rename(String, String, Int32)
    }
  }

  /// Creates the image after the first entries of the log. The bytes stay in the log.
  init(upTo end: Int64, from start: DiskImage? = nil, _ first: Int64 = 0) {
    if let start { self = start }
    for index in first..<end { apply(faults_at(index)) }
  }

  private mutating func apply(_ entry: faults_entry) {
    let name = entry.name.map { String(cString: $0) } ?? ""
    switch Int(entry.kind) {
    case FAULTS_LOG_CREATE: folder.pending.append(.link(name, entry.file))
    case FAULTS_LOG_WRITE:
      let bytes = UnsafeBufferPointer(start: entry.bytes, count: Int(entry.length))
      files[entry.file, default: File()].pending.append(.write(Int(entry.offset), bytes))
    case FAULTS_LOG_TRUNCATE:
      files[entry.file, default: File()].pending.append(.truncate(Int(entry.length)))
    case FAULTS_LOG_SYNC: files[entry.file, default: File()].sync()
    case FAULTS_LOG_SYNC_FOLDER: folder.sync()
    case FAULTS_LOG_UNLINK: folder.pending.append(.unlink(name))
    case FAULTS_LOG_RENAME:
      let bytes = UnsafeBufferPointer(start: entry.bytes, count: Int(entry.length))
      folder.pending.append(.rename(name, String(decoding: bytes, as: UTF8.self), entry.file))
    default: break
    }
  }

  /// Writes one of the possible states of the disk.
  ///
  /// - Returns: A description of the state for failure messages.
  func write(into path: String, _ random: inout SplitMix) throws -> String {
    var contents: [String] = []
    let names = folder.afterPowerLoss(&random).sorted { $0.key < $1.key }
    for (name, number) in names where !name.hasSuffix("-shm") {
      let file = files[number] ?? File()
      let bytes = file.afterPowerLoss(&random)
      try Data(bytes).write(to: URL(filePath: path + "/" + name))
      contents.append(
        "\(name) (\(number)): \(bytes.count) bytes, \(file.synced.count) synced, "
          + "\(file.pending.count) calls not")
    }
    return contents.joined(separator: "; ") + "; folder: \(folder.synced), then \(folder.pending)"
  }
}

extension DiskImage.File {
  mutating func sync() {
    for step in pending { Self.apply(step, to: &synced) { _ in true } }
    pending = []
  }

  func afterPowerLoss(_ random: inout SplitMix) -> [UInt8] {
    var bytes = synced
    guard !pending.isEmpty else { return bytes }
    // All, none, or each with some probability, for small and large losses.
    let chance = random.pick([0, 1, 2, 3, 4])
    for step in pending where random.number(0...3) < chance {
      let isTorn = chance < 4 && random.oneIn(4)
      Self.apply(step, to: &bytes) { _ in !isTorn || random.oneIn(2) }
    }
    return bytes
  }

  private static let sector = 512

  private static func apply(_ step: Step, to bytes: inout [UInt8], _ keeps: (Int) -> Bool) {
    switch step {
    case .truncate(let length):
      if length < bytes.count {
        bytes.removeSubrange(length...)
      } else {
        bytes += [UInt8](repeating: 0, count: length - bytes.count)
      }
    case .write(let offset, let source):
      var start = 0
      while start < source.count {
        let end = min(source.count, start + sector - (offset + start) % sector)
        if keeps(start) {
          let missing = offset + end - bytes.count
          if missing > 0 { bytes += [UInt8](repeating: 0, count: missing) }
          bytes.replaceSubrange(offset + start..<offset + end, with: source[start..<end])
        }
        start = end
      }
    }
  }
}

extension DiskImage.Folder {
  mutating func sync() {
    for step in pending { Self.apply(step, to: &synced) }
    pending = []
  }

  func afterPowerLoss(_ random: inout SplitMix) -> [String: Int32] {
    var names = synced
    // A journaling file system preserves their order; without one, any subset may be on the disk.
    if random.oneIn(2) {
      for step in pending.prefix(random.number(0...pending.count)) { Self.apply(step, to: &names) }
    } else {
      for step in pending where random.oneIn(2) { Self.apply(step, to: &names) }
    }
    return names
  }

  private static func apply(_ step: Step, to names: inout [String: Int32]) {
    switch step {
    case .link(let name, let file): names[name] = file
    case .unlink(let name): names[name] = nil
    case .rename(let name, let made, let file):
      names[name] = nil
      names[made] = file
    }
  }
}
