/** The other pages of the browser that show the same workspace. */

export const channelOf = (slug: string): string => `delivery-events-${slug}`

/** Tells them to read again what the person changed for themselves alone: that is no event of the workspace. */
export const tellPages = (slug: string, kind: string): void => {
  const channel = new BroadcastChannel(channelOf(slug))
  channel.postMessage({ changed: kind })
  channel.close()
}
