// SPDX-License-Identifier: MIT

import NanoDocument
import NanoSync

/// An entry of an answer: a revision, or that the peer does not have it.
enum RevisionAnswer {
  case document(WireDocument)
  case missing
  case invalid(PeerError)

  private static let prefix = Array(#"{"ok":"#.utf8)

  /// Interprets `{"ok":{…}}`, `{"missing":…}` or `{"error":…}`.
  init(_ json: [UInt8], id: String) {
    do throws(StoreError) {
      // The object inside is parsed alone: a document may be as deep as values can be.
      if json.starts(with: Self.prefix), json.last == UInt8(ascii: "}") {
        let inner = Array(json.dropFirst(Self.prefix.count).dropLast())
        self = Self.interpreted(try SyncJSON.object(inner), id)
        return
      }
      let entry = try SyncJSON.object(json)
      if let object = entry["ok"]?.object {
        self = Self.interpreted(object, id)
      } else if entry["missing"] != nil {
        self = .missing
      } else {
        // PouchDB has the error beside the ID, CouchDB in an object.
        self = Self.failure(entry["error"]?.object ?? entry)
      }
    } catch {
      self = .invalid(
        PeerError(.invalidAnswer, "The peer's JSON of a document is not valid: \(error.message)"))
    }
  }

  private static func interpreted(_ object: DocumentObject, _ id: String) -> RevisionAnswer {
    do throws(ProtocolError) {
      let document = try WireDocument(object)
      guard document.id.hasSameBytes(as: id) else {
        return .invalid(
          PeerError(.invalidAnswer, "The peer sent another document than that asked for"))
      }
      guard document.revision != nil else {
        return .invalid(PeerError(.invalidAnswer, "The peer sent a document without a revision"))
      }
      return .document(document)
    } catch {
      return .invalid(
        PeerError(.invalidAnswer, "The peer sent a document that is not valid: \(error.reason)"))
    }
  }

  private static func failure(_ error: DocumentObject) -> RevisionAnswer {
    let name = error["error"]?.string ?? ""
    let reason = error["reason"]?.string ?? ""
    switch name {
    case "not_found": return .missing
    case "forbidden", "unauthorized":
      return .invalid(PeerError(status: 403, name: name, reason: reason))
    default:
      return .invalid(
        PeerError(.invalidAnswer, "The peer's entry of a document is not one: \(name) \(reason)"))
    }
  }

  func fetched(_ wanted: WantedRevision) -> FetchedRevision {
    switch self {
    case .document(let document): .document(document)
    case .missing: .missing(id: wanted.id, wanted.revision)
    case .invalid(let error): .invalid(id: wanted.id, wanted.revision, error)
    }
  }
}

/// Assigns the rows of a `_bulk_get` to what was asked for.
struct BulkAnswers {
  private(set) var fetched: [FetchedRevision] = []
  private let wanted: [WantedRevision]
  private var isAnswered: [Bool]
  private var row = 0
  /// The revisions that came, with their ancestors.
  private var arrived = IDMap<Set<RevisionID>>()

  init(_ wanted: [WantedRevision]) {
    self.wanted = wanted
    isAnswered = wanted.map { _ in false }
  }

  /// Interprets `{"id":…,"docs":[…]}`. A row that is of no use is one that did not come.
  mutating func add(_ json: [UInt8]) {
    defer { row += 1 }
    guard let (entries, shell) = try? JSONSplitter.split(json, field: "docs"),
      let id = (try? DocumentObject(json: shell, dialect: .plain))?["id"]?.string,
      let index = index(of: id), !entries.isEmpty
    else { return }
    isAnswered[index] = true
    for entry in entries {
      let answer = RevisionAnswer(entry, id: id)
      if case .document(let document) = answer {
        arrived[id, default: []].formUnion(document.history)
      }
      fetched.append(answer.fetched(wanted[index]))
    }
  }

  /// Rows come in the order of the request; some peers have one row for all revisions of a document.
  private func index(of id: String) -> Int? {
    if wanted.indices.contains(row), !isAnswered[row], wanted[row].id.hasSameBytes(as: id) {
      return row
    }
    return wanted.indices.first { !isAnswered[$0] && wanted[$0].id.hasSameBytes(as: id) }
  }

  /// What did not come, neither itself nor in the form of a descendant.
  var rest: [WantedRevision] {
    zip(wanted, isAnswered).filter { wanted, isAnswered in
      !isAnswered && arrived[wanted.id]?.contains(wanted.revision) != true
    }.map(\.0)
  }
}

/// Assigns the entries of an `open_revs` to what was asked for.
struct SingleAnswers {
  private let id: String
  private let wanted: [WantedRevision]
  private var fetched: [FetchedRevision] = []
  private var arrived: Set<RevisionID> = []
  private var failure: PeerError?

  init(_ id: String, _ wanted: [WantedRevision]) {
    self.id = id
    self.wanted = wanted
  }

  mutating func add(_ json: [UInt8]) {
    switch RevisionAnswer(json, id: id) {
    case .document(let document):
      arrived.formUnion(document.history)
      fetched.append(.document(document))
    case .missing:
      let text = (try? DocumentObject(json: json, dialect: .plain))?["missing"]?.string
      guard let revision = text.flatMap({ RevisionID($0) }) else { return }
      arrived.insert(revision)
      fetched.append(.missing(id: id, revision))
    case .invalid(let error): failure = error
    }
  }

  /// Returns the entries, with an error for each revision that did not come.
  func finished(_ error: PeerError) -> [FetchedRevision] {
    fetched
      + wanted.filter { !arrived.contains($0.revision) }.map {
        .invalid(id: id, $0.revision, failure ?? error)
      }
  }
}
