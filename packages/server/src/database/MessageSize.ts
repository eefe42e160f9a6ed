/** Bytes of a message of the database: the finish of a run, at most 64 MiB, may come back as one row. */
export const maxMessageSize = 72 * 1024 * 1024
