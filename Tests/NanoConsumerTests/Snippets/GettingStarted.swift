let path = "library.db"
