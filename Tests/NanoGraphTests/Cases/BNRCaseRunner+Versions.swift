// SPDX-License-Identifier: MIT

import NanoStoreModels
import NanoTestSupport

/// Classes that gain fields, and documents that follow.
extension BNRCaseRunner {
  func performVersions(_ op: String, _ step: DocumentObject) throws -> DocumentObject? {
    switch op {
    case "defineClass":
      let name = step["name"]?.string ?? ""
      // Another class of the same collection takes another context.
      try close()
      classes[name] = Original.classes[name]?[Int(step["version"]?.int ?? 1) - 1]
    case "recordVersions":
      return ["sorted": .array(try versions(type(step), in: store).sorted().map { .int($0) })]
    case "upgradeAll":
      let count =
        if step["class"] == nil { try context.upgradeAll() } else {
          try context.upgrade(type(step))
        }
      return ["ok": true, "count": .int(Int64(count))]
    case "upgradeNeeded":
      return try upgrade(
        from: step["stored"]?.object ?? [:], to: step["current"]?.object ?? [:])
    default: return nil
    }
    return ["ok": true]
  }

  private func versions(_ type: any CaseObject.Type, in store: Store) throws -> [Int64] {
    try store[type.collectionName].find().fetch().map { $0.version ?? 1 }
  }

  /// Which classes a program of today upgrades in a store that one of before has made.
  private func upgrade(
    from before: DocumentObject, to now: DocumentObject
  ) throws -> DocumentObject {
    let store = try openFile("versions.db")
    defer { try? store.close() }
    let context = ObjectContext(store)
    for (name, version) in before { try context.insert(try type(name, version).init()) }
    try context.save()

    let today = ObjectContext(store)
    var revisions: [String: ContentVersion?] = [:]
    for (name, version) in now {
      try today.register(type(name, version))
      revisions[name] = try store[name].contentVersion(rowID: 1)
    }
    try today.upgradeAll()
    let upgraded = try now.map(\.name).filter {
      try store[$0].contentVersion(rowID: 1) != revisions[$0]
    }
    for name in upgraded {
      let type = try type(name, now[name] ?? 1)
      guard try versions(type, in: store) == [Int64(type.modelVersion)] else {
        throw failure("\(name) was written anew, and not as of today")
      }
    }
    return [
      "upgraded": .array(upgraded.map { .string($0) }),
      "untouched": .array(
        now.map(\.name).filter { !upgraded.contains($0) }.map { .string($0) }),
    ]
  }

  private func type(_ name: String, _ version: DocumentValue) throws -> any CaseObject.Type {
    guard let versions = Original.classes[name], let version = version.int,
      versions.indices.contains(Int(version) - 1)
    else { throw failure("there is no class \(name) of that version") }
    return versions[Int(version) - 1]
  }
}
