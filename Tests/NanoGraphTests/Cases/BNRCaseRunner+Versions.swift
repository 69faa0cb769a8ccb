// SPDX-License-Identifier: MIT

import NanoStoreModels
import NanoTestSupport

@testable import NanoLegacy

/// Schema evolution: classes that gain fields.
extension BNRCaseRunner {
  func performVersions(_ op: String, _ step: DocumentObject) throws -> DocumentObject? {
    switch op {
    case "defineClass":
      let name = step["name"]?.string ?? ""
      // A different class for the same collection requires a new context.
      try close()
      let version = Int(step["version"]?.int ?? 1)
      guard let versions = Original.classes[name], versions.indices.contains(version - 1) else {
        throw failure("there is no class \(name) of that version")
      }
      register([name])
      classes[name] = versions[version - 1]
      old.fields[name] = try (step["fields"]?.array ?? []).map { try field($0.array ?? []) }
    case "recordVersions":
      let type = try type(step)
      // Classes have version 0, unless a case defines them.
      let isDefined = old.fields[type.collectionName] != nil
      let versions = try versions(type, in: store).map { isDefined ? $0 : 0 }
      return ["sorted": .array(versions.sorted().map { .int($0) })]
    case "upgradeAll":
      // The original saves other changes along.
      if try context.hasUnsavedChanges { try save() }
      let count =
        if step["class"] == nil { try context.upgradeAll() } else {
          try context.upgrade(type(step))
        }
      for type in try step["class"] == nil ? Array(classes.values) : [type(step)] {
        old.upgraded[type.collectionName] = UInt8(clamping: type.modelVersion)
        try noteUpgraded(type.collectionName)
      }
      return ["ok": true, "count": .int(Int64(count))]
    case "upgradeNeeded":
      return try upgrade(
        from: step["stored"]?.object ?? [:], to: step["current"]?.object ?? [:])
    default: return nil
    }
    return ["ok": true]
  }

  /// Decodes a field of a class, such as `["fax", "string", "since 2"]`.
  private func field(_ parts: [DocumentValue]) throws -> BNRSchema.Field {
    let parts = parts.map { $0.string ?? "" } + ["", ""]
    let since = parts[2].isEmpty ? nil : UInt8(parts[2].filter(\.isNumber))
    guard parts[2].isEmpty || (parts[2].hasPrefix("since ") && since != nil) else {
      throw failure("the runner does not know \"\(parts[2])\"")
    }
    return BNRSchema.Field(parts[0], try fieldType(parts[1]), since: since)
  }

  private func versions(_ type: any CaseObject.Type, in store: Store) throws -> [Int64] {
    try store[type.collectionName].find().fetch().map { $0.version ?? 1 }
  }

  /// Returns which classes the current program upgrades in a store created by an earlier one.
  private func upgrade(
    from before: DocumentObject, to now: DocumentObject
  ) throws -> DocumentObject {
    let store = try openFile("versions.db")
    defer { try? store.close() }
    let context = ObjectContext(store)
    for (name, version) in before { try context.insert(try type(name, version).init()) }
    try context.save()

    let current = ObjectContext(store)
    var revisions: [String: ContentVersion?] = [:]
    for (name, version) in now {
      try current.register(type(name, version))
      revisions[name] = try store[name].contentVersion(rowID: 1)
    }
    try current.upgradeAll()
    let upgraded = try now.map(\.name).filter {
      try store[$0].contentVersion(rowID: 1) != revisions[$0]
    }
    for name in upgraded {
      let type = try type(name, now[name] ?? 1)
      guard try versions(type, in: store) == [Int64(type.modelVersion)] else {
        throw failure("\(name) was upgraded, but not to the current version")
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
