let path = "library.db"
let file = "setup.json"
