// SPDX-License-Identifier: MIT

import NanoDocument
import NanoQuery

/// Reduces a script while it still reproduces a difference.
package struct ScriptShrinker {
  let mismatch: (Script) -> Script.Mismatch?
  init(_ mismatch: @escaping (Script) -> Script.Mismatch?) { self.mismatch = mismatch }

  func shrunk(_ script: Script) -> Script {
    var best = script
    if let step = mismatch(best)?.step { best.steps = Array(best.steps[...step]) }
    var isSmaller = true
    while isSmaller {
      isSmaller = false
      for candidate in candidates(best) where mismatch(candidate) != nil {
        best = candidate
        isSmaller = true
        break
      }
    }
    return best
  }

  /// Returns reduced scripts, starting with the largest reductions.
  private func candidates(_ script: Script) -> some Sequence<Script> {
    let count = script.steps.count
    let withoutSteps = [count / 2, count / 4, 1].filter { $0 > 0 }.lazy.flatMap { size in
      stride(from: 0, to: max(0, count - size), by: size).lazy.map { start in
        var smaller = script
        smaller.steps.removeSubrange(start..<(start + size))
        return smaller
      }
    }
    let withSmallerSteps = script.steps.indices.lazy.flatMap { index in
      self.smaller(script.steps[index]).lazy.map { step in
        var smaller = script
        smaller.steps[index] = step
        return smaller
      }
    }
    return AnySequence([AnySequence(withoutSteps), AnySequence(withSmallerSteps)].lazy.joined())
  }

  private func smaller(_ step: Script.Step) -> [Script.Step] {
    switch step {
    case .write(let operations):
      return Self.smaller(operations) { $0.smaller }.map { .write($0) }
    case .query(let request): return request.smaller.map { .query($0) }
    }
  }

  /// Returns copies of a list with one element removed, then copies with one element reduced.
  package static func smaller<Element>(
    _ list: [Element], _ shrink: (Element) -> [Element]
  ) -> [[Element]] {
    let shorter = list.indices.map { index in
      var copy = list
      copy.remove(at: index)
      return copy
    }
    return shorter
      + list.indices.flatMap { index in
        shrink(list[index]).map { element in
          var copy = list
          copy[index] = element
          return copy
        }
      }
  }
}
