// SPDX-License-Identifier: MIT

import NanoDocument

/// A condition on one leaf, evaluated on the bytes of its value and its path.
class LeafCheck {
  func passes(_ value: JSONReader, _ path: inout LeafPath) throws(StoreError) -> Bool { true }

  /// Returns the compiled check, or `nil` for a condition that depends on more than the value and its
  /// path.
  static func make(_ condition: Condition) throws(StoreError) -> LeafCheck? {
    switch condition {
    case .constant(let truth): return truth ? LeafCheck() : NotLeaf(LeafCheck())
    case .all(let parts):
      // Values are cheaper to check than paths.
      return try make(parts).map {
        AllLeaves($0.filter { !($0 is PathLeaf) } + $0.filter { $0 is PathLeaf })
      }
    case .any(let parts): return try make(parts).map(AnyLeaf.init)
    case .not(let part): return try make(part).map(NotLeaf.init)
    case .isNull(.field(.element)): return NullLeaf()
    default: return try single(condition)
    }
  }

  private static func make(_ parts: [Condition]) throws(StoreError) -> [LeafCheck]? {
    var checks: [LeafCheck] = []
    for part in parts {
      guard let check = try make(part) else { return nil }
      checks.append(check)
    }
    return checks
  }

  /// Compiles a check of the value or the path against constants.
  private static func single(_ condition: Condition) throws(StoreError) -> LeafCheck? {
    switch operand(condition) {
    case .field(.element)?: return try ValueMatcher.make(condition).map(ValueLeaf.init)
    case .attribute(.leafPath)?:
      let pathCondition = condition.replacingExpressions {
        $0 == .attribute(.leafPath) ? .field(.element) : nil
      }
      return try ValueMatcher.make(pathCondition).map(PathLeaf.init)
    default: return nil
    }
  }

  private static func operand(_ condition: Condition) -> QueryExpression? {
    switch condition {
    case .comparison(let operand, _, .value), .comparison(.value, _, let operand),
      .between(let operand, .value, .value), .membership(let operand, _),
      .text(let operand, _, .value):
      operand
    default: nil
    }
  }
}

private final class AllLeaves: LeafCheck {
  let parts: [LeafCheck]
  init(_ parts: [LeafCheck]) { self.parts = parts }
  override func passes(_ value: JSONReader, _ path: inout LeafPath) throws(StoreError) -> Bool {
    for part in parts where try !part.passes(value, &path) { return false }
    return true
  }
}

private final class AnyLeaf: LeafCheck {
  let parts: [LeafCheck]
  init(_ parts: [LeafCheck]) { self.parts = parts }
  override func passes(_ value: JSONReader, _ path: inout LeafPath) throws(StoreError) -> Bool {
    for part in parts where try part.passes(value, &path) { return true }
    return false
  }
}

private final class NotLeaf: LeafCheck {
  let part: LeafCheck
  init(_ part: LeafCheck) { self.part = part }
  override func passes(_ value: JSONReader, _ path: inout LeafPath) throws(StoreError) -> Bool {
    try !part.passes(value, &path)
  }
}

private final class NullLeaf: LeafCheck {
  override func passes(_ value: JSONReader, _ path: inout LeafPath) throws(StoreError) -> Bool {
    value.isNull
  }
}

private final class ValueLeaf: LeafCheck {
  let matcher: ValueMatcher
  init(_ matcher: ValueMatcher) { self.matcher = matcher }
  override func passes(_ value: JSONReader, _ path: inout LeafPath) throws(StoreError) -> Bool {
    try matcher.passes(value)
  }
}

private final class PathLeaf: LeafCheck {
  let matcher: ValueMatcher
  init(_ matcher: ValueMatcher) { self.matcher = matcher }
  override func passes(_ value: JSONReader, _ path: inout LeafPath) throws(StoreError) -> Bool {
    try path.withText { matcher.passes(text: $0) }
  }
}
