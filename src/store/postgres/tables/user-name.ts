/** The condition that `$1` is the ID or the e-mail of a user. The collation compares only A to Z regardless of case. */
export const isUser = `(id = $1 OR lower(email) = lower($1 COLLATE "C"))`
