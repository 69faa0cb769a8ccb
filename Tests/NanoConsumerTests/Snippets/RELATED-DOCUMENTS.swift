import NanoStore
import NanoStoreModels

@Model struct Director {
  @Key var id: String
  var name = ""
  var country = ""
}

@Model struct Movie {
  @Key var id: String
  var title = ""
  var directorID = ""
}

@Model struct Critique {
  @Key var id: String
  var filmID = ""
  var stars = 0
}

@Model struct RatedMovie {
  @Model struct Person { var name = "" }
  @Model struct Review { var stars = 0 }
  @Key var id: String
  var director: Person?
  var reviews: [Review] = []
}

let store = try Store(.memory)
