import { type CiKeyError, exchangeCiToken, hasCiToken } from "@delivery/client"

export { lackingPermission } from "@delivery/client"
import { Effect } from "effect"
import { Failure } from "./Failure.ts"

/** A key for the job of a CI that the command runs in; undefined where it runs in none. The whole client is loaded for it. */
export const ciKey = ({ url, workspace }: { readonly url: string; readonly workspace: string }) =>
  Effect.suspend(() => {
    if (!hasCiToken()) return Effect.undefined
    return Effect.tryPromise({
      try: async () => (await exchangeCiToken({ baseUrl: url, workspace })).apiKey,
      catch: (error) => {
        const { message, status } = error as CiKeyError
        return status === undefined ? Failure.unreachable(message) : Failure.notSignedIn(message)
      }
    })
  })
