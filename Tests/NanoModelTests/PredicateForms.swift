// SPDX-License-Identifier: MIT

import Foundation
import NanoStoreModels
import Testing

/// A named predicate.
struct PredicateForm: Sendable, CustomTestStringConvertible {
  let name: String
  let predicate: Predicate<Traveler>
  var testDescription: String { name }
}

/// The supported predicate forms, including variants with a different meaning.
struct PredicateForms {
  private(set) var all: [PredicateForm] = []

  static let translated: [PredicateForm] = {
    var forms = PredicateForms()
    forms.comparisons()
    forms.values()
    forms.logic()
    forms.optionals()
    forms.texts()
    forms.lists()
    forms.elements()
    forms.numbers()
    forms.models()
    return forms.all
  }()

  mutating func add(_ name: String, _ predicate: Predicate<Traveler>) {
    all.append(PredicateForm(name: name, predicate: predicate))
  }

  private mutating func comparisons() {
    add("equal", #Predicate { $0.lastName == "Doe" })
    add("not equal", #Predicate { $0.lastName != "Doe" })
    add("equal to a default", #Predicate { $0.age == 3 })
    add("not equal to a default", #Predicate { $0.age != 3 })
    add("less", #Predicate { $0.age < 4 })
    add("less or equal", #Predicate { $0.age <= 3 })
    add("greater", #Predicate { $0.age > 3 })
    add("greater or equal", #Predicate { $0.age >= 4 })
    add("value on the left", #Predicate { 4 > $0.age })
    add("value equal on the left", #Predicate { "Doe" == $0.lastName })
    add("text in order", #Predicate { $0.lastName < "a" })
    add("two properties", #Predicate { $0.lastName == $0.work.city })
    add("two properties in order", #Predicate { $0.age >= $0.scores.count })
    add("two numbers", #Predicate { $0.weight <= $0.weight })
    add("two optionals", #Predicate { $0.rank == $0.home?.number })
    add("two optionals differ", #Predicate { $0.rank != $0.home?.number })
    add("the key", #Predicate { $0.id == "t7" })
    add("another key", #Predicate { $0.id != "t7" })
    add("the key in order", #Predicate { $0.id > "t5" })
    add("no key", #Predicate { $0.id == "" })
    add("the key and a property", #Predicate { $0.id != $0.lastName })
  }

  private mutating func values() {
    let wanted = Wanted()
    let moment = Date(timeIntervalSinceReferenceDate: 100)
    let link = URL(string: "https://a.org/")
    let token = TravelerGenerator.token
    let (price, data, nothing) = (Decimal(string: "2.50")!, Data([1]), Int?.none)
    let (range, open, from) = (3...4, 3..<5, 4...)
    let (ages, none, keys) = ([3, 5], [Int](), ["t1", "", "t3"])
    let (high, bad, levels) = (Level.high, Feeling.bad, [Level.low])
    let ranks: [Int?] = [1, nil]
    add("captured property", #Predicate { $0.lastName == wanted.name && $0.age == wanted.age })
    add("captured nested property", #Predicate { $0.work.country == wanted.place.country })
    add("date", #Predicate { $0.born == moment })
    add("date in order", #Predicate { $0.born.flatMap { $0 > moment } ?? true })
    add("URL", #Predicate { $0.link == link })
    add("UUID", #Predicate { $0.token == token })
    add("decimal", #Predicate { $0.price == price })
    add("data", #Predicate { $0.photo == data })
    add("raw value", #Predicate { $0.level == high })
    add("raw value differs", #Predicate { $0.level != high })
    add("optional raw value", #Predicate { $0.otherMood == bad })
    add("one of raw values", #Predicate { levels.contains($0.level) })
    add("captured nil", #Predicate { $0.rank == nothing })
    add("range", #Predicate { (3...4).contains($0.age) })
    add("half-open range", #Predicate { (3..<4).contains($0.age) })
    add("captured ranges", #Predicate { range.contains($0.age) && !open.contains($0.scores.count) })
    add("range without end", #Predicate { from.contains($0.age) })
    add("range of doubles", #Predicate { (-1.0...2.5).contains($0.weight) })
    add("range of properties", #Predicate { (-2...$0.age).contains(3) && ($0.age..<9).contains(4) })
    add("one of values", #Predicate { ages.contains($0.age) })
    add("one of optional values", #Predicate { ranks.contains($0.rank) })
    add("none of values", #Predicate { !ages.contains($0.age) })
    add("one of keys", #Predicate { keys.contains($0.id) })
    add("one of no values", #Predicate { none.contains($0.age) })
    add("floats", #Predicate { $0.height == 0.5 || $0.height < 0.75 })
  }

  private mutating func logic() {
    add("and", #Predicate { $0.lastName == "Doe" && $0.age > 3 })
    add("or", #Predicate { $0.lastName == "Doe" || $0.age > 3 })
    add("not", #Predicate { !($0.lastName == "Doe" && $0.age > 3) })
    add("flag", #Predicate { $0.isActive })
    add("no flag", #Predicate { !$0.isActive })
    add("flag compared", #Predicate { $0.isActive == ($0.age > 3) })
    add("constant", #Predicate { _ in true })
    add("ternary", #Predicate { $0.isActive ? $0.age > 3 : $0.lastName == "Doe" })
    add("ternary value", #Predicate { ($0.isActive ? $0.age : $0.scores.count) == 3 })
    add(
      "if else",
      #Predicate {
        if $0.age > 3 { $0.lastName == "Doe" } else if $0.isActive { $0.age < 0 } else { true }
      })
  }

  private mutating func optionals() {
    add("nil", #Predicate { $0.nickname == nil })
    add("not nil", #Predicate { $0.nickname != nil })
    add("nil with a default", #Predicate { $0.rank == nil })
    add("optional equals", #Predicate { $0.nickname == "Doe" })
    add("optional differs", #Predicate { $0.nickname != "Doe" })
    add("optional equals its default", #Predicate { $0.rank == 5 })
    add("coalesced", #Predicate { ($0.nickname ?? "x") == "x" })
    add("coalesced with a property", #Predicate { ($0.nickname ?? $0.lastName) == "Doe" })
    add("coalesced number", #Predicate { ($0.rank ?? 7) > 4 })
    add("if let", #Predicate { if let rank = $0.rank { rank > 4 } else { true } })
    add("flat map", #Predicate { $0.rank.flatMap { $0 > 4 } == true })
    add("flat map differs", #Predicate { $0.rank.flatMap { $0 > 4 } != true })
    add("forced", #Predicate { $0.rank! > 4 })
    add("not forced", #Predicate { !($0.rank! > 4) })
    add("forced after a test", #Predicate { $0.rank != nil && $0.rank! > 4 })
    add("forced after an alternative", #Predicate { $0.rank == nil || $0.rank! > 4 })
    add("model nil", #Predicate { $0.home == nil })
    add("model not nil", #Predicate { $0.home != nil })
    add("list nil", #Predicate { $0.extra == nil })
    add("codable not nil", #Predicate { $0.shape != nil })
  }

  private mutating func texts() {
    add("contains", #Predicate { $0.lastName.contains("o") })
    add("contains nothing", #Predicate { $0.lastName.contains("") })
    add("contained in a value", #Predicate { "Doe or Zoë".contains($0.lastName) })
    add("contains a property", #Predicate { $0.lastName.contains($0.work.city) })
    add("starts", #Predicate { $0.lastName.starts(with: "D") })
    add("does not start", #Predicate { !$0.lastName.starts(with: "D") })
    add("optional contains", #Predicate { $0.nickname?.contains("x") == true })
    add("optional does not contain", #Predicate { !($0.nickname?.contains("x") ?? false) })
    add("text empty", #Predicate { $0.lastName.isEmpty })
    add("optional text empty", #Predicate { $0.nickname?.isEmpty ?? true })
    add("regular expression", #Predicate { $0.lastName.contains(#/^D.e$/#) })
    add("key contains", #Predicate { $0.id.contains("1") })
  }
}
