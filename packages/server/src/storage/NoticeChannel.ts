/**
 * What servers notify each other of: a place of a semaphore that no longer waits, a new message in an inbox, a change by
 * which agents may have lost access, the end of a run that held a deployment, new events, and that a
 * person has read notifications.
 */
export type NoticeChannel = "semaphores" | "messages" | "agents" | "deployments" | "events" | "reading"

export const noticeChannels: ReadonlyArray<NoticeChannel> = [
  "semaphores",
  "messages",
  "agents",
  "deployments",
  "events",
  "reading"
]
