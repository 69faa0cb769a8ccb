// SPDX-License-Identifier: MIT

import NanoDocument
import NanoQuery

/// A property in the path to a value.
struct FieldStep: Sendable {
  let name: String
  /// The names of the field in older documents, most recent first.
  let formerNames: [String]
  /// The value that a document without the field is read with; nil if it is null or unknown.
  let missing: DocumentValue?
  /// Whether the default can differ between evaluations.
  let hasComputedDefault: Bool
  let isKey: Bool
  let isInteger: Bool
  let keyForm: KeyForm?
  let isOptional: Bool
  let isList: Bool
  let isText: Bool
  let isDecimal: Bool
  /// Whether it is a list or a dictionary.
  let isCollection: Bool
  /// Whether it is a relationship to several objects: a document without the field has none.
  let isToMany: Bool
  let nested: (any Model.Type)?
  /// The model of the values of a dictionary.
  let entry: (any Model.Type)?
  let isAttachment: Bool

  /// The fields of the value, or of the elements.
  var innerFields: FieldTable? { nested?.fieldTable ?? (isAttachment ? .ofAttachments : nil) }

  init<Root>(_ field: ModelField<Root>) {
    name = field.name
    formerNames = field.formerNames
    let missing = field.missing()
    self.missing = missing?.isNull == true ? nil : missing
    hasComputedDefault = field.traits.contains(.computedDefault)
    isKey = field.traits.contains(.key)
    isInteger = field.isInteger
    keyForm = field.keyForm
    isOptional = field.isOptional
    isList = field.isList
    isText = field.isText
    isDecimal = field.isDecimal
    isCollection = field.isCollection
    isToMany = field.isList && field.traits.contains(.relationship)
    nested = field.nested
    entry = field.entry
    isAttachment = field.isAttachment
  }

  /// Creates a step to an entry of a dictionary.
  init<Value>(entry name: String, _ type: Value.Type) {
    self.init(
      ModelField(name, \[String: Value].[name], \[String: Value]?.?[name]))
  }

  /// Whether a document without the field can be read with a value other than nil.
  var hasVariants: Bool { !formerNames.isEmpty || missing != nil }

  /// Returns the condition that a document has the field.
  ///
  /// A null is a value of a property that accepts null, also instead of a default or of a field under a former name.
  /// It counts as a missing field otherwise.
  func isPresent(_ path: FieldPath) -> Condition { isAbsent(path).opposite }

  /// Returns the condition that a document lacks the field.
  func isAbsent(_ path: FieldPath) -> Condition {
    if isOptional, hasVariants { return .not(.exists(path)) }
    return isList ? .hasNoList(path) : .isNull(.field(path))
  }
}

/// The location of a property in documents, as the steps from the outermost property to it.
struct PropertyLocation: Sendable {
  private(set) var steps: [FieldStep]
  /// Whether the path starts within a document, where no property is the document's key.
  var isNested = false

  init(steps: [FieldStep]) { self.steps = steps }

  /// Returns the location of a property of the value at this location.
  func appending(_ inner: PropertyLocation) -> PropertyLocation {
    var location = self
    location.steps += inner.steps
    return location
  }

  /// The path of current names; for the key, the name of its property.
  var path: FieldPath { FieldPath(components: steps.map(\.name)) }
  /// The paths that contain a former name.
  var formerPaths: [FieldPath] {
    let all = steps.reduce([[]]) { paths, step in
      paths.flatMap { path in ([step.name] + step.formerNames).map { path + [$0] } }
    }
    return all.dropFirst().map { FieldPath(components: $0) }
  }

  private var last: FieldStep { steps[steps.count - 1] }
  var isKey: Bool { steps.count == 1 && !isNested && last.isKey }
  var isIntegerKey: Bool { isKey && last.isInteger }
  var keyForm: KeyForm? { last.keyForm }
  var isTextKey: Bool { isKey && last.isText }
  var isList: Bool { last.isList }
  var isToMany: Bool { last.isToMany }
  var isDecimal: Bool { last.isDecimal }
  var isOptional: Bool { last.isOptional }
  var missing: DocumentValue? { last.missing }
  var innerFields: FieldTable? { last.innerFields }

  /// Whether a document without the field can be read with a value other than nil.
  var hasVariants: Bool { steps.contains(where: \.hasVariants) }
  var hasComputedDefault: Bool { steps.contains(where: \.hasComputedDefault) }
}

/// A form in which documents store a property. Cases are tried in order; the first one whose
/// condition holds applies.
struct FieldCase {
  enum Content {
    /// The value is at the path.
    case path(FieldPath)
    /// The value is in the elements of the list at the path, at the remaining steps.
    case elements(FieldPath, ArraySlice<FieldStep>)
    /// The value is in the default for a path.
    case constant(FieldPath, DocumentValue)
    /// There is no value.
    case nothing
  }

  var when: Condition
  var content: Content
}

extension PropertyLocation {
  /// Returns the forms in which documents store the property. The last one applies to all remaining
  /// documents.
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
        cases.append(FieldCase(when: step.isPresent(path), content: .path(path)))
      } else if step.isList {
        cases.append(FieldCase(when: step.isPresent(path), content: .elements(path, rest)))
      } else {
        for inner in Self.cases(rest, base + [name], formerNames) {
          var inner = inner
          switch inner.content {
          case .path, .elements: break  // what is there is in something that is there
          case .constant, .nothing:
            inner.when = Condition.not(.isNull(.field(path))).and(inner.when)
          }
          cases.append(inner)
        }
        // A null that is a value has no parts, and no default or former name replaces it.
        if step.isOptional, step.hasVariants {
          cases.append(FieldCase(when: step.isPresent(path), content: .nothing))
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

extension Condition {
  /// The condition that the field of a list is null or missing. A list that contains null has a length.
  static func hasNoList(_ path: FieldPath) -> Condition {
    let isList = Condition.comparison(
      .function(.arrayLength, [.field(path)]), .greaterOrEqual, .value(.int(0)))
    return .all([.isNull(.field(path)), .not(isList)])
  }
}

extension DocumentSubject {
  /// Creates a document with a single field.
  init(only path: FieldPath, _ value: DocumentValue) {
    let document = path.components.reversed().reduce(value) { .object([$1: $0]) }
    self.init(document.object ?? [:])
  }
}
