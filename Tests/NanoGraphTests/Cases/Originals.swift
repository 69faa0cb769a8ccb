// SPDX-License-Identifier: MIT

import NanoStoreModels

/// The classes of the original's tests, benchmarks and demo, with the names used in the cases.
enum Original {
  /// All versions of each class by its name in the cases, in order. The cases define some classes at run time. Swift
  /// classes are declared in the program, so these are used instead, with a property for fields that a case invents.
  static let classes: [String: [any CaseObject.Type]] = [
    "Song": [Song.self], "Playlist": [Playlist.self],
    "GRLNode": [GRLNode.self], "GRLEdge": [GRLEdge.self],
    "Person": [Person.self, Person2.self],
    "Contact": [Contact.self, Contact2.self, Contact3.self],
  ]

  /// The indexed texts of the original's classes.
  static let indexedTexts = ["Song": ["title"]]

  @Model final class Song: CaseObject {
    var title: String?
    var seconds = 0

    static var texts: [String: Text] { ["title": \.title] }
    static var numbers: [String: Number] { ["seconds": \.seconds] }
  }

  @Model final class Playlist: CaseObject {
    var title: String?
    @Relationship var songs: [Song] = []

    static var texts: [String: Text] { ["title": \.title] }

    func targets(_ field: String) -> [any CaseObject]? { field == "songs" ? songs : nil }
    func setTargets(_ field: String, _ targets: [any CaseObject]) {
      if field == "songs" { songs = targets.compactMap { $0 as? Song } }
    }
  }

  @Model final class GRLNode: CaseObject {
    var x = 0.0
    var y = 0.0
    @Inverse var departing: [GRLEdge]
    @Inverse var arriving: [GRLEdge]

    static var reals: [String: Real] { ["x": \.x, "y": \.y] }

    func targets(_ field: String) -> [any CaseObject]? {
      switch field {
      case "departing": departing
      case "arriving": arriving
      default: nil
      }
    }

    func prepareForDelete(in context: ObjectContext) throws {
      for edge in departing + arriving { try context.delete(edge) }
    }
  }

  @Model final class GRLEdge: CaseObject {
    @Relationship(inverse: \GRLNode.departing) var source: GRLNode?
    @Relationship(inverse: \GRLNode.arriving) var destination: GRLNode?

    static var toOneFields: Set<String> { ["source", "destination"] }

    func targets(_ field: String) -> [any CaseObject]? {
      switch field {
      case "source": source.map { [$0] } ?? []
      case "destination": destination.map { [$0] } ?? []
      default: nil
      }
    }
    func setTargets(_ field: String, _ targets: [any CaseObject]) {
      if field == "source" { source = targets.first as? GRLNode }
      if field == "destination" { destination = targets.first as? GRLNode }
    }

    func prepareForDelete(in context: ObjectContext) throws {
      source = nil
      destination = nil
    }
  }

  @Model(collection: "Person") final class Person: CaseObject {
    var name: String?

    static var texts: [String: Text] { ["name": \.name] }
  }

  @Model(collection: "Person", version: 2) final class Person2: CaseObject {
    var name: String?
    var email: String?

    static var texts: [String: Text] { ["name": \.name, "email": \.email] }
  }

  @Model(collection: "Contact") final class Contact: CaseObject {
    var phone: String?
    var otherFields: DocumentObject = [:]

    static var texts: [String: Text] { ["phone": \.phone] }
    static var others: Others? { \.otherFields }
  }

  @Model(collection: "Contact", version: 2) final class Contact2: CaseObject {
    var phone: String?
    var fax: String?
    var otherFields: DocumentObject = [:]

    static var texts: [String: Text] { ["phone": \.phone, "fax": \.fax] }
    static var others: Others? { \.otherFields }
  }

  @Model(collection: "Contact", version: 3) final class Contact3: CaseObject {
    var phone: String?
    var fax: String?
    var email: String?
    var otherFields: DocumentObject = [:]

    static var texts: [String: Text] { ["phone": \.phone, "fax": \.fax, "email": \.email] }
    static var others: Others? { \.otherFields }
  }
}
