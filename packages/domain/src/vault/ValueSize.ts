/** The longest value, in bytes of UTF-8 (docs/contract.md, Vault). It imports nothing, so that commands start without the API. */
export const maxValueBytes = 65_536
