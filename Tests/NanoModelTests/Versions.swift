// SPDX-License-Identifier: MIT

import NanoStoreModels

/// A person in five successive versions of a program.
enum V1 {
  @Model(collection: "people") struct Person: Equatable {
    @Key var id: String
    var name: String
    var age: Int8
    var city: String?
  }
}

/// Removes one field and adds two.
enum V2 {
  @Model(collection: "people") struct Person: Equatable {
    @Key var id: String
    var name: String
    var age: Int8
    var emails: [String] = []
    var points = 10
  }
}

/// Renames one field, widens one and turns one into an array.
enum V3 {
  @Model(collection: "people") struct Person: Equatable {
    @Key var id: String
    @Indexed @Field(renamedFrom: "name") var fullName: String
    var age: Double
    var emails: [String] = []
    @Indexed var points = 10
    var city: [String] = []
  }
}

/// Splits one field into two, which requires an upgrade.
enum V4 {
  @Model(collection: "people", version: 2) struct Person: Equatable {
    @Key var id: String
    @Field("first") var firstName: String
    @Indexed @Field("last") var lastName: String
    var age: Double?
    var emails: [String] = []
    @Indexed var points = 10

    static let upgrades = [split]
  }

  static let split = ModelUpgrade(from: 1) { fields in
    let name = fields["fullName"]?.string ?? fields["name"]?.string ?? ""
    let words = name.split(separator: " ", maxSplits: 1).map { String($0) }
    fields["first"] = .string(words.first ?? "")
    fields["last"] = .string(words.dropFirst().first ?? "")
    fields["fullName"] = nil
    fields["name"] = nil
  }
}

@Model struct Contact: Equatable {
  var kind: String
  var address: String
  var isVerified = false
}

/// Turns values into objects, which requires a second upgrade.
enum V5 {
  @Model(collection: "people", version: 3) struct Person: Equatable {
    @Key var id: String
    @Field("first") var firstName: String
    @Indexed @Field("last") var lastName: String
    var age: Double?
    var contacts: [Contact] = []
    @Indexed var points = 10

    static let upgrades = [
      V4.split,
      ModelUpgrade(from: 2) { fields in
        let emails = fields["emails"].flatMap(\.array) ?? []
        fields["contacts"] = .array(emails.map { ["kind": "email", "address": $0] })
        fields["emails"] = nil
      },
    ]
  }
}

@Model struct DwellingRoom: Equatable {
  @Field(renamedFrom: "label") var name: String
}

@Model struct DwellingPlace: Equatable {
  @Field(renamedFrom: "town") var city: String
}

/// A model whose nested values have former names.
@Model struct Dwelling: Equatable {
  @Key var id: String
  var place: DwellingPlace
  var rooms: [DwellingRoom] = []
}

/// A house in two versions of a program: the second one gives rooms another name, and mail addresses are unique.
enum Houses {
  @Model struct OldRoom: Equatable { var label: String }
  @Model struct NewRoom: Equatable { @Field(renamedFrom: "label") var name: String }

  @Model(collection: "houses") struct Old {
    @Key var id: String
    var mail: String
    var rooms: [OldRoom] = []
    var byFloor: [String: [OldRoom]] = [:]
  }
  @Model(collection: "houses") struct New {
    @Key var id: String
    @Unique @Field(renamedFrom: "mail") var email: String
    var rooms: [NewRoom] = []
    var byFloor: [String: [NewRoom]] = [:]
  }
}
