// SPDX-License-Identifier: MIT

import NanoStoreModels
import Testing

/// Random edits, made in the context and in the expected content.
extension StaffProgram {
  /// Makes an edit that undo records in any case.
  func makeRecordedEdit() throws {
    guard let number = pick(staff.members.keys) else { return try insertMember() }
    let member = try member(number)
    member.note = takeNumber()
    staff.members[number]?.note = member.note
    log.append("note of \(number)")
  }

  func makeEdit() throws {
    switch random.number(0...15) {
    case 0, 1: try insertMember()
    case 2: try insertTeam()
    case 3: try insertRoom()
    case 4, 5: try setCode()
    case 6, 7: try exchangeCodes()
    case 8: try giveCodeToNewMember()
    case 9, 10: try editMembersOfTeam()
    case 11: try editTeamsOfMember()
    case 12: try editRoom()
    case 13:
      guard let number = pick(staff.members.keys) else { return }
      try context.delete(member(number))
      staff.removeMember(number)
      log.append("delete member \(number)")
    case 14:
      guard let number = pick(staff.teams.keys) else { return }
      try context.delete(team(number))
      staff.teams[number] = nil
      log.append("delete team \(number)")
    default:
      guard let number = pick(staff.rooms.keys) else { return }
      try context.delete(room(number))
      staff.removeRoom(number)
      log.append("delete room \(number)")
    }
  }

  /// Makes all codes different, so that the next save succeeds.
  func removeDuplicates() throws {
    for number in staff.members.keys.sorted() { try setCode("\(number % 7)", ofMember: number) }
    var seen: Set<String> = []
    for number in staff.members.keys.sorted() {
      guard let code = staff.members[number]?.code, !seen.insert(code).inserted else { continue }
      try setCode(nil, ofMember: number)
    }
    for number in staff.teams.keys.sorted() {
      try team(number).code = nil
      staff.teams[number]?.code = nil
    }
    log.append("remove duplicates")
  }

  // MARK: Codes

  private func pickCode() -> String? {
    // Few, so that they are given up and taken.
    random.oneIn(4) ? nil : "\(random.number(0...6))"
  }

  private func setCode(_ code: String?, ofMember number: Int) throws {
    try member(number).code = code
    staff.members[number]?.code = code
  }

  private func setCode() throws {
    let code = pickCode()
    if random.oneIn(3), let number = pick(staff.teams.keys) {
      try team(number).code = code
      staff.teams[number]?.code = code
      log.append("code of team \(number) is \(code ?? "nil")")
    } else if let number = pick(staff.members.keys) {
      try setCode(code, ofMember: number)
      log.append("code of \(number) is \(code ?? "nil")")
    }
  }

  /// Rotates the codes of some members.
  private func exchangeCodes() throws {
    let numbers = Array(
      staff.members.keys.sorted().shuffled(using: &random).prefix(random.number(2...4)))
    let codes = numbers.map { staff.members[$0]?.code }
    for (index, number) in numbers.enumerated() {
      try setCode(codes[(index + 1) % codes.count], ofMember: number)
    }
    log.append("rotate codes of \(numbers)")
  }

  private func giveCodeToNewMember() throws {
    guard let number = pick(staff.members.keys) else { return }
    let code = staff.members[number]?.code
    if random.oneIn(2) {
      try setCode(pickCode(), ofMember: number)
    } else {
      try context.delete(member(number))
      staff.removeMember(number)
    }
    log.append("\(number) gives up its code to:")
    try insertMember(code)
  }

  // MARK: New objects

  private func insertMember() throws { try insertMember(pickCode()) }

  private func insertMember(_ code: String?) throws {
    let member = Member(takeNumber(), code)
    try context.insert(member)
    retained.append(member)
    staff.members[member.number] = Staff.Member(code: code)
    log.append("member \(member.number) \(code ?? "nil")")
  }

  private func insertTeam() throws {
    let team = Team(takeNumber(), pickCode())
    let members = pickMembers()
    if random.oneIn(2) { try context.insert(team) }
    team.members = try members.map(member)
    let lead = pick(staff.members.keys)
    team.lead = try lead.map(member)
    try context.insert(team)
    staff.teams[team.number] = Staff.Team(code: team.code, members: members, lead: lead)
    log.append("team \(team.number) \(team.code ?? "nil") \(members) \(lead ?? 0)")
  }

  private func insertRoom() throws {
    let room = Room(takeNumber())
    let members = Array(Set(pickMembers())).sorted()
    room.members = try members.map(member)
    try context.insert(room)
    staff.setMembers(members, ofRoom: room.number)
    log.append("room \(room.number) \(members)")
  }

  // MARK: Relationships

  private func pickMembers() -> [Int] {
    (0..<random.number(0...3)).compactMap { _ in pick(staff.members.keys) }
  }

  private func editMembersOfTeam() throws {
    guard let number = pick(staff.teams.keys) else { return }
    let team = try team(number)
    switch random.number(0...3) {
    case 0:
      guard let added = pick(staff.members.keys) else { return }
      let place = random.number(0...team.members.count)
      try team.members.insert(member(added), at: place)
      staff.teams[number]?.members.insert(added, at: place)
    case 1:
      guard !team.members.isEmpty else { return }
      let place = random.number(0...(team.members.count - 1))
      team.members.remove(at: place)
      staff.teams[number]?.members.remove(at: place)
    case 2:
      let members = pickMembers()
      team.members = try members.map(member)
      staff.teams[number]?.members = members
    default:
      let lead = pick(staff.members.keys)
      team.lead = try lead.map(member)
      staff.teams[number]?.lead = lead
    }
    log.append("team \(number) is \(staff.teams[number]?.members ?? [])")
  }

  private func editTeamsOfMember() throws {
    guard let number = pick(staff.members.keys) else { return }
    let teams = Array(staff.teams.keys.sorted().shuffled(using: &random).prefix(2))
    try member(number).teams = teams.map(team)
    staff.setTeams(teams, of: number)
    log.append("teams of \(number) are \(teams)")
  }

  private func editRoom() throws {
    if random.oneIn(2), let number = pick(staff.members.keys) {
      let target = random.oneIn(3) ? nil : pick(staff.rooms.keys)
      try member(number).room = target.map(room)
      staff.setRoom(target, of: number)
      log.append("room of \(number) is \(target ?? 0)")
    } else if let number = pick(staff.rooms.keys) {
      let members = Array(Set(pickMembers())).sorted()
      try room(number).members = members.map(member)
      staff.setMembers(members, ofRoom: number)
      log.append("members of room \(number) are \(members)")
    }
  }
}
