/** How many characters are kept of an error outside of the tests, which lists have whole. */
export const maxRunErrorCharacters = 20_000
