// SPDX-License-Identifier: MIT

public import NanoDocument

/// Something a condition compares: a constant, a field, or a computation over them.
///
/// A field may reach several values (an array is entered), and an expression over it has one value
/// for each of them. What the parts mean is written down in docs/QUERY-SEMANTICS.md.
public indirect enum QueryExpression: Sendable, Hashable {
  case value(DocumentValue)
  case field(FieldPath)
  case attribute(Attribute)
  /// A place that an argument fills before the query runs.
  case parameter(Parameter)
  case negated(QueryExpression)
  case arithmetic(QueryExpression, Arithmetic, QueryExpression)
  case function(Function, [QueryExpression])
  case cast(QueryExpression, CastType)
  case choice([Branch], otherwise: QueryExpression)
  /// A condition as a value: true or false.
  case truth(Condition)

  /// One `WHEN … THEN …` of a choice.
  public struct Branch: Sendable, Hashable {
    public var condition: Condition
    public var value: QueryExpression
    public init(when condition: Condition, then value: QueryExpression) {
      self.condition = condition
      self.value = value
    }
  }
}

/// What is known of a document beside its fields.
public enum Attribute: String, Sendable, Hashable, CaseIterable {
  case key, rowID, type, version, added
  /// The path of the leaf, inside ``Condition/leaf(_:)``; null elsewhere.
  case leafPath
}

/// A place for an argument: by position, counted from one, or by name.
public enum Parameter: Sendable, Hashable {
  case position(Int)
  case name(String)

  public static func == (a: Parameter, b: Parameter) -> Bool {
    switch (a, b) {
    case (.position(let a), .position(let b)): a == b
    case (.name(let a), .name(let b)): a.isSame(as: b)
    default: false
    }
  }

  public func hash(into hasher: inout Hasher) {
    switch self {
    case .position(let number): hasher.combine(number)
    case .name(let name): hasher.combine(ExactName(name))
    }
  }
}

/// An operator between two values.
public enum Arithmetic: String, Sendable, Hashable, CaseIterable {
  case add = "+"
  case subtract = "-"
  case multiply = "*"
  case divide = "/"
  case remainder = "%"
  case concatenate = "||"
  case bitAnd = "&"
  case bitOr = "|"
  case shiftLeft = "<<"
  case shiftRight = ">>"
}

/// What `CAST(… AS type)` can make.
public enum CastType: String, Sendable, Hashable, CaseIterable {
  case integer, real, text, boolean
}

extension QueryExpression {
  /// Every path in this expression, in order of appearance, repetitions included.
  package var fields: [FieldPath] {
    switch self {
    case .value, .attribute, .parameter: []
    case .field(let path): [path]
    case .negated(let operand), .cast(let operand, _): operand.fields
    case .arithmetic(let left, _, let right): left.fields + right.fields
    case .function(_, let operands): operands.flatMap(\.fields)
    case .choice(let branches, let otherwise):
      branches.flatMap { $0.condition.fields + $0.value.fields } + otherwise.fields
    case .truth(let condition): condition.fields
    }
  }

  /// The same expression with other leaves, where the closure gives one.
  package func replacingLeaves<E: Error>(
    _ replacement: (QueryExpression) throws(E) -> QueryExpression?
  ) throws(E) -> QueryExpression {
    if let replaced = try replacement(self) { return replaced }
    switch self {
    case .value, .field, .attribute, .parameter: return self
    case .negated(let operand): return .negated(try operand.replacingLeaves(replacement))
    case .arithmetic(let left, let operation, let right):
      return .arithmetic(
        try left.replacingLeaves(replacement), operation, try right.replacingLeaves(replacement))
    case .function(let function, let operands):
      return .function(function, try operands.replacingLeaves(replacement))
    case .cast(let operand, let type):
      return .cast(try operand.replacingLeaves(replacement), type)
    case .choice(let branches, let otherwise):
      var replaced: [Branch] = []
      for branch in branches {
        replaced.append(
          Branch(
            when: try branch.condition.replacingLeaves(replacement),
            then: try branch.value.replacingLeaves(replacement)))
      }
      return .choice(replaced, otherwise: try otherwise.replacingLeaves(replacement))
    case .truth(let condition): return .truth(try condition.replacingLeaves(replacement))
    }
  }
}

extension QueryExpression {
  var asksForLeaves: Bool {
    switch self {
    case .value, .field, .attribute, .parameter: false
    case .negated(let operand), .cast(let operand, _): operand.asksForLeaves
    case .arithmetic(let left, _, let right): left.asksForLeaves || right.asksForLeaves
    case .function(_, let operands): operands.contains(where: \.asksForLeaves)
    case .choice(let branches, let otherwise):
      otherwise.asksForLeaves
        || branches.contains { $0.condition.asksForLeaves || $0.value.asksForLeaves }
    case .truth(let condition): condition.asksForLeaves
    }
  }
}

extension [QueryExpression] {
  func replacingLeaves<E: Error>(
    _ replacement: (QueryExpression) throws(E) -> QueryExpression?
  ) throws(E) -> [QueryExpression] {
    var replaced: [QueryExpression] = []
    for expression in self { replaced.append(try expression.replacingLeaves(replacement)) }
    return replaced
  }
}
