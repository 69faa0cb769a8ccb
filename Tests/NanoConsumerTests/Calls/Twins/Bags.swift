// SPDX-License-Identifier: MIT

import NanoStore

func bags(_ store: Store, _ document: Document, _ member: BagMember) async throws {
  let bag = try await store.bag(named: "Favorites")
  print(try await store.bag(key: "1") as Any, try await store.bags().count)
  print(try await store.bags(named: "Favorites"), try await store.bags(keys: ["1"]))
  print(try await store.bags(containing: document), try await store.bags(containing: bag))
  print(try await store.bags(containingKey: "soup"))
  print(try await store.bags(containingKey: "soup", in: "recipes"))
  print(try await store.bags(containing: member))
  let named = store.findBags(Field("name").hasPrefix("Fav")).sorted(by: "-name").limit(10)
  print(try await store.bags(keys: named.keys()), try await named.count())
  print(try await store.findBags().page(20).documents)
  try await store.save(bag)
  try await store.deleteBag(key: "1")
  try await store.deleteBag(bag)
  try await store.deleteBags(keys: ["1"])
}

func changing(_ bag: Bag, _ other: Bag, _ document: Document) async throws {
  try await bag.remove(document)
  try await bag.remove([document])
  try await bag.remove(key: "soup", in: "recipes")
  try await bag.remove(keys: ["soup"])
  try await bag.remove(other)
  try await bag.removeAll()
  try await bag.save()
  try await bag.reload()
  try await bag.inflate()
  try await bag.delete()
  print(try await bag.copy(), try await bag.isEqual(to: other))
}

func reading(_ bag: Bag, _ other: Bag, _ document: Document, _ member: BagMember) async throws {
  print(try await bag.representation(), try await bag.jsonDescription(), try await bag.count())
  print(try await bag.members(), try await bag.members(limit: 5, offset: 5))
  print(try await bag.documents(), try await bag.document("soup") as Any, try await bag.bags())
  print(try await bag.contains(document), try await bag.contains(other))
  print(try await bag.contains(key: "soup", in: "recipes"))
  let part = bag.contents
  print(try await part.count(), try await part.members(limit: 5), try await part.keys())
  print(try await part.documents(), try await part.document("soup") as Any)
  print(try await part.contains(member), try await part.bags())
}

func querying(_ bag: Bag) async throws {
  let quick = bag.find(Field("minutes") < 30).sorted(by: "minutes").limit(5)
  print(try await quick.fetch(), try await quick.first() as Any, try await quick.count())
  print(try await quick.exists(), try await quick.members(), try await quick.keys())
  print(try await quick.aggregate([.count]))
  print(try await bag.find("[minutes] < ?", 30).count())
}
