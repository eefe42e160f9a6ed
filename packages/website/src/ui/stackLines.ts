/** What the lines of a stack are. Pure. */

/** Of a library, which is read last. */
export const isOfLibrary = (line: string): boolean => /^\s+at .*(?:node_modules|node:|<anonymous>)/.test(line)

/** Of code with its line numbers, in which a mark below points at a place: `> 34 |   expect(total)`, `     |   ^`. */
export const isOfCode = (line: string): boolean => /^>? *\d* *\|(?: |$)/.test(line)
