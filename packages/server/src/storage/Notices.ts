import { Context, Effect, type Scope } from "effect"
import { type NoticeChannel, noticeChannels } from "./NoticeChannel.ts"

export interface NoticeListener {
  readonly onNotice: (payload: string) => void
  /** Whenever listening begins, also after the connection was lost: notices sent before that may be missed. */
  readonly onListening: () => void
}

/** Notices of committed changes, whichever server made them. */
export class Notices extends Context.Service<
  Notices,
  {
    /** Calls back until the scope closes. */
    readonly listen: (channel: NoticeChannel, listener: NoticeListener) => Effect.Effect<void, never, Scope.Scope>
  }
>()("@delivery/server/storage/Notices") {}

/** The listeners of this process, by channel. */
export const makeListeners = () => {
  const all = new Map<NoticeChannel, Set<NoticeListener>>(noticeChannels.map((channel) => [channel, new Set()]))
  const of = (channel: NoticeChannel): ReadonlySet<NoticeListener> => all.get(channel)!
  return {
    of,
    notify: (channel: NoticeChannel, payload: string) => {
      for (const { onNotice } of of(channel)) onNotice(payload)
    },
    add: (channel: NoticeChannel, listener: NoticeListener) =>
      Effect.acquireRelease(
        Effect.sync(() => void all.get(channel)!.add(listener)),
        () => Effect.sync(() => void all.get(channel)!.delete(listener))
      )
  }
}

export type Listeners = ReturnType<typeof makeListeners>
