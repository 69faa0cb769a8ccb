// SPDX-License-Identifier: MIT

import Foundation
import NanoStoreModels

extension PredicateForms {
  mutating func lists() {
    let names = ["D", "t7"]
    let wanted = [Wanted(), Wanted(name: "D", age: 4)]
    add("list contains", #Predicate { $0.tags.contains("x") })
    add("list contains a default", #Predicate { $0.tags.contains("none") })
    add("list does not contain", #Predicate { !$0.tags.contains("x") })
    add("list contains a property", #Predicate { $0.tags.contains($0.lastName) })
    add("list contains an optional property", #Predicate { $0.marks.contains($0.rank) })
    add("list contains nil", #Predicate { $0.marks.contains(nil) })
    add("list contains a key", #Predicate { $0.tags.contains($0.id) })
    add("set contains", #Predicate { $0.words.contains("x") })
    add("numbers contain", #Predicate { $0.ratios.contains(1.5) })
    add("list equals", #Predicate { $0.tags == ["x"] })
    add("list equals its default", #Predicate { $0.tags == ["none"] })
    add("list differs", #Predicate { $0.scores != [3] })
    add("list empty", #Predicate { $0.scores.isEmpty })
    add("list not empty", #Predicate { !$0.tags.isEmpty })
    add("optional list empty", #Predicate { $0.extra?.isEmpty == true })
    add("optional list contains", #Predicate { $0.extra?.contains(3) ?? false })
    add("count", #Predicate { $0.scores.count == 1 })
    add("count of a default", #Predicate { $0.tags.count > 1 })
    add("count of an optional", #Predicate { ($0.extra?.count ?? 7) >= 2 })
    add("first", #Predicate { $0.tags.first == "x" })
    add("no first", #Predicate { $0.scores.first == nil })
    add("element at", #Predicate { $0.scores[0] == 3 })
    add("element further on", #Predicate { $0.scores[1] != 3 })
    add("element where there is one", #Predicate { $0.scores.count > 1 && $0.scores[1] > 1 })
    add("greatest", #Predicate { $0.scores.max() == 7 })
    add("greatest differs", #Predicate { $0.scores.max() != 7 })
    add("greatest below", #Predicate { $0.scores.max()! < 7 })
    add("greatest over", #Predicate { ($0.scores.max() ?? 0) > 2 })
    add("least", #Predicate { $0.scores.min() == 3 })
    add("least over", #Predicate { $0.scores.min().flatMap { $0 >= 3 } == true })
    add("no greatest", #Predicate { $0.scores.max() == nil })
    add("text greatest", #Predicate { $0.tags.max() == "y" })
    add("dictionary", #Predicate { $0.counts["a"] == 3 })
    add("dictionary lacks", #Predicate { $0.counts["b"] == nil })
    add("dictionary with default", #Predicate { $0.counts["b", default: 3] > 2 })
    add("dictionary empty", #Predicate { $0.counts.isEmpty })
    add(
      "some captured value",
      #Predicate { traveler in names.contains { $0 == traveler.lastName || $0 == traveler.id } })
    add(
      "some captured property",
      #Predicate { traveler in
        wanted.contains { $0.name == traveler.lastName && $0.age <= traveler.age }
      })
    add(
      "all captured values",
      #Predicate { traveler in names.allSatisfy { $0 > traveler.lastName || $0 == "t7" } })
  }

  mutating func elements() {
    add("some element", #Predicate { $0.scores.contains { $0 > 2 && $0 < 5 } })
    add("no element", #Predicate { !$0.scores.contains { $0 > 2 } })
    add("some element of a default", #Predicate { $0.tags.contains { $0 == "none" } })
    add("all elements", #Predicate { $0.scores.allSatisfy { $0 > 2 } })
    add("all elements of a default", #Predicate { $0.tags.allSatisfy { $0.contains("n") } })
    add("some element nil", #Predicate { $0.marks.contains { $0 == nil } })
    add("some optional element", #Predicate { $0.marks.contains { ($0 ?? 0) > 3 } })
    add("some number", #Predicate { $0.ratios.contains { $0 < 3 } })
    add("some model", #Predicate { $0.past.contains { $0.city == "Rome" && $0.country == "UK" } })
    add("all models", #Predicate { $0.past.allSatisfy { $0.country != "US" } })
    add("some list in a model", #Predicate { $0.past.contains { $0.floors.contains(3) } })
    add(
      "some element in a model", #Predicate { $0.past.contains { $0.floors.contains { $0 > 1 } } })
    add("some optional in a model", #Predicate { $0.past.contains { $0.number == nil } })
    add(
      "element and key",
      #Predicate { traveler in
        traveler.tags.contains { $0 == traveler.id || $0 == "x" }
      })
    add("none filtered", #Predicate { $0.scores.filter { $0 > 2 }.isEmpty })
    add("some filtered", #Predicate { $0.scores.filter { $0 > 2 }.count > 0 })
    add("at least one filtered", #Predicate { $0.past.filter { $0.country == "UK" }.count >= 1 })
    add("zero filtered", #Predicate { $0.past.filter { $0.country == "UK" }.count == 0 })
    add("filtered contains", #Predicate { $0.scores.filter { $0 > 2 }.contains(3) })
    add("filtered contains where", #Predicate { $0.scores.filter { $0 > 2 }.contains { $0 < 5 } })
    add("filtered all", #Predicate { $0.scores.filter { $0 > 2 }.allSatisfy { $0 < 5 } })
    add("optional list some", #Predicate { $0.extra?.contains { $0 > 2 } ?? true })
  }

  mutating func numbers() {
    add("sum", #Predicate { $0.age + 1 == 4 })
    add("difference", #Predicate { $0.age - $0.scores.count > 2 })
    add("product", #Predicate { $0.age * 2 <= 6 })
    add("quotient", #Predicate { $0.age / 2 == 1 })
    add("remainder", #Predicate { $0.age % 2 == 0 })
    add("remainder below zero", #Predicate { $0.age % 3 == -2 })
    add("negative", #Predicate { -$0.age < -3 })
    add("doubles", #Predicate { $0.weight * 2 + 1 == 4 })
    add("doubles divided", #Predicate { 3 / $0.weight >= 1.5 })
    add("double below a quotient", #Predicate { $0.weight / 2 < 1 })
    add("NaN differs", #Predicate { $0.weight != $0.weight })
    add("NaN is not less", #Predicate { $0.weight < 2 })
    add("NaN is not greater", #Predicate { !($0.weight >= 1.5) })
    add("small", #Predicate { $0.small - 3 > -8 })
  }

  mutating func models() {
    add("nested", #Predicate { $0.work.city == "Rome" })
    add("nested default", #Predicate { $0.work.country == "UK" })
    add("nested not default", #Predicate { $0.work.country != "UK" })
    add("optional chain", #Predicate { $0.home?.city == "Rome" })
    add("optional chain differs", #Predicate { $0.home?.city != "Rome" })
    add("optional chain to a default", #Predicate { $0.home?.country == "UK" })
    add("optional chain to nil", #Predicate { $0.home?.number == nil })
    add("optional chain to a number", #Predicate { ($0.home?.number ?? 9) > 4 })
    add("forced chain", #Predicate { $0.home!.city == "Rome" })
    add(
      "if let model", #Predicate { if let home = $0.home { home.country == "UK" } else { false } })
    add(
      "nested list", #Predicate { $0.work.floors.contains(3) && $0.home?.floors.isEmpty == false })
  }
}
