import NanoStoreModels
import Observation

@Model final class Song {
  var title: String

  init(_ title: String) { self.title = title }
}
