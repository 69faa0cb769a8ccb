// SPDX-License-Identifier: MIT

import Foundation
import NanoStoreModels

@Model struct Wine {
  @Key var id: String
  var year: Int
}

nonisolated struct Label: StorableObject, Codable, Identifiable, Sendable { var id: String }

func questions(_ wines: DocumentCollection, _ bag: Bag, _ position: PagePosition?) throws {
  let all = wines.find().where(Field("year") > 1990).sorted(by: "year").offset(5).limit(5)
  print(all.after(position).select("year"), try all.sorted(byText: "[year] DESC"))
  print(wines.search("red").ranked(weights: ["name": 2]), all.fieldsAsColumns())
  print(wines.search(FullTextQuery.phrase("red"), in: "byName"), wines.find(type: "Wine"))
  print(try wines.find("[year] > ?", arguments: [1990]), wines.find(Query()))
  print(bag.find().where(Field("year") > 1990).sorted(by: "year").limit(5).select("year"))
  var search = Search()
  print(search.query(in: wines), search.query(in: bag))
  search.reset()
  try bag.add(object: Label(id: "red"), in: "labels")
}

func modelQuestions(_ wines: DocumentCollection, _ position: PagePosition?) throws {
  let models: ModelCollection<Wine> = wines.models(Wine.self)
  let all = models.find().where(\.year > 1990).where { $0.year < 2000 }
  print(all.sorted(by: \.year).sorted(by: \.year, order: .reverse).limit(5).offset(5))
  print(all.sorted(using: .reverse(\.year), .forward(\.year)))
  print(all.after(position), models.search("red"), try models.find("[year] > ?", 1990))
}

func objectQuestions(_ context: ObjectContext, _ id: ObjectID<Book>) {
  let all = context.find(Book.self).where(\.title == "Emma").where { $0.title != "Persuasion" }
  print(all.sorted(using: .reverse(\.title)), all.sorted(by: \.title, order: .reverse))
  print(all.sorted(by: \.title).limit(5), context.fault(id).title)
  print(context.search(Book.self, "emma"), context.find(Book.self) { $0.title == "Emma" })
}

final class Counter: Sendable {}

