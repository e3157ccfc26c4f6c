#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

/// The little of SQLite that the store needs, with its error codes turned into IoError.
namespace onset::study::sqlite {

class Database;

/// One SQL statement with its values: `Statement(db, "...?").bind(1, x).run()`.
class Statement {
 public:
  Statement(Database& database, std::string_view sql);

  Statement& bind(int index, std::string_view text);
  Statement& bind(int index, std::int64_t whole);
  Statement& bind(int index, double real);

  /// Moves to the next row; returns false when there is none.
  bool step();
  /// Runs a statement without rows; its values may be bound anew afterwards.
  void run();
  /// Goes back to the start, so that values can be bound anew.
  void reset() { sqlite3_reset(statement_.get()); }

  // The columns of the row. They throw IoError where one holds another kind of value, which SQLite
  // allows.
  [[nodiscard]] std::string text(int column) const;
  [[nodiscard]] std::int64_t whole(int column) const;
  [[nodiscard]] double real(int column) const;
  void get(int column, std::string& out) const { out = text(column); }
  void get(int column, std::int64_t& out) const { out = whole(column); }
  void get(int column, double& out) const { out = real(column); }

 private:
  void require_kind(int column, bool fits) const;

  struct Finalizer {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };
  Database& database_;
  std::unique_ptr<sqlite3_stmt, Finalizer> statement_;
};

class Database {
 public:
  /// A database in memory has no file; its path is that of the file which is made of it.
  enum class Mode { read, write, memory };

  /// Throws IoError when the file cannot be opened. A stop request ends the waiting for a program
  /// that keeps the file locked.
  Database(std::filesystem::path path, Mode mode, std::stop_token stop = {});

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] sqlite3* handle() const { return handle_.get(); }

  void execute(const char* sql);
  /// The bytes that a file with this database has.
  [[nodiscard]] std::string bytes();
  /// Throws IoError with what SQLite says about the last call, or with what is wrong with the
  /// journal, or Interrupted when the call waited for another program until a stop was requested.
  [[noreturn]] void fail(int code) const;

 private:
  /// Throws IoError where something that is no journal of a store kept SQLite from going on.
  void require_journal(int code) const;

  struct Closer {
    void operator()(sqlite3* handle) const { sqlite3_close_v2(handle); }
  };
  std::filesystem::path path_;
  std::unique_ptr<std::stop_token> stop_;  // stays in place even if this object is moved
  std::unique_ptr<sqlite3, Closer> handle_;
};

/// A transaction, which is rolled back unless it is committed.
class Transaction {
 public:
  explicit Transaction(Database& database);
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  ~Transaction();
  void commit();

 private:
  Database& database_;
  bool open_ = true;
};

}  // namespace onset::study::sqlite
