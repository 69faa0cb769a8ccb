// SPDX-License-Identifier: MIT

import NanoStore

extension ProgramExecutor {
  /// Returns the bag at an index modulo the number of bags; nil if there are none.
  func bag(_ number: Int) -> Bag? { bags.isEmpty ? nil : bags[number % bags.count] }

  /// Performs a call on bags; returns nil for other calls.
  func performBagCall(_ call: Call) throws -> Outcome? {
    switch call {
    case .newBag(let name):
      bags.append(Bag(name: name, in: store))
      return .done
    case .bagNamed(let name): return .text(registered(try store.bag(named: name)))
    case .bags(let key):
      return .several([
        .lines(try store.bags().map { registered($0) }),
        .lines(try store.bags(containingKey: key).map { registered($0) }),
        .lines(try store.bags(named: "one").map { registered($0) }),
      ])
    case .everyBag:
      return .several(try bags.map { bag in try attempt { .several(try about(bag)) } })
    default: break
    }
    guard let number = call.bag else { return nil }
    guard let bag = bag(number) else { return .text("no bag") }
    return try with(bag, call) ?? query(bag, call)
  }

  /// Registers a bag, and returns its name within the program.
  private func registered(_ bag: Bag) -> String {
    if !bags.contains(where: { $0.key == bag.key }) { bags.append(bag) }
    return named(bag.key) + " " + (bag.name ?? "-")
  }

  private func with(_ bag: Bag, _ call: Call) throws -> Outcome? {
    switch call {
    case .addToBag(_, let name, let object):
      let added = try keyed { keys in
        let added = try bag.add(Document(object, key: keys?.first), in: name)
        return (added, [added.key])
      }
      return .text(try text(added))
    case .addMember(_, let name, let key):
      guard let document = try store[name].get(key) else { return .text("none") }
      return .text(try text(bag.add(document)))
    case .addBag(_, let other):
      if let other = self.bag(other) { try bag.add(other) }
    case .removeFromBag(_, let key): return .flag(try bag.remove(key: key))
    case .removeBagFromBag(_, let other):
      guard let other = self.bag(other) else { return .text("no bag") }
      return .flag(try bag.remove(other))
    case .clearBag: try bag.removeAll()
    case .renameBag(_, let name): bag.name = name
    case .undoBag: bag.undo()
    case .saveBag: try store.save(bag)
    case .reloadBag: try bag.reload()
    case .inflateBag(_, let on):
      if on { try bag.inflate() } else { bag.deflate() }
      return .count(bag.loadedCount)
    case .copyBag: bags.append(try bag.copy())
    case .dropBag: return .flag(try bag.delete())
    default: return nil
    }
    return .done
  }

  private func query(_ bag: Bag, _ call: Call) throws -> Outcome {
    switch call {
    case .findInBag(_, let query):
      let found = bag.find(query.condition).sorted(by: query.orderings)
        .limit(query.limit, offset: query.offset)
      return .several([try texts(found.fetch()), .count(try found.count())])
    case .searchBag(_, let search):
      return .several([
        try texts(search.documents(in: bag)), .lines(try search.keys(in: bag).map(named)),
        .count(try search.count(in: bag)),
      ])
    default: return .several(try about(bag))
    }
  }

  /// Returns the results of all queries on a bag.
  func about(_ bag: Bag) throws -> [Outcome] {
    let parts = try [bag.contents, bag.saved, bag.unsaved, bag.removed].map { part in
      Outcome.lines(
        ["\(try part.count())"] + (try part.members().map(text)) + (try part.keys().map(named)))
    }
    return parts + [
      try texts(bag.documents()), .lines(try bag.bags().map { registered($0) }),
      .text("\(bag.name ?? "-") \(bag.hasUnsavedChanges)"), .text(try description(of: bag)),
      .lines(try bags.map { "\(try bag.isEqual(to: $0)) \(try bag.contains($0))" }),
    ]
  }

  private func description(of bag: Bag) throws -> String {
    var about = try DocumentObject(json: bag.jsonDescription())
    about["key"] = .string(named(bag.key))
    about["members"] = .int(Int64(try bag.representation()["members"]?.array?.count ?? 0))
    return about.jsonString()
  }

  private func text(_ member: BagMember) -> String {
    "\(member.collection) \(member.key.map(named) ?? "#\(member.rowID ?? 0)")"
  }
}

extension Call {
  /// The index of the bag that the call uses.
  fileprivate var bag: Int? {
    switch self {
    case .addToBag(let bag, _, _), .addMember(let bag, _, _), .addBag(let bag, _),
      .removeFromBag(let bag, _), .removeBagFromBag(let bag, _), .clearBag(let bag),
      .renameBag(let bag, _), .undoBag(let bag), .saveBag(let bag), .reloadBag(let bag),
      .inflateBag(let bag, _), .copyBag(let bag), .dropBag(let bag), .bag(let bag),
      .findInBag(let bag, _), .searchBag(let bag, _):
      bag
    default: nil
    }
  }
}
