import type { ListedMute } from "@delivery/domain/flow/Mute"
import { useQueryClient } from "@tanstack/react-query"
import { client } from "../api/client.ts"
import { workspaceKey } from "../api/queries.ts"
import { readAgain } from "../api/readAgain.ts"
import { useAction } from "../api/useAction.ts"
import { counted } from "../ui/format.ts"
import { undone } from "../ui/toast.ts"
import { changedByMutes } from "./changedByMutes.ts"
import { alreadyMuted, expectedOf, momentOf } from "./mute.ts"
import { mutesQuery } from "./queries.ts"

/** Which tests are to count again, of what a ticket mutes. */
export interface Unmuted {
  readonly was: ListedMute
  readonly gone: ReadonlyArray<string>
}

const without = (mute: ListedMute, gone: ReadonlyArray<string>): ListedMute | null => {
  const cases = mute.cases.filter((caseId) => !gone.includes(caseId))
  return cases.length === 0 ? null : { ...mute, cases }
}

/** Lets tests count again, as far as no other ticket mutes them, which is said. */
export const useUnmute = (slug: string) => {
  const queries = useQueryClient()
  const changes = changedByMutes.map((kind) => workspaceKey(slug, kind))
  const paramsOf = ({ ticket }: ListedMute) => ({ slug, ticket: ticket!.identifier })
  const back = useAction({
    act: ({ gone, was }: Unmuted) =>
      client.mutes.set({
        params: paramsOf(was),
        payload: { ...expectedOf(was)!, expected: expectedOf(without(was, gone)) }
      }),
    changes,
    failed: ({ was }) => `${was.ticket!.identifier} does not mute it again`
  })
  return useAction({
    act: async ({ gone, was }: Unmuted): Promise<ReadonlyArray<string>> => {
      const params = paramsOf(was)
      const rest = expectedOf(without(was, gone))
      await (rest === null
        ? client.mutes.end({ params })
        : client.mutes.set({ params, payload: { ...rest, expected: expectedOf(was) } }))
      const { mutes } = await readAgain(queries, mutesQuery(slug, was.product))
      return alreadyMuted(mutes, gone, params.ticket, Date.now())
    },
    changes,
    done: (still, unmuted) => {
      const isOne = unmuted.gone.length === 1
      const tests = isOne ? "The test" : counted(unmuted.gone.length, "test")
      return {
        ...(still.length === 0
          ? { title: `${tests} ${isOne ? "counts" : "count"} again` }
          : {
              title: `${unmuted.was.ticket!.identifier} no longer mutes ${isOne ? "the test" : tests}`,
              detail: `${isOne ? "It does not count all the same" : "Not all of them count again"}: ${still.join("; ")}.`
            }),
        undo: () =>
          undone(
            back.mutateAsync(unmuted),
            `${tests} ${isOne ? "is" : "are"} muted again by ${unmuted.was.ticket!.identifier} until ${momentOf(unmuted.was.until)}`
          )
      }
    },
    failed: () => "It stays muted"
  })
}
