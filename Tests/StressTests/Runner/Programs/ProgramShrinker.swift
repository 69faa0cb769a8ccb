// SPDX-License-Identifier: MIT

import NanoStore
import NanoTesting

/// Shrinks a failing program while it still fails.
struct ProgramShrinker {
  /// The maximum number of candidates. They take a second or two, and more rarely help.
  private static let tries = 5_000
  let differs: (Program) -> Program.Difference?

  func shrunk(_ program: Program) -> Program {
    var best = program
    if let difference = differs(best), difference.number < best.calls.count {
      best.calls = Array(best.calls[...difference.number])
    }
    var left = Self.tries
    var isSmaller = true
    while isSmaller, left > 0 {
      isSmaller = false
      for candidate in candidates(best) {
        left -= 1
        guard left > 0 else { break }
        guard differs(candidate) != nil else { continue }
        best = candidate
        isSmaller = true
        break
      }
    }
    return best
  }

  /// Returns smaller programs, much smaller ones first, and programs in a simpler mode.
  private func candidates(_ program: Program) -> some Sequence<Program> {
    let count = program.calls.count
    let shorter = [count / 2, count / 4, count / 8, 1].filter { $0 > 0 }.lazy.flatMap { size in
      stride(from: 0, to: max(0, count - size + 1), by: size).lazy.map { start in
        var smaller = program
        smaller.calls.removeSubrange(start..<(start + size))
        return smaller
      }
    }
    let plainer = program.mode.smaller.lazy.map { mode in
      var smaller = program
      smaller.mode = mode
      return smaller
    }
    let simpler = program.calls.indices.reversed().lazy.flatMap { index in
      program.calls[index].smaller.lazy.map { calls in
        var smaller = program
        smaller.calls.replaceSubrange(index...index, with: calls)
        return smaller
      }
    }
    return AnySequence(
      [AnySequence(shorter), AnySequence(plainer), AnySequence(simpler)].lazy.joined())
  }
}

extension StoreMode {
  fileprivate var smaller: [StoreMode] {
    var modes: [StoreMode] = []
    func add(_ isPlain: Bool, _ change: (inout StoreMode) -> Void) {
      if isPlain { return }
      var copy = self
      change(&copy)
      modes.append(copy)
    }
    add(place == .file) { $0.place = .file }
    add(journal == .wal) { $0.journal = .wal }
    add(encoding == .utf8) { $0.encoding = .utf8 }
    add(cacheSize == nil) { $0.cacheSize = nil }
    add(indexTuning == .off) { $0.indexTuning = .off }
    add(saveInterval == 1) { $0.saveInterval = 1 }
    add(usesFastFieldAccess) { $0.usesFastFieldAccess = true }
    return modes
  }
}
