/** Longer ones are no path that the website makes. */
const maxLength = 2_000

const origin = "https://origin.invalid"

/**
 * Where a browser goes after it has signed in: the path that it asked for if that is a path of this service, else `/`. What
 * browsers, or proxies that decode a path, might take for another host is none; nor is what signs in, lest it goes in a circle.
 */
export const pathOf = (returnTo: string | undefined): string => {
  if (returnTo === undefined || returnTo.length > maxLength) return "/"
  // Browsers drop tabs and line breaks, and read a backslash as a slash.
  if (!returnTo.startsWith("/") || /[\\\p{Cc}\p{Cs}]/u.test(returnTo) || !URL.canParse(returnTo, origin)) return "/"
  // Parsing also resolves dots: `/.//host` becomes `//host`.
  const url = new URL(returnTo, origin)
  if (url.origin !== origin || isElsewhere(url.pathname) || isSignIn(url.pathname)) return "/"
  return `${url.pathname}${url.search}${url.hash}`
}

/** Whether a path begins with two slashes, of either kind, encoded or not. */
const isElsewhere = (path: string): boolean => /^(?:[/\\]|%2f|%5c){2}/i.test(path)

/** Whether a router, which decodes paths, would take it for a call of signing in. */
const isSignIn = (path: string): boolean => /^\/auth(?:[/\\]|$)/i.test(decoded(path))

const decoded = (path: string): string => {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}
