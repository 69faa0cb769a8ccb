// SPDX-License-Identifier: MIT

import NanoDocument
import NanoQuery

/// One property on the way to a value.
struct FieldStep: Sendable {
  let name: String
  /// Names that older documents have instead, the latest first.
  let formerNames: [String]
  /// What a document without the field is read as; nil for null, and where that is not known.
  let missing: DocumentValue?
  /// Whether a document without the field is read as something that is not the same each time.
  let hasComputedDefault: Bool
  let isKey: Bool
  let isInteger: Bool
  let isOptional: Bool
  let isList: Bool
  let isText: Bool
  let nested: (any Model.Type)?

  init<Root>(_ field: ModelField<Root>) {
    name = field.name
    formerNames = field.formerNames
    let missing = field.missing()
    self.missing = missing?.isNull == true ? nil : missing
    hasComputedDefault = field.traits.contains(.computedDefault)
    isKey = field.traits.contains(.key)
    isInteger = field.isInteger
    isOptional = field.isOptional
    isList = field.isList
    isText = field.isText
    nested = field.nested
  }

  /// What a dictionary has under a name.
  init<Value>(entry name: String, _ type: Value.Type) {
    self.init(
      ModelField(name, \[String: Value].[name], \[String: Value]?.?[name]))
  }

  /// Whether a document that lacks the field may be read with something else than nothing.
  var hasVariants: Bool { !formerNames.isEmpty || missing != nil }

  /// That a document has the field. A null stands for itself in an optional that has another default, and
  /// for nothing elsewhere.
  func isThere(_ path: FieldPath) -> Condition {
    isList || (isOptional && missing != nil) ? .exists(path) : .not(.isNull(.field(path)))
  }
}

/// Where a property stands in documents: the way to it from the outside in.
struct PropertyLocation: Sendable {
  private(set) var steps: [FieldStep]
  /// Whether the way begins in a part of a document, where no property is the document's key.
  var isInPart = false

  init(steps: [FieldStep]) { self.steps = steps }

  /// A property of what stands here.
  func appending(_ inner: PropertyLocation) -> PropertyLocation {
    var place = self
    place.steps += inner.steps
    return place
  }

  /// With the names of today; of the key, the name of its property.
  var path: FieldPath { FieldPath(components: steps.map(\.name)) }
  /// With former names of any step.
  var formerPaths: [FieldPath] {
    let all = steps.reduce([[]]) { ways, step in
      ways.flatMap { way in ([step.name] + step.formerNames).map { way + [$0] } }
    }
    return all.dropFirst().map { FieldPath(components: $0) }
  }

  private var last: FieldStep { steps[steps.count - 1] }
  var isKey: Bool { steps.count == 1 && !isInPart && last.isKey }
  var isIntegerKey: Bool { isKey && last.isInteger }
  var isTextKey: Bool { isKey && last.isText }
  var isList: Bool { last.isList }
  var isOptional: Bool { last.isOptional }
  var missing: DocumentValue? { last.missing }
  var nested: (any Model.Type)? { last.nested }

  /// Whether a document that lacks the field may be read with something else than nothing.
  var hasVariants: Bool { steps.contains(where: \.hasVariants) }
  var hasComputedDefault: Bool { steps.contains(where: \.hasComputedDefault) }
}

/// One of the ways in which documents hold a property. They are tried in order, and the first one counts
/// whose condition holds.
struct FieldCase {
  enum Content {
    /// The value is here.
    case path(FieldPath)
    /// It is in the elements of the list here, on the rest of the way.
    case elements(FieldPath, ArraySlice<FieldStep>)
    /// It is in a default for what stands at a path.
    case constant(FieldPath, DocumentValue)
    /// There is none.
    case nothing
  }

  var when: Condition
  var content: Content
}

extension PropertyLocation {
  /// The ways in which documents hold the property, the last one for those that hold it in no other way.
  func cases(formerNames: Bool) -> [FieldCase] {
    Self.cases(steps[...], [], formerNames)
  }

  static func cases(
    _ steps: ArraySlice<FieldStep>, _ base: [String], _ formerNames: Bool
  ) -> [FieldCase] {
    guard let step = steps.first else { return [] }
    let rest = steps.dropFirst()
    var cases: [FieldCase] = []
    for name in [step.name] + (formerNames ? step.formerNames : []) {
      let path = FieldPath(components: base + [name])
      if rest.isEmpty {
        cases.append(FieldCase(when: step.isThere(path), content: .path(path)))
      } else if step.isList {
        cases.append(FieldCase(when: step.isThere(path), content: .elements(path, rest)))
      } else {
        for inner in Self.cases(rest, base + [name], formerNames) {
          var inner = inner
          switch inner.content {
          case .path, .elements: break  // what is there is in something that is there
          case .constant, .nothing: inner.when = step.isThere(path).and(inner.when)
          }
          cases.append(inner)
        }
      }
    }
    let path = FieldPath(components: base + [step.name])
    cases.append(
      FieldCase(
        when: .constant(true),
        content: step.missing.map { .constant(path, $0) } ?? .nothing))
    return cases
  }
}

extension DocumentSubject {
  /// A document with one field only.
  init(only path: FieldPath, _ value: DocumentValue) {
    let document = path.components.reversed().reduce(value) { .object([$1: $0]) }
    self.init(document.object ?? [:])
  }
}
