// SPDX-License-Identifier: MIT

package import NanoDocument
import NanoQuery

/// The requirements that an index must meet to serve a query. Several index definitions can meet them.
package struct IndexCandidate: Sendable, Hashable {
  /// What follows the fields that are compared for equality.
  package enum Tail: Sendable, Hashable {
    case none
    /// A field that is compared with a range; an index in either direction serves it.
    case range(FieldPath)
    /// The ordering of the results, with its directions.
    case order([IndexDefinition.Column])
  }

  package let kind: IndexDefinition.Kind
  /// The leading fields. Sorted here; in the index, any order will do.
  package let equalities: [FieldPath]
  package let tail: Tail

  package init(kind: IndexDefinition.Kind = .fields, equalities: [FieldPath], tail: Tail = .none) {
    self.kind = kind
    self.equalities = Set(equalities).sorted { $0.description.isBefore($1.description) }
    self.tail = tail
  }

  /// The number of fields of an index that meets the requirements.
  package var width: Int { equalities.count + tail.columns.count }

  /// Returns whether an index serves the queries behind this candidate.
  package func isServed(by index: IndexDefinition) -> Bool {
    guard index.kind == kind, index.columns.count >= width else { return false }
    let first = index.columns.prefix(equalities.count)
    guard Set(first.map(\.path)) == Set(equalities) else { return false }
    let rest = index.columns.dropFirst(equalities.count)
    switch tail {
    case .none: return true
    case .range(let path): return rest.first?.path == path
    case .order(let columns): return rest.starts(with: columns)
    }
  }

  /// Returns whether some index for this candidate could serve the other candidate too.
  package func mayServe(_ other: IndexCandidate) -> Bool {
    self == other
      || kind == other.kind && width >= other.width
        && Set(other.equalities).isSubset(of: equalities)
  }

  /// Returns an index definition for this candidate, with a name that is unlikely to collide with a declared
  /// one.
  ///
  /// - Parameter leading: Fields to put first among those compared for equality, so that the index also serves
  ///   queries on these alone.
  package func definition(leading: [FieldPath] = [], reason: String? = nil) -> IndexDefinition {
    let first = leading.filter(equalities.contains)
    let paths = first + equalities.filter { !first.contains($0) }
    var index = IndexDefinition(
      columns: paths.map { IndexDefinition.Column($0) } + tail.columns, kind: kind,
      origin: .adaptive, reason: reason)
    index.name = "adaptive_" + index.name
    return index
  }
}

extension IndexDefinition {
  /// The columns in query-text syntax: `[last], [first] DESC`.
  package var declaration: String {
    columns.map { Ordering($0.path, descending: $0.descending).queryText }.joined(separator: ", ")
  }
}

extension IndexCandidate.Tail {
  var columns: [IndexDefinition.Column] {
    switch self {
    case .none: []
    case .range(let path): [IndexDefinition.Column(path)]
    case .order(let columns): columns
    }
  }
}

extension IndexCandidate {
  /// The candidate as JSON: `{"kind":"fields","equal":["city"],"order":[["age","desc"]]}`.
  package var text: String {
    var object: DocumentObject = ["kind": .string(kind.rawValue)]
    object["equal"] = .array(equalities.map { .string($0.description) })
    switch tail {
    case .none: break
    case .range(let path): object["range"] = .string(path.description)
    case .order(let columns):
      object["order"] = .array(
        columns.map { column in
          let path = DocumentValue.string(column.path.description)
          return .array(column.descending ? [path, "desc"] : [path])
        })
    }
    var writer = JSONWriter()
    writer.value(.object(object))
    return writer.text
  }

  /// Parses the output of ``text``; `nil` for anything else.
  package init?(text: String) {
    var text = text
    let value = text.withUTF8 { bytes in
      var reader = JSONReader(UnsafeRawBufferPointer(bytes))
      return try? reader.value()
    }
    guard let object = value?.object,
      let kind = object["kind"]?.string.flatMap(IndexDefinition.Kind.init(rawValue:)),
      let equal = object["equal"]?.array
    else { return nil }
    var tail = Tail.none
    if let path = object["range"]?.string { tail = .range(FieldPath(path)) }
    if let columns = object["order"]?.array {
      tail = .order(
        columns.compactMap { column in
          column.array?.first?.string.map {
            IndexDefinition.Column(FieldPath($0), descending: column.array?.count == 2)
          }
        })
    }
    self.init(
      kind: kind, equalities: equal.compactMap { $0.string.map { FieldPath($0) } }, tail: tail)
  }
}
