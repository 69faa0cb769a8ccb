// SPDX-License-Identifier: MIT

import Foundation
import NanoStore

// What a macro would write for the two types: names as constants, fields predicted in the order in
// which they were written, any other order by name.

extension Address: DocumentRepresentable {
  func write(to writer: inout JSONWriter) {
    writer.literal(#"{"Street":"#)
    writer.string(street)
    writer.literal(#","Zip":"#)
    writer.string(zip)
    writer.literal(#","Country":"#)
    writer.string(country)
    writer.byte(UInt8(ascii: "}"))
  }

  @inline(__always)
  init(reading reader: inout JSONReader) throws(StoreError) {
    let start = reader
    if reader.match(#"{"Street":"#) {
      let street = try reader.string()
      if reader.match(#","Zip":"#) {
        let zip = try reader.string()
        if reader.match(#","Country":"#) {
          let country = try reader.string()
          if reader.match("}") {
            self.init(street: street, zip: zip, country: country)
            return
          }
        }
      }
    }
    reader = start
    try self.init(inAnyOrder: &reader)
  }

  @inline(never)
  private init(inAnyOrder reader: inout JSONReader) throws(StoreError) {
    var (street, zip, country): (String?, String?, String?)
    try reader.fields { (reader: inout JSONReader, name) throws(StoreError) in
      if name.matches("Street") {
        street = try reader.string()
      } else if name.matches("Zip") {
        zip = try reader.string()
      } else if name.matches("Country") {
        country = try reader.string()
      } else {
        try reader.skipValue()
      }
    }
    guard let street else { throw reader.missingField("Street") }
    guard let zip else { throw reader.missingField("Zip") }
    guard let country else { throw reader.missingField("Country") }
    self.init(street: street, zip: zip, country: country)
  }
}

extension Person: DocumentRepresentable {
  func write(to writer: inout JSONWriter) {
    writer.literal(#"{"FirstName":"#)
    writer.string(firstName)
    writer.literal(#","LastName":"#)
    writer.string(lastName)
    writer.literal(#","Age":"#)
    writer.integer(Int64(age))
    writer.literal(#","City":"#)
    writer.string(city)
    writer.literal(#","Salary":"#)
    writer.double(salary)
    writer.literal(#","Emails":"#)
    writer.array(emails) { writer, email in writer.string(email) }
    writer.literal(#","Address":"#)
    address.write(to: &writer)
    writer.literal(#","Joined":"#)
    writer.date(joined)
    writer.byte(UInt8(ascii: "}"))
  }

  init(reading reader: inout JSONReader) throws(StoreError) {
    let start = reader
    if reader.match(#"{"FirstName":"#) {
      let firstName = try reader.string()
      if reader.match(#","LastName":"#) {
        let lastName = try reader.string()
        if reader.match(#","Age":"#) {
          let age = try reader.integer()
          if reader.match(#","City":"#) {
            let city = try reader.string()
            if reader.match(#","Salary":"#) {
              let salary = try reader.double()
              if reader.match(#","Emails":"#) {
                let emails = try reader.array { (reader) throws(StoreError) in try reader.string() }
                if reader.match(#","Address":"#) {
                  let address = try Address(reading: &reader)
                  if reader.match(#","Joined":"#) {
                    let joined = try reader.date()
                    if reader.match("}") {
                      self.init(
                        firstName: firstName, lastName: lastName, age: Int(age), city: city,
                        salary: salary, emails: emails, address: address, joined: joined)
                      return
                    }
                  }
                }
              }
            }
          }
        }
      }
    }
    reader = start
    try self.init(inAnyOrder: &reader)
  }

  @inline(never)
  private init(inAnyOrder reader: inout JSONReader) throws(StoreError) {
    var (firstName, lastName, city): (String?, String?, String?)
    var (age, salary, emails): (Int64?, Double?, [String]?)
    var (address, joined): (Address?, Date?)
    try reader.fields { (reader: inout JSONReader, name) throws(StoreError) in
      switch try name.text {
      case "FirstName": firstName = try reader.string()
      case "LastName": lastName = try reader.string()
      case "Age": age = try reader.integer()
      case "City": city = try reader.string()
      case "Salary": salary = try reader.double()
      case "Emails":
        emails = try reader.array { (reader) throws(StoreError) in try reader.string() }
      case "Address": address = try Address(reading: &reader)
      case "Joined": joined = try reader.date()
      default: try reader.skipValue()
      }
    }
    guard let firstName, let lastName, let age, let city, let salary, let emails, let address,
      let joined
    else { throw reader.missingField("a field of Person") }
    self.init(
      firstName: firstName, lastName: lastName, age: Int(age), city: city, salary: salary,
      emails: emails, address: address, joined: joined)
  }
}
