// SPDX-License-Identifier: MIT

package import NanoDocument

extension FieldChange {
  /// Parses update operators in the notation of MongoDB, such as `{"$inc":{"views":1},"$push":{"tags":"x"}}`, in order.
  ///
  /// `$pull` takes a value; an object with the only field `$where` is a condition in query text. `$push` takes a value,
  /// or an object with `$each` and optionally `$position`; `$addToSet` a value or an object with `$each`.
  /// Other names that begin with `$` are errors in such an object; `$each` and `$pullAll` take values that have them.
  ///
  /// Source: https://www.mongodb.com/docs/manual/reference/operator/update/
  ///
  /// - Throws: ``StoreError/Code/invalidArgument`` for anything else, ``StoreError/Code/invalidQuery``.
  package static func list(_ update: DocumentObject) throws(StoreError) -> [FieldChange] {
    var changes: [FieldChange] = []
    for (name, fields) in update {
      guard case .object(let fields) = fields, let name = Operation.Name(rawValue: name) else {
        throw unknown(name)
      }
      for (path, value) in fields {
        changes.append(FieldChange(FieldPath(path), try Operation(name, value)))
      }
    }
    return changes
  }

  fileprivate static func unknown(_ name: String) -> StoreError {
    StoreError(
      .invalidArgument, "The text is not an update",
      [.position: name, .expected: #"an object such as {"$set":{"title":"Alien"}}"#])
  }
}

extension FieldChange.Operation {
  fileprivate enum Name: String {
    case set = "$set"
    case setOnInsert = "$setOnInsert"
    case unset = "$unset"
    case rename = "$rename"
    case inc = "$inc"
    case mul = "$mul"
    case min = "$min"
    case max = "$max"
    case push = "$push"
    case addToSet = "$addToSet"
    case pull = "$pull"
    case pullAll = "$pullAll"
    case pop = "$pop"
  }

  /// The options that the operand of an operator may have instead of being an element.
  private static let options: [Name: [String]] = [
    .push: ["$each", "$position"], .addToSet: ["$each"], .pull: ["$where"],
  ]

  fileprivate init(_ name: Name, _ value: DocumentValue) throws(StoreError) {
    // Otherwise a condition of MongoDB, or a misspelled option, would be taken for an element.
    if let known = Self.options[name], case .object(let options) = value,
      let option = options.first(where: { $0.name.hasPrefix("$") && !known.contains($0.name) })
    {
      throw StoreError(
        .invalidArgument, "The text is not an update",
        [
          .position: "\(name.rawValue).\(option.name)",
          .expected:
            "an element without names that begin with $, or \(known.joined(separator: " and "))",
        ])
    }
    switch (name, value) {
    case (.set, _): self = .set(value)
    case (.setOnInsert, _): self = .setOnInsert(value)
    case (.unset, _): self = .remove
    case (.rename, .string(let path)): self = .rename(FieldPath(path))
    case (.inc, .int), (.inc, .double), (.inc, .decimal): self = .increment(value)
    case (.mul, .int), (.mul, .double), (.mul, .decimal): self = .multiply(value)
    case (.min, _): self = .minimum(value)
    case (.max, _): self = .maximum(value)
    case (.push, .object(let options)) where options["$each"] != nil:
      let position = options["$position"]
      guard options.count == (position == nil ? 1 : 2), let each = options["$each"]?.array,
        position == nil || position?.int != nil
      else { throw FieldChange.unknown(name.rawValue) }
      self = .insert(each, position?.int)
    case (.push, _): self = .insert([value], nil)
    case (.addToSet, .object(let options)) where options["$each"] != nil:
      guard options.count == 1, let each = options["$each"]?.array else {
        throw FieldChange.unknown(name.rawValue)
      }
      self = .addToSet(each)
    case (.addToSet, _): self = .addToSet([value])
    case (.pull, .object(let options)) where options["$where"] != nil:
      guard options.count == 1, case .string(let text)? = options["$where"] else {
        throw FieldChange.unknown(name.rawValue)
      }
      self = .pullMatching(try QueryText.elementCondition(text))
    case (.pull, _): self = .pull([value])
    case (.pullAll, .array(let values)): self = .pull(values)
    case (.pop, .int(1)): self = .pop(.last)
    case (.pop, .int(-1)): self = .pop(.first)
    default: throw FieldChange.unknown(name.rawValue)
    }
  }
}
