// SPDX-License-Identifier: MIT

/// A regular expression that matches in a time proportional to the length of the text, whatever the pattern.
///
/// Clients of a server choose both, and an engine that tries alternatives one after the other would need exponential time
/// for some. All alternatives advance together instead, as states of an automaton, so there are no backreferences and no
/// lookaround. The rest has the syntax of Perl, by code points.
package struct RegularExpression: Sendable {
  /// The text of the pattern does not parse, or is not supported.
  package struct Malformed: Error, Sendable, Hashable {
    package let reason: String
  }

  enum Instruction: Sendable {
    case match
    case scalar(ScalarSet)
    case assertion(Assertion)
    case jump(Int)
    case split(Int, Int)
  }

  enum Assertion: Sendable {
    case textStart
    case textEnd
    /// The end, or before a line feed at the end.
    case textEndOrLastLine
    case lineStart
    case lineEnd
    case wordBoundary
    case noWordBoundary
  }

  private let program: [Instruction]

  /// The number of instructions of a program, each of which may take a step for each character. Arbitrary.
  private static let maximumInstructions = 2_000

  package init(_ pattern: String) throws(Malformed) {
    var parser = RegularExpressionParser(pattern)
    let node = try parser.pattern()
    var program: [Instruction] = []
    try Self.append(node, to: &program)
    program.append(.match)
    self.program = program
  }
}

// Compiles.
extension RegularExpression {
  indirect enum Node: Sendable {
    case sequence([Node])
    case alternatives([Node])
    case scalar(ScalarSet)
    case assertion(Assertion)
    case repetition(Node, least: Int, most: Int?)
  }

  private static func append(
    _ node: Node, to program: inout [Instruction]
  ) throws(Malformed) {
    guard program.count < maximumInstructions else {
      throw Malformed(reason: "it is too long, or repeats too much")
    }
    switch node {
    case .sequence(let nodes): for node in nodes { try append(node, to: &program) }
    case .scalar(let set): program.append(.scalar(set))
    case .assertion(let assertion): program.append(.assertion(assertion))
    case .alternatives(let nodes):
      var jumps: [Int] = []
      for node in nodes.dropLast() {
        let split = program.count
        program.append(.match)
        try append(node, to: &program)
        jumps.append(program.count)
        program.append(.match)
        program[split] = .split(split + 1, program.count)
      }
      if let last = nodes.last { try append(last, to: &program) }
      for jump in jumps { program[jump] = .jump(program.count) }
    case .repetition(let node, let least, let most):
      // An empty body would be repeated without an end of the program.
      for _ in 0..<least {
        let before = program.count
        try append(node, to: &program)
        if program.count == before { return }
      }
      guard let most else {
        let split = program.count
        program.append(.match)
        try append(node, to: &program)
        program.append(.jump(split))
        program[split] = .split(split + 1, program.count)
        return
      }
      var splits: [Int] = []
      for _ in least..<max(least, most) {
        splits.append(program.count)
        program.append(.match)
        let before = program.count
        try append(node, to: &program)
        if program.count == before { break }
      }
      for split in splits { program[split] = .split(split + 1, program.count) }
    }
  }
}

// Matches.
extension RegularExpression {
  /// The instructions at which the automaton is, each once.
  private struct States {
    var list: [Int] = []
    /// The step in which an instruction was reached last.
    var reached: [Int]

    init(_ count: Int) { reached = [Int](repeating: -1, count: count) }
  }

  /// The characters around a position; nil at the ends of the text.
  private struct Position {
    var index = 0
    var previous: UInt32?
    var next: UInt32?
    var afterNext: UInt32?
  }

  /// Returns whether the pattern occurs anywhere in a text.
  package func matches(_ text: String) -> Bool {
    var scalars = text.unicodeScalars.makeIterator()
    var position = Position()
    position.next = scalars.next()?.value
    position.afterNext = scalars.next()?.value
    var states = States(program.count)
    var pending: [Int] = []
    while true {
      if enter(0, at: position, &states, &pending) { return true }
      guard let scalar = position.next else { return false }
      let current = states.list
      states.list.removeAll(keepingCapacity: true)
      position.index += 1
      position.previous = scalar
      position.next = position.afterNext
      position.afterNext = position.next == nil ? nil : scalars.next()?.value
      for state in current {
        guard case .scalar(let set) = program[state], set.contains(scalar) else { continue }
        if enter(state + 1, at: position, &states, &pending) { return true }
      }
    }
  }

  /// Follows the instructions that consume nothing, and returns whether the match is complete.
  private func enter(
    _ start: Int, at position: Position, _ states: inout States, _ pending: inout [Int]
  ) -> Bool {
    pending.append(start)
    defer { pending.removeAll(keepingCapacity: true) }
    while let state = pending.popLast() {
      guard states.reached[state] != position.index else { continue }
      states.reached[state] = position.index
      switch program[state] {
      case .match: return true
      case .scalar: states.list.append(state)
      case .assertion(let assertion):
        if Self.holds(assertion, position) { pending.append(state + 1) }
      case .jump(let target): pending.append(target)
      case .split(let first, let second):
        pending.append(first)
        pending.append(second)
      }
    }
    return false
  }

  private static func holds(_ assertion: Assertion, _ position: Position) -> Bool {
    switch assertion {
    case .textStart: position.previous == nil
    case .textEnd: position.next == nil
    case .textEndOrLastLine:
      position.next == nil || position.next == lineFeed && position.afterNext == nil
    case .lineStart: position.previous == nil || position.previous == lineFeed
    case .lineEnd: position.next == nil || position.next == lineFeed
    case .wordBoundary: isWord(position.previous) != isWord(position.next)
    case .noWordBoundary: isWord(position.previous) == isWord(position.next)
    }
  }

  private static let lineFeed: UInt32 = 0x0A

  private static func isWord(_ scalar: UInt32?) -> Bool {
    scalar.map { ScalarSet.word.contains($0) } ?? false
  }
}
