// SPDX-License-Identifier: MIT

import Foundation
import NanoStore

extension NTJsonStoreCaseRunner {
  /// Performs an operation on the store; returns nil for operations of other kinds.
  func performStore(_ op: String, _ step: DocumentObject) throws -> DocumentObject? {
    switch op {
    case "exists": return ["value": .bool(Store.Location.file(setup.file).exists)]
    case "collections":
      // The original stored names in lowercase; here they keep the spelling of their first use.
      return ["set": .array(try store().collections().map { .string($0.name.lowercased()) })]
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
      setup = StoreSetup(path: try text(step["path"]), name: step["name"]?.string)
      opened = nil
      let file = URL(filePath: try store().file ?? "")
      return [
        "directory": .string(file.deletingLastPathComponent().path), "ok": true,
        "name": .string(file.lastPathComponent), "filename": .string(file.path),
      ]
    case "storeName", "storePath", "storeFilename":
      let file = URL(filePath: setup.file)
      let names = [
        "storeName": file.lastPathComponent, "storeFilename": file.path,
        "storePath": file.deletingLastPathComponent().path,
      ]
      return ["value": .string(names[op] ?? "")]
    case "applyConfig": return try apply(object(step["config"]), step)
    case "applyConfigPath"
    where step["content"] == nil && step["path"] != nil || step["storePath"] != nil:
      return try applyPath(text(step["storePath"] ?? step["path"]) ?? "")
    case "applyConfigFile", "applyConfigPath":
      let path = try text(step["path"]) ?? ""
      if let content = step["content"]?.string {
        try Data(content.utf8).write(to: URL(filePath: path))
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

  /// Applies a setup that names a folder: a path, or `CACHES`, `TEMP` or `DOCS`. Opens nothing.
  private func applyPath(_ path: String) throws -> DocumentObject {
    var ignored: [StoreError] = []
    let configured = StoreSetup(["storePath": .string(path)], ignored: &ignored)
    _ = try changeFile(StoreSetup(path: configured.path, name: setup.name))
    let folder = URL(filePath: setup.file).deletingLastPathComponent().path
    let value = DocumentValue.string(Self.withoutEnd(folder))
    return ["ok": true, "directory": value, "value": value, "path": value, "storePath": value]
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

  /// Selects a different file, which is possible until the store is first used.
  private func changeFile(_ changed: StoreSetup) throws -> DocumentObject {
    if let opened {
      try opened.apply(changed)
    } else {
      setup = changed
    }
    return ["ok": true, "error": .null]
  }

  private func apply(_ config: DocumentObject, _ step: DocumentObject) throws -> DocumentObject {
    var ignored: [StoreError] = []
    if let name = step["collection"]?.string {
      var wanted = CollectionSetup(config, ignored: &ignored)
      wanted.identity = .rowID
      try store()[name].apply(wanted)
      return ["ok": true, "error": .null]
    }
    var wanted = StoreSetup(config, ignored: &ignored)
    for name in wanted.collections.keys { wanted.collections[name]?.identity = .rowID }
    if wanted.path != nil || wanted.name != nil {
      _ = try changeFile(
        StoreSetup(path: wanted.path ?? setup.path, name: wanted.name ?? setup.name))
    }
    (wanted.path, wanted.name) = (nil, nil)
    // A setup that only names a location opens nothing.
    if !wanted.collections.isEmpty { try store().apply(wanted) }
    return ["ok": true, "error": .null]
  }
}
