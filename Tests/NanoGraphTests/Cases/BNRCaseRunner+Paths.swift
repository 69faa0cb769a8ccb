// SPDX-License-Identifier: MIT

import NanoStoreModels

/// Paths through relationships, and the identity of the objects that they lead to.
extension BNRCaseRunner {
  /// Resolves a path such as `l2.songs[0].title` to its last object and property.
  ///
  /// - Parameter entersLast: Whether a path that ends with a to-one relationship leads to its target, if there is one.
  func walk(
    _ path: String, from start: (any CaseObject)?, entersLast: Bool = false
  ) throws -> (object: any CaseObject, field: String?) {
    var parts = path.split(separator: ".").map { String($0) }
    var object: any CaseObject
    if let start { object = start } else { object = try self.object(parts.removeFirst()) }
    for (place, part) in parts.enumerated() {
      let pieces = part.split(separator: "[").map { String($0) }
      let targets = object.targets(pieces[0])
      let isLast = place + 1 == parts.count
      let isEntered =
        !isLast || (entersLast && Swift.type(of: object).toOneFields.contains(pieces[0]))
      if let targets, pieces.count == 2 || (targets.count == 1 && isEntered) {
        let index = pieces.count == 2 ? Int(pieces[1].dropLast()) ?? 0 : 0
        guard targets.indices.contains(index) else { throw failure("\(part) has no \(index)") }
        object = targets[index]
      } else {
        guard isLast else { throw failure("\(part) leads nowhere") }
        return (object, part)
      }
    }
    return (object, nil)
  }

  /// Returns the object that a path leads to, or the owner of the property that it leads to.
  func target(of path: String) throws -> any CaseObject {
    let (object, field) = try walk(path, from: nil, entersLast: true)
    if let field, Swift.type(of: object).toOneFields.contains(field) {
      throw failure("\(path) leads to no object")
    }
    return object
  }

  /// Returns the names that the case gave these instances, as text if the case expects text, or the expected path if it
  /// leads to the instance. An object that was fetched again as another instance has no name.
  func sameAs(_ objects: [any CaseObject], like wanted: DocumentValue?) -> DocumentValue {
    if let path = wanted?.string, let other = try? target(of: path),
      other === objects.first
    {
      return .string(path)
    }
    let names = objects.map { object in
      nameOfInstance(object).map { .string($0) } ?? DocumentValue.null
    }
    return wanted?.array == nil ? names.first ?? .null : .array(names)
  }

  /// Returns whether some objects share a target of a relationship, and share its instance.
  func areSharedTargetsIdentical(_ objects: [any CaseObject]) -> Bool {
    var seen: [AnyObjectID: (owner: Int, target: any CaseObject)] = [:]
    var isAnyShared = false
    for (owner, object) in objects.enumerated() {
      for target in object.targets("songs") ?? [] {
        guard let id = target.anyID else { continue }
        guard let other = seen[id] else {
          seen[id] = (owner, target)
          continue
        }
        guard other.target === target else { return false }
        if other.owner != owner { isAnyShared = true }
      }
    }
    return isAnyShared
  }
}
