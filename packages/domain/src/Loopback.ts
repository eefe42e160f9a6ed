/** A redirect over http to the user's own computer: its host, and what follows the port (RFC 8252). */
const loopback = /^http:\/\/(?<host>localhost|127\.0\.0\.1|\[::1\])(?::[1-9]\d{0,4})?(?<rest>[/?][^#]*)?$/

/** The host of such a redirect, and what follows its port; undefined for any other. */
export const loopbackParts = (redirect: string): Readonly<Record<string, string | undefined>> | undefined =>
  loopback.exec(redirect)?.groups

/** Whether the code would be sent to a program on the user's own computer, which any other program there can be. */
export const isLoopback = (redirect: string): boolean => loopback.test(redirect)

/** How many characters a redirect has at most. */
const maxRedirectLength = 2_000

/** Whether a redirect is exact: what a parser would drop or change is not. */
export const isExactRedirect = (redirect: string): boolean =>
  redirect.length <= maxRedirectLength && /^[!-~]+$/.test(redirect) && !/[#\\]/.test(redirect) && URL.canParse(redirect)
