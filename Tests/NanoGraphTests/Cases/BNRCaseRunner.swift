// SPDX-License-Identifier: MIT

import NanoStoreEncryption
import NanoStoreModels
import NanoTestSupport

/// Runs one case of BNRPersistence with an object context on a temporary store.
final class BNRCaseRunner {
  let one: AcceptanceCase
  let folder: Scratch
  /// The current classes by name. A case can define a newer version of one.
  var classes: [String: any CaseObject.Type] = [:]
  var isTextIndexed = true
  /// The passphrase of the store; empty for a plain store.
  var passphrase = ""
  /// The bytes in the original's format.
  var old = OldBytes()
  /// The row IDs that the original gives to objects.
  var rows = OriginalRows()
  /// The rows of each class that were stored before the store was encrypted.
  var plainRows: [String: Set<Int64>] = [:]
  /// The named items that refer to objects whose row IDs the next save decides.
  var namedNewObjects: [String: [Item]] = [:]
  /// The engine of a plain store, which fails calls if a case requires it.
  let failing = FailingEngineBox()
  private var opened: (store: Store, context: ObjectContext)?
  /// The objects that the case has named, and their ids from before the store was reopened.
  private var objects: [String: any CaseObject] = [:]
  private var ids: [String: AnyObjectID] = [:]
  /// The names of objects from before the store was reopened.
  private var formerNames: Set<String> = []

  init(_ one: AcceptanceCase) throws {
    self.one = one
    folder = try Scratch()
    register((one.fields["classes"]?.array ?? []).compactMap(\.string))
  }

  deinit { try? opened?.store.close() }

  func run() throws {
    for (number, (step, reason)) in Differences.steps(one).enumerated() where reason == nil {
      let actual = try result(of: step)
      try noteNewObjects()
      try check(step, actual, number + 1)
    }
  }

  // MARK: The store

  var store: Store { get throws { try open().store } }
  var context: ObjectContext { get throws { try open().context } }

  private func open() throws -> (store: Store, context: ObjectContext) {
    if let opened { return opened }
    let store = try openFile("case.db")
    let context = ObjectContext(store)
    for type in classes.values { context.register(type) }
    opened = (store, context)
    return (store, context)
  }

  var isOpen: Bool { opened != nil }

  /// Opens a store in the folder of the case with the current passphrase.
  func openFile(_ name: String) throws -> Store {
    guard !passphrase.isEmpty else {
      // An engine that fails calls lacks SQL, so it is used only if needed.
      guard one.steps.contains(where: { $0["op"] == "saveWithFailingBackend" }) else {
        return try Store.file(folder.file(name))
      }
      return try Store(
        .file(folder.file(name)), configuration: .withoutTuning,
        wrapping: { [failing] in failing.wrap($0) })
    }
    let cost = ScryptCost(rounds: 16, blockSize: 1, parallelism: 1)
    return try Store(
      .file(folder.file(name)), encryption: Encryption(.passphrase(passphrase), cost: cost))
  }

  func register(_ names: [String]) {
    for name in names {
      classes[name] = classes[name] ?? Original.classes[name]?.first
      if !old.classes.contains(name) { old.classes.append(name) }
    }
  }

  /// Closes the store. It is reopened when it is used next.
  ///
  /// - Parameter losesObjects: Whether the case reopens the store, so that its objects no longer belong to a store.
  func close(losesObjects: Bool = false) throws {
    for (name, object) in objects { ids[name] = object.anyID }
    if losesObjects { formerNames.formUnion(objects.keys) }
    objects = [:]
    rows.new = [:]
    namedNewObjects = [:]
    try opened?.store.close()
    opened = nil
  }

  // MARK: Names

  func type(_ step: DocumentObject) throws -> any CaseObject.Type {
    let name = step["class"]?.string ?? one.fields["classes"]?.array?.first?.string ?? ""
    guard let type = classes[name] ?? Original.classes[name]?.first else {
      throw failure("there is no class \(name)")
    }
    return type
  }

  func bind(_ name: String?, _ object: (any CaseObject)?) {
    guard let name, let object else { return }
    objects[name] = object
  }

  func object(_ name: String) throws -> any CaseObject {
    if let object = objects[name] { return object }
    guard let id = ids[name], let object = try context.get(id) as? any CaseObject else {
      throw failure("there is no object \(name)")
    }
    objects[name] = object
    return object
  }

  /// Returns whether a name is the one of an object from before the store was reopened.
  func isFormer(_ name: String) -> Bool { objects[name] == nil && formerNames.contains(name) }

  /// Returns the name of this instance; nil for another instance of the same object.
  func nameOfInstance(_ object: any GraphObject) -> String? {
    objects.first { $0.value === object }?.key
  }

  /// Returns the name of this object, which can be an instance of another context.
  func name(of object: any GraphObject) -> String? {
    if let name = nameOfInstance(object) { return name }
    guard let id = object.anyID else { return nil }
    return objects.first { $0.value.anyID == id }?.key ?? ids.first { $0.value == id }?.key
  }

  /// Returns all objects that the case has named, and releases them.
  func takeObjects() -> [any CaseObject] {
    defer {
      formerNames.formUnion(objects.keys)
      objects = [:]
    }
    return Array(objects.values)
  }

  func failure(_ description: String) -> CaseFailure {
    CaseFailure(description: "\(one.id): \(description)")
  }

  // MARK: Results

  private func result(of step: DocumentObject) throws -> DocumentObject {
    do {
      let op = step["op"]?.string ?? ""
      if let result = try performObjects(op, step) ?? performFetching(op, step)
        ?? performBuffers(op, step) ?? performRecords(op, step) ?? performNames(op, step)
        ?? performStore(op, step) ?? performSaving(op, step) ?? performVersions(op, step)
        ?? performShapes(op, step) ?? performSealing(op, step)
      {
        var result = result.asResult
        if step["expect"]?["files"] != nil {
          result["files"] = .array(try files().map { .string($0) })
        }
        return result
      }
      throw CaseFailure(one, unknownOperation: op)
    } catch let error as StoreError {
      return ["ok": false, "error": .string(error.code.rawValue), "isNil": true]
    }
  }

  private func check(_ step: DocumentObject, _ actual: DocumentObject, _ number: Int) throws {
    var step = step
    step["expect"] = .object(
      DocumentObject(
        (step["expect"]?.object ?? [:]).filter { !Differences.isLeftOut($0.name) }
          .map { ($0.name, $0.value) }))
    try one.check(step, number, actual) { field, wanted, found in
      ["set", "files"].contains(field)
        ? DocumentValue.isSameSet(wanted, found) : wanted.matches(found)
    }
  }
}

extension GraphObject {
  var anyID: AnyObjectID? { objectID.map { AnyObjectID($0) } }
}
