// SPDX-License-Identifier: MIT

import Foundation
import NanoStoreModels

/// Opening, atomic saves, the document, and releasing cycles.
extension BNRCaseRunner {
  func performStore(_ op: String, _ step: DocumentObject) throws -> DocumentObject? {
    switch op {
    case "reopen":
      try close(losesObjects: true)
      // Whether records have versions is not stored, and a new store object of the original gives them one.
      old.isVersioned = step["versioning"]?.bool ?? true
      // The original did not persist the passphrase either. A missing one is detected when something is read.
      passphrase = ""
      register((step["classes"]?.array ?? []).compactMap(\.string))
    case "storeExists":
      let isThere = FileManager.default.fileExists(atPath: try store.file ?? "")
      return ["value": .bool(isThere)]
    case "files":
      let files = DocumentValue.array(try files().map { .string($0) })
      return ["set": files, "count": .int(Int64(files.array?.count ?? 0))]
    case "openBackend": return try openStore(in: step["path"]?.string ?? "")
    case "transactionSave":
      return try saveTogether((step["classes"]?.array ?? []).compactMap(\.string))
    case "disableTextIndex":
      isTextIndexed = false
      for collection in try store.collections() { try store[collection.name].dropIndexes() }
    case "dissolve": return try releaseCycles()
    case "documentSaveAs": return try saveAs()
    case "delegateLog":
      return try log((step["actions"]?.array ?? []).compactMap(\.string), type(step))
    default: return nil
    }
    return ["ok": true]
  }

  /// Opens a store in a folder. A store is a file here, so the folder is created, and a case that requires a file
  /// gets one.
  private func openStore(in path: String) throws -> DocumentObject {
    guard path.hasPrefix("<temp>/") else {
      throw failure("\(path) is outside the folder of the case")
    }
    if path.hasSuffix("/file") { _ = try folder.write([1, 2, 3], "file") }
    let path = path.replacing("<temp>", with: folder.path)
    do {
      try Store(.file(path + "/store.db")).close()
    } catch let error as StoreError where error.code == .cannotOpen {
      var isFolder: ObjCBool = false
      let isThere = FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
      return ["ok": false, "error": isThere && !isFolder.boolValue ? "isFile" : "cannotOpen"]
    }
    return ["ok": true]
  }

  /// Returns the original's files. Here a store is one file: a collection replaces the file of a class, metadata
  /// replace the file of named buffers, and an index replaces its folder.
  func files() throws -> [String] {
    let collections = try store.collections().map(\.name)
    let indexes = try collections.flatMap { name in
      try store[name].fullTextIndexes().flatMap { index in
        index.fields.map { "\(name)-\($0).tindx" }
      }
    }
    return try collections + indexes + (context.names().isEmpty ? [] : ["NamedBuffers"])
  }

  /// Checks that objects of several classes are saved atomically.
  private func saveTogether(_ names: [String]) throws -> DocumentObject {
    register(names)
    let types = names.compactMap { classes[$0] }
    for type in types { try context.insert(type.init()) }
    struct Refusal: Error {}
    do {
      try context.save { _ in throw Refusal() }
    } catch is Refusal {}
    let isNoneThere = try types.allSatisfy { try stored($0).isEmpty }
    try save()
    try close()
    let areAllThere = try types.allSatisfy { try stored($0).count == 1 }
    return ["committed": .bool(isNoneThere && areAllThere && !types.isEmpty)]
  }

  /// Closes the context, and checks whether objects in reference cycles are released.
  private func releaseCycles() throws -> DocumentObject {
    let references = try makeCycle() + takeObjects().map { WeakReference($0) }
    let areThere = references.allSatisfy { $0.object != nil }
    try context.close()
    let areGone = references.allSatisfy { $0.object == nil }
    return ["calledFor": areThere && areGone ? "every object in memory" : "some objects"]
  }

  /// Creates objects that keep each other alive until their cycles are broken.
  private func makeCycle() throws -> [WeakReference] {
    let node = Original.GRLNode()
    let edge = Original.GRLEdge()
    edge.source = node
    edge.destination = node
    let list = Original.Playlist()
    list.songs = [Original.Song()]
    try context.insert(edge)
    try context.insert(list)
    try save()
    _ = (node.departing, node.arriving)
    list.touch()
    return [
      WeakReference(node), WeakReference(edge), WeakReference(list), WeakReference(list.songs[0]),
    ]
  }

  private struct WeakReference {
    weak var object: (any CaseObject)?

    init(_ object: any CaseObject) { self.object = object }
  }

  /// Does what a document app does for Save As: saves, copies the file and continues with the copy.
  private func saveAs() throws -> DocumentObject {
    try context.insert(Original.Person())
    try save()
    let second = try context.insert(Original.Person())
    second.name = "not saved yet"
    try save()
    try store.backup(to: folder.file("copy.db"))
    let copy = try openFile("copy.db")
    defer { try? copy.close() }
    let people = try ObjectContext(copy).all(Original.Person.self)
    return [
      "newHasAll": .bool(people.count == 2 && people.last?.name == second.name),
      "canUndo": .bool(ObjectContext(copy).canUndo),
    ]
  }

  // MARK: Observers

  /// Logs the observer's notifications for actions such as `insert a`, `willUpdate a`, `delete a`, `undo`.
  private func log(
    _ actions: [String], _ type: any CaseObject.Type
  ) throws -> DocumentObject {
    let observer = Log(name: { [unowned self] in name(of: $0) ?? "?" })
    let context = try context
    context.observer = observer
    for action in actions {
      let words = action.split(separator: " ").map { String($0) }
      let name = words.dropFirst().first ?? ""
      if words[0] == "insert" { bind(name, type.init()) }
      if words[0] != "undo", words[0] != "redo" { try context.closeUndoGroup() }
      switch words[0] {
      case "insert": try context.insert(object(name))
      case "willUpdate": try object(name).touch()
      case "delete": try context.delete(object(name))
      case "save": try save()
      case "undo": try context.undo()
      case "redo": try context.redo()
      default: throw failure("the runner does not know \"\(action)\"")
      }
    }
    return withExtendedLifetime(observer) { ["log": .array(observer.lines.map { .string($0) })] }
  }

  private final class Log: ObjectContextObserver {
    private let name: (any GraphObject) -> String
    var lines: [String] = []

    init(name: @escaping (any GraphObject) -> String) { self.name = name }

    func context(_ context: ObjectContext, willInsert object: any GraphObject) {
      lines.append("willInsert \(name(object))")
    }
    func context(_ context: ObjectContext, willUpdate object: any GraphObject) {
      lines.append("willUpdate \(name(object))")
    }
    func context(_ context: ObjectContext, willDelete object: any GraphObject) {
      lines.append("willDelete \(name(object))")
    }
    func context(_ context: ObjectContext, didChange object: any GraphObject) {
      lines.append("didChange \(name(object))")
    }
  }
}
