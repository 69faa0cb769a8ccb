// SPDX-License-Identifier: MIT

import NanoStore

struct Film: Codable { var title: String, year: Int, genres: [String] }

func quickStart() async throws {
  let store = try Store(.file("library.db"))
  let films = store["films"]
  try await store.write {
    try films.save(["title": "Alien", "year": 1979, "genres": ["Horror", "SF"]], key: "alien")
    try films.save(["title": "Ran", "year": 1985, "director": ["name": "Kurosawa"]], key: "ran")
    try films.save(Film(title: "Brazil", year: 1985, genres: ["Comedy", "SF"]), key: "brazil")
  }
  try await films.createIndex("year")

  let found = films.find(Field("genres") == "SF" && Field("year") < 1990).sorted(by: "-year")
  for film in try await found.decoded(as: Film.self) { print(film.title, film.year) }

  print(try await films.find("[director.name] = ? OR [year] < 1980", "Kurosawa").count(), "by text")
  print(try await films.find().average("year") ?? 0, "on average")

  try await films.update("ran", set: ["director.born": 1910])
  print(try await films.get("ran")?["director.born"]?.int ?? 0)
  try store.close()
}

try await quickStart()
