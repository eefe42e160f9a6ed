/** The kinds of queries that muting makes old. */
export const changedByMutes: ReadonlyArray<string> = ["mutes", "cases", "tickets"]
