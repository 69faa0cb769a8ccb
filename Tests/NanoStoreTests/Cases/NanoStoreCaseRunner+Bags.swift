// SPDX-License-Identifier: MIT

import Foundation
import NanoStore

extension NanoStoreCaseRunner {
  func performBag(_ op: String, _ step: DocumentObject) throws -> DocumentObject {
    switch op {
    case "bags", "bagWithName", "bagsWithName", "bagsWithKeys", "bagsContaining":
      return try lookUp(op, step)
    case "newBag":
      let bind = step["bind"]?.string ?? ""
      let bag = Bag(name: step["name"]?.string)
      bags[bind] = bag
      names[bag.key] = bind
      try addToBag(bag, strings(step["objects"]))
      return ["ok": true]
    case "bagEqual":
      guard let a = bags[step["a"]?.string ?? ""], let b = bags[step["b"]?.string ?? ""] else {
        throw failure("there is no such bag")
      }
      return ["value": .bool(try a.isEqual(to: b))]
    default: break
    }
    guard Self.bagChanges.contains(op) else { throw CaseFailure(testCase, unknownOperation: op) }
    guard let bag = bags[step["bag"]?.string ?? ""] else { throw failure("there is no such bag") }
    return try change(bag, op, step)
  }

  private static let bagChanges: Set = [
    "bagAdd", "bagRemove", "bagRemoveKeys", "bagRemoveAll", "bagSetName", "bagSave", "bagReload",
    "bagUndo", "bagDeflate", "bagInflate", "bagState", "bagGetSaved", "bagCopy",
  ]

  private func lookUp(_ op: String, _ step: DocumentObject) throws -> DocumentObject {
    let found: [Bag]
    switch op {
    case "bags": found = try store.bags()
    case "bagsWithKeys":
      found = try store.bags(keys: (step["keys"]?.array ?? []).compactMap { try value($0).string })
    case "bagsContaining":
      let key = try value(step["key"] ?? .null).string ?? ""
      // No bag contains anything without a key.
      found = key.isEmpty ? [] : try store.bags(containingKey: key)
    default: found = try store.bags(named: step["name"]?.string ?? "")
    }
    if let bind = step["bindLast"]?.string ?? step["bind"]?.string { bags[bind] = found.last }
    return [
      "count": .int(Int64(found.count)), "found": .bool(!found.isEmpty),
      "isNil": .bool(found.isEmpty),
      "name": found.first?.name.map { .string($0) } ?? .null,
      "keys": .array(found.map { .string(names[$0.key] ?? $0.key) }),
    ]
  }

  private func change(
    _ bag: Bag, _ op: String, _ step: DocumentObject
  ) throws -> DocumentObject {
    switch op {
    case "bagAdd": try addToBag(bag, strings(step["items"]))
    case "bagRemove":
      for name in strings(step["items"]) {
        if let inner = bags[name] {
          try bag.remove(inner)
        } else if let document = documents[name] {
          try bag.remove(document)
        } else {
          throw failure("there is no \(name)")
        }
      }
    case "bagRemoveKeys":
      try bag.remove(keys: (step["keys"]?.array ?? []).compactMap { try value($0).string })
    case "bagRemoveAll": try bag.removeAll()
    case "bagSetName": bag.name = step["name"]?.string
    case "bagSave": try save(bag) { try bag.save() }
    case "bagReload":
      try bag.reload()
      forgetLoading(of: bag)
    case "bagUndo":
      bag.undo()
      forgetLoading(of: bag)
    case "bagDeflate":
      bag.deflate()
      loadedBags.append(bag)
    case "bagInflate":
      try bag.inflate()
      loadedBags.append(bag)
    case "bagState": return try state(of: bag)
    case "bagGetSaved":
      let found = try bag.saved.document(value(step["key"] ?? .null).string ?? "")
      if let bind = step["bind"]?.string { documents[bind] = found }
      return [
        "present": .bool(found != nil), "isNil": .bool(found == nil),
        "info": .object(try found?.object() ?? [:]),
      ]
    case "bagCopy":
      let copy = try bag.copy()
      bags[step["bind"]?.string ?? ""] = copy
      names[copy.key] = step["bind"]?.string
    default: throw CaseFailure(testCase, unknownOperation: op)
    }
    return ["ok": true]
  }

  private func state(of bag: Bag) throws -> DocumentObject {
    func named(_ keys: [String]) -> DocumentValue { .array(keys.map { .string(names[$0] ?? $0) }) }
    let (saved, unsaved) = (try bag.saved.keys(), try bag.unsaved.keys())
    let removed = try bag.removed.keys()
    let representation = try bag.representation()
    // The original has the documents of a bag in memory until it is deflated; here they are read on demand.
    let hasLoading = loadedBags.contains { $0 === bag }
    return [
      "saved": .int(Int64(saved.count)), "unsaved": .int(Int64(unsaved.count)),
      "removed": .int(Int64(removed.count)), "count": .int(Int64(try bag.count())),
      "name": bag.name.map { .string($0) } ?? .null,
      "hasUnsavedChanges": .bool(bag.hasUnsavedChanges), "savedKeys": named(saved.sorted()),
      "removedKeys": named(removed), "objectKeys": named(saved + unsaved),
      "objectKeyCount": .int(Int64(saved.count + unsaved.count)),
      "keyNonEmpty": .bool(!bag.key.isEmpty),
      "representationFieldCount": .int(Int64(representation.count)),
      "allDeflated": .bool(hasLoading && bag.loadedCount == 0),
      "anyDeflated": .bool(hasLoading && bag.loadedCount < saved.count),
    ]
  }

  /// Saves a bag. In the original, saving changes reads the bag again, with its documents.
  func save(_ bag: Bag, by write: () throws -> Void) throws {
    let isChanged = bag.hasUnsavedChanges
    try write()
    if isChanged { forgetLoading(of: bag) }
  }

  private func forgetLoading(of bag: Bag) { loadedBags.removeAll { $0 === bag } }
}
