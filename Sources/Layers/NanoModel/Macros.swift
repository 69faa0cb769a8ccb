// SPDX-License-Identifier: MIT

/// Makes a struct or a final class a ``Model``: writes its fields, and how they are encoded and decoded.
///
/// ```swift
/// @Model(collection: "people", version: 2)
/// struct Person {
///   @Key var id: UUID = UUID()
///   @Field("FirstName") var firstName: String
///   @Indexed var lastName: String
///   @Field(renamedFrom: "mail") var email: String?
///   @Transient var isSelected = false
/// }
/// ```
///
/// A property with a value may be missing in a document, and so may an optional one; every other one must
/// be there. What a document holds beside the declared properties is kept and saved back.
///
/// - Parameters:
///   - collection: Where values are kept; the name of the type if not given.
///   - version: Raise it together with a ``ModelUpgrade``, when defaults and former names do not say how
///     older documents are to be read.
@attached(
  member,
  names: named(_$unknownFields), named(init(reading:)), named(init(reading:key:)), named(init()),
  named(_$read), named(_$readInAnyOrder)
)
@attached(
  extension, conformances: Model,
  names: named(collectionName), named(modelVersion), named(modelFields), named(init(reading:)),
  named(init(reading:key:)), named(write(to:)), named(writeDocument(to:)), named(documentKey),
  named(_$write)
)
public macro Model(collection: String? = nil, version: Int = 1) =
  #externalMacro(module: "NanoMacros", type: "ModelMacro")

/// Says how a property is named in documents, now and in former versions of the program.
///
/// ```swift
/// @Field("LastName", renamedFrom: "Surname") var lastName: String
/// ```
///
/// Documents with a former name are read and found as before, and get the new one when they are saved.
///
/// - Parameters:
///   - name: The name in documents; the property's own if not given.
///   - renamedFrom: Names that documents may have instead, the latest first.
@attached(peer)
public macro Field(_ name: String? = nil, renamedFrom: String...) =
  #externalMacro(module: "NanoMacros", type: "PropertyMarker")

/// A property that is not stored. It needs a value, which it has again after reading.
@attached(peer)
public macro Transient() = #externalMacro(module: "NanoMacros", type: "PropertyMarker")

/// A property that documents are found and sorted by quickly.
@attached(peer)
public macro Indexed() = #externalMacro(module: "NanoMacros", type: "PropertyMarker")

/// A property that no two documents have the same value of. Documents without a value never collide.
@attached(peer)
public macro Unique() = #externalMacro(module: "NanoMacros", type: "PropertyMarker")

/// A property whose texts are searched by words; see ``ModelCollection/search(_:)-(String)``. All that are
/// marked so have one text index.
@attached(peer)
public macro TextIndexed() = #externalMacro(module: "NanoMacros", type: "PropertyMarker")

/// The property that is the key of the document: a `String`, a `UUID`, an integer or another ``ModelKey``.
///
/// It is kept beside the document's fields. An optional one that is nil gets a key when it is inserted.
@attached(peer)
public macro Key() = #externalMacro(module: "NanoMacros", type: "PropertyMarker")
