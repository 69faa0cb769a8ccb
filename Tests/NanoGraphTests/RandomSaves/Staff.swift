// SPDX-License-Identifier: MIT

import NanoStoreModels

@Model final class Member {
  var number = 0
  var note = 0
  @Unique var code: String?
  @Inverse var teams: [Team]
  @Inverse var room: Room?

  init(_ number: Int, _ code: String?) {
    self.number = number
    self.code = code
  }
}

@Model final class Team {
  var number = 0
  @Unique var code: String?
  @Relationship(inverse: \Member.teams) var members: [Member] = []
  @Relationship var lead: Member?

  init(_ number: Int, _ code: String?) {
    self.number = number
    self.code = code
  }
}

@Model final class Room {
  var number = 0
  @Relationship(inverse: \Member.room, delete: .cascade) var members: [Member] = []

  init(_ number: Int) { self.number = number }
}

/// The expected content of a context, as plain values by number.
struct Staff: Equatable {
  struct Member: Equatable {
    var note = 0
    var code: String?
  }
  struct Team: Equatable {
    var code: String?
    /// A member can be in several teams, and more than once in a team.
    var members: [Int] = []
    var lead: Int?
  }
  var members: [Int: Member] = [:]
  var teams: [Int: Team] = [:]
  /// A member is in at most one room.
  var rooms: [Int: [Int]] = [:]

  init() {}

  /// Reads the content of a context, including its unsaved changes.
  init(_ context: ObjectContext) throws {
    for member in try context.all(NanoGraphTests.Member.self) {
      members[member.number] = Member(note: member.note, code: member.code)
    }
    for team in try context.all(NanoGraphTests.Team.self) {
      teams[team.number] = Team(
        code: team.code, members: team.members.map(\.number), lead: team.lead?.number)
    }
    for room in try context.all(Room.self) { rooms[room.number] = room.members.map(\.number) }
  }

  /// Whether a save is refused because two objects have the same code.
  var hasDuplicates: Bool {
    func hasDuplicates(_ codes: [String?]) -> Bool {
      let codes = codes.compactMap { $0 }
      return Set(codes).count < codes.count
    }
    return hasDuplicates(members.values.map(\.code)) || hasDuplicates(teams.values.map(\.code))
  }

  func teams(of member: Int) -> [Int] {
    teams.filter { $0.value.members.contains(member) }.keys.sorted()
  }
  func room(of member: Int) -> Int? { rooms.first { $0.value.contains(member) }?.key }

  mutating func setTeams(_ new: [Int], of member: Int) {
    let old = teams(of: member)
    for team in old where !new.contains(team) { teams[team]?.members.removeAll { $0 == member } }
    for team in new where !old.contains(team) { teams[team]?.members.append(member) }
  }

  mutating func setRoom(_ new: Int?, of member: Int) {
    guard new != room(of: member) else { return }
    for room in rooms.keys { rooms[room]?.removeAll { $0 == member } }
    if let new { rooms[new]?.append(member) }
  }

  mutating func setMembers(_ new: [Int], ofRoom room: Int) {
    for other in rooms.keys where other != room {
      rooms[other]?.removeAll { new.contains($0) }
    }
    rooms[room] = new
  }

  mutating func removeMember(_ member: Int) {
    members[member] = nil
    for team in teams.keys {
      teams[team]?.members.removeAll { $0 == member }
      if teams[team]?.lead == member { teams[team]?.lead = nil }
    }
    for room in rooms.keys { rooms[room]?.removeAll { $0 == member } }
  }

  mutating func removeRoom(_ room: Int) {
    for member in rooms[room] ?? [] { removeMember(member) }
    rooms[room] = nil
  }
}

extension Staff: CustomStringConvertible {
  var description: String {
    let members = members.sorted { $0.key < $1.key }
      .map { "\($0.key): \($0.value.code ?? "nil")/\($0.value.note)" }
    let teams = teams.sorted { $0.key < $1.key }
      .map { "\($0.key): \($0.value.code ?? "nil") \($0.value.members) \($0.value.lead ?? 0)" }
    let rooms = rooms.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
    return [members, teams, rooms].map { "{" + $0.joined(separator: ", ") + "}" }.joined()
  }
}
