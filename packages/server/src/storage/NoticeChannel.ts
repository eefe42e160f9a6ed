/**
 * What servers notify each other of: a place of a semaphore that no longer waits, a new message in an inbox, a change by
 * which agents may have lost access, the end of a run that held a deployment, and new events.
 */
export type NoticeChannel = "semaphores" | "messages" | "agents" | "deployments" | "events"

export const noticeChannels: ReadonlyArray<NoticeChannel> = [
  "semaphores",
  "messages",
  "agents",
  "deployments",
  "events"
]
