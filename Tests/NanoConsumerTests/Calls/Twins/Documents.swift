// SPDX-License-Identifier: MIT

import Foundation
import NanoStore

nonisolated struct Recipe: Codable, Sendable { var title: String, minutes: Int }
nonisolated struct Tag: StorableObject, Codable, Identifiable, Sendable { var id: String }
nonisolated struct Point: DocumentRepresentable, Sendable {
  var object: DocumentObject
  func write(to writer: inout JSONWriter) { writer.object(object) }
  init(_ object: DocumentObject) { self.object = object }
  init(reading reader: inout JSONReader) throws(StoreError) { object = try reader.object() }
}

/// Both `Codable` and with a codec of its own.
nonisolated struct Pair: Codable, DocumentRepresentable, Sendable {
  var a: Int
  init(a: Int) { self.a = a }
  func write(to writer: inout JSONWriter) { writer.object(["a": .int(Int64(a))]) }
  init(reading reader: inout JSONReader) throws(StoreError) {
    self.init(a: Int(try reader.object()["a"]?.int ?? 0))
  }
}

func writing(_ recipes: DocumentCollection, _ object: DocumentObject) async throws {
  try await recipes.insert(["title": "Soup"])
  try await recipes.insert(["title": "Soup", "tags": ["hot", 5, nil]], key: "soup")
  try await recipes.insert(object, key: "stew")
  let document = try await recipes.save(["title": "Soup"], key: "soup")
  try await recipes.save(object)
  try await recipes.insert(document)
  try await recipes.save(document)
  try await recipes.replace(document)
  try await recipes.insert(Recipe(title: "Bread", minutes: 90))
  try await recipes.save(Recipe(title: "Bread", minutes: 90), key: "bread")
  try await recipes.insert(json: #"{"title":"Jam"}"#)
  try await recipes.save(json: #"{"title":"Jam"}"#, key: "jam", dialect: .extended)
  try await recipes.insert([["title": "Tea"], ["title": "Coffee"]])
  try await recipes.insert([object])
  try await recipes.insert([document])
  try await recipes.save([document])
  try await recipes.insert([Recipe(title: "Tea", minutes: 4)])
  try await recipes.insert([Point(object)])
  try await recipes.insert(repeatElement(Recipe(title: "Tea", minutes: 4), count: 3))
  try await recipes.insert(repeatElement(Point(object), count: 3))
  try await recipes.insert([Recipe(title: "Tea", minutes: 4)][...])

  let (title, minutes) = ("Soup", 20)
  try await recipes.insert(["title": title, "minutes": minutes, "tags": [title]])
  try await recipes.save(["title": title, "minutes": minutes, "by": ["name": title]], key: "soup")
  try await recipes.update("soup", set: ["minutes": minutes, "by.name": title])
  try await recipes.find().update(set: ["minutes": minutes, "by.name": title])
  print(DocumentObject(["title": title, "minutes": minutes]))

  try await recipes.update("soup", set: ["minutes": 20], remove: ["tags"])
  try await recipes.update("soup", [.set("minutes", 20)])
  try await recipes.update("soup", .increment("minutes"), .append("tags", title, 3), upsert: true)
  print(try await recipes.getAndUpdate("soup", [.pop("tags", .first)], upsert: true)?.key ?? "new")
  try await recipes.update(rowID: 1, set: ["minutes": 20])
  try await recipes.delete("soup")
  try await recipes.delete(rowID: 1)
  try await recipes.delete(document)
  try await recipes.delete(keys: ["soup", "stew"])
  try await recipes.deleteAll()
  try await recipes.apply([.insert(object), .delete(key: "soup")])
  let outcome = try await recipes.apply([.save(object, key: "soup")], operation: UUID())
  print(outcome.wasApplied)
}

func reading(_ recipes: DocumentCollection) async throws {
  print(
    try await recipes.get("soup")?["title"]?.string ?? "", try await recipes.get(rowID: 1) as Any)
  print(try await recipes.get(keys: ["soup", "stew"]).count)
  if let recipe = try await recipes.get("soup", as: Recipe.self) { print(recipe.title) }
  print(try await recipes.fetch().count, try await recipes.count())
}

func codecs(_ points: DocumentCollection, _ object: DocumentObject) async throws {
  try await points.insert(Point(object))
  try await points.insert(Point(object), key: "a")
  try await points.save(Point(object), key: "a")
  try await points.insert(Pair(a: 1), key: "b")
  try await points.save(Pair(a: 1))
  try await points.insert([Pair(a: 1)])
  print(try await points.get("a", as: Point.self)?.object as Any)
  print(try await points.get("b", as: Pair.self)?.a as Any)
  print(try await points.get("b", as: DocumentObject.self) as Any)
  print(try await points.get("b")?.decoded(as: Pair.self).a as Any)
  print(try await points.find().decoded(as: Pair.self).count)
  let pairs: [Pair] = try await points.find().decoded()
  print(pairs, try await points.find().decodedSkippingFailures(as: Pair.self).values)
  try await points.find().each(as: Pair.self) { print($0.a) }
  try await points.find().each(as: Pair.self, onFailure: { print($0.error) }) { print($0.a) }
}

func querying(_ recipes: DocumentCollection) async throws {
  let quick = recipes.find(Field("minutes") < 30)
  print(try await quick.fetch().count, try await quick.first() as Any, try await quick.count())
  print(try await quick.exists(), try await quick.keys(), try await quick.rowIDs())
  print(try await quick.explain(), try await quick.results().count)
  print(try await quick.page(20).documents.count)
  try await quick.each { document in print(document.key ?? "") }
  try await quick.each { print($0) }
  try await quick.each { document in
    guard let key = document.key else { return }
    print(key, document)
  }
  try await quick.each(as: Recipe.self) { print($0.title) }
  try await quick.each(as: Point.self) { print($0.object) }
  let decoded: [Recipe] = try await quick.decoded()
  print(try await quick.decoded(as: Recipe.self).count + decoded.count)
  let points: [Point] = try await quick.decoded()
  print(try await quick.decoded(as: Point.self).count + points.count)
  for recipe in try await quick.decoded(as: Recipe.self) where recipe.minutes > 5 { print(recipe) }
  print(try await recipes.find("[minutes] < ?", 30).sorted(by: "title").limit(3).fetch().count)
  let named = try await recipes.find("[minutes] < :most", named: ["most": 30]).count()
  print(named)

  try await quick.delete()
  try await quick.update(set: ["quick": true], remove: ["slow"])
  try await quick.update([.remove("slow")])
  try await quick.update(.addToSet("tags", "quick"), .min("minutes", 30))
}

func skipping(_ recipes: DocumentCollection) async throws {
  let all = recipes.find()
  let (values, skipped) = try await all.decodedSkippingFailures(as: Recipe.self)
  print(values, skipped, try await all.decodedSkippingFailures(as: Point.self).values)
  try await all.each(as: Recipe.self, onFailure: { print($0.error) }) { print($0.title) }
  try await all.each(as: Point.self, onFailure: { print($0.error) }) { print($0.object) }
  try await recipes.importDocuments(from: URL(filePath: "recipes.json"))
  try await recipes.importDocuments(from: URL(filePath: "recipes.json")) { print($0) }
}

func converting(_ recipes: DocumentCollection, _ file: URL) async throws {
  try await recipes.importDocuments(from: file, options: ImportOptions(format: .csv()))
  try await recipes.importDocuments(
    from: file,
    options: ImportOptions(
      format: .csv(CSVOptions(separator: ";", textColumns: ["zip", "by.phone"])), keyField: "id"))
  try await recipes.importDocuments(from: file, options: ImportOptions(format: .tsv))
  try await recipes.importDocuments(from: file, options: ImportOptions(format: .mongoDB))
  try await recipes.importRows(.table("recipe"), fromSQLite: file)
  try await recipes.importRows(
    .query("SELECT * FROM recipe"), fromSQLite: file, options: ImportOptions(keyField: "id"),
    keepsNulls: true
  ) { print($0.documents) }
  try await recipes.find().export(to: file)
  let report = try await recipes.find(Field("minutes") < 30)
    .export(to: file, as: .csv(), replacing: true) { print($0.documents) }
  print(report.bytesWritten, report.skipped)
  try await recipes.find().export(to: file, as: .json(.mongoDB), onFailure: { print($0.error) })
  try await recipes.find().export { chunk in print(chunk.count) }
  try await recipes.find().export(as: .csv(columns: ["title"], separator: "\t")) { print($0.count) }
}

func aggregating(_ recipes: DocumentCollection) async throws {
  let all = recipes.find()
  print(try await all.aggregate([.count, .max("minutes")]))
  for row in try await all.grouped(by: "title", aggregates: [.count]) { print(row) }
  print(try await all.count(of: "minutes"), try await all.distinct("minutes"))
  print(try await all.min("minutes") as Any, try await all.max("minutes") as Any)
  print(try await all.average("minutes") ?? 0, try await all.sum("minutes"))
}

func including(_ recipes: DocumentCollection, _ books: DocumentCollection) async throws {
  let joined = recipes.find().including("book", from: books)
  print(try await joined.fetch().count, try await joined.first()?.many("book").count ?? 0)
  try await joined.each { print($0.document) }
  print(try await joined.decoded(as: Recipe.self).count)
  print(try await joined.decoded(as: Point.self).count)
}

func searching(_ recipes: DocumentCollection, _ bag: Bag) async throws {
  let search = Search()
  print(try await search.documents(in: recipes).count, try await search.documents(in: bag).count)
  print(try await search.keys(in: recipes), try await search.keys(in: bag))
  print(try await search.count(in: recipes), try await search.count(in: bag))
  print(try await search.aggregate([.count], in: recipes))
  print(try await search.aggregate([.count], in: bag))
  print(try await recipes.search("soup").fetch().count)
  for result in try await recipes.search("hot soup").results() {
    print(result.snippet() ?? "", result.highlights(of: "title"))
  }
}

func objects(_ store: Store, _ tags: DocumentCollection, _ bag: Bag) async throws {
  store.register(Tag.self)
  try await tags.insert(Tag(id: "hot"))
  try await tags.save(Tag(id: "hot"))
  try await tags.save(objects: [Tag(id: "hot"), Tag(id: "cold")])
  print(try await tags.types(), try await tags.object("hot") as Any)
  print(try await tags.find().objects(), try await tags.find().objects(of: Tag.self))
  print(try await tags.find(type: "Tag").count(), try await bag.contents.objects(limit: 5))
}

func pipelines(_ recipes: DocumentCollection, _ others: DocumentCollection) async throws {
  let tags = recipes.find().unwind("tags", as: "tag", position: "at", keepingEmpty: true)
    .adding(["hours": try QueryExpression(text: "[minutes] / 60")])
    .where(Field("hours") > 1)
    .grouped(by: ["tag": "tag"], ["count": .count, "titles": .push("title")])
    .sorted(by: "-count").sorted(by: [Ordering("tag")]).limit(3, offset: 1).limit(1, per: "tag")
  print(try await tags.rows().count, try await tags.first() as Any)
  print(try await tags.rows(as: Recipe.self).count)
  try await tags.each { print($0) }
  let text = try recipes.find().pipe("UNWIND [tags] |> LIMIT 1 PER [tags]").pipe("WHERE [n] = ?", 1)
  print(try await text.union(tags, origin: "from").union(others.find()).rows().count)
  let facets = try recipes.find().facets(["a": { $0.limit(1) }, "b": { try $0.pipe("LIMIT 2") }])
  print(try await facets.first() as Any)
  let all = recipes.find()
  let buckets = all.grouped(intoBuckets: 3, of: "n", as: "n", bounds: .equalWidths, ["c": .count])
  print(try await buckets.rows())
  let deviation = AggregateExpression.standardDeviation("minutes", ofPopulation: true)
  print(try await all.grouped(by: [:], ["deviation": deviation]).rows())
  let selected = recipes.find().select(["day": Field("date").start(of: .day, in: "Europe/Berlin")])
  print(try await selected.pipe("LIMIT 1").rows())
}
