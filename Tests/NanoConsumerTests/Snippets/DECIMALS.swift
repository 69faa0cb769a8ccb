import Foundation
import NanoStore
import NanoStoreModels

@Model struct Product {
  @Key var id: String
  var price: Decimal
}

let store = try Store(.memory)
