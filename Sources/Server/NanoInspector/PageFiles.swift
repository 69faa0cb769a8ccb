// SPDX-License-Identifier: MIT

import Foundation

/// The files of the pages, which are embedded in the executable.
enum PageFiles {
  struct File {
    var contentType: String
    var bytes: [UInt8]
  }

  /// Returns a file by its name; from the folder, if there is one.
  static func file(_ name: String, in folder: URL?) -> File? {
    guard let embedded = all[name], let type = contentType(of: name) else { return nil }
    guard let folder else { return File(contentType: type, bytes: embedded()) }
    return (try? Data(contentsOf: folder.appending(path: name))).map {
      File(contentType: type, bytes: Array($0))
    }
  }

  static func contentType(of name: String) -> String? {
    switch name.split(separator: ".").last {
    case "html": "text/html; charset=utf-8"
    case "css": "text/css; charset=utf-8"
    case "js": "text/javascript; charset=utf-8"
    case "svg": "image/svg+xml"
    default: nil
    }
  }
}

extension PageFiles {
  /// The embedded files by name.
  static let all: [String: @Sendable () -> [UInt8]] = [
    "index.html": { PackageResources.index_html },
    "icon.svg": { PackageResources.icon_svg },
    "inspector.css": { PackageResources.inspector_css },
    "api.js": { PackageResources.api_js },
    "app.js": { PackageResources.app_js },
    "chart.js": { PackageResources.chart_js },
    "complete.js": { PackageResources.complete_js },
    "documents.js": { PackageResources.documents_js },
    "dom.js": { PackageResources.dom_js },
    "draw.js": { PackageResources.draw_js },
    "explain.js": { PackageResources.explain_js },
    "graph.js": { PackageResources.graph_js },
    "indexes.js": { PackageResources.indexes_js },
    "live.js": { PackageResources.live_js },
    "maintenance.js": { PackageResources.maintenance_js },
    "overview.js": { PackageResources.overview_js },
    "query.js": { PackageResources.query_js },
    "route.js": { PackageResources.route_js },
    "search.js": { PackageResources.search_js },
    "shape.js": { PackageResources.shape_js },
    "sync.js": { PackageResources.sync_js },
    "table.js": { PackageResources.table_js },
    "task.js": { PackageResources.task_js },
    "tree.js": { PackageResources.tree_js },
    "transfer.js": { PackageResources.transfer_js },
    "values.js": { PackageResources.values_js },
  ]
}
