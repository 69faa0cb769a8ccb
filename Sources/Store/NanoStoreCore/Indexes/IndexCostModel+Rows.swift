// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine

// The cost model as rows stored by an engine; docs/INDEXING.md describes them.
extension IndexCostModel {
  init(rows: [IndexCostRecord]) {
    for row in rows {
      guard let state = DocumentObject(json: row.state) else { continue }
      var model = collections[ExactName(row.collection)] ?? CollectionCostModel()
      model.read(row.subject, state)
      collections[ExactName(row.collection)] = model
    }
  }

  func rows(of collection: String) -> [IndexCostRecord] {
    (collections[ExactName(collection)]?.states ?? []).map { subject, state in
      IndexCostRecord(collection: collection, subject: subject, state: state.json)
    }
  }

  /// Adds what was recorded before the rows were read.
  mutating func add(_ other: IndexCostModel) {
    for (name, newer) in other.collections {
      guard var model = collections[name] else {
        collections[name] = newer
        continue
      }
      if newer.scanCost > 0 { model.scanCost = newer.scanCost }
      model.documents = max(newer.documents, model.documents)
      for (candidate, account) in newer.accounts {
        var sum = model.accounts[candidate] ?? IndexAccount()
        sum.charge += account.charge
        sum.scans += account.scans
        sum.probe = account.probe
        model.accounts[candidate] = sum
      }
      for (index, count) in newer.uses { model.used(index.text, count) }
      model.built.merge(newer.built) { $1 }
      collections[name] = model
    }
  }
}

extension CollectionCostModel {
  private static let measurements = "measured"
  private static let index = "index "

  fileprivate var states: [(String, DocumentObject)] {
    var rows: [(String, DocumentObject)] = []
    var measured: DocumentObject = [
      "documents": .int(Int64(documents)), "scan": .double(scanCost),
    ]
    for (kind, correction) in corrections { measured[kind.rawValue] = .double(correction) }
    rows.append((Self.measurements, measured))
    for name in Set(built.keys).union(uses.keys).sorted() {
      var state: DocumentObject = ["uses": .int(Int64(uses[name] ?? 0))]
      if let index = built[name] {
        state["cost"] = .double(index.cost)
        state["debit"] = .double(index.debit)
        state["serves"] = .array(index.candidates.map { .string($0.text) })
      }
      rows.append((Self.index + name.text, state))
    }
    for (candidate, account) in accounts.sorted(by: { $0.key.text.isBefore($1.key.text) }) {
      rows.append(
        (
          candidate.text,
          [
            "charge": .double(account.charge), "scans": .int(Int64(account.scans)),
            "drops": .int(Int64(account.drops)), "refusals": .int(Int64(account.refusals)),
            "attempts": .int(Int64(account.attempts)),
          ]
        ))
    }
    return rows
  }

  /// Arbitrary: larger than any real count, and far from integer overflow.
  private static let largest: Int64 = 1 << 40

  /// Limits a stored number of seconds, or a factor, to plausible values: a file may contain
  /// anything.
  private static func sound(_ number: Double) -> Double {
    number.isNaN ? 0 : min(max(number, 0), 1e9)
  }

  fileprivate mutating func read(_ subject: String, _ state: DocumentObject) {
    func number(_ name: String) -> Int { Int(min(max(state[name]?.int64 ?? 0, 0), Self.largest)) }
    func seconds(_ name: String) -> Double { Self.sound(state[name]?.double ?? 0) }
    if subject == Self.measurements {
      documents = number("documents")
      scanCost = seconds("scan")
      for kind in IndexDefinition.Kind.allCases {
        corrections[kind] = state[kind.rawValue]?.double.map(Self.sound)
      }
    } else if subject.hasExactPrefix(Self.index) {
      let name = ExactName(String(subject.unicodeScalars.dropFirst(Self.index.utf8.count)))
      uses[name] = number("uses")
      guard state["cost"]?.double != nil, let serves = state["serves"]?.array else { return }
      built[name] = BuiltIndex(
        candidates: serves.compactMap { $0.string.flatMap { IndexCandidate(text: $0) } },
        cost: seconds("cost"), debit: seconds("debit"))
    } else if let candidate = IndexCandidate(text: subject) {
      accounts[candidate] = IndexAccount(
        charge: seconds("charge"), scans: number("scans"), drops: number("drops"),
        refusals: number("refusals"), attempts: number("attempts"))
    }
  }
}

extension DocumentObject {
  fileprivate init?(json: String) {
    var json = json
    let value = json.withUTF8 { bytes in
      var reader = JSONReader(UnsafeRawBufferPointer(bytes))
      return try? reader.value()
    }
    guard let object = value?.object else { return nil }
    self = object
  }

  fileprivate var json: String {
    var writer = JSONWriter()
    writer.value(.object(self))
    return writer.text
  }
}
