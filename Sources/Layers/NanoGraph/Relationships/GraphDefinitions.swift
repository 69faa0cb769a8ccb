// SPDX-License-Identifier: MIT

import NanoDocument
import Synchronization

/// Checks that both ends of relationships name each other, which the compiler cannot verify: an
/// inverse that no relationship names would always be empty.
enum GraphDefinitions {
  private static let cachedProblems = Mutex<[ObjectIdentifier: StoreError?]>([:])

  /// Returns the definition error of a class or of a class reachable through its relationships.
  static func problem(of type: any GraphObject.Type) -> StoreError? {
    let id = ObjectIdentifier(type)
    if let result = cachedProblems.withLock({ $0[id] }) { return result }
    let result = search(from: type)
    cachedProblems.withLock { $0[id] = .some(result) }
    return result
  }

  private static func search(from type: any GraphObject.Type) -> StoreError? {
    var pending: [any GraphObject.Type] = [type]
    var seen: Set<ObjectIdentifier> = []
    while let next = pending.popLast() {
      guard seen.insert(ObjectIdentifier(next)).inserted else { continue }
      let definition = ClassDefinition(next)
      if let problem = definition.problem { return problem }
      pending += definition.relationships.compactMap(\.target) + definition.inverses.map(\.owner)
    }
    return nil
  }
}

/// The relationships that a class declares.
private struct ClassDefinition {
  let type: any GraphObject.Type
  let relationships: [StoredRelationship]
  let inverses: [InverseRelationship]

  init(_ type: any GraphObject.Type) {
    func open<Object: GraphObject>(
      _ type: Object.Type
    ) -> ([StoredRelationship], [InverseRelationship]) {
      (type._$relationships.map(\.erased), type._$inverses.map(\.erased))
    }
    self.type = type
    (relationships, inverses) = open(type)
  }

  var problem: StoreError? {
    for relationship in relationships {
      guard let name = relationship.inverse, let target = relationship.target else { continue }
      let ends = ClassDefinition(target).inverses
      guard !ends.contains(where: { $0.name == name && $0.owner == type }) else { continue }
      return StoreError(
        .invalidArgument, "A relationship has an inverse that is not marked with @Inverse",
        [
          .collection: type.collectionName, .field: "\(type).\(relationship.property)",
          .actual: "\(target).\(name)",
          .hint: "declare @Inverse var \(name): [\(type)] in \(target)",
        ])
    }
    for inverse in inverses {
      let ends = ClassDefinition(inverse.owner).relationships
      let isNamed = ends.contains { end in
        end.inverse == inverse.name && end.target.map { $0 == type } ?? false
      }
      guard !isNamed else { continue }
      return StoreError(
        .invalidArgument, "No relationship names a property that is marked with @Inverse",
        [
          .collection: type.collectionName, .field: "\(type).\(inverse.name)",
          .actual: "\(inverse.owner)",
          .hint:
            "declare @Relationship(inverse: \\\(type).\(inverse.name)) var … in \(inverse.owner)",
        ])
    }
    return nil
  }
}
