/** A version as people read it: the id of a commit in short. Other versions stay as they are. */
export const shortened = (version: string): string =>
  /^(?:[0-9a-f]{12,40}|[0-9a-f]{64})$/i.test(version) ? version.slice(0, 7) : version
