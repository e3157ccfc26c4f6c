#pragma once

/// The journal in which SQLite keeps what an unfinished transaction has to be undone with:
/// `<store>-journal`. SQLite believes whatever lies there, so it is looked at before.
namespace onset::study::sqlite {

/// Why a file must not be taken for the journal of a store; null where nothing stands there or what
/// a writer leaves. A writer may be at work on it meanwhile.
///
/// A journal may name a file for SQLite to remove once it has undone the transaction, which serves
/// transactions over several databases. A store has none of these, so such a journal was made by
/// somebody else. No memory is taken and nothing is thrown, since SQLite asks while it reads.
[[nodiscard]] const char* journal_problem(const char* path) noexcept;

}  // namespace onset::study::sqlite
