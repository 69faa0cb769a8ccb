// SPDX-License-Identifier: MIT

import NanoStore

struct Film: Codable { var title: String, year: Int, genres: [String] }

let store = try Store(.file("library.db"))
let films = store["films"]
try store.write {
  try films.save(["title": "Alien", "year": 1979, "genres": ["Horror", "SF"]], key: "alien")
  try films.save(["title": "Ran", "year": 1985, "director": ["name": "Kurosawa"]], key: "ran")
  try films.save(Film(title: "Brazil", year: 1985, genres: ["Comedy", "SF"]), key: "brazil")
}
try films.createIndex("year")

let found = films.find(Field("genres") == "SF" && Field("year") < 1990).sorted(by: "-year")
for film in try found.decoded(as: Film.self) { print(film.title, film.year) }

print(try films.find("[director.name] = ? OR [year] < 1980", "Kurosawa").count(), "by text")
print(try films.find().average("year") ?? 0, "on average")

try films.update("ran", set: ["director.born": 1910])
print(try films.get("ran")?["director.born"]?.int ?? 0)
try store.close()
