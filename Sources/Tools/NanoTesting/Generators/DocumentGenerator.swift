// SPDX-License-Identifier: MIT

package import NanoDocument

/// Generates the documents of a collection.
///
/// Each field has a kind, which all documents share until ``change()``. This tests the optimizations of an engine for
/// uniform collections, and their invalidation when a collection is no longer uniform.
package struct DocumentGenerator: Sendable {
  private struct Plan {
    var name: String
    var kind: ValueGenerator.Kind
    /// How many documents out of 10 contain the field.
    var frequency: Int
    /// The fields of an object.
    var inner: [Plan] = []
  }

  /// The generator of field values.
  package var values: ValueGenerator
  private var plans: [Plan] = []

  /// Creates a generator.
  ///
  /// - Parameter isUniform: Whether each field initially has a single plain kind.
  package init(random: SplitMix, isUniform: Bool) {
    values = ValueGenerator(random: random)
    plans = makePlans(isUniform ? Self.plainKinds : ValueGenerator.Kind.allCases)
  }

  private static let plainKinds: [ValueGenerator.Kind] = [
    .bool, .int, .double, .number, .text, .text, .date, .object, .int, .array, .decimal, .amount,
  ]
  private static let topNames = [
    "a", "b", "list", "name", "x.y", "$d", "é", "q\"t", "x'\u{301}", "$\u{301}",
  ]

  private mutating func makePlans(_ kinds: [ValueGenerator.Kind]) -> [Plan] {
    Self.topNames.map { name in
      var plan = Plan(
        name: name, kind: values.random.pick(kinds), frequency: values.random.pick([10, 9, 5, 10]))
      if name == "list", values.random.oneIn(2) { plan.kind = .array }
      if plan.kind == .object {
        plan.inner = ["a", "b", "name", "$date"].map {
          Plan(name: $0, kind: values.random.pick(kinds), frequency: 8)
        }
      }
      return plan
    }
  }

  /// Changes the kind of some fields for documents generated later.
  package mutating func change() {
    for index in plans.indices where values.random.oneIn(3) {
      plans[index].kind = values.random.pick(ValueGenerator.Kind.allCases)
      plans[index].inner = []
    }
  }

  /// Returns whether the values at a path have a single kind whose equality in an index matches that of conditions in
  /// every engine.
  package func isSimple(at path: FieldPath) -> Bool {
    var plans = plans
    for name in path.components {
      guard let plan = plans.first(where: { $0.name == name }) else { return false }
      switch plan.kind {
      case .int, .text, .date, .decimal, .amount: if name == path.components.last { return true }
      default: break
      }
      plans = plan.inner
    }
    return false
  }

  /// Returns the fields of one document.
  package mutating func object() -> DocumentObject { object(plans) }

  private mutating func object(_ plans: [Plan]) -> DocumentObject {
    var object = DocumentObject()
    for plan in plans where values.random.number(1...10) <= plan.frequency {
      object[plan.name] = value(plan)
    }
    return object
  }

  private mutating func value(_ plan: Plan) -> DocumentValue {
    if values.random.oneIn(12) { return .null }
    guard plan.kind == .object, !plan.inner.isEmpty else { return values.value(plan.kind) }
    return .object(object(plan.inner))
  }

  /// Returns a document; some have a class and a version.
  package mutating func document(key: DocumentKey? = nil) -> GeneratedDocument {
    GeneratedDocument(
      key: key, type: values.random.pick([nil, nil, "Person", "Årstid"]),
      version: values.random.pick([nil, nil, 1, 2]),
      added: Int64(values.random.pick([0, 1, 1_000_000, 978_307_200_000_000, -1])),
      object: object())
  }
}

/// A document before it is stored.
package struct GeneratedDocument: Sendable, Hashable {
  package var key: DocumentKey?
  package var type: String?
  package var version: Int64?
  /// The creation time in microseconds since 1970.
  package var added: Int64
  package var object: DocumentObject

  /// Creates a document.
  package init(
    _ object: DocumentObject, key: DocumentKey? = nil, type: String? = nil, version: Int64? = nil,
    added: Int64 = 0
  ) {
    self.init(key: key, type: type, version: version, added: added, object: object)
  }

  init(key: DocumentKey?, type: String?, version: Int64?, added: Int64, object: DocumentObject) {
    self.key = key
    self.type = type
    self.version = version
    self.added = added
    self.object = object
  }
}
