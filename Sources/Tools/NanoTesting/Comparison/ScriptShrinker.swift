// SPDX-License-Identifier: MIT

import NanoDocument
import NanoQuery

/// Makes a script that shows a difference smaller, for as long as it still shows one.
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

  /// Shrinker scripts, the much smaller ones first.
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
    case .ask(let question): return question.smaller.map { .ask($0) }
    }
  }

  /// Without each element, and with each element smaller.
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
