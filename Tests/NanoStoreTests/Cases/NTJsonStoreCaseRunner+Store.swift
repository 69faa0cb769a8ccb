// SPDX-License-Identifier: MIT

import Foundation
import NanoStore

extension NTJsonStoreCaseRunner {
  /// Performs an operation on the store; returns nil for operations of other kinds.
  func performStore(_ op: String, _ step: DocumentObject) throws -> DocumentObject? {
    switch op {
    case "exists": return ["value": .bool(Store.Location.file(setup.file).exists)]
    case "collections":
      return Self.set(try store().collections().map { .string($0.name) })
    case "close":
      try opened?.close()
      return ["ok": true, "error": .null]
    case "reopen":
      try store().close()
      opened = nil
      _ = try store()
      return ["ok": true, "error": .null]
    case "metadata": return ["value": try store().metadata(step["key"]?.string ?? "") ?? .null]
    case "setMetadata":
      let given = try value(step["value"] ?? .null)
      try store().setMetadata(given.isNull ? nil : given, step["key"]?.string ?? "")
      return ["ok": true, "error": .null]
    case "setStoreName":
      return try changeFile(StoreSetup(path: setup.path, name: step["name"]?.string))
    case "setStorePath":
      return try changeFile(StoreSetup(path: text(step["path"]), name: setup.name))
    case "newStore":
      setup = StoreSetup(
        path: try text(step["path"]), name: step["name"]?.string ?? "NTJsonStore.db")
      opened = nil
      return location
    case "storeName", "storePath", "storeFilename":
      return ["value": location[op] ?? .null]
    case "applyConfig": return try apply(object(step["config"]), step)
    case "applyConfigPath" where step["config"]?.object != nil:
      var result = try apply(object(step["config"]), step)
      result["value"] = result["directory"]
      return result
    case "applyConfigPath" where namedFolder(step) != nil:
      return try applyPath(text(namedFolder(step)) ?? "")
    case "applyConfigFile", "applyConfigPath":
      let path = try text(step["path"]) ?? ""
      let content = try step["content"].map { try value($0) }
      if let text = content?.string ?? content?.object?.jsonString(dialect: .plain) {
        try Data(text.utf8).write(to: URL(filePath: path))
      }
      do {
        var ignored: [StoreError] = []
        let file = try StoreSetup(contentsOf: path, ignored: &ignored)
        return try apply(file.object, step)
      } catch let error as StoreError where [.cannotOpen, .invalidJSON].contains(error.code) {
        return ["ok": false]
      }
    default: return nil
    }
  }

  /// Returns the folder that a step names; with content, its path is that of a file.
  private func namedFolder(_ step: DocumentObject) -> DocumentValue? {
    step["storePath"] ?? step["value"] ?? (step["content"] == nil ? step["path"] : nil)
  }

  /// The place of the store's file, under the names that steps expect. Opens nothing.
  private var location: DocumentObject {
    let file = URL(filePath: setup.file)
    let folder = DocumentValue.string(Self.withoutEnd(file.deletingLastPathComponent().path))
    let (name, path) = (
      DocumentValue.string(file.lastPathComponent), DocumentValue.string(file.path)
    )
    return [
      "ok": true, "error": .null, "directory": folder, "path": folder, "storePath": folder,
      "name": name, "storeName": name, "filename": path, "storeFilename": path,
    ]
  }

  /// Applies a setup that names a folder: a path, or `CACHES`, `TEMP` or `DOCS`. Opens nothing.
  private func applyPath(_ path: String) throws -> DocumentObject {
    var ignored: [StoreError] = []
    let configured = StoreSetup(["storePath": .string(path)], ignored: &ignored)
    var result = try changeFile(StoreSetup(path: configured.path, name: setup.name))
    result["value"] = result["directory"]
    return result
  }

  /// Replaces the names of the system's folders in a text of a case.
  static func folders(in text: String) -> String {
    func folder(_ kind: FileManager.SearchPathDirectory) -> String {
      FileManager.default.urls(for: kind, in: .userDomainMask).first?.path ?? NSTemporaryDirectory()
    }
    let folders = [
      ("<caches directory>", folder(.cachesDirectory)),
      ("<documents directory>", folder(.documentDirectory)),
      ("<temporary directory>", NSTemporaryDirectory()),
    ]
    return folders.reduce(text) { text, folder in
      text.replacing(folder.0, with: withoutEnd(folder.1))
    }
  }

  private static func withoutEnd(_ path: String) -> String {
    path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
  }

  private func text(_ raw: DocumentValue?) throws -> String? { try value(raw ?? .null).string }

  /// Selects a file, which is possible until the store is first used.
  private func changeFile(_ changed: StoreSetup) throws -> DocumentObject {
    // `Store.apply` allows the same file; the original did not.
    if opened != nil { throw StoreError(.invalidArgument, Self.storeOpen) }
    setup = changed
    return location
  }

  private func apply(_ config: DocumentObject, _ step: DocumentObject) throws -> DocumentObject {
    var ignored: [StoreError] = []
    if let name = step["collection"]?.string {
      var wanted = CollectionSetup(config, ignored: &ignored)
      wanted.identity = .rowID
      try store()[name.lowercased()].apply(wanted)
      return ["ok": true, "error": .null]
    }
    var wanted = StoreSetup(config, ignored: &ignored)
    var collections: [String: CollectionSetup] = [:]
    for (name, given) in wanted.collections {
      var one = given
      one.identity = .rowID
      collections[name.lowercased()] = one
    }
    wanted.collections = collections
    if wanted.path != nil || wanted.name != nil {
      _ = try changeFile(
        StoreSetup(path: wanted.path ?? setup.path, name: wanted.name ?? setup.name))
    }
    (wanted.path, wanted.name) = (nil, nil)
    // A setup that only names a location opens nothing.
    if !wanted.collections.isEmpty { try store().apply(wanted) }
    return location
  }
}
