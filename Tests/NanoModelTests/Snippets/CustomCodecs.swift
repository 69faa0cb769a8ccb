// SPDX-License-Identifier: MIT

import NanoStore
import Testing

@Suite("Code in the article Custom codecs")
struct CustomCodecsSnippets {
  enum Quality: String, FieldCodable { case good, suspect }

  struct Place: FieldCodable, Equatable {
    var latitude: Double
    var longitude: Double

    init(latitude: Double, longitude: Double) {
      (self.latitude, self.longitude) = (latitude, longitude)
    }

    func write(to writer: inout JSONWriter) {
      writer.array([latitude, longitude]) { $0.double($1) }
    }

    init(reading reader: inout JSONReader) throws(StoreError) {
      let numbers = try [Double](reading: &reader)
      guard numbers.count == 2 else {
        throw StoreError(
          .typeMismatch, "A place is not an array of two numbers",
          [.actual: "\(numbers.count) numbers"])
      }
      self.init(latitude: numbers[0], longitude: numbers[1])
    }
  }

  struct Reading: DocumentRepresentable, Equatable {
    var sensor: String
    var celsius: Double
    var quality = Quality.good
    var place: Place?
    var samples: [Int] = []

    init(sensor: String, celsius: Double) { (self.sensor, self.celsius) = (sensor, celsius) }

    func write(to writer: inout JSONWriter) {
      writer.literal(#"{"sensor":"#)
      writer.string(sensor)
      writer.literal(#","celsius":"#)
      writer.double(celsius)
      writer.literal(#","quality":"#)
      quality.write(to: &writer)
      if let place {
        writer.literal(#","place":"#)
        place.write(to: &writer)
      }
      writer.literal(#","samples":"#)
      writer.array(samples) { $0.integer($1) }
      writer.literal("}")
    }

    init(reading reader: inout JSONReader) throws(StoreError) {
      var sensor: String?
      var celsius: Double?
      var quality = Quality.good
      var place: Place?
      var samples: [Int] = []
      try reader.fields { (reader: inout JSONReader, field) throws(StoreError) in
        if field.matches("sensor") {
          sensor = try reader.string()
        } else if field.matches("celsius") {
          celsius = try reader.double()
        } else if field.matches("quality") {
          quality = try Quality(reading: &reader)
        } else if field.matches("place") {
          place = try Place?(reading: &reader)
        } else if field.matches("samples") {
          samples = try [Int](reading: &reader)
        } else {
          try reader.skipValue()
        }
      }
      guard let sensor else { throw reader.missingField("sensor") }
      guard let celsius else { throw reader.missingField("celsius") }
      self.init(sensor: sensor, celsius: celsius)
      (self.quality, self.place, self.samples) = (quality, place, samples)
    }
  }

  struct Folder: DocumentRepresentable {
    var folders: [Folder] = []

    init(folders: [Folder] = []) { self.folders = folders }

    func write(to writer: inout JSONWriter) {
      guard writer.enter() else { return }
      writer.literal(#"{"folders":"#)
      folders.write(to: &writer)
      writer.literal("}")
      writer.leave()
    }

    init(reading reader: inout JSONReader) throws(StoreError) {
      var folders: [Folder] = []
      try reader.enter()
      try reader.fields { (reader: inout JSONReader, field) throws(StoreError) in
        if field.matches("folders") {
          folders = try [Folder](reading: &reader)
        } else {
          try reader.skipValue()
        }
      }
      reader.leave()
      self.init(folders: folders)
    }
  }

  private let store: Store

  init() throws { store = try Store(.memory) }

  @Test("Values are stored, found and read by their own codec") func values() async throws {
    let readings = store["readings"]
    var first = Reading(sensor: "roof", celsius: 21.5)
    first.place = Place(latitude: 47.37, longitude: 8.54)
    try await readings.insert(first, key: "first")
    first.samples = [21, 22]
    try await readings.save(first, key: "first")
    try await readings.insert([
      Reading(sensor: "cellar", celsius: 12), Reading(sensor: "roof", celsius: 23),
    ])

    let same = try await readings.get("first", as: Reading.self)
    let warm = try await readings.find(Field("celsius") > 20).decoded(as: Reading.self)
    let north = try await readings.find(Field("place.0") > 45).count()  // 1

    #expect(same == first && warm.map(\.sensor) == ["roof", "roof"] && north == 1)
    #expect(try await readings.get("first")?["quality"] == "good")
    try await readings.save(["sensor": "attic", "celsius": "mild"], key: "odd")
    do {
      _ = try await readings.get("odd", as: Reading.self)
    } catch let error as StoreError where error.code == .typeMismatch {
      print(error)  // … [typeMismatch] (expected: a number, field: celsius, collection: readings)
    }

    let error = await #expect(throws: StoreError.self) {
      try await readings.get("odd", as: Reading.self)
    }
    #expect(
      error?.description.hasSuffix(
        "[typeMismatch] (expected: a number, field: celsius, collection: readings)") == true)
    #expect(error?[.key] == "odd")
    let (decoded, skipped) = try await readings.find().decodedSkippingFailures(as: Reading.self)
    #expect(decoded.count == 3 && skipped.map(\.key) == ["odd"])
  }

  @Test("Absent, additional and reordered fields are read; a required field is reported")
  func otherDocuments() throws {
    let readings = store["readings"]
    try readings.save(["more": [1], "celsius": 3, "place": nil, "sensor": "a"], key: "a")
    try readings.save(["celsius": 3], key: "b")
    try readings.save(["celsius": 3, "sensor": "c", "place": [1]], key: "c")

    #expect(
      try readings.get("a", as: Reading.self) == Reading(sensor: "a", celsius: 3))
    let missing = #expect(throws: StoreError.self) { try readings.get("b", as: Reading.self) }
    #expect(missing?.code == .typeMismatch && missing?[.field] == "sensor")
    let place = #expect(throws: StoreError.self) { try readings.get("c", as: Reading.self) }
    #expect(place?.code == .typeMismatch && place?[.actual] == "1 numbers")
  }

  @Test("Nesting is limited when values are written and when they are read")
  func nesting() throws {
    let folders = store["folders"]
    let deepest = (1...2).reduce(Folder()) { inner, _ in Folder(folders: [inner]) }
    let tooDeep = (1...2_000).reduce(Folder()) { inner, _ in Folder(folders: [inner]) }

    try folders.save(deepest, key: "a")
    #expect(try folders.get("a", as: Folder.self)?.folders.first?.folders.count == 1)
    let refused = #expect(throws: StoreError.self) { try folders.save(tooDeep, key: "a") }
    #expect(refused?.code == .valueNotStorable)
    #expect(try folders.get("a", as: Folder.self)?.folders.count == 1)
  }
}
