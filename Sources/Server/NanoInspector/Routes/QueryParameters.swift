// SPDX-License-Identifier: MIT

import NanoDocument
import NanoQuery
import NanoServer
import NanoStoreCore

/// Queries and pages from the parameters of a request.
extension ServerRequest {
  /// Returns the query of `where` and `sort`; `sort` replaces the order of the condition.
  func query(in collection: DocumentCollection) throws -> DocumentQuery {
    let query = try collection.find(self["where"] ?? "", arguments: [])
    guard let sort = self["sort"] else { return query }
    return try query.sorted(byText: sort)
  }

  /// Returns the request with the parameters in its body, an object of strings.
  func addingBody() throws -> ServerRequest {
    let object = try DocumentObject(json: self.body)
    let added = object.compactMap { name, value in
      value.string.map { (name: name, value: $0) }
    }
    return ServerRequest(path: path, parameters: parameters + added)
  }

  func integer(_ name: String, in range: ClosedRange<Int>, default value: Int) throws -> Int {
    guard let text = self[name] else { return value }
    guard let number = Int(text), range.contains(number) else {
      throw RouteError.invalid(name, "a number from \(range.lowerBound) to \(range.upperBound)")
    }
    return number
  }

  func required(_ name: String) throws -> String {
    guard let value = self[name] else { throw RouteError.invalid(name, "present") }
    return value
  }
}

extension PagePosition {
  /// The position as text that a page returns unchanged.
  var text: String {
    DocumentObject([("values", .array(values)), ("rowID", .int(rowID))]).jsonString()
  }

  init(text: String) throws {
    let object = try DocumentObject(json: text)
    guard let values = object["values"]?.array, let rowID = object["rowID"]?.int64 else {
      throw RouteError.invalid("after", "a position from an earlier page")
    }
    self.init(values: values, rowID: rowID)
  }
}
