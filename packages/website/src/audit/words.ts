/** What the audit calls things, in the words of the screens. Pure. */

/** `trustedPublishers` is "trusted publishers" for people, and `apiKeys` "API keys". */
const wordsOf = (name: string): string =>
  name
    .replaceAll(/([a-z])([A-Z])/g, (_, before: string, after: string) => `${before} ${after.toLowerCase()}`)
    .replaceAll(/\bapi\b/g, "API")

/** `key_created` is "key created", and the operation `members.update`, which was refused, "members: update". */
export const actionWords = (action: string): string => {
  const [group = "", verb] = action.split(".")
  return verb === undefined ? action.replaceAll("_", " ") : `${wordsOf(group)}: ${wordsOf(verb)}`
}
