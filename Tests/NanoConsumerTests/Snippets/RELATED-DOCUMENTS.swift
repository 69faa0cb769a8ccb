import NanoStore
import NanoStoreModels

@Model struct Director {
  @Key var id: String
  var country = ""
}

@Model struct Movie {
  @Key var id: String
  var directorID = ""
}

@Model struct Critique {
  @Key var id: String
  var filmID = ""
  var stars = 0
}

let store = try Store(.memory)
