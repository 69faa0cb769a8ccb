// SPDX-License-Identifier: MIT

import Foundation
import NanoStoreModels

@Model struct Dish {
  @Key var id: Int
  var title: String
  @Indexed var minutes = 10
  var note: String?
  var tags: [String] = []
}

@Model struct DishTitle {
  @Key var id: Int
  var title: String
}

func writing(_ dishes: ModelCollection<Dish>, _ dish: Dish) async throws {
  let stored = try await dishes.insert(dish)
  try await dishes.insert(dish, key: "5")
  try await dishes.insert([dish, dish])
  try await dishes.insert([dish, dish][...])
  try await dishes.insert(repeatElement(dish, count: 3))
  try await dishes.save(dish)
  try await dishes.save(stored)
  try await dishes.save([dish])
  try await dishes.save(repeatElement(dish, count: 3))
  try await dishes.update("5", .set(\.title, "Soup"), .remove(\.note))
  try await dishes.update(5, .set(\.minutes, 20))
  try await dishes.update("6", .increment(\.minutes), .setOnInsert(\.title, ""), upsert: true)
  try await dishes.update(6, .increment(\.minutes), .setOnInsert(\.title, ""), upsert: true)
  print(try await dishes.update(5, .increment(\.minutes)).minutes)
  print(try await dishes.getAndUpdate("5", [.increment(\.minutes)])?.minutes ?? 0)
  print(try await dishes.getAndUpdate(5, [.increment(\.minutes)], upsert: true)?.minutes ?? 0)
  try await dishes.delete("5")
  try await dishes.delete(5)
  try await dishes.delete(rowID: 5)
  try await dishes.delete(stored)
  try await dishes.deleteAll()
  try await dishes.setExpiration(.now, of: "5")
  try await dishes.setExpiration(.now, of: 5)
  try await dishes.setExpiration(nil, rowID: 5)
  print(try await dishes.expiration(of: "5") as Any)
  print(try await dishes.expiration(of: 5) as Any)
  print(try await dishes.expiration(rowID: 5) as Any)
  try await dishes.prepare()
  try await dishes.dropUndeclaredIndexes()
}

@Model struct Taste: Codable { var name: String }

func asDocuments(_ documents: DocumentCollection, _ dish: Dish, _ taste: Taste) async throws {
  try await documents.insert(dish)
  try await documents.insert(dish, key: "5")
  try await documents.save(dish)
  try await documents.save(dish, key: "5")
  try await documents.insert([dish, dish])
  try await documents.insert(taste)
  try await documents.save(taste, key: "hot")
  try await documents.insert([taste])
  print(try await documents.get("5", as: Dish.self)?.title ?? "")
  print(try await documents.get("hot", as: Taste.self)?.name ?? "")
  print(try await documents.get("hot")?.decoded(as: Taste.self).name ?? "")
  let all = documents.find()
  print(try await all.decoded(as: Dish.self).count, try await all.decoded(as: Taste.self).count)
  try await all.each(as: Dish.self) { print($0.title) }
  try await all.each(as: Taste.self) { print($0.name) }
  try await all.each(as: Taste.self, onFailure: { print($0.error) }) { print($0.name) }
  print(try await all.decodedSkippingFailures(as: Dish.self).values.count)
  print(try await all.decodedSkippingFailures(as: Taste.self).skipped.count)
}

func upgrading(_ dishes: ModelCollection<Dish>) async throws {
  try await dishes.upgrade()
  try await dishes.upgrade(batch: 100)
  try await dishes.upgrade { print($0) }
  try await dishes.upgrade { progress in
    let share = progress.done * 100 / progress.total
    print(share)
  }
  let count = try await dishes.upgrade(batch: 10) { print($0.done) }
  print(count)
}

func reading(_ dishes: ModelCollection<Dish>) async throws {
  print(try await dishes.get("5") as Any, try await dishes.get(5) as Any)
  print(try await dishes.get(rowID: 5) as Any, try await dishes.getStored("5") as Any)
  print(try await dishes.getStored(5) as Any, try await dishes.get(keys: ["5"]))
  print(try await dishes.get(keys: [5]), try await dishes.fetch(), try await dishes.count())
}

func querying(_ dishes: ModelCollection<Dish>, _ changes: [ModelChange<Dish>]) async throws {
  let quick = dishes.find(\.minutes < 30)
  print(try await quick.fetch(), try await quick.first() as Any, try await quick.stored())
  print(try await quick.firstStored() as Any, try await quick.page(20).models)
  try await quick.each { print($0.title) }
  try await quick.each { dish in
    guard dish.minutes > 3 else { return }
    print(dish)
  }
  print(try await quick.count(), try await quick.exists(), try await quick.keys())
  print(try await quick.rowIDs(), try await quick.explain())
  try await quick.update(.set(\.minutes, 5), .remove(\.note))
  try await quick.update([.set(\.minutes, 5)])
  try await quick.update(changes)
  try await quick.delete()
  print(try await dishes.search("soup").results().map { $0.snippet() ?? "" })
  print(try await dishes.find { $0.title.hasPrefix("S") }.fetch())
  print(try await dishes.find(#Predicate { $0.minutes > 3 }).fetch())
}

func skipping(_ dishes: ModelCollection<Dish>) async throws {
  let (values, skipped) = try await dishes.find().fetchSkippingFailures()
  print(values, skipped)
  try await dishes.find().each(onFailure: { print($0.error) }) { print($0.title) }
}

func attaching(_ dishes: ModelCollection<Dish>) async throws {
  try await dishes.attach(.data(Data()), named: "photo", contentType: "image/jpeg", to: "5")
  try await dishes.attach(.data(Data()), named: "photo", to: 5)
  print(try await dishes.attachments(of: "5").all(), try await dishes.attachments(of: 5).all())
  print(try await dishes.attachments(ofRowID: 5).all())
}

func includingModels(_ dishes: ModelCollection<Dish>, _ menus: DocumentCollection) async throws {
  let joined = dishes.find(\.minutes < 30).including(\.note, from: menus, as: "menu")
    .including(.key, from: dishes, by: \.note, as: "variants")
    .including(.key, from: dishes.find(\.minutes < 30), by: \.note, as: "quick")
  print(try await joined.fetch().count, try await joined.decoded(as: Dish.self).count)
  print(try await menus.find().including("dish", from: dishes).first() as Any)
}

func including(_ dishes: DocumentCollection) async throws {
  let joined = dishes.find().including("menu", from: dishes)
  print(try await joined.decoded(as: Dish.self).count)
}

func aggregating(_ dishes: ModelCollection<Dish>) async throws {
  let all = dishes.find()
  let (count, most) = try await all.aggregate(.count, .max(\.minutes))
  print(count, most ?? 0)
  for (title, values) in try await all.grouped(by: \.title, .count) { print(title, values) }
  print(try await all.average(\.minutes) ?? 0, try await all.sum(\.minutes))
  print(try await all.min(\.minutes) ?? 0, try await all.max(\.minutes) ?? 0)
  print(try await all.distinct(\.title), try await all.distinct(\.tags))
  print(try await all.select(\.title))
  for (title, minutes) in try await all.select(\.title, \.minutes) { print(title, minutes) }
  print(try await all.fetch(as: DishTitle.self))
}
