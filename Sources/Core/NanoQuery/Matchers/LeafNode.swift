// SPDX-License-Identifier: MIT

import NanoDocument

/// A leaf condition, evaluated in a single walk of the document's bytes without building a tree.
final class LeafNode: MatcherNode {
  private let check: LeafCheck
  private let prefilter: LeafPrefilter?
  /// The fallback for encodings that only other programs write.
  private let fallback: MatcherNode
  private var path = LeafPath()

  init(_ check: LeafCheck, _ prefilter: LeafPrefilter?, fallback: MatcherNode) {
    self.check = check
    self.prefilter = prefilter
    self.fallback = fallback
  }

  private enum Outcome { case found, missing, unusual }

  override func holds(
    _ document: inout DocumentBytes, _ attributes: Attributes
  ) throws(StoreError) -> Bool {
    if let prefilter, prefilter.isMissing(in: document.bytes) { return false }
    var reader = JSONReader(document.bytes)
    guard reader.kind() == .object, !reader.isStoredForm else {
      return try fallback.holds(&document, attributes)
    }
    path.removeAll()
    // Moved to a local variable, which avoids exclusivity checks at each step.
    var walked = path
    path = LeafPath()
    defer { path = walked }
    switch try object(&reader, &walked, 1) {
    case .found: return true
    case .missing: return false
    case .unusual: return try fallback.holds(&document, attributes)
    }
  }

  private func object(
    _ reader: inout JSONReader, _ path: inout LeafPath, _ depth: Int
  ) throws(StoreError) -> Outcome {
    // The evaluator throws the error for a document nested too deeply.
    guard depth <= DocumentValue.maximumDepth else { return .unusual }
    _ = reader.peekConsume(UInt8(ascii: "{"))
    let fields = reader
    if reader.peekConsume(UInt8(ascii: "}")) { return .missing }
    repeat {
      path.push(try reader.rawName(), of: fields)
      let outcome = try value(&reader, &path, depth)
      if outcome != .missing { return outcome }
      path.pop()
    } while reader.peekConsume(UInt8(ascii: ","))
    try reader.expect(UInt8(ascii: "}"))
    return .missing
  }

  private func value(
    _ reader: inout JSONReader, _ path: inout LeafPath, _ depth: Int
  ) throws(StoreError) -> Outcome {
    switch reader.kind() {
    case .array: return try array(&reader, &path, depth + 1)
    case .object where !reader.isStoredForm: return try object(&reader, &path, depth + 1)
    case .object:
      var copy = reader
      if case .object = try copy.value() { return .unusual }
    case .none: return .unusual
    default: break
    }
    if try check.passes(reader, &path), try path.isFirst() { return .found }
    try reader.skipValue()
    return .missing
  }

  private func array(
    _ reader: inout JSONReader, _ path: inout LeafPath, _ depth: Int
  ) throws(StoreError) -> Outcome {
    guard depth <= DocumentValue.maximumDepth else { return .unusual }
    _ = reader.peekConsume(UInt8(ascii: "["))
    if reader.peekConsume(UInt8(ascii: "]")) { return .missing }
    repeat {
      let outcome = try value(&reader, &path, depth)
      if outcome != .missing { return outcome }
    } while reader.peekConsume(UInt8(ascii: ","))
    try reader.expect(UInt8(ascii: "]"))
    return .missing
  }
}
