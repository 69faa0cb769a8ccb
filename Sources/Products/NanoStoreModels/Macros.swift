// SPDX-License-Identifier: MIT

public import NanoGraph
import NanoModel

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
///   - collection: Where values are kept; the name of the type if not given. Two types share a collection only if both
///     name it here; otherwise operations on the one that a store meets second throw
///     ``StoreError/Code/invalidArgument``.
///   - version: Raise it together with a ``ModelUpgrade``, when defaults and former names do not say how
///     older documents are to be read.
@attached(
  member,
  names: named(_$unknownFields), named(init(reading:)), named(init(reading:key:)), named(init()),
  named(_$read), named(_$readInAnyOrder), named(_$object), named(init(_$fault:)), named(_$fill),
  named(_$fillWithFirstValues), named(_$check), named(_$load), named(_$willChange)
)
@attached(memberAttribute)
@attached(
  extension, conformances: Model, KeyedModel, GraphObject, CustomReflectable,
  names: named(collectionName), named(modelVersion), named(modelFields), named(init(reading:)),
  named(init(reading:key:)), named(write(to:)), named(writeDocument(to:)), named(documentKey),
  named(_$write), named(_$writeSnapshot), named(_$relationships), named(_$inverses),
  named(_$namesCollection), named(customMirror)
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
///   - renamedFrom: Names that documents may have instead, the latest first. A name that a property has today does
///     not compile. Whether documents have a name is not checked: a misspelled one is never read, and the property has
///     its default.
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
///
/// The property is a string, a list of strings or of another type that is ``TextIndexable``; others do not compile.
@attached(peer)
public macro TextIndexed() = #externalMacro(module: "NanoMacros", type: "PropertyMarker")

/// The property that is the key of the document: a `String`, a `UUID`, an integer or another ``ModelKey``.
///
/// It is kept beside the document's fields. An optional one that is nil gets a key when it is inserted.
@attached(peer)
public macro Key() = #externalMacro(module: "NanoMacros", type: "PropertyMarker")

/// A property that leads to other objects: `[Song]`, in this order and with duplicates, or `Song?`. Both may be
/// of any class: `[any GraphObject]`.
///
/// It is kept in the document of the object that has it, as row ids. The objects are loaded when they are looked
/// at. The property of the other class that shows who relates to it is named here and marked with ``Inverse(delete:)``
/// there; both ends change together.
///
/// - Parameters:
///   - inverse: That property, as in `\Song.playlists`. It makes looking there quick, by an index. One that does not
///     lead back to this class does not compile.
///   - delete: What happens to the objects at the other end when this one is deleted.
@attached(accessor, names: named(init), named(get), named(set), named(_modify))
@attached(peer, names: prefixed(_$f_))
public macro Relationship(inverse: AnyKeyPath? = nil, delete: DeleteRule = .nullify) =
  #externalMacro(module: "NanoMacros", type: "Relationship")

/// A property that shows the objects whose ``Relationship(inverse:delete:)`` leads to this one, by their row ids:
/// `[Playlist]`, or `Album?` if there can be only one.
///
/// Nothing of it is kept in the document. A class with an inverse that no relationship names is refused: the context
/// throws ``StoreError/Code/invalidArgument``, with both classes, when it is first used with the class.
///
/// - Parameter delete: What happens to those objects when this one is deleted.
@attached(accessor, names: named(get), named(set), named(_modify))
@attached(peer, names: prefixed(_$f_))
public macro Inverse(delete: DeleteRule = .nullify) =
  #externalMacro(module: "NanoMacros", type: "Relationship")

/// Written by ``Model(collection:version:)`` before the properties of a class.
@attached(accessor, names: named(init), named(get), named(set), named(_modify))
@attached(peer, names: prefixed(_$f_))
public macro _TrackedProperty() =
  #externalMacro(module: "NanoMacros", type: "TrackedProperty")
