// SPDX-License-Identifier: MIT

public import NanoDocument

/// An expression in a condition: a constant, a field, or a computation.
///
/// A field can have several values, because arrays are traversed, and an expression over it has one
/// value for each of them. docs/QUERY-SEMANTICS.md defines the semantics.
public indirect enum QueryExpression: Sendable, Hashable {
  /// A constant.
  case value(DocumentValue)
  /// The values of a field.
  case field(FieldPath)
  /// A document's metadata.
  case attribute(Attribute)
  /// A parameter, replaced by an argument before the query runs.
  case parameter(Parameter)
  /// The operand with its sign inverted.
  case negated(QueryExpression)
  /// A binary operator.
  case arithmetic(QueryExpression, Arithmetic, QueryExpression)
  /// A function call.
  case function(Function, [QueryExpression])
  /// A conversion to a type.
  case cast(QueryExpression, CastType)
  /// A `CASE` expression: the value of the first branch whose condition is true.
  case choice([Branch], otherwise: QueryExpression)
  /// A condition as a Boolean value.
  case truth(Condition)
  /// An array of values computed from the elements of an array that satisfy a condition. In both, paths
  /// are relative to the element, which ``FieldPath/element`` denotes.
  case elements(QueryExpression, where: Condition, select: QueryExpression)

  /// A `WHEN … THEN …` branch of a `CASE` expression.
  public struct Branch: Sendable, Hashable {
    /// The condition that selects the branch.
    public var condition: Condition
    /// The value of the branch.
    public var value: QueryExpression
    /// Creates a branch.
    public init(when condition: Condition, then value: QueryExpression) {
      self.condition = condition
      self.value = value
    }
  }
}

/// The document metadata that queries can use.
public enum Attribute: String, Sendable, Hashable, CaseIterable {
  /// The document's key.
  case key
  /// The document's row ID.
  case rowID
  /// The class name that the document was stored with.
  case type
  /// The version of the class.
  case version
  /// The date when the document was first stored.
  case added
  /// The path of the leaf, inside ``Condition/leaf(_:)``; null elsewhere.
  case leafPath
}

/// A parameter: by position, starting at 1, or by name.
public enum Parameter: Sendable, Hashable {
  /// A positional parameter, starting at 1.
  case position(Int)
  /// A named parameter, without its prefix character.
  case name(String)

  /// Returns whether both parameters are equal. Names are compared by their UTF-8 bytes.
  public static func == (a: Parameter, b: Parameter) -> Bool {
    switch (a, b) {
    case (.position(let a), .position(let b)): a == b
    case (.name(let a), .name(let b)): a.hasSameBytes(as: b)
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

/// A binary operator.
public enum Arithmetic: String, Sendable, Hashable, CaseIterable {
  /// Addition.
  case add = "+"
  /// Subtraction.
  case subtract = "-"
  /// Multiplication.
  case multiply = "*"
  /// Division. Integer division truncates; division by zero is null.
  case divide = "/"
  /// Remainder, with the sign of the left operand; null for a zero divisor.
  case remainder = "%"
  /// String concatenation.
  case concatenate = "||"
  /// Bitwise AND.
  case bitAnd = "&"
  /// Bitwise OR.
  case bitOr = "|"
  /// Left shift.
  case shiftLeft = "<<"
  /// Right shift.
  case shiftRight = ">>"
}

/// A target type of `CAST(… AS type)`.
public enum CastType: String, Sendable, Hashable, CaseIterable {
  /// A 64-bit integer.
  case integer
  /// A double.
  case real
  /// A decimal.
  case decimal
  /// A string.
  case text
  /// A Boolean value.
  case boolean
}

extension QueryExpression {
  /// All paths in the expression, in order of appearance, including duplicates.
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
    case .elements(.field(let path), let condition, let value):
      [path]
        + (condition.fields + value.fields).map { $0.isElement ? path : path.appending($0) }
    // The elements of a computed array are not fields.
    case .elements(let operand, _, _): operand.fields
    }
  }

  /// Returns the expression with subexpressions replaced where the closure returns a replacement. The
  /// closure is called for each expression before its operands.
  package func replacingExpressions<E: Error>(
    _ replacement: (QueryExpression) throws(E) -> QueryExpression?
  ) throws(E) -> QueryExpression {
    if let replaced = try replacement(self) { return replaced }
    switch self {
    case .value, .field, .attribute, .parameter: return self
    case .negated(let operand): return .negated(try operand.replacingExpressions(replacement))
    case .arithmetic(let left, let operation, let right):
      return .arithmetic(
        try left.replacingExpressions(replacement), operation,
        try right.replacingExpressions(replacement))
    case .function(let function, let operands):
      return .function(function, try operands.replacingExpressions(replacement))
    case .cast(let operand, let type):
      return .cast(try operand.replacingExpressions(replacement), type)
    case .choice(let branches, let otherwise):
      var replaced: [Branch] = []
      for branch in branches {
        replaced.append(
          Branch(
            when: try branch.condition.replacingExpressions(replacement),
            then: try branch.value.replacingExpressions(replacement)))
      }
      return .choice(replaced, otherwise: try otherwise.replacingExpressions(replacement))
    case .truth(let condition): return .truth(try condition.replacingExpressions(replacement))
    case .elements(let operand, let condition, let value):
      return .elements(
        try operand.replacingExpressions(replacement),
        where: try condition.replacingExpressions(replacement),
        select: try value.replacingExpressions(replacement))
    }
  }
}

extension QueryExpression {
  var hasLeafConditions: Bool {
    switch self {
    case .value, .field, .attribute, .parameter: false
    case .negated(let operand), .cast(let operand, _): operand.hasLeafConditions
    case .arithmetic(let left, _, let right): left.hasLeafConditions || right.hasLeafConditions
    case .function(_, let operands): operands.contains(where: \.hasLeafConditions)
    case .choice(let branches, let otherwise):
      otherwise.hasLeafConditions
        || branches.contains { $0.condition.hasLeafConditions || $0.value.hasLeafConditions }
    case .truth(let condition): condition.hasLeafConditions
    case .elements(let operand, let condition, let value):
      operand.hasLeafConditions || condition.hasLeafConditions || value.hasLeafConditions
    }
  }
}

extension [QueryExpression] {
  func replacingExpressions<E: Error>(
    _ replacement: (QueryExpression) throws(E) -> QueryExpression?
  ) throws(E) -> [QueryExpression] {
    var replaced: [QueryExpression] = []
    for expression in self { replaced.append(try expression.replacingExpressions(replacement)) }
    return replaced
  }
}
