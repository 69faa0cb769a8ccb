// SPDX-License-Identifier: MIT

import NanoStore
import NanoTesting

extension ProgramGenerator {
  mutating func value() -> DocumentValue {
    conditions.values.value(random.pick([.int, .text, .mixed, .number, .date, .array]), depth: 1)
  }

  private static let words = ["gin", "Gin", "tonic", "crème", "creme", "été", "日本", "x-ray", "a"]

  mutating func words() -> String {
    (0..<random.number(0...4)).map { _ in random.pick(Self.words) }.joined(separator: " ")
  }

  /// Returns a small document. `u` and `tags` contain values for unique indexes: small integers and short strings.
  mutating func object() -> DocumentObject {
    var object = DocumentObject()
    if random.oneIn(2) { object["a"] = conditions.values.value(.int) }
    if random.oneIn(3) { object["a"] = .object(["b": value(), "name": .string(words())]) }
    if random.oneIn(2) { object["b"] = value() }
    if random.oneIn(2) { object["name"] = .string(words()) }
    if random.oneIn(3) { object["u"] = .int(Int64(random.number(0...9))) }
    if random.oneIn(3) {
      object["tags"] = .array(
        (0..<random.number(0...2)).map { _ in .string("t\(random.number(0...20))") })
    }
    if random.oneIn(3) { object["list"] = conditions.values.value(.array) }
    if random.oneIn(3) {
      let name = random.pick(ValueGenerator.names)
      object[name] = conditions.values.value(.mixed, depth: 1)
    }
    known.append(object)
    if known.count > 20 { known.removeFirst() }
    conditions.documents = known
    lastRowID += 1
    return object
  }

  mutating func key() -> String { random.pick(Self.keys) }

  mutating func target() -> Call.Target {
    random.oneIn(3) ? .rowID(Int64(random.number(1...min(lastRowID, 12)))) : .key(key())
  }

  mutating func changes() -> [FieldChange] {
    (0..<random.number(0...3)).map { _ in change() }
  }

  private mutating func change() -> FieldChange {
    let path = FieldPath(
      random.pick(["a", "b", "a.b", "u", "list", "list.0", "tags", "new.field", "$d"]))
    return switch random.number(0...17) {
    case 0: .set("u", random.number(0...9))
    case 1: .set("name", words())
    case 2...6: .set(path, value())
    case 7: .remove(path)
    case 8: .increment(path, by: random.number(-3...3))
    case 9: .increment(path, by: 0.5)
    case 10: .multiply(path, by: random.pick([2, Int.max]))
    case 11: random.oneIn(2) ? .min(path, value()) : .max(path, value())
    case 12: .append(path, value(), value())
    case 13: .insert(path, value(), at: random.number(0...2))
    case 14: .addToSet(path, value())
    case 15: .pull(path, value())
    case 16: random.oneIn(2) ? .pop(path) : .pull(path, where: Field(.element) > 2)
    default: .rename(path, to: random.pick(["a", "b.c", "list"]))
    }
  }

  mutating func document() -> Call {
    let name = name()
    let key: String? = random.oneIn(4) ? nil : key()
    switch random.number(0...19) {
    case 0...2: return .insert(name, object(), key: key)
    case 3...6: return .save(name, object(), key: key)
    case 7:
      return .saveTyped(
        name, object(), key: key, type: random.pick(["Person", "Figure", "Årstid"]),
        version: random.pick([nil, 1, 2]))
    case 8:
      let number = random.number(0...9)
      return .saveText(
        name, #"{"a":\#(number),"list":[{"name":"x"},\#(number)],"b":null}"#, key: self.key())
    case 9:
      return .saveObject(
        name, Figure(id: self.key(), name: words(), list: [random.number(0...3)]))
    case 10: return .insertAll(name, (0..<batchSize(0...4)).map { _ in object() })
    case 11:
      return .writeAll(
        name, random.oneIn(2) ? .insert : .save,
        (0..<batchSize(1...3)).map { _ in .init(object: object(), key: self.key()) })
    case 12: return .edit(name, target(), changes(), replacing: random.oneIn(2))
    case 13, 14: return .update(name, target(), changes())
    case 15: return .updateFound(name, query(), changes())
    case 16: return .remove(name, target())
    case 17:
      return random.oneIn(2)
        ? .removeKeys(name, [self.key(), self.key()]) : .remove(name, target())
    case 18: return .insertDocument(name, .init(object: object(), key: key))
    default:
      // Rare, because it deletes everything.
      if random.oneIn(10) { return .removeAll(name) }
      return random.oneIn(3) ? .removeFound(name, query()) : .remove(name, target())
    }
  }

  /// Returns a number of documents, occasionally large enough for the engine's batch statements, or for a batch without
  /// a savepoint.
  private mutating func batchSize(_ usual: ClosedRange<Int>) -> Int {
    if random.oneIn(40) { return random.number(100...104) }
    return random.number(random.oneIn(10) ? 20...24 : usual)
  }
}
