/** What the thing is called that an address of the website shows, as the API and people call it. Pure. */

const named = [
  /^(?:tickets|projects|teams|environments|messages|webhooks|views)\/([^/]+)$/,
  /^test-runs\/([^/]+)$/,
  /^test-runs\/[^/]+\/tests\/([^/]+)$/,
  /^products\/[^/]+\/(?:secrets|cases)\/([^/]+)$/,
  /^products\/([^/]+)$/,
  /^deployments\/([^/]+\/[^/]+)$/
]

/** Undefined where it shows a list, or something without a name. */
export const namedAt = (path: string): string | undefined => {
  const place = path.replace(/^\/w\/[^/]+\//, "")
  for (const pattern of named) {
    const [, name] = pattern.exec(place) ?? []
    if (name !== undefined) return decodeURIComponent(name)
  }
  return undefined
}
