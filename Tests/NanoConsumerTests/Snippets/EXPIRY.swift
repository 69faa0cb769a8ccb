import Foundation
import NanoStoreModels

let store = try Store(.memory)
let coupons = store["coupons"]
let logs = store["logs"]
