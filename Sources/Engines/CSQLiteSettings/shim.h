// SPDX-License-Identifier: MIT

#include <sqlite3.h>

/// `sqlite3_db_config` is variadic, and Swift cannot call variadic functions of C.
static inline int nano_enable_triggers(sqlite3 *connection, int isEnabled) {
  return sqlite3_db_config(connection, SQLITE_DBCONFIG_ENABLE_TRIGGER, isEnabled, (int *)0);
}
