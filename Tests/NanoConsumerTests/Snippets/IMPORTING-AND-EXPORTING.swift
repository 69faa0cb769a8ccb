import Foundation
import NanoStore

let people = try Store(.memory)["people"]
let (file, database) = (URL(filePath: "people.json"), URL(filePath: "other.db"))
let path = "archive.db"
