/**
 * What servers notify each other of: a place of a semaphore that no longer waits, a new message in an inbox, and a change
 * by which agents may have lost access.
 */
export type NoticeChannel = "semaphores" | "messages" | "agents"

export const noticeChannels: ReadonlyArray<NoticeChannel> = ["semaphores", "messages", "agents"]
