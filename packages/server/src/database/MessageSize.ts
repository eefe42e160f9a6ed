/** Bytes of a message of the database: the finish of a run, at most 32 MiB that may be longer as JSON, may come back as one row. */
export const maxMessageSize = 72 * 1024 * 1024
